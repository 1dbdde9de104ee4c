//! The bytes of a transfer, by which a receiver detects a change.

/// Number of bytes after which the stream repeats: prime, so that no displaced segment has the bytes of another one.
const PERIOD: usize = 251;

/// Repetitions of the stream in [`data`]: 8 MB, more than a send buffer holds. If a write ends before the buffer is full, MPTCP begins
/// another fragment (struct mptcp_data_frag), and the next fragment is short.
const REPETITIONS: usize = 32 * 1024;

/// The stream from its start, for the writes of all connections. To be made before a run: it takes 9 ms in the VM.
pub(crate) fn data() -> Vec<u8> {
    let period: Vec<u8> = (0..PERIOD).map(|byte| byte as u8).collect();
    period.repeat(REPETITIONS)
}

/// The stream from this offset on, as far as `data` has it.
pub(super) fn rest(data: &[u8], offset: u64) -> &[u8] {
    &data[(offset % PERIOD as u64) as usize..]
}
