//! A connection: one stream of data over one or more subflows (RFC 8684). Plain TCP is a connection with one subflow.
//!
//! The stream counts bytes. What a subflow has to send of it is cut into segments as it is sent. Both ends of the
//! connection are here.

use crate::endpoint::Env;
use crate::packet::Ack;
use crate::packet::sequence::widen;
use crate::receive_window::Buffer;
use crate::reinjection::Retransmission;
use crate::scoreboard::flag;
use crate::sender::{Life, Piece, Sender};
use crate::stream::Stream;
use crate::trace::Observer;
use mpcc::Connection as Coupled;
use netsim::Span;
use std::collections::VecDeque;
use std::ops::Range;

/// A connection.
pub(crate) struct Connection {
    pub(crate) coupled: Coupled,
    /// Its subflows are these of the simulation's.
    pub(crate) first: u32,
    pub(crate) subflows: u32,
    /// Bytes of payload in a full segment.
    pub(crate) mss: u16,
    /// The client waits for the first data to join.
    pub(crate) joins_with_data: bool,

    // The sending end.
    /// Parts of the stream wait at the subflows (`scheduler.rs`), and not for the first window that opens.
    pub(crate) hands_out: bool,
    /// What was written waits in buffers of the only subflow: TCP.
    pub(crate) buffered: bool,
    /// The subflow that was to be handed the next piece, and whether it had no room for it.
    pub(crate) due: usize,
    pub(crate) waits_for_room: bool,
    /// The application has written all before this one, and writes on when all before `wakes_at` is acknowledged; `u64::MAX`
    /// where it is not waiting.
    pub(crate) written: u64,
    pub(crate) wakes_at: u64,
    /// It has found them full since a third of them was free (SOCK_NOSPACE).
    pub(crate) waits: bool,
    /// Bytes of all subflows' send buffers.
    pub(crate) buffers: u64,
    /// The first byte that is not acknowledged; the next that was never sent or handed to a subflow; the one after the last
    /// written.
    pub(crate) una: u64,
    pub(crate) nxt: u64,
    /// The next that is handed out: `nxt`, or before it, where it is handed out again.
    pub(crate) handed: u64,
    pub(crate) end: u64,
    /// The receiver takes bytes before this one, and so many at most until now.
    pub(crate) edge: u64,
    pub(crate) widest: u64,
    /// Segments that a stalled or closed subflow has under way.
    pub(crate) again: VecDeque<Stuck>,
    pub(crate) retransmission: Retransmission,
    /// Fires when the application writes that has come to have room, or that a join has woken; none where it does so at once.
    pub(crate) push_timer: Option<u32>,
    /// See [`crate::ConnectionSpec`].
    pub(crate) phase: Span,
    /// The last time it was not the windows that it waited for, but data or the receiver.
    starved: bool,

    // The receiving end.
    received: Stream,
    /// Bytes that have arrived, in order or not; those that wait at a subflow for one that is missing there; and what the
    /// application has read, which it does when what has come was acknowledged.
    came: u64,
    pub(crate) apart: u64,
    pub(crate) read: u64,
    /// A subflow's ACK waits until the application has read.
    pub(crate) withheld: bool,
    pub(crate) buffer: Buffer,
}

/// A segment that waits for another subflow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stuck {
    /// Its first byte of the stream, and how many.
    pub(crate) data: u64,
    pub(crate) len: u16,
    /// Where it is under way.
    pub(crate) on: u32,
}

/// No subflow: that what it does is upon no ACK.
pub(crate) const NONE: usize = usize::MAX;

/// More than anybody sends: for a stream without end.
const ENDLESS: u64 = u64::MAX / 2;

impl Connection {
    pub(crate) fn new(
        coupled: Coupled,
        first: u32,
        subflows: u32,
        mss: u16,
        buffer: Buffer,
        edge: u64,
        hands_out: bool,
    ) -> Self {
        Self {
            coupled,
            first,
            subflows,
            mss,
            joins_with_data: false,
            hands_out,
            buffered: false,
            due: 0,
            waits_for_room: false,
            written: 0,
            wakes_at: u64::MAX,
            waits: false,
            buffers: 0,
            una: 0,
            nxt: 0,
            handed: 0,
            end: 0,
            edge,
            widest: edge,
            again: VecDeque::new(),
            retransmission: Retransmission::default(),
            push_timer: None,
            phase: Span::ZERO,
            starved: true,
            received: Stream::new(subflows),
            came: 0,
            apart: 0,
            read: 0,
            withheld: false,
            buffer,
        }
    }

    /// The application writes; `None`: without end.
    pub(crate) fn write(&mut self, bytes: Option<u64>) {
        self.end = bytes.map_or(ENDLESS, |bytes| self.end + bytes);
    }

    /// Its subflows, by their numbers in the simulation.
    #[inline]
    pub(crate) fn range(&self) -> Range<usize> {
        self.first as usize..(self.first + self.subflows) as usize
    }

    /// All that was written is acknowledged.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.una == self.end
    }

    /// What an ACK says of the stream. Returns whether it is news.
    #[inline]
    pub(crate) fn on_ack(&mut self, segment: Ack) -> bool {
        let ack = widen(self.una, segment.data_ack);
        self.edge = self.edge.max(ack + u64::from(segment.window));
        self.widest = self.widest.max(segment.window.into());
        if ack <= self.una {
            return false;
        }
        self.una = ack;
        if self.waits && !self.buffered {
            self.waits = !self.is_writeable();
        }
        true
    }

    /// A segment of the stream arrives, on whatever subflow.
    #[inline(always)]
    pub(crate) fn arrived(&mut self, subflow: u32, data: u32, len: u16) {
        let data = widen(self.received.next(), data);
        self.came += (self.received).insert((subflow - self.first) as usize, data, len);
    }

    /// Whether a piece ends at the end of a write.
    #[inline]
    fn ends_a_write(&self, piece: &Piece) -> bool {
        piece.dsn + piece.len == self.end
            || piece.len < u64::from(piece.count) * u64::from(self.mss)
    }

    /// The next byte that the receiver waits for.
    #[inline]
    pub(crate) fn received(&self) -> u64 {
        self.received.next()
    }

    /// Bytes in the receive buffer, and once the application has read what it can. MPTCP's has what has left its subflow's.
    #[inline]
    pub(crate) fn held(&self) -> (u64, u64) {
        let apart = if self.buffer.mptcp { self.apart } else { 0 };
        let held = (self.came - self.read).saturating_sub(apart);
        (held, held.saturating_sub(self.received.next() - self.read))
    }

    /// Sends what the windows allow. `which`: the subflow whose window has just opened. Returns whether that one has set
    /// its timer.
    pub(crate) fn push<O: Observer>(
        &mut self,
        senders: &mut [Sender],
        env: &mut Env<O>,
        which: usize,
    ) -> bool {
        if self.wants_all(&senders[which], || &senders[self.due]) {
            self.push_all(senders, env, which)
        } else {
            self.go_on(&mut senders[which], env)
        }
    }

    /// Whether other subflows than this one, whose window has just opened, may have something to send.
    #[inline(always)]
    pub(crate) fn wants_all<'a>(&self, sender: &Sender, due: impl FnOnce() -> &'a Sender) -> bool {
        !self.again.is_empty()
            || if self.hands_out {
                self.hands_more(sender, due)
            } else if self.buffered {
                false
            } else {
                self.starved
            }
    }

    /// All subflows send what their windows allow. Returns whether `which` has set its timer.
    #[cold]
    pub(crate) fn push_all<O: Observer>(
        &mut self,
        senders: &mut [Sender],
        env: &mut Env<O>,
        which: usize,
    ) -> bool {
        if self.hands_out {
            self.hand_out(senders, env, which)
        } else if self.buffered {
            self.send_buffered(&mut senders[0], env)
        } else {
            self.push_anywhere(senders, env, which)
        }
    }

    /// A subflow sends what its window allows; those of the others are full. Returns whether it has set its timer.
    #[inline(always)]
    pub(crate) fn go_on<O: Observer>(&mut self, sender: &mut Sender, env: &mut Env<O>) -> bool {
        if self.hands_out {
            return self.send_handed(sender, env);
        }
        if self.buffered {
            return self.send_buffered(sender, env);
        }
        let set = self.send(sender, env, |connection, _, most| connection.cut(most));
        self.starved = !self.has_more();
        set
    }

    /// Bytes of the whole segments that fit into the receive window (tcp_snd_wnd_test). `bytes`: unsent bytes. `most`: limit, segments.
    #[inline(always)]
    pub(crate) fn whole_segments(&self, bytes: u64, most: u32) -> u64 {
        let mss = u64::from(self.mss);
        let bytes = bytes.min(u64::from(most) * mss);
        let room = self.edge.saturating_sub(self.nxt);
        if bytes <= room {
            return bytes;
        }
        room - room % mss
    }

    /// Whether there is a segment that was never sent, and the receiver takes the whole of it.
    #[inline(always)]
    fn has_more(&self) -> bool {
        self.whole_segments(self.end - self.nxt, 1) > 0
    }

    /// Takes at most `most` unsent segments of the stream.
    #[inline(always)]
    fn cut(&mut self, most: u32) -> Option<Piece> {
        let len = self.whole_segments(self.end - self.nxt, most);
        let dsn = self.nxt;
        self.nxt += len;
        (len > 0).then(|| Piece::new(dsn, len, self.mss))
    }

    /// Whether there is a segment for this subflow that the receiver takes.
    fn can_send(&self, sender: &Sender) -> bool {
        let (bytes, _) = self.first(sender);
        bytes > 0 && (self.hands_out || self.whole_segments(bytes, 1) > 0)
    }

    /// Sends what `take` gives for a subflow as far as its window goes. Returns whether it has set its timer.
    #[inline(always)]
    pub(crate) fn send<O: Observer>(
        &mut self,
        sender: &mut Sender,
        env: &mut Env<O>,
        take: impl Fn(&mut Self, &mut Sender, u32) -> Option<Piece>,
    ) -> bool {
        let (before, from) = (sender.out(), sender.scoreboard.nxt());
        let has_buffers = self.has_buffers();
        // It is the window that holds it back, though there is some room.
        let mut waits = false;
        if sender.life == Life::Open {
            let mut starts = sender.starts_sending();
            if starts && self.can_send(sender) {
                sender.restart_after_idle(&mut self.coupled, env);
            }
            let mut space = sender.space();
            while space > 0 {
                if self.buffered {
                    sender.grow_buffer(space);
                }
                let (bytes, last) = self.first(sender);
                let burst = sender.burst(env.now, space, bytes, last);
                if burst == 0 {
                    waits = !sender.takes(space, bytes);
                    break;
                }
                let maps = self.hands_out && sender.queue.at_an_end();
                let Some(mut piece) = take(self, sender, burst) else {
                    break;
                };
                let count = piece.count;
                // Several at once end with the push flag (__tcp_transmit_skb), and so does a buffer.
                let buffer_ends = has_buffers && sender.queue.at_an_end();
                let burst_ends = buffer_ends || count == burst && count > 1;
                let pushed = sender.profile.bursts && burst_ends || self.ends_a_write(&piece);
                piece.flags = (u8::from(pushed) * flag::PUSH) | (u8::from(maps) * flag::MAPPING);
                sender.send_new(&mut self.coupled, env, piece);
                // The first may have lowered the window: what was taken from it is paid when it starts to send.
                space = match starts {
                    true => sender.space(),
                    false => space - count,
                };
                starts = false;
                if count < burst && !buffer_ends {
                    break;
                }
                if space > 0 && has_buffers {
                    self.has_room_for_more(sender);
                }
            }
            if space > 0 && has_buffers {
                self.has_room_for_more(sender);
            }
        }
        if sender.scoreboard.nxt() > from {
            let all = sender.queue.is_empty() && self.nxt >= self.end;
            return sender.sent(env, before, all, waits);
        }
        if waits || sender.flight() >= sender.tcp.cwnd {
            sender.validate(env, false, waits);
        }
        false
    }

    /// Whether what is to be sent waits in the subflows' own buffers.
    #[inline(always)]
    pub(crate) fn has_buffers(&self) -> bool {
        self.hands_out || self.buffered
    }

    /// Bytes that wait for this subflow in one buffer, and whether none wait behind them.
    #[inline(always)]
    fn first(&self, sender: &Sender) -> (u64, bool) {
        if self.has_buffers() {
            sender.queue.first()
        } else {
            (self.end - self.nxt, true)
        }
    }

    /// Any subflow may have room: the one with the lowest RTT goes first.
    fn push_anywhere<O: Observer>(
        &mut self,
        senders: &mut [Sender],
        env: &mut Env<O>,
        which: usize,
    ) -> bool {
        let mut set = false;
        loop {
            let Some(best) = Self::best(senders) else {
                self.starved = false;
                return set;
            };
            let Some(piece) = self.next(senders, best) else {
                self.starved = true;
                return set;
            };
            let all = self.nxt >= self.end;
            set |= self.send_one(&mut senders[best], env, piece, all) && best == which;
        }
    }

    /// A subflow that has room sends a segment. `all`: nothing more is written. Returns whether it has set its timer.
    pub(crate) fn send_one<O: Observer>(
        &mut self,
        sender: &mut Sender,
        env: &mut Env<O>,
        mut piece: Piece,
        all: bool,
    ) -> bool {
        let before = sender.out();
        piece.flags = u8::from(self.ends_a_write(&piece)) * flag::PUSH;
        if sender.starts_sending() {
            sender.restart_after_idle(&mut self.coupled, env);
        }
        sender.send_new(&mut self.coupled, env, piece);
        sender.sent(env, before, all, false)
    }

    /// The open subflow with room and the lowest smoothed RTT.
    pub(crate) fn best(senders: &[Sender]) -> Option<usize> {
        (0..senders.len())
            .filter(|&i| senders[i].life == Life::Open && senders[i].space() > 0)
            .min_by_key(|&i| (senders[i].rtt.srtt8, i))
    }

    /// The next segment for this subflow: what is stuck on another one first.
    fn next(&mut self, senders: &[Sender], on: usize) -> Option<Piece> {
        self.next_again(senders, on).or_else(|| self.cut(1))
    }

    /// The next new segment of a subflow that the receiver takes, for a probe.
    pub(crate) fn take_new(&mut self, sender: &mut Sender) -> Option<Piece> {
        let maps = self.hands_out && sender.queue.at_an_end();
        let piece = if self.hands_out {
            self.take_handed(sender, 1)
        } else if self.buffered {
            self.take_buffered(sender, 1)
        } else {
            self.cut(1)
        };
        let flags = u8::from(maps) * flag::MAPPING;
        piece.map(|piece| Piece { flags, ..piece })
    }

    /// See [`crate::invariants`].
    #[cfg(any(debug_assertions, test))]
    pub(crate) fn check(&self) {
        assert!(self.una <= self.received.next(), "acknowledged, not there");
        assert!(self.una <= self.nxt && self.nxt <= self.end);
        assert!(self.nxt <= self.edge, "beyond the receive window");
        assert!(self.received.next() <= self.nxt, "arrived, never sent");
        if self.received.next() == self.end {
            assert_eq!(self.came, self.end, "each byte once");
        }
    }
}
