//! Send queue and send buffer of a subflow. Unsent data is in buffers (struct sk_buff), which determine the size of
//! bursts and the memory that the data takes.

use super::Sender;
use super::scoreboard::OVERHEAD;
use crate::packet::ByteRange;
use std::collections::VecDeque;

/// Memory of a segment in the send buffer, bytes: 2048 for a frame and its headers, 256 for its struct sk_buff. The
/// buffer has room for twice the window, at least for twice the initial one (tcp_sndbuf_expand).
const SEGMENT_MEMORY: u64 = 2304;

/// Minimum of the window for the size of the send buffer, segments (TCP_INIT_CWND).
const MIN_SEGMENTS: u32 = 10;

/// The first buffer of a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstBuffer {
    /// Number of unsent bytes.
    pub(crate) bytes: u64,
    /// No buffer follows.
    pub(crate) is_last: bool,
}

/// Bytes of the stream that were taken from a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// Data sequence number of the first byte.
    pub(crate) dsn: u64,
    /// Number of bytes.
    pub(crate) len: u64,
}

/// Unsent data of a subflow, and its send buffer.
#[derive(Debug, Default)]
pub(crate) struct SendQueue {
    /// First unsent byte of the stream in the first buffer.
    next: u64,
    /// Byte after the last one in the first buffer.
    until: u64,
    /// Unsent bytes of the stream in the other buffers.
    rest: VecDeque<ByteRange>,
    /// Bytes in `rest`.
    rest_bytes: u64,
    /// A part of the first buffer was sent: no data is added to it (struct mptcp_ext: frozen).
    is_frozen: bool,
    /// Size of the send buffer, bytes (sk_sndbuf).
    pub(crate) buffer: u64,
    /// Maximum size of the send buffer, bytes (net.ipv4.tcp_wmem).
    max_buffer: u64,
    /// Average pacing rate when the subflow was chosen by the scheduler, bytes/s (avg_pacing_rate); 0: not chosen yet.
    pub(crate) avg_pacing_rate: u64,
    /// Data was queued since the subflow sent last.
    pub(crate) has_new_data: bool,
}

impl SendQueue {
    /// An empty queue whose buffer grows to at most `max_buffer` bytes.
    pub(crate) fn new(max_buffer: u32) -> Self {
        Self {
            max_buffer: max_buffer.into(),
            ..Self::default()
        }
    }

    /// Queues bytes of the stream in buffers of at most `max` bytes (mptcp_sendmsg_frag).
    pub(crate) fn put(&mut self, mut from: u64, until: u64, max: u64) {
        self.has_new_data = true;
        while from < until {
            let last = match self.rest.back() {
                None if self.is_frozen || self.is_empty() => None,
                None => Some(ByteRange::new(self.next, self.until)),
                last => last.copied(),
            };
            from = match last {
                Some(last) if last.end == from && last.len() < max => {
                    self.extend(until.min(last.start + max))
                }
                _ => self.push(from, until.min(from + max)),
            };
        }
    }

    /// Moves bytes from the second buffer to the first one (tcp_grow_skb).
    #[cold]
    pub(crate) fn grow_first(&mut self, bytes: u64) {
        if let Some(second) = self.rest.front_mut() {
            let bytes = bytes.min(second.len());
            second.start += bytes;
            self.until += bytes;
            self.rest_bytes -= bytes;
            if second.start == second.end {
                self.rest.pop_front();
            }
        }
    }

    /// Bytes in the last buffer.
    pub(crate) fn last_len(&self) -> u64 {
        self.rest
            .back()
            .map_or(self.until - self.next, |last| last.len())
    }

    /// Extends the last buffer up to `until`. Returns `until`.
    pub(crate) fn extend(&mut self, until: u64) -> u64 {
        match self.rest.back_mut() {
            Some(last) => {
                self.rest_bytes += until - last.end;
                last.end = until;
            }
            None => self.until = until,
        }
        until
    }

    /// Adds a buffer. Returns `until`.
    pub(crate) fn push(&mut self, from: u64, until: u64) -> u64 {
        if self.is_empty() {
            (self.next, self.until) = (from, until);
        } else {
            self.rest.push_back(ByteRange::new(from, until));
            self.rest_bytes += until - from;
        }
        until
    }

    /// Whether no bytes are unsent.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.next == self.until
    }

    /// Number of unsent bytes.
    #[inline]
    fn len(&self) -> u64 {
        self.until - self.next + self.rest_bytes
    }

    /// Takes at most `max` bytes of the first buffer.
    #[inline]
    pub(crate) fn take(&mut self, max: u64) -> Option<Taken> {
        if self.is_empty() {
            return None;
        }
        let (dsn, len) = (self.next, max.min(self.until - self.next));
        self.next += len;
        self.is_frozen = !self.is_empty();
        if !self.is_frozen && self.rest_bytes > 0 {
            self.next_buffer();
        }
        Some(Taken { dsn, len })
    }

    /// Number of buffers with unsent bytes.
    #[inline]
    fn count(&self) -> u64 {
        u64::from(!self.is_empty()) + self.rest.len() as u64
    }

    /// Memory of the unsent data, bytes.
    #[inline]
    fn memory(&self) -> u64 {
        self.len() + self.count() * OVERHEAD
    }

    /// Whether the next segment begins a buffer.
    #[inline]
    pub(crate) fn is_at_buffer_start(&self) -> bool {
        !self.is_frozen
    }

    /// Makes the second buffer the first one.
    #[cold]
    fn next_buffer(&mut self) {
        if let Some(buffer) = self.rest.pop_front() {
            self.rest_bytes -= buffer.len();
            (self.next, self.until) = (buffer.start, buffer.end);
        }
    }

    /// First buffer.
    #[inline]
    pub(crate) fn first(&self) -> FirstBuffer {
        FirstBuffer {
            bytes: self.until - self.next,
            is_last: self.rest_bytes == 0,
        }
    }

    /// Unsent bytes of each buffer.
    #[cfg(test)]
    pub(crate) fn ranges(&self) -> impl Iterator<Item = ByteRange> {
        let first = (!self.is_empty()).then_some(ByteRange::new(self.next, self.until));
        first.into_iter().chain(self.rest.iter().copied())
    }
}

impl Sender {
    /// Memory of unsent and unacknowledged data, bytes (sk_wmem_queued).
    #[inline]
    pub(crate) fn memory(&self) -> u64 {
        self.queue.memory() + self.scoreboard.memory()
    }

    /// Whether the send buffer has room (sk_stream_memory_free).
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.memory() < self.queue.buffer
    }

    /// Whether the send buffer is below its maximum.
    #[inline]
    pub(crate) fn may_grow_buffer(&self) -> bool {
        self.queue.buffer < self.queue.max_buffer
    }

    /// Grows the send buffer with the window (tcp_sndbuf_expand). Returns the growth, bytes.
    pub(crate) fn expand_buffer(&mut self) -> u64 {
        let frames = u64::from(self.tcp.cwnd.max(MIN_SEGMENTS));
        let before = self.queue.buffer;
        self.queue.buffer = before.max((2 * frames * SEGMENT_MEMORY).min(self.queue.max_buffer));
        self.queue.buffer - before
    }

    /// Moves data of the second buffer to the first one, up to a burst that the window has room for.
    #[inline(always)]
    pub(crate) fn grow_buffer(&mut self, quota: u32) {
        let FirstBuffer { bytes, is_last } = self.queue.first();
        if !is_last && bytes < u64::from(quota) * u64::from(self.mss) {
            let quota = quota.min(self.burst_size());
            let wanted = u64::from(quota) * u64::from(self.mss);
            if wanted > bytes {
                self.queue.grow_first(wanted - bytes);
            }
        }
    }

    /// Whether this subflow would drain its queue before another one. The products fit: 2^23 bytes at 2^40 bytes/s.
    #[inline]
    pub(crate) fn drains_before(&self, other: &Self) -> bool {
        self.memory() * other.queue.avg_pacing_rate < other.memory() * self.queue.avg_pacing_rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1424;

    fn segments(queue: &mut SendQueue) -> Vec<(u64, u64)> {
        std::iter::from_fn(|| queue.take(MSS))
            .map(|taken| (taken.dsn, taken.len))
            .collect()
    }

    #[test]
    fn consecutive_data_extends_a_buffer_until_a_part_of_it_is_sent() {
        let mut queue = SendQueue::default();
        queue.put(0, 2000, 64_080);
        queue.put(2000, 3000, 64_080);
        assert_eq!((queue.count(), queue.len()), (1, 3000));
        assert_eq!(queue.take(MSS), Some(Taken { dsn: 0, len: MSS }));
        queue.put(3000, 4000, 64_080);
        assert_eq!((queue.count(), queue.len()), (2, 2576));
        let rest = [(1424, MSS), (2848, 152), (3000, 1000)];
        assert_eq!(segments(&mut queue), rest);
    }

    #[test]
    fn other_data_begins_a_new_buffer() {
        let mut queue = SendQueue::default();
        queue.put(0, 4000, 2848);
        queue.put(5000, 5100, 2848);
        let buffers: Vec<ByteRange> = queue.ranges().collect();
        let expected = [[0, 2848], [2848, 4000], [5000, 5100]];
        assert_eq!(
            buffers,
            expected.map(|[start, end]| ByteRange { start, end })
        );
        let all = [(0, MSS), (1424, MSS), (2848, 1152), (5000, 100)];
        assert_eq!(segments(&mut queue), all);
        assert_eq!((queue.count(), queue.len()), (0, 0));
    }
}
