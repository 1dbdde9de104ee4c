//! Limits of values that several keys share.

use netsim::Span;

/// Longest run, and longest time in general: a year.
pub(super) const LONGEST: Span = Span::from_secs(365 * 86_400);

/// Shortest time above zero.
pub(super) const INSTANT: Span = Span::from_nanos(1);

/// Longest delay or round-trip time: an hour, the round trip to a distance of 3.6 AU.
pub(super) const LONGEST_DELAY: Span = Span::from_secs(3600);

/// Largest number of subflows of all connections of a run, and of connections.
pub(super) const MAX_FLOWS: u64 = 250_000;

/// Largest number of subflows of a connection: far more than any stack opens.
pub(super) const MAX_SUBFLOWS: u32 = 64;

/// Largest number of paths between two hosts.
pub(super) const MAX_PATHS: u32 = 1024;
