//! A connection: one stream of data over one or more subflows (RFC 8684). Plain TCP is a connection with one subflow.
//!
//! The stream is cut into segments of one size, numbered from 0; a write that does not fill its last segment makes that
//! one short. Both ends of the connection are here.

use crate::endpoint::Env;
use crate::receive_window::Buffer;
use crate::reinjection::Retransmission;
use crate::segment::{Segment, widen};
use crate::sender::{Life, Sender};
use crate::stream::Stream;
use crate::trace::Observer;
use mpcc::Connection as Coupled;
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
    hands_out: bool,
    /// The subflow that was to be handed the next piece.
    pub(crate) due: usize,
    /// The application has written all before this one, and writes on when all before `wakes_at` is acknowledged; `u64::MAX`
    /// where it is not waiting.
    pub(crate) written: u64,
    pub(crate) wakes_at: u64,
    /// The first segment that is not acknowledged; the next that was never sent or handed to a subflow; the one after the
    /// last written.
    pub(crate) una: u64,
    pub(crate) nxt: u64,
    pub(crate) end: u64,
    /// The receiver takes segments before this one.
    pub(crate) edge: u64,
    /// Short segments not yet acknowledged, and what is missing in those that are.
    short: VecDeque<(u64, u16)>,
    missing: u64,
    /// Segments that a stalled or closed subflow has under way, and which one that is.
    pub(crate) again: VecDeque<(u64, u32)>,
    pub(crate) retransmission: Retransmission,
    /// Fires when the application has been woken by a join; none where that sends at once.
    pub(crate) push_timer: Option<u32>,
    /// The last time it was not the windows that it waited for, but data or the receiver.
    starved: bool,

    // The receiving end.
    received: Stream,
    /// Segments that have arrived, in order or not.
    came: u64,
    pub(crate) buffer: Buffer,
    /// Bytes that have arrived for the first time.
    #[cfg(any(debug_assertions, test))]
    pub(crate) arrived: u64,
}

/// More than anybody sends: for a stream without end.
const ENDLESS: u64 = u64::MAX / 2;

impl Connection {
    pub(crate) fn new(
        coupled: Coupled,
        first: u32,
        subflows: u32,
        mss: u16,
        buffer: Buffer,
        edge: u32,
        hands_out: bool,
    ) -> Self {
        Self {
            coupled,
            first,
            subflows,
            mss,
            joins_with_data: false,
            hands_out,
            due: 0,
            written: 0,
            wakes_at: u64::MAX,
            una: 0,
            nxt: 0,
            end: 0,
            edge: edge.into(),
            short: VecDeque::new(),
            missing: 0,
            again: VecDeque::new(),
            retransmission: Retransmission::default(),
            push_timer: None,
            starved: true,
            received: Stream::new(subflows),
            came: 0,
            buffer,
            #[cfg(any(debug_assertions, test))]
            arrived: 0,
        }
    }

    /// The application writes; `None`: without end.
    pub(crate) fn write(&mut self, bytes: Option<u64>) {
        let Some(bytes) = bytes else {
            self.end = ENDLESS;
            return;
        };
        let mss = u64::from(self.mss);
        self.end += bytes.div_ceil(mss);
        if bytes % mss > 0 {
            self.short.push_back((self.end - 1, (bytes % mss) as u16));
        }
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

    /// Bytes that the receiver has in order and has told of.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.una * u64::from(self.mss) - self.missing
    }

    #[inline]
    pub(crate) fn len(&self, data: u64) -> u16 {
        if self.short.is_empty() {
            return self.mss;
        }
        let found = self.short.iter().find(|(seq, _)| *seq == data);
        found.map_or(self.mss, |(_, len)| *len)
    }

    /// What an ACK says of the stream. Returns whether it is news.
    #[inline]
    pub(crate) fn on_ack(&mut self, segment: Segment) -> bool {
        let ack = widen(self.una, segment.data);
        self.edge = self.edge.max(ack + u64::from(segment.window));
        if ack <= self.una {
            return false;
        }
        self.una = ack;
        while let Some(&(_, len)) = self.short.front().filter(|(seq, _)| *seq < ack) {
            self.missing += u64::from(self.mss - len);
            self.short.pop_front();
        }
        true
    }

    /// A segment of the stream arrives, on whatever subflow.
    #[inline(always)]
    pub(crate) fn arrived(&mut self, subflow: u32, data: u32, len: u16) {
        let data = widen(self.received.next(), data);
        debug_assert!(
            data < self.una || len == self.len(data),
            "a segment keeps its size"
        );
        let new = self.received.insert((subflow - self.first) as usize, data);
        self.came += u64::from(new);
        #[cfg(any(debug_assertions, test))]
        {
            self.arrived += u64::from(len) * u64::from(new);
        }
    }

    /// Whether a segment is the last of what was written: it carries the push flag.
    #[inline]
    pub(crate) fn ends_a_write(&self, data: u32, len: u16) -> bool {
        len < self.mss || data.wrapping_add(1) == self.end as u32
    }

    /// The next segment that the receiver waits for.
    #[inline]
    pub(crate) fn received(&self) -> u64 {
        self.received.next()
    }

    /// Segments that wait for others.
    #[inline]
    pub(crate) fn held(&self) -> u64 {
        self.came - self.received.next()
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
        let limit = self.end.min(self.edge);
        let set = self.send(sender, env, |connection, _| {
            let data = connection.nxt;
            connection.nxt += u64::from(data < limit);
            (data < limit).then_some(data)
        });
        self.starved = self.nxt >= limit;
        set
    }

    /// Sends what is `next` for a subflow as far as its window goes. Returns whether it has set its timer.
    #[inline(always)]
    pub(crate) fn send<O: Observer>(
        &mut self,
        sender: &mut Sender,
        env: &mut Env<O>,
        next: impl Fn(&mut Self, &mut Sender) -> Option<u64>,
    ) -> bool {
        let (before, from) = (sender.out(), sender.nxt);
        if sender.life == Life::Open {
            let mut space = sender.space();
            while space > 0 {
                let Some(data) = next(self, sender) else {
                    break;
                };
                let len = self.len(data);
                sender.send_new(&mut self.coupled, env, data, len);
                // The first one may have lowered the window: what was taken from it is paid when it starts to send.
                space = if before == 0 {
                    sender.space()
                } else {
                    space - 1
                };
            }
        }
        if sender.nxt > from {
            let all = sender.queue.is_empty() && self.nxt >= self.end;
            return sender.sent(env, before, all);
        }
        if sender.flight() >= sender.tcp.cwnd {
            sender.validate(env, false);
        }
        false
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
            let Some(data) = self.next(senders, best) else {
                self.starved = true;
                return set;
            };
            let all = self.nxt >= self.end;
            set |= self.send_one(&mut senders[best], env, data, all) && best == which;
        }
    }

    /// A subflow that has room sends a segment. `all`: nothing more is written. Returns whether it has set its timer.
    pub(crate) fn send_one<O: Observer>(
        &mut self,
        sender: &mut Sender,
        env: &mut Env<O>,
        data: u64,
        all: bool,
    ) -> bool {
        let (before, len) = (sender.out(), self.len(data));
        sender.send_new(&mut self.coupled, env, data, len);
        sender.sent(env, before, all)
    }

    /// The open subflow with room and the lowest smoothed RTT.
    pub(crate) fn best(senders: &[Sender]) -> Option<usize> {
        (0..senders.len())
            .filter(|&i| senders[i].life == Life::Open && senders[i].space() > 0)
            .min_by_key(|&i| (senders[i].rtt.srtt8, i))
    }

    /// The next segment for this subflow: what is stuck on another one first.
    fn next(&mut self, senders: &[Sender], on: usize) -> Option<u64> {
        let again = self.next_again(senders, on);
        if again.is_none() && self.nxt < self.end.min(self.edge) {
            self.nxt += 1;
            return Some(self.nxt - 1);
        }
        again
    }

    /// The next new segment of a subflow that the receiver takes, for a probe.
    pub(crate) fn take_new(&mut self, sender: &mut Sender) -> Option<(u64, u16)> {
        let data = if self.hands_out {
            sender.queue.pop()?
        } else if self.nxt < self.end.min(self.edge) {
            self.nxt += 1;
            self.nxt - 1
        } else {
            return None;
        };
        Some((data, self.len(data)))
    }

    /// See [`crate::invariants`].
    #[cfg(any(debug_assertions, test))]
    pub(crate) fn check(&self) {
        assert!(self.una <= self.received.next(), "acknowledged, not there");
        assert!(self.una <= self.nxt && self.nxt <= self.end);
        assert!(self.nxt <= self.edge, "beyond the receive window");
        assert!(self.received.next() <= self.nxt, "arrived, never sent");
        if self.received.next() == self.end {
            let bytes = self.end * u64::from(self.mss) - self.missing;
            let open: u64 = self.short.iter().map(|s| u64::from(self.mss - s.1)).sum();
            assert_eq!(self.arrived, bytes - open, "each byte once");
        }
    }
}
