//! Packets: segments as endpoints read and write them, their form on simulated links, and SACK blocks.

pub(crate) mod byte_range;
pub(crate) mod sack_blocks;
pub(crate) mod segment;
pub(crate) mod sequence;
pub(crate) mod sizes;
mod wire;

pub use byte_range::ByteRange;
pub use segment::SubflowId;
pub(crate) use segment::{Ack, Data, Segment, flag};
pub use wire::Wire;
pub(crate) use wire::burst::Burst;
