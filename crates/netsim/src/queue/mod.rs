//! Queues: which packets may wait for a link, and what that waiting amounts to. One file each.

pub(crate) mod droptail;
