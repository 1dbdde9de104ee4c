//! The other link: a queue with a mind of its own, a rate after a trace, random loss, reordering,
//! outages.
//!
//! Its packets are in a queue until the transmitter takes them, and on the line until they arrive.
//! So it has events of two kinds, whichever is next: the transmitter is free while packets wait,
//! and a packet arrives at the far end. What its queue drops comes out as an event of that instant.
//! An outage is an event only if it finds packets that it loses; otherwise it is seen by the next
//! packet that comes.

use std::collections::VecDeque;

use crate::impairment::{Lateness, Losses, Outages};
use crate::link::transmitter::{Opportunities, Transmitter};
use crate::link::{Count, LinkCounters, LinkSpec, Sender};
use crate::packet::{Packet, Payload};
use crate::queue::droptail::DropTail;
use crate::queue::{Discipline, Ledger};
use crate::time::{Rate, Span, Time};

/// A link that pays for its own events.
#[derive(Debug)]
pub(crate) struct Managed<P> {
    losses: Option<Losses>,
    outages: Option<Outages>,
    queue: Discipline<P>,
    source: Source<P>,
    line: Line<P>,
    /// The packet being sent, if the link goes down before its last bit leaves.
    cut: Option<Packet<P>>,
    ledger: Ledger<P>,
    /// When something last happened here.
    now: Time,
    entered: Count,
    left: Count,
    /// What went onto the line.
    sent: Count,
    /// Packets that the queue did not let in, and packets lost at random or by an outage.
    refused: u64,
    lost: u64,
    /// The most packets that waited at once, and the integral of their number over time (ns).
    longest: usize,
    waited: u128,
}

/// What takes packets from the queue onto the line.
#[derive(Debug)]
enum Source<P> {
    /// Nothing: packets do not wait.
    Open,
    Rate(Transmitter),
    Trace(Opportunities<P>),
}

/// The packets on the line, by the time of their arrival; those of one time in order of departure.
#[derive(Debug)]
struct Line<P> {
    delay: Span,
    lateness: Option<Lateness>,
    packets: VecDeque<(Time, Packet<P>)>,
}

/// What an event of a link brings.
#[derive(Debug)]
pub(crate) enum Step<P> {
    /// A packet arrived at the far end.
    Arrived(Packet<P>),
    /// The queue dropped a packet, or an outage lost it.
    Lost(Packet<P>),
    /// Nothing that concerns others.
    Nothing,
}

impl<P: Payload> Managed<P> {
    pub(crate) fn new(spec: LinkSpec, seed: u64, stream: u64) -> Self {
        let discipline = |queue, rate| Discipline::new(queue, rate, seed, stream);
        let (source, queue) = match spec.sender {
            // The queue of an open line stays empty.
            Sender::Open => (
                Source::Open,
                discipline(DropTail::new(0).into(), Rate::from_bits_per_second(1)),
            ),
            Sender::Rate(rate, queue) => (
                Source::Rate(Transmitter::new(rate)),
                discipline(queue, rate),
            ),
            Sender::Trace(trace, queue) => {
                let queue = discipline(queue, trace.mean_rate());
                (Source::Trace(Opportunities::new(trace)), queue)
            }
        };
        Self {
            losses: spec.loss.map(|loss| Losses::new(loss, seed, stream)),
            outages: (!spec.outages.is_empty()).then(|| Outages::new(spec.outages)),
            queue,
            source,
            line: Line {
                delay: spec.delay,
                lateness: (spec.reorder).map(|reorder| Lateness::new(reorder, seed, stream)),
                packets: VecDeque::new(),
            },
            cut: None,
            ledger: Ledger::new(),
            now: Time::ZERO,
            entered: Count::default(),
            left: Count::default(),
            sent: Count::default(),
            refused: 0,
            lost: 0,
            longest: 0,
            waited: 0,
        }
    }

    /// A packet comes to the link; it is handed back when it is lost here and now.
    pub(crate) fn enter(&mut self, now: Time, packet: Packet<P>) -> Result<(), Packet<P>> {
        // What is due at this instant comes before the arrival.
        self.serve(now);
        self.entered.add(packet.bytes);
        let result = self.admit(now, packet);
        self.serve(now);
        self.longest = self.longest.max(self.queue.len());
        self.assert_conserved();
        result
    }

    fn admit(&mut self, now: Time, packet: Packet<P>) -> Result<(), Packet<P>> {
        let down = (self.outages.as_mut()).is_some_and(|outages| outages.is_down(now));
        if down || self.losses.as_mut().is_some_and(Losses::next) {
            self.lost += 1;
            return Err(packet);
        }
        let must_wait = match &mut self.source {
            Source::Open => {
                self.sent.add(packet.bytes);
                self.line.put(now, packet);
                return Ok(());
            }
            Source::Rate(transmitter) => {
                self.queue.len() > 0 || transmitter.ready(now) > Span::ZERO
            }
            // A packet waits for an opportunity, whether or not others do.
            Source::Trace(opportunities) => {
                opportunities.wanted(now);
                true
            }
        };
        let result = (self.queue).enqueue(now, packet, must_wait, &mut self.ledger);
        self.refused += u64::from(result.is_err());
        result
    }

    /// Does what is due at `now`, the time of [`Managed::next_event`], or a part of it.
    pub(crate) fn advance(&mut self, now: Time) -> Step<P> {
        self.serve(now);
        let step = if let Some(packet) = self.ledger.dropped.pop_front() {
            Step::Lost(packet)
        } else if let Some(packet) = self.line.take(now) {
            self.left.add(packet.bytes);
            Step::Arrived(packet)
        } else {
            Step::Nothing
        };
        self.assert_conserved();
        step
    }

    /// When [`Managed::advance`] next has something to do.
    pub(crate) fn next_event(&self) -> Option<Time> {
        if !self.ledger.dropped.is_empty() {
            return Some(self.now);
        }
        let source = match &self.source {
            Source::Rate(transmitter) if self.queue.len() > 0 => Some(transmitter.free_at()),
            Source::Trace(source) if source.is_sending() || self.queue.len() > 0 => source.next(),
            _ => None,
        };
        let line = self.line.packets.front().map(|(arrival, _)| *arrival);
        let outages = (self.outages.as_ref()).filter(|_| self.inside() > self.line.len());
        let outage = outages.and_then(Outages::begin);
        source.into_iter().chain(line).chain(outage).min()
    }

    /// Moves packets from the queue onto the line, as the source allows.
    fn serve(&mut self, now: Time) {
        self.waited += self.waiting_until(now);
        self.now = now;
        if (self.outages.as_mut()).is_some_and(|outages| outages.is_down(now)) {
            return self.cut_off();
        }
        match &mut self.source {
            Source::Open => {}
            Source::Rate(transmitter) => {
                while self.queue.len() > 0 && transmitter.free_at() <= now {
                    let Some(packet) = self.queue.dequeue(now, &mut self.ledger) else {
                        break;
                    };
                    self.sent.add(packet.bytes);
                    let departure = transmitter.send(packet.bytes);
                    let outage = self.outages.as_ref().and_then(Outages::begin);
                    if outage.is_some_and(|begin| begin < departure) {
                        self.cut = Some(packet);
                    } else {
                        self.line.put(departure, packet);
                    }
                }
            }
            Source::Trace(opportunities) => {
                let (queue, ledger) = (&mut self.queue, &mut self.ledger);
                while let Some(packet) = opportunities.send(now, || queue.dequeue(now, ledger)) {
                    self.sent.add(packet.bytes);
                    self.line.put(now, packet);
                }
            }
        }
    }

    /// What is to be added to `waited`, ns · packets: a year of a thousand packets is more than 64 bits.
    fn waiting_until(&self, now: Time) -> u128 {
        self.queue.len() as u128 * u128::from(now.since(self.now).as_nanos())
    }

    /// The link is down: what is not on the line is lost.
    fn cut_off(&mut self) {
        let lost = &mut self.ledger.dropped;
        let before = lost.len();
        match &mut self.source {
            Source::Open => {}
            Source::Rate(transmitter) => {
                if let Some(packet) = self.cut.take() {
                    transmitter.stop(self.now);
                    // What is sent in part is no use of the link.
                    self.sent.bytes -= u64::from(packet.bytes);
                    lost.push_back(packet);
                }
            }
            Source::Trace(opportunities) => lost.extend(opportunities.stop()),
        }
        self.queue.purge(self.now, lost);
        self.lost += (lost.len() - before) as u64;
    }

    pub(crate) fn counters(&self, now: Time) -> LinkCounters {
        let elapsed = now.since(Time::ZERO).as_secs_f64().max(1e-9);
        LinkCounters {
            packets_in: self.entered.packets,
            bytes_in: self.entered.bytes,
            packets_out: self.left.packets,
            bytes_out: self.left.bytes,
            drops: self.refused + self.ledger.drops,
            losses: self.lost,
            marks: self.ledger.marks,
            inside: self.inside(),
            queue_max: self.longest as u64,
            queue_mean: (self.waited + self.waiting_until(now)) as f64 / 1e9 / elapsed,
            utilisation: match &self.source {
                Source::Open => None,
                Source::Rate(transmitter) => {
                    Some(transmitter.busy_seconds(now, self.sent.bytes) / elapsed)
                }
                Source::Trace(opportunities) => Some(opportunities.used(now, self.sent.bytes)),
            },
        }
    }

    /// How long it takes to send so many bytes, where it has a rate.
    pub(crate) fn takes(&self, bytes: u32) -> Option<Span> {
        match &self.source {
            Source::Rate(transmitter) => Some(transmitter.takes(bytes)),
            Source::Open | Source::Trace(_) => None,
        }
    }

    /// Packets inside, and those dropped and not yet handed on.
    pub(crate) fn held(&self) -> u64 {
        self.inside() + self.ledger.dropped.len() as u64
    }

    /// Packets in the queue, being sent and on the line.
    fn inside(&self) -> u64 {
        let partial = matches!(&self.source, Source::Trace(source) if source.is_sending());
        let sending = partial || self.cut.is_some();
        self.queue.len() as u64 + self.line.len() + u64::from(sending)
    }

    /// What came in went out, was lost or is still inside.
    fn assert_conserved(&self) {
        debug_assert_eq!(
            self.entered.packets,
            self.left.packets + self.refused + self.ledger.drops + self.lost + self.inside()
        );
    }
}

impl<P> Line<P> {
    fn len(&self) -> u64 {
        self.packets.len() as u64
    }

    /// A packet whose last bit is sent at `departure`.
    fn put(&mut self, departure: Time, packet: Packet<P>) {
        let extra = self.lateness.as_mut().map_or(Span::ZERO, Lateness::next);
        let arrival = departure + self.delay + extra;
        // The end, unless a late packet is overtaken.
        let place = (self.packets).partition_point(|(other, _)| *other <= arrival);
        self.packets.insert(place, (arrival, packet));
    }

    /// The packet that arrives first, if it does by `now`.
    fn take(&mut self, now: Time) -> Option<Packet<P>> {
        let (arrival, _) = self.packets.front()?;
        (*arrival <= now)
            .then(|| self.packets.pop_front())?
            .map(|(_, packet)| packet)
    }
}

#[cfg(test)]
#[path = "managed_tests.rs"]
mod tests;
