//! The algorithms in the Linux kernel: load, find, watch and unload them.
//!
//! [`load::load`] registers an algorithm as a `tcp_congestion_ops`; it stays when the program ends. There is nothing
//! on disk about it: [`registry::find`] asks the kernel which of its congestion controls are ours, and reaches their
//! maps through it. From a [`registry::Registered`] come [`status`], [`events`] and [`registry::Registered::unload`].
//! [`exec`] runs one command with MPTCP and an algorithm.
//!
//! Needs Linux 6.1 or later with MPTCP, BTF and the BPF JIT, and root, for all but `exec`.

#[cfg(feature = "bench")]
pub mod bench;
pub mod contract;
pub mod default;
pub mod error;
pub mod events;
pub mod exec;
pub mod group;
#[cfg(feature = "bench")]
pub mod instructions;
pub mod load;
pub mod owner;
pub mod registry;
pub mod requirements;
pub mod status;

mod skel {
    #![allow(
        unreachable_pub,
        missing_docs,
        clippy::all,
        clippy::undocumented_unsafe_blocks
    )]
    include!(concat!(env!("OUT_DIR"), "/lisa.skel.rs"));
    #[cfg(feature = "bench")]
    pub(crate) mod bench {
        include!(concat!(env!("OUT_DIR"), "/bench.skel.rs"));
    }
    pub(crate) mod group {
        include!(concat!(env!("OUT_DIR"), "/group.skel.rs"));
    }
}

pub use error::{Error, Result};
