//! Queues: admission, order, drops and marks of the packets that wait for a link.
//!
//! A FIFO link of constant rate computes its DropTail queue ([`droptail::Occupancy`]). A general link has a [`Discipline`], and
//! dequeues the next packet whenever its transmitter is free.

pub(crate) mod codel;
pub(crate) mod droptail;
pub(crate) mod fq_codel;
pub(crate) mod pie;
pub(crate) mod policer;
pub(crate) mod red;

use std::collections::VecDeque;

use crate::packet::{Packet, Payload};
use crate::random::{Purpose, RandomStream};
use crate::time::{Rate, Time};

use codel::{CoDel, CoDelQueue};
use droptail::{DropTail, DropTailQueue};
use fq_codel::{FqCoDel, FqCoDelQueue};
use pie::{Pie, PieQueue};
use policer::{Policer, PolicerQueue};
use red::{Red, RedQueue};

/// Specification of a link's queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Queue {
    /// First in, first out, of limited length.
    DropTail(DropTail),
    /// Random early detection.
    Red(Red),
    /// Controlled delay.
    CoDel(CoDel),
    /// Fair queuing with controlled delay.
    FqCoDel(FqCoDel),
    /// Proportional integral controller, enhanced.
    Pie(Pie),
    /// A token bucket.
    Policer(Policer),
}

impl From<DropTail> for Queue {
    fn from(queue: DropTail) -> Self {
        Self::DropTail(queue)
    }
}

impl From<Red> for Queue {
    fn from(queue: Red) -> Self {
        Self::Red(queue)
    }
}

impl From<CoDel> for Queue {
    fn from(queue: CoDel) -> Self {
        Self::CoDel(queue)
    }
}

impl From<FqCoDel> for Queue {
    fn from(queue: FqCoDel) -> Self {
        Self::FqCoDel(queue)
    }
}

impl From<Pie> for Queue {
    fn from(queue: Pie) -> Self {
        Self::Pie(queue)
    }
}

impl From<Policer> for Queue {
    fn from(queue: Policer) -> Self {
        Self::Policer(queue)
    }
}

/// Packets in order of arrival, with their arrival times.
#[derive(Debug)]
pub(crate) struct Backlog<P> {
    packets: VecDeque<(Time, Packet<P>)>,
    bytes: u64,
}

/// Drops and marks of packets that a queue has admitted.
#[derive(Debug)]
pub(crate) struct Ledger<P> {
    /// Packets that were dropped, or lost by an outage, and that the link has not returned yet.
    pub(crate) dropped: VecDeque<Packet<P>>,
    /// Number of drops.
    pub(crate) drops: u64,
    /// Number of marks.
    pub(crate) marks: u64,
}

/// A queue with its packets.
#[derive(Debug)]
pub(crate) enum Discipline<P> {
    DropTail(DropTailQueue<P>),
    Red(RedQueue<P>),
    CoDel(CoDelQueue<P>),
    FqCoDel(FqCoDelQueue<P>),
    Pie(PieQueue<P>),
    Policer(PolicerQueue<P>),
}

impl<P: Payload> Discipline<P> {
    /// A queue in front of a transmitter of `rate`.
    pub(crate) fn new(queue: Queue, rate: Rate, seed: u64, stream: u64) -> Self {
        let random = || RandomStream::new(seed, stream, Purpose::Queue);
        match queue {
            Queue::DropTail(queue) => Self::DropTail(DropTailQueue::new(queue)),
            Queue::Red(queue) => Self::Red(RedQueue::new(queue, rate, random())),
            Queue::CoDel(queue) => Self::CoDel(CoDelQueue::new(queue)),
            Queue::FqCoDel(queue) => Self::FqCoDel(FqCoDelQueue::new(queue, random().number())),
            Queue::Pie(queue) => Self::Pie(PieQueue::new(queue, random())),
            Queue::Policer(queue) => Self::Policer(PolicerQueue::new(queue)),
        }
    }

    /// Enqueues a packet; `Err` returns a packet that the queue refuses. `must_wait`: another packet waits or is in transmission.
    /// Otherwise no limit applies, except for that of a policer.
    pub(crate) fn enqueue(
        &mut self,
        now: Time,
        packet: Packet<P>,
        must_wait: bool,
        ledger: &mut Ledger<P>,
    ) -> Result<(), Packet<P>> {
        match self {
            Self::DropTail(queue) => queue.enqueue(now, packet, must_wait, ledger),
            Self::Red(queue) => queue.enqueue(now, packet, must_wait, ledger),
            Self::CoDel(queue) => queue.enqueue(now, packet, must_wait),
            Self::FqCoDel(queue) => {
                queue.enqueue(now, packet, ledger);
                Ok(())
            }
            Self::Pie(queue) => queue.enqueue(now, packet, must_wait, ledger),
            Self::Policer(queue) => queue.enqueue(now, packet),
        }
    }

    /// Removes the next packet to transmit, if any.
    pub(crate) fn dequeue(&mut self, now: Time, ledger: &mut Ledger<P>) -> Option<Packet<P>> {
        match self {
            Self::DropTail(queue) => queue.backlog.pop().map(|(_, packet)| packet),
            Self::Policer(queue) => queue.backlog.pop().map(|(_, packet)| packet),
            Self::Red(queue) => queue.dequeue(now),
            Self::CoDel(queue) => queue.dequeue(now, ledger),
            Self::FqCoDel(queue) => queue.dequeue(now, ledger),
            Self::Pie(queue) => queue.dequeue(now),
        }
    }

    /// Removes all packets, without drops by the queue's algorithm.
    pub(crate) fn purge(&mut self, now: Time, to: &mut VecDeque<Packet<P>>) {
        let backlog = match self {
            Self::DropTail(queue) => &mut queue.backlog,
            Self::Policer(queue) => &mut queue.backlog,
            Self::Red(queue) => {
                to.extend(std::iter::from_fn(|| queue.dequeue(now)));
                return;
            }
            Self::CoDel(queue) => &mut queue.backlog,
            Self::FqCoDel(queue) => return queue.purge(to),
            Self::Pie(queue) => {
                to.extend(std::iter::from_fn(|| queue.dequeue(now)));
                return;
            }
        };
        backlog.purge(to);
    }

    /// Number of packets in the queue.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::DropTail(queue) => queue.backlog.len(),
            Self::Policer(queue) => queue.backlog.len(),
            Self::Red(queue) => queue.backlog.len(),
            Self::CoDel(queue) => queue.backlog.len(),
            Self::FqCoDel(queue) => queue.len(),
            Self::Pie(queue) => queue.backlog.len(),
        }
    }
}

impl<P> Backlog<P> {
    pub(crate) const fn new() -> Self {
        Self {
            packets: VecDeque::new(),
            bytes: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }

    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn push(&mut self, now: Time, packet: Packet<P>) {
        self.bytes += u64::from(packet.bytes);
        self.packets.push_back((now, packet));
    }

    pub(crate) fn pop(&mut self) -> Option<(Time, Packet<P>)> {
        let head = self.packets.pop_front()?;
        self.bytes -= u64::from(head.1.bytes);
        Some(head)
    }

    pub(crate) fn purge(&mut self, to: &mut VecDeque<Packet<P>>) {
        self.bytes = 0;
        to.extend(self.packets.drain(..).map(|(_, packet)| packet));
    }
}

impl<P: Payload> Ledger<P> {
    pub(crate) const fn new() -> Self {
        Self {
            dropped: VecDeque::new(),
            drops: 0,
            marks: 0,
        }
    }

    pub(crate) fn drop(&mut self, packet: Packet<P>) {
        self.drops += 1;
        self.dropped.push_back(packet);
    }

    /// Marks the packet if the queue supports ECN (`ecn`) and the packet is ECN-capable. Returns whether it is marked.
    pub(crate) fn mark(&mut self, ecn: bool, packet: &mut Packet<P>) -> bool {
        let marked = ecn && packet.payload.mark();
        self.marks += u64::from(marked);
        marked
    }
}

/// Payloads for the tests of queues.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// A packet of some flow that may be ECN-capable.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) struct Segment {
        pub(crate) flow: u64,
        pub(crate) number: u64,
        pub(crate) capable: bool,
        pub(crate) marked: bool,
    }

    impl Payload for Segment {
        fn flow(&self) -> u64 {
            self.flow
        }

        fn mark(&mut self) -> bool {
            self.marked |= self.capable;
            self.capable
        }
    }

    /// Packet `number` of `flow`, not ECN-capable.
    pub(crate) fn segment(flow: u64, number: u64, bytes: u32) -> Packet<Segment> {
        let payload = Segment {
            flow,
            number,
            ..Segment::default()
        };
        Packet {
            bytes,
            next: 0,
            payload,
        }
    }
}
