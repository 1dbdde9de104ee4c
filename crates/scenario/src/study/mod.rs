//! Studies: runs of one scenario with several seeds, algorithms and values, and their results together.

pub mod cells;
pub mod comparison;
pub mod contenders;
pub mod equality;
pub mod problem;
pub mod rows;
pub mod seeds;
pub mod shard;
pub mod summary;
pub mod sweep;
pub mod warnings;
