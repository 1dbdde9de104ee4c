//! Worked examples, random callbacks and properties for every machine that runs `cc/`: native code, and the kernel's BPF machine.
//!
//! A [`Harness`] holds one connection, its subflows, and the next callback as data. A [`Machine`] runs that callback. Tests of this
//! workspace only.

#[allow(missing_docs, clippy::all, clippy::undocumented_unsafe_blocks)]
#[allow(
    non_camel_case_types,
    non_upper_case_globals,
    unpredictable_function_pointer_comparisons,
    unsafe_op_in_unsafe_fn
)]
pub mod ffi {
    //! The types of `cc/`, as the headers explain them.
    include!(concat!(env!("OUT_DIR"), "/cc.rs"));
}

#[cfg(feature = "bpf")]
pub mod bpf;
pub mod callbacks;
#[cfg(feature = "bpf")]
pub mod instructions;
mod machine;
pub mod properties;
pub mod state;
pub mod vectors;

pub use ffi::mpcc_harness as Harness;
pub use machine::{Machine, Native, bytes, empty, fresh_endpoint, fresh_tcp, with_settings};
