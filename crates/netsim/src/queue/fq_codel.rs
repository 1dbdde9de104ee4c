//! FQ-CoDel: a CoDel queue for each flow, served in turn. Queues that were empty are served first, so a sparse flow does not wait
//! behind the others.
//!
//! RFC 8290: flows are hashed to queues (section 4.1), deficit round robin over new, then old queues (4.2), drops from the queue
//! with the most bytes at the limit (4.1.3), parameters of section 5.2. Departures: a queue is created for the first packet with
//! its hash; CoDel uses the backlog of its own queue, in Linux that of all queues.

use std::collections::VecDeque;

use crate::packet::{Packet, Payload};
use crate::queue::codel::{CoDel, Control};
use crate::queue::{Backlog, Ledger};
use crate::random::mix;
use crate::time::{Span, Time};

/// Number of hash values, and so of queues.
const FLOWS: usize = 1024;

/// Bytes of a queue's turn: an Ethernet frame.
const QUANTUM: u32 = 1514;

/// Limit of all queues together, packets.
const LIMIT: usize = 10_240;

/// At the limit, half of the longest queue is dropped, and no more packets than this.
const DROP_BATCH: usize = 64;

/// Hash without a queue.
const NONE: u16 = u16::MAX;

/// An FQ-CoDel queue's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCoDel {
    codel: CoDel,
    quantum: u32,
    limit: usize,
}

impl Default for FqCoDel {
    fn default() -> Self {
        Self::new()
    }
}

impl FqCoDel {
    /// Quantum 1514 bytes, 10 240 packets, ECN; CoDel with target 5 ms and interval 100 ms.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            codel: CoDel::new().ecn(),
            quantum: QUANTUM,
            limit: LIMIT,
        }
    }

    /// Sets CoDel's target and interval.
    #[must_use]
    pub const fn times(self, target: Span, interval: Span) -> Self {
        let codel = self.codel.times(target, interval);
        Self { codel, ..self }
    }

    /// Sets the bytes of a queue's turn.
    ///
    /// # Panics
    /// If it is zero: no packet would ever be sent.
    #[must_use]
    pub const fn quantum(self, quantum: u32) -> Self {
        assert!(quantum > 0, "a quantum is at least 1 byte");
        Self { quantum, ..self }
    }

    /// Sets the limit of all queues together, packets.
    #[must_use]
    pub const fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }
}

/// The queue of one flow, or of several with the same hash.
#[derive(Debug)]
struct Flow<P> {
    backlog: Backlog<P>,
    control: Control,
    /// Remaining bytes of its turn.
    deficit: i64,
    /// Whether it is in the list of new or old queues.
    listed: bool,
}

/// An FQ-CoDel queue with its packets.
#[derive(Debug)]
pub(crate) struct FqCoDelQueue<P> {
    fq: FqCoDel,
    /// Makes the hash depend on the seed.
    perturbation: u64,
    /// Index into `flows` for each hash, or `NONE`.
    places: Box<[u16]>,
    flows: Vec<Flow<P>>,
    new: VecDeque<u16>,
    old: VecDeque<u16>,
    len: usize,
}

impl<P: Payload> FqCoDelQueue<P> {
    pub(crate) fn new(fq: FqCoDel, perturbation: u64) -> Self {
        Self {
            fq,
            perturbation,
            places: vec![NONE; FLOWS].into(),
            flows: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            len: 0,
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn enqueue(&mut self, now: Time, packet: Packet<P>, ledger: &mut Ledger<P>) {
        let place = self.place(&packet.payload);
        let flow = &mut self.flows[usize::from(place)];
        flow.backlog.push(now, packet);
        if !flow.listed {
            flow.listed = true;
            flow.deficit = self.fq.quantum.into();
            self.new.push_back(place);
        }
        self.len += 1;
        if self.len > self.fq.limit {
            self.drop_from_longest(ledger);
        }
    }

    pub(crate) fn dequeue(&mut self, now: Time, ledger: &mut Ledger<P>) -> Option<Packet<P>> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let place = *list.front()?;
            let flow = &mut self.flows[usize::from(place)];
            if flow.deficit <= 0 {
                flow.deficit += i64::from(self.fq.quantum);
                list.pop_front();
                self.old.push_back(place);
                continue;
            }
            let before = flow.backlog.len();
            let packet = (flow.control).dequeue(&self.fq.codel, now, &mut flow.backlog, ledger);
            self.len -= before - flow.backlog.len();
            if let Some(packet) = packet {
                flow.deficit -= i64::from(packet.bytes);
                return Some(packet);
            }
            list.pop_front();
            if is_new {
                // Otherwise a flow could become new again at once and starve the old ones (section 4.2).
                self.old.push_back(place);
            } else {
                flow.listed = false;
            }
        }
    }

    /// Removes all packets, flow by flow.
    pub(crate) fn purge(&mut self, to: &mut VecDeque<Packet<P>>) {
        for flow in &mut self.flows {
            flow.backlog.purge(to);
        }
        self.len = 0;
    }

    /// Index of the packet's queue, which is created if necessary.
    fn place(&mut self, payload: &P) -> u16 {
        let hash = mix(payload.flow() ^ self.perturbation) % FLOWS as u64;
        let place = &mut self.places[hash as usize];
        if *place == NONE {
            *place = self.flows.len() as u16;
            self.flows.push(Flow {
                backlog: Backlog::new(),
                control: Control::default(),
                deficit: 0,
                listed: false,
            });
        }
        *place
    }

    fn drop_from_longest(&mut self, ledger: &mut Ledger<P>) {
        let Some(flow) = (self.flows.iter_mut()).max_by_key(|flow| flow.backlog.bytes()) else {
            return;
        };
        let drops = (flow.backlog.len() / 2).clamp(1, DROP_BATCH);
        for _ in 0..drops {
            if let Some((_, packet)) = flow.backlog.pop() {
                ledger.drop(packet);
                self.len -= 1;
            }
        }
    }
}

#[cfg(test)]
#[path = "fq_codel_tests.rs"]
mod tests;
