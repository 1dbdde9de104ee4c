//! What the application writes, and when: as much as the send buffers have room for, and again when there is some.
//!
//! Over TCP it goes into the buffers of the only subflow (tcp_sendmsg_locked), over MPTCP into pieces that are handed out
//! (`scheduler.rs`). Other profiles send it segment by segment as windows open.

use crate::connection::Connection;
use crate::endpoint::Env;
use crate::scheduler::PIECE;
use crate::sender::{Life, Piece, Sender};
use crate::trace::Observer;

/// Bytes of the segments in one buffer of a subflow (struct sk_buff), which holds pieces that follow each other: 65 535 with all
/// headers (sk_gso_max_size).
const LARGEST: u64 = 65_280;

/// What a connection of MPTCP has beside the buffers of its subflows, bytes (net.ipv4.tcp_wmem).
const LEAST: u64 = 4096;

impl Connection {
    /// Whether the application has come to have room, now that a subflow has heard something.
    #[inline]
    pub(crate) fn writes_on(&self, sender: &Sender) -> bool {
        self.una >= self.wakes_at
            || self.buffered && self.written < self.end && self.has_buffer(sender).is_some()
    }

    /// How many bytes TCP takes at once, if any: what is missing in the last buffer that waits, whatever memory is taken, or
    /// another buffer where some is free.
    fn has_buffer(&self, sender: &Sender) -> Option<u64> {
        let (most, last) = (self.buffer_size(), sender.queue.last_len());
        match last {
            1.. if last < most => Some(most - last),
            _ => sender.has_room().then_some(most),
        }
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
        let sender = &senders[which];
        let is_told = sender.rtt.srtt() < sender.profile.looks_us();
        let Some(timer) = self.push_timer.filter(|_| !is_told) else {
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
        if self.buffered {
            self.write_buffers(&mut senders[0]);
        }
        self.push_all(senders, env, which)
    }

    /// It writes into TCP's buffers.
    fn write_buffers(&mut self, sender: &mut Sender) {
        if sender.queue.buffer == 0 {
            sender.expand_buffer();
        }
        let most = self.buffer_size();
        while self.written < self.end {
            let Some(room) = self.has_buffer(sender) else {
                break;
            };
            let until = self.end.min(self.written + room);
            if room < most {
                sender.queue.extend(until);
            } else {
                sender.queue.push(self.written, until);
            }
            self.written = until;
        }
        self.waits |= self.written < self.end;
    }

    /// TCP's next segments, so many at most, if the receiver takes the whole of them.
    #[inline(always)]
    pub(crate) fn take_buffered(&mut self, sender: &mut Sender, most: u32) -> Option<Piece> {
        let (bytes, _) = sender.queue.first();
        let len = self.whole_segments(bytes, most);
        if len == 0 {
            return None;
        }
        self.nxt += len;
        sender
            .queue
            .take(len)
            .map(|(dsn, len)| Piece::new(dsn, len, self.mss))
    }

    /// TCP sends. Returns whether it has set its timer.
    #[inline(always)]
    pub(crate) fn send_buffered<O: Observer>(
        &mut self,
        sender: &mut Sender,
        env: &mut Env<O>,
    ) -> bool {
        self.send(sender, env, |connection, sender, most| {
            connection.take_buffered(sender, most)
        })
    }

    /// A subflow that has joined has a buffer.
    fn open_buffers(&mut self, senders: &mut [Sender]) {
        let new = |sender: &&mut Sender| sender.life == Life::Open && sender.queue.buffer == 0;
        let buffers = senders.iter_mut().filter(new).map(Sender::expand_buffer);
        self.buffers += buffers.sum::<u64>();
    }

    /// A subflow was closed: its buffer goes.
    pub(crate) fn close_buffer(&mut self, sender: &mut Sender) {
        self.buffers -= std::mem::take(&mut sender.queue).buffer;
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
        if self.buffered {
            sender.expand_buffer();
            self.waits = 3 * sender.memory() > 2 * sender.queue.buffer;
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
}
