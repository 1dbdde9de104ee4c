//! Which subflow carries which part of the stream, as Linux's MPTCP decides it (net/mptcp/protocol.c:
//! mptcp_subflow_get_send, __subflow_push_pending).
//!
//! The stream is handed out in pieces that wait in the subflows' own send buffers, not segment by segment as windows open:
//! a subflow that slows down keeps what it has been given. The next piece goes to the subflow that would be done first
//! with what it has, by its pacing rate (BLEST's idea: Ferlin et al., IFIP Networking 2016), and waits for that one where
//! its buffer is full. The application writes until the buffers of all subflows together are full, and again when there is
//! room for a byte: it is woken for that.

use crate::connection::Connection;
use crate::endpoint::Env;
use crate::sender::{Life, Sender};
use crate::trace::Observer;
use std::collections::VecDeque;

/// Bytes of a piece: a page fragment (32 KB) without the struct mptcp_data_frag that heads it.
pub(crate) const PIECE: u64 = 32_728;

/// So many bytes, and then the rest of the piece, go to the chosen subflow at once (MPTCP_SEND_BURST_SIZE).
const BURST: u64 = 65_428;

/// Bytes of the segments in one buffer of a subflow (struct sk_buff), which holds pieces that follow each other: 65 535 with all
/// headers (sk_gso_max_size).
const LARGEST: u64 = 65_280;

/// What a send buffer has room for: twice the window, or the initial one, of so many bytes a segment (tcp_sndbuf_expand:
/// 2048 for a frame and its headers, 256 for its struct sk_buff).
const FRAME: u64 = 2304;
const LEAST_FRAMES: u32 = 10;

/// The largest buffer, and what a connection has beside those of its subflows (net.ipv4.tcp_wmem).
const MOST: u64 = 4 << 20;
const LEAST: u64 = 4096;

/// What a buffer takes beside its payload: a struct sk_buff and its end. What is sent at once is one (tso_fragment).
const OVERHEAD: u64 = 896;

/// What was handed to a subflow and not yet sent, and its send buffer.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// The bytes `next..until` of the stream are in the first buffer (struct sk_buff), then come those in `more`.
    next: u64,
    until: u64,
    more: VecDeque<(u64, u64)>,
    /// Bytes in `more`.
    behind: u64,
    /// Some of the first buffer was sent: nothing is added to it any more (struct mptcp_ext: frozen).
    begun: bool,
    /// The send buffer, bytes (sk_sndbuf).
    buffer: u64,
    /// What it was paced at when it was chosen, bytes/s (avg_pacing_rate); 0: not yet.
    pace: u64,
}

impl Queue {
    /// Bytes of the stream wait, in buffers of at most so many (mptcp_sendmsg_frag).
    pub(crate) fn put(&mut self, mut from: u64, until: u64, most: u64) {
        while from < until {
            let last = match self.more.back() {
                None if self.begun || self.is_empty() => None,
                None => Some((self.next, self.until)),
                last => last.copied(),
            };
            from = match last {
                Some((begin, end)) if end == from && end - begin < most => {
                    self.extend(until.min(begin + most))
                }
                _ => self.push(from, until.min(from + most)),
            };
        }
    }

    /// The last buffer goes on to here.
    fn extend(&mut self, until: u64) -> u64 {
        match self.more.back_mut() {
            Some((_, end)) => {
                self.behind += until - *end;
                *end = until;
            }
            None => self.until = until,
        }
        until
    }

    /// Another buffer, to here.
    fn push(&mut self, from: u64, until: u64) -> u64 {
        if self.is_empty() {
            (self.next, self.until) = (from, until);
        } else {
            self.more.push_back((from, until));
            self.behind += until - from;
        }
        until
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.next == self.until
    }

    /// Bytes that wait.
    #[inline]
    fn len(&self) -> u64 {
        self.until - self.next + self.behind
    }

    /// The first segment that waits: its first byte of the stream, and how many. A buffer's last one may be short.
    #[inline]
    pub(crate) fn pop(&mut self, mss: u16) -> Option<(u64, u16)> {
        if self.is_empty() {
            return None;
        }
        let (first, len) = (self.next, u64::from(mss).min(self.until - self.next));
        self.next += len;
        self.begun = !self.is_empty();
        if !self.begun && self.behind > 0 {
            self.go_on();
        }
        Some((first, len as u16))
    }

    /// Buffers that wait.
    #[inline]
    fn count(&self) -> u64 {
        u64::from(!self.is_empty()) + self.more.len() as u64
    }

    /// Whether the next segment begins a buffer.
    #[inline]
    pub(crate) fn at_an_end(&self) -> bool {
        !self.begun
    }

    #[cold]
    fn go_on(&mut self) {
        if let Some((from, until)) = self.more.pop_front() {
            self.behind -= until - from;
            (self.next, self.until) = (from, until);
        }
    }

    /// Bytes of the first buffer that wait, and whether that is all.
    #[inline]
    pub(crate) fn first(&self) -> (u64, bool) {
        (self.until - self.next, self.behind == 0)
    }

    /// What waits, in order: first byte and the one after the last.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (u64, u64)> {
        let first = (!self.is_empty()).then_some((self.next, self.until));
        first.into_iter().chain(self.more.iter().copied())
    }
}

impl Sender {
    /// Bytes of memory that it holds (sk_wmem_queued).
    #[inline]
    fn memory(&self) -> u64 {
        let mss = u64::from(self.mss);
        let buffers = self.queue.count() + u64::from(self.buffers_out());
        self.queue.len() + u64::from(self.out()) * mss - self.lacking + buffers * OVERHEAD
    }

    #[inline]
    fn has_room(&self) -> bool {
        self.memory() < self.queue.buffer
    }

    /// The buffer follows the window (tcp_sndbuf_expand). Returns by how much it grows, bytes.
    fn expand_buffer(&mut self) -> u64 {
        let frames = u64::from(self.tcp.cwnd.max(LEAST_FRAMES));
        let before = self.queue.buffer;
        self.queue.buffer = before.max((2 * frames * FRAME).min(MOST));
        self.queue.buffer - before
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
            !self.waits_for_room
                || sender.has_room() && {
                    let due = due();
                    std::ptr::eq(sender, due) || sender.is_done_before(due)
                }
        };
        self.nxt < self.written.min(self.edge) && (sender.queue.is_empty() || is_due())
    }

    /// Whether the application has come to have room.
    #[inline]
    pub(crate) fn writes_on(&self) -> bool {
        self.una >= self.wakes_at
    }

    /// The application has come to have room and is woken: it writes when the ACK has let out what was waiting
    /// (tcp_data_snd_check). At the same instant the burst of a subflow that had nothing more would take the places in a queue
    /// of what another one sends by its ACK. Returns whether `which` has set its timer.
    #[cold]
    pub(crate) fn wake<O: Observer>(
        &mut self,
        senders: &mut [Sender],
        env: &mut Env<O>,
        which: usize,
    ) -> bool {
        let Some(timer) = self.push_timer else {
            return self.write_on(senders, env, which);
        };
        if !env.timers.is_set(timer) {
            let writes_at = senders[which].profile.writes_at(env.now, self.phase);
            env.timers.set(timer, writes_at);
        }
        false
    }

    /// The application writes, and what it has written is handed out. Returns whether `which` has set its timer.
    pub(crate) fn write_on<O: Observer>(
        &mut self,
        senders: &mut [Sender],
        env: &mut Env<O>,
        which: usize,
    ) -> bool {
        if self.hands_out {
            self.open_buffers(senders);
            self.fill_buffers();
        }
        self.push_all(senders, env, which)
    }

    /// A subflow that has joined has a buffer.
    fn open_buffers(&mut self, senders: &mut [Sender]) {
        let new = |sender: &&mut Sender| sender.life == Life::Open && sender.queue.buffer == 0;
        let buffers = senders.iter_mut().filter(new).map(Sender::expand_buffer);
        self.buffers += buffers.sum::<u64>();
    }

    /// Whether a third of the buffers is free: an application that waits is woken (sk_stream_is_writeable).
    #[inline]
    pub(crate) fn is_writeable(&self) -> bool {
        3 * (self.written - self.una) <= 2 * (LEAST + self.buffers)
    }

    /// The window has room for more: it is not what holds the subflow back while the application waits, and its buffer grows
    /// (tcp_check_space, tcp_should_expand_sndbuf).
    pub(crate) fn has_room_for_more(&mut self, sender: &mut Sender) {
        if !self.waits {
            return;
        }
        let more = sender.expand_buffer();
        self.buffers += more;
        if self.wakes_at < u64::MAX {
            self.wakes_at = self.wakes_at.saturating_sub(more);
        }
        self.waits = !self.is_writeable();
    }

    /// Bytes that a subflow's buffer has room for: full segments, of half of the widest window at most (tcp_xmit_size_goal,
    /// tcp_bound_to_half_wnd).
    pub(crate) fn buffer_size(&self) -> u64 {
        let mss = u64::from(self.mss);
        let bytes = LARGEST.min(self.widest / 2);
        (bytes - bytes % mss).max(mss)
    }

    /// If there is room: pieces, until there is none (mptcp_sendmsg).
    fn fill_buffers(&mut self) {
        let room = LEAST + self.buffers;
        while self.written < self.end && self.written < self.una + room {
            let next = (self.written + 1).next_multiple_of(PIECE);
            self.written = next.min(self.end);
        }
        self.waits |= self.written < self.end;
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
        let limit = self.written.min(self.edge);
        self.waits_for_room = false;
        let most = self.buffer_size();
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
                self.waits_for_room = true;
                break;
            }
            let held = best.memory();
            let burst = BURST.min(self.edge - self.nxt);
            let paced = best.queue.pace * held + best.pacing_rate() * burst;
            best.queue.pace = paced / (held + burst);
            let end = self.nxt + BURST;
            while self.nxt < limit.min(end) && best.has_room() {
                let until = (self.nxt + 1).next_multiple_of(PIECE).min(limit);
                best.queue.put(self.nxt, until, most);
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
            sender.queue.pop(connection.mss)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u16 = 1424;

    fn segments(queue: &mut Queue) -> Vec<(u64, u16)> {
        std::iter::from_fn(|| queue.pop(MSS)).collect()
    }

    #[test]
    fn what_follows_joins_a_buffer_until_some_of_it_is_sent() {
        let mut queue = Queue::default();
        queue.put(0, 2000, 64_080);
        queue.put(2000, 3000, 64_080);
        assert_eq!((queue.count(), queue.len()), (1, 3000));
        assert_eq!(queue.pop(MSS), Some((0, MSS)));
        queue.put(3000, 4000, 64_080);
        assert_eq!((queue.count(), queue.len()), (2, 2576));
        let rest = [(1424, MSS), (2848, 152), (3000, 1000)];
        assert_eq!(segments(&mut queue), rest);
    }

    #[test]
    fn what_does_not_follow_or_does_not_fit_is_in_a_buffer_of_its_own() {
        let mut queue = Queue::default();
        queue.put(0, 4000, 2848);
        queue.put(5000, 5100, 2848);
        let parts: Vec<(u64, u64)> = queue.ranges().collect();
        assert_eq!(parts, [(0, 2848), (2848, 4000), (5000, 5100)]);
        let all = [(0, MSS), (1424, MSS), (2848, 1152), (5000, 100)];
        assert_eq!(segments(&mut queue), all);
        assert_eq!((queue.count(), queue.len()), (0, 0));
    }
}
