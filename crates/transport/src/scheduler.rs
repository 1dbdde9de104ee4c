//! Which subflow carries which part of the stream, as Linux's MPTCP decides it (net/mptcp/protocol.c:
//! mptcp_subflow_get_send, __subflow_push_pending).
//!
//! The stream is handed out in pieces that wait in the subflows' own send buffers, not segment by segment as windows open:
//! a subflow that slows down keeps what it has been given. The next piece goes to the subflow that would be done first
//! with what it has, by its pacing rate (BLEST's idea: Ferlin et al., IFIP Networking 2016), and waits for that one where
//! its buffer is full. The application can be ahead of what is acknowledged by the buffers of all subflows together.

use crate::connection::Connection;
use crate::endpoint::Env;
use crate::sender::{Life, Sender};
use crate::trace::Observer;
use std::collections::VecDeque;

/// Segments in a piece: 32 728 bytes, the page fragment (32 KB) that a struct mptcp_data_frag heads.
pub(crate) const PIECE: u64 = 23;

/// So many segments go to the chosen subflow at once (MPTCP_SEND_BURST_SIZE: 65 428 bytes, and pieces are whole).
const BURST: u64 = 46;

/// What a send buffer has room for: twice the window, or the initial one, of so many bytes a segment (tcp_sndbuf_expand:
/// 2048 for a frame and its headers, 256 for its struct sk_buff).
const FRAME: u64 = 2304;
const LEAST_FRAMES: u32 = 10;

/// The largest buffer, and what a connection has beside those of its subflows (net.ipv4.tcp_wmem).
const MOST: u64 = 4 << 20;
const LEAST: u64 = 4096;

/// What a segment takes in a buffer beside its payload once it was sent: half of the struct sk_buff and the headers' room
/// (1 280 bytes) that it shares with another.
const OVERHEAD: u64 = 640;

/// What was handed to a subflow and not yet sent, and its send buffer.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// The numbers `next..until` of the stream come first, then `more`.
    next: u64,
    until: u64,
    more: VecDeque<(u64, u64)>,
    /// Segments in `more`.
    behind: u64,
    /// The send buffer, bytes (sk_sndbuf).
    buffer: u64,
    /// What it was paced at when it was chosen, bytes/s (avg_pacing_rate); 0: not yet.
    pace: u64,
}

impl Queue {
    pub(crate) fn put(&mut self, from: u64, until: u64) {
        if self.is_empty() {
            (self.next, self.until) = (from, until);
        } else {
            self.behind += until - from;
            self.more.push_back((from, until));
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.next == self.until
    }

    /// Segments that wait.
    #[inline]
    fn len(&self) -> u64 {
        self.until - self.next + self.behind
    }

    /// The first segment that waits.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<u64> {
        if self.is_empty() {
            return None;
        }
        let first = self.next;
        self.next += 1;
        if self.behind > 0 && self.is_empty() {
            self.go_on();
        }
        Some(first)
    }

    #[cold]
    fn go_on(&mut self) {
        if let Some((from, until)) = self.more.pop_front() {
            self.behind -= until - from;
            (self.next, self.until) = (from, until);
        }
    }

    /// What waits, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> {
        let more = self.more.iter().flat_map(|&(from, until)| from..until);
        (self.next..self.until).chain(more)
    }
}

impl Sender {
    /// Bytes of memory that it holds (sk_wmem_queued).
    #[inline]
    fn memory(&self) -> u64 {
        let mss = u64::from(self.mss);
        self.queue.len() * mss + u64::from(self.out()) * (mss + OVERHEAD)
    }

    #[inline]
    fn has_room(&self) -> bool {
        self.memory() < self.queue.buffer
    }

    /// The buffer follows the window where that is not what holds the subflow back (tcp_new_space).
    fn expand_buffer(&mut self) {
        if self.queue.buffer == 0 || (self.queue.is_empty() && self.space() > 0) {
            let frames = u64::from(self.tcp.cwnd.max(LEAST_FRAMES));
            self.queue.buffer = self.queue.buffer.max((2 * frames * FRAME).min(MOST));
        }
    }

    /// What it would be paced at, bytes/s (tcp_update_pacing_rate: 200 % in the first half of slow start, else 120 %).
    fn pacing_rate(&self) -> u64 {
        let percent = if self.tcp.cwnd < self.tcp.ssthresh / 2 {
            200
        } else {
            120
        };
        let window = u64::from(self.tcp.cwnd.max(self.out()));
        let srtt8 = u64::from(self.rtt.srtt8.max(1));
        u64::from(self.mss) * window * percent * 80_000 / srtt8
    }

    /// Whether it would be done with what it holds before another is. 2^23 bytes at 2^40 bytes/s.
    #[inline]
    fn is_done_before(&self, other: &Self) -> bool {
        self.memory() * other.queue.pace < other.memory() * self.queue.pace
    }
}

impl Connection {
    /// Whether there is more to hand out, now that a subflow has heard something, and this one has nothing left or is to be
    /// handed the next piece. `due`: the one that was to be.
    #[inline(always)]
    pub(crate) fn hands_more<'a>(&self, sender: &Sender, due: impl FnOnce() -> &'a Sender) -> bool {
        let is_due = || {
            self.nxt < self.una + self.ahead && sender.has_room() && {
                let due = due();
                std::ptr::eq(sender, due) || sender.is_done_before(due)
            }
        };
        self.nxt < self.end.min(self.edge) && (sender.queue.is_empty() || is_due())
    }

    /// Hands out pieces of the stream, and all subflows send. Returns whether `which` has set its timer.
    pub(crate) fn hand_out<O: Observer>(
        &mut self,
        senders: &mut [Sender],
        env: &mut Env<O>,
        which: usize,
    ) -> bool {
        let open = |sender: &&mut Sender| sender.life == Life::Open;
        senders
            .iter_mut()
            .filter(open)
            .for_each(Sender::expand_buffer);
        let buffers: u64 = senders.iter().map(|sender| sender.queue.buffer).sum();
        // The application writes a piece wherever a byte is free.
        self.ahead = (LEAST + buffers).div_ceil(u64::from(self.mss));
        let written = (self.una + self.ahead).next_multiple_of(PIECE);
        let limit = written.min(self.end).min(self.edge);
        while self.nxt < limit {
            for sender in senders.iter_mut().filter(open) {
                if sender.queue.pace == 0 {
                    sender.queue.pace = sender.pacing_rate();
                }
            }
            let all = (0..senders.len()).filter(|i| senders[*i].life == Life::Open);
            let first = |a: usize, b: usize| {
                if senders[b].is_done_before(&senders[a]) {
                    b
                } else {
                    a
                }
            };
            let Some(due) = all.reduce(first) else {
                break;
            };
            self.due = due;
            self.retransmission.interval(senders, env);
            let best = &mut senders[due];
            if !best.has_room() {
                break;
            }
            let held = best.memory();
            let burst = BURST.min(self.edge - self.nxt) * u64::from(self.mss);
            let paced = best.queue.pace * held + best.pacing_rate() * burst;
            best.queue.pace = paced / (held + burst);
            let end = self.nxt + BURST;
            while self.nxt < limit.min(end) && best.has_room() {
                let until = (self.nxt + 1).next_multiple_of(PIECE).min(limit);
                best.queue.put(self.nxt, until);
                self.nxt = until;
            }
        }
        self.wait_for_acknowledgement(env);
        let mut set = !self.again.is_empty() && self.push_again(senders, env, which);
        for (i, sender) in senders.iter_mut().enumerate() {
            set |= self.send(sender, env, |_, sender| sender.queue.pop()) && i == which;
        }
        set
    }
}
