//! The algorithms in the Linux kernel: load, find, watch and unload them.

pub mod exec;
