//! The algorithms in the Linux kernel: load, find, watch and unload them.
//!
//! [`load::load`] registers an algorithm as a `tcp_congestion_ops`; the registration outlives the program. Nothing is stored on
//! disk: [`registry::find`] lists the registered congestion controls of this project, and finds their maps through the kernel.
//! A [`registry::Registered`] is the argument of [`status::status`], [`events::Listener`] and
//! [`unload`](registry::Registration::unload). [`exec`] runs one command with MPTCP and an algorithm; its BPF programs are pinned in
//! /sys/fs/bpf/lisa while an algorithm is loaded. What reads input from the network runs in a process without privileges
//! ([`privilege_separation`]).
//!
//! Needs Linux 6.1 or later with MPTCP, BTF and the BPF JIT, and root, for all but `exec`.

pub mod agent_exit;
pub mod capabilities;
mod clock;
pub mod contract;
pub mod default;
pub mod doctor;
pub mod error;
pub mod events;
pub mod exec;
pub mod filter;
pub mod group;
pub mod holders;
mod kernel_fs;
pub mod left_over;
mod libbpf;
pub mod limits;
pub mod load;
mod map;
pub mod metrics;
mod mounts;
pub mod namespace;
pub mod owner;
pub mod privilege_separation;
pub mod registry;
mod requests;
pub mod requirements;
pub mod service;
pub mod status;
mod text;
pub mod totals;
pub mod unload;

mod skel {
    #![allow(
        unreachable_pub,
        missing_docs,
        clippy::all,
        clippy::undocumented_unsafe_blocks
    )]
    include!(concat!(env!("OUT_DIR"), "/lisa.skel.rs"));
    pub(crate) mod exec {
        include!(concat!(env!("OUT_DIR"), "/exec.skel.rs"));
    }
    pub(crate) mod holders {
        include!(concat!(env!("OUT_DIR"), "/holders.skel.rs"));
    }
}

pub use error::{Error, Result};
pub use text::printable;
