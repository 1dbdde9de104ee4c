//! The bytes of a transfer, by which a receiver detects a change.

use std::sync::LazyLock;

/// Number of bytes after which the stream repeats: prime, so that no displaced segment has the bytes of another one.
pub(super) const PERIOD: u64 = 251;

/// Repetitions of the stream in [`DATA`]: 8 MB, more than a send buffer holds. If a write ends before the buffer is full, MPTCP begins
/// another fragment (struct mptcp_data_frag), and the next fragment is short.
const REPETITIONS: usize = 32 * 1024;

/// The stream from its start, for the writes of all connections.
pub(super) static DATA: LazyLock<Vec<u8>> = LazyLock::new(|| {
    (0..PERIOD)
        .map(pattern)
        .collect::<Vec<u8>>()
        .repeat(REPETITIONS)
});

/// The byte at this offset of the stream.
pub(super) fn pattern(offset: u64) -> u8 {
    (offset % PERIOD) as u8
}
