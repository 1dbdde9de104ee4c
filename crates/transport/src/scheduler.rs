//! Which subflow carries which part of the stream, as Linux's MPTCP decides it (net/mptcp/protocol.c:
//! mptcp_subflow_get_send, __subflow_push_pending).
//!
//! The stream is handed out in pieces that wait in the subflows' own send buffers, not segment by segment as windows open:
//! a subflow that slows down keeps what it has been given. The next piece goes to the subflow that would be done first
//! with what it has, by its pacing rate (BLEST's idea: Ferlin et al., IFIP Networking 2016), and waits for that one where
//! its buffer is full. The application writes until the buffers of all subflows together are full, and again when there is
//! room for a byte.

use crate::connection::Connection;
use crate::endpoint::Env;
use crate::sender::{Life, Sender};
use crate::trace::Observer;
use std::collections::VecDeque;

/// Segments in a piece: 32 728 bytes, the page fragment (32 KB) that a struct mptcp_data_frag heads.
pub(crate) const PIECE: u64 = 23;

/// So many segments go to the chosen subflow at once (MPTCP_SEND_BURST_SIZE: 65 428 bytes, and pieces are whole).
const BURST: u64 = 46;

/// Segments in one buffer of a subflow (struct sk_buff), which holds pieces that follow each other: as many as 65 535 bytes
/// have, headers and all (tcp_bound_to_half_wnd of sk_gso_max_size).
const HEAD: u64 = 45;

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
    /// Segments that were sent of the buffer (struct sk_buff) that is at its head.
    of_head: u64,
    /// The send buffer, bytes (sk_sndbuf).
    buffer: u64,
    /// What it was paced at when it was chosen, bytes/s (avg_pacing_rate); 0: not yet.
    pace: u64,
}

impl Queue {
    pub(crate) fn put(&mut self, from: u64, until: u64) {
        if self.is_empty() {
            (self.next, self.until) = (from, until);
            return;
        }
        match self.more.back_mut() {
            None if self.until == from => {
                self.until = until;
                return;
            }
            Some(last) if last.1 == from => last.1 = until,
            _ => self.more.push_back((from, until)),
        }
        self.behind += until - from;
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
        self.of_head += 1;
        if self.is_empty() || self.of_head == HEAD {
            self.of_head = 0;
            if self.behind > 0 && self.is_empty() {
                self.go_on();
            }
        }
        Some(first)
    }

    /// Whether the next segment begins a buffer.
    #[inline]
    pub(crate) fn at_an_end(&self) -> bool {
        self.of_head == 0
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
    pub(crate) fn expand_buffer(&mut self) {
        let frames = u64::from(self.tcp.cwnd.max(LEAST_FRAMES));
        self.queue.buffer = self.queue.buffer.max((2 * frames * FRAME).min(MOST));
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
            self.nxt < self.written && sender.has_room() && {
                let due = due();
                std::ptr::eq(sender, due) || sender.is_done_before(due)
            }
        };
        self.nxt < self.end.min(self.edge)
            && (self.writes_on() || sender.queue.is_empty() || is_due())
    }

    /// Whether the application has come to have room.
    #[inline]
    pub(crate) fn writes_on(&self) -> bool {
        self.una >= self.wakes_at
    }

    /// The application writes, if it has room: pieces, until there is none (mptcp_sendmsg).
    fn write_on(&mut self, senders: &[Sender]) {
        let buffers: u64 = senders.iter().map(|sender| sender.queue.buffer).sum();
        let room = (LEAST + buffers).div_ceil(u64::from(self.mss));
        while self.written < self.end && self.written < self.una + room {
            let next = (self.written + 1).next_multiple_of(PIECE);
            self.written = next.min(self.end);
        }
        self.wakes_at = match self.written < self.end {
            true => self.written + 1 - room,
            false => u64::MAX,
        };
    }

    /// Hands out pieces of the stream, and all subflows send. Returns whether `which` has set its timer.
    pub(crate) fn hand_out<O: Observer>(
        &mut self,
        senders: &mut [Sender],
        env: &mut Env<O>,
        which: usize,
    ) -> bool {
        let open = |sender: &&mut Sender| sender.life == Life::Open;
        for sender in senders.iter_mut().filter(open) {
            let waits = self.written < self.end && sender.queue.is_empty() && sender.space() > 0;
            if sender.queue.buffer == 0 || waits {
                sender.expand_buffer();
            }
        }
        self.write_on(senders);
        let limit = self.written.min(self.edge);
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
            set |= self.send_handed(sender, env) && i == which;
        }
        set
    }

    /// A subflow sends what it was handed. Returns whether it has set its timer.
    #[inline(always)]
    pub(crate) fn send_handed<O: Observer>(
        &mut self,
        sender: &mut Sender,
        env: &mut Env<O>,
    ) -> bool {
        self.send(sender, env, |connection, sender| {
            // One more than was sent fits: the window does not hold it back while the application waits.
            if connection.wakes_at < u64::MAX && sender.queue.at_an_end() && sender.out() > 0 {
                sender.expand_buffer();
                connection.wakes_at = connection.wakes_at.min(connection.una);
            }
            sender.queue.pop()
        })
    }
}
