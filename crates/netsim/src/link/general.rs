//! The general link: any queue discipline, a constant rate or a trace, random loss, reordering, jitter, outages, detours.
//!
//! A packet is in the queue until the transmitter takes it, and on the line until it arrives. So the link has two kinds of events:
//! the transmitter becomes free while packets wait, and a packet arrives at the far end. A drop by the queue is another event of
//! the same instant. The start of an outage is an event only if packets are lost by it; otherwise the next packet that reaches the
//! link detects the outage.

use std::collections::VecDeque;

use crate::impairment::{Detour, Jittering, Losses, Outages, Reordering};
use crate::link::transmitter::{Opportunities, Transmitter};
use crate::link::{LinkCounters, LinkSpec, Sender};
use crate::packet::{Count, Packet, Payload};
use crate::queue::droptail::DropTail;
use crate::queue::{Discipline, Ledger};
use crate::time::{Rate, Span, Time};

/// The general link.
#[derive(Debug)]
pub(crate) struct General<P> {
    losses: Option<Losses>,
    outages: Option<Outages>,
    queue: Discipline<P>,
    source: Source<P>,
    line: Line<P>,
    /// The packet being sent, if the link goes down before its last bit leaves.
    cut: Option<Packet<P>>,
    ledger: Ledger<P>,
    /// Time of the last event.
    now: Time,
    entered: Count,
    departed: Count,
    /// Packets sent onto the line.
    sent: Count,
    /// Packets that the queue refused.
    refused: u64,
    /// Packets lost at random or by an outage.
    lost: u64,
    /// Largest number of packets in the queue.
    longest: usize,
    /// Integral of the number of packets in the queue over time, ns.
    waited: u128,
}

/// The transmitter between queue and line.
#[derive(Debug)]
enum Source<P> {
    /// None: packets do not wait.
    Open,
    Rate(Transmitter),
    Trace(Opportunities<P>),
}

/// The packets on the line, by arrival time; packets of one arrival time in order of departure.
#[derive(Debug)]
struct Line<P> {
    delay: Span,
    reordering: Option<Reordering>,
    jittering: Option<Jittering>,
    detour: Option<Detour>,
    packets: VecDeque<(Time, Packet<P>)>,
}

/// Result of an event of a link.
#[derive(Debug)]
pub(crate) enum Step<P> {
    /// A packet arrived at the far end.
    Arrived(Packet<P>),
    /// The queue dropped a packet, or an outage lost it.
    Lost(Packet<P>),
    /// The event concerns this link alone.
    Nothing,
}

impl<P: Payload> General<P> {
    pub(crate) fn new(spec: LinkSpec, seed: u64, stream: u64) -> Self {
        let discipline = |queue, rate| Discipline::new(queue, rate, seed, stream);
        let (source, queue) = match spec.sender {
            // Without a transmitter the queue stays empty.
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
                reordering: (spec.reorder).map(|reorder| Reordering::new(reorder, seed, stream)),
                jittering: (spec.jitter).map(|jitter| Jittering::new(jitter, seed, stream)),
                detour: spec.detour,
                packets: VecDeque::new(),
            },
            cut: None,
            ledger: Ledger::new(),
            now: Time::ZERO,
            entered: Count::default(),
            departed: Count::default(),
            sent: Count::default(),
            refused: 0,
            lost: 0,
            longest: 0,
            waited: 0,
        }
    }

    /// Takes a packet that reaches the link. Returns the packet if it is lost.
    pub(crate) fn enter(&mut self, now: Time, packet: Packet<P>) -> Result<(), Packet<P>> {
        // Transmissions of this instant precede the arrival.
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
            // A packet waits for an opportunity even if the queue is empty.
            Source::Trace(opportunities) => {
                opportunities.request(now);
                true
            }
        };
        let result = (self.queue).enqueue(now, packet, must_wait, &mut self.ledger);
        self.refused += u64::from(result.is_err());
        result
    }

    /// Processes one event of `now`, the time of [`General::next_event`].
    pub(crate) fn advance(&mut self, now: Time) -> Step<P> {
        self.serve(now);
        let step = if let Some(packet) = self.ledger.dropped.pop_front() {
            Step::Lost(packet)
        } else if let Some(packet) = self.line.take(now) {
            self.departed.add(packet.bytes);
            Step::Arrived(packet)
        } else {
            Step::Nothing
        };
        self.assert_conserved();
        step
    }

    /// Time of the next event.
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

    /// Moves packets from the queue onto the line, as the transmitter permits.
    fn serve(&mut self, now: Time) {
        self.waited += self.waiting_until(now);
        self.now = now;
        if (self.outages.as_mut()).is_some_and(|outages| outages.is_down(now)) {
            return self.go_down();
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

    /// Increase of `waited` from the last event until `now`, ns. A thousand packets in a year exceed 64 bits.
    fn waiting_until(&self, now: Time) -> u128 {
        self.queue.len() as u128 * u128::from(now.since(self.now).as_nanos())
    }

    /// Loses the packets in the queue and in transmission.
    fn go_down(&mut self) {
        let lost = &mut self.ledger.dropped;
        let before = lost.len();
        match &mut self.source {
            Source::Open => {}
            Source::Rate(transmitter) => {
                if let Some(packet) = self.cut.take() {
                    transmitter.stop(self.now);
                    // A partial transmission does not count as utilisation.
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
            packets_out: self.departed.packets,
            bytes_out: self.departed.bytes,
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
                Source::Trace(opportunities) => Some(opportunities.utilisation(now, &self.sent)),
            },
        }
    }

    /// Transmission time of so many bytes; `None` without a constant rate.
    pub(crate) fn transmission_time(&self, bytes: u32) -> Option<Span> {
        match &self.source {
            Source::Rate(transmitter) => Some(transmitter.transmission_time(bytes)),
            Source::Open | Source::Trace(_) => None,
        }
    }

    /// Number of packets inside, and of dropped packets that [`General::advance`] has not returned yet.
    pub(crate) fn held(&self) -> u64 {
        self.inside() + self.ledger.dropped.len() as u64
    }

    /// Number of packets in the queue, in transmission and on the line.
    fn inside(&self) -> u64 {
        let partial = matches!(&self.source, Source::Trace(source) if source.is_sending());
        let sending = partial || self.cut.is_some();
        self.queue.len() as u64 + self.line.len() + u64::from(sending)
    }

    /// Asserts that each packet that entered has departed, is lost or is inside.
    fn assert_conserved(&self) {
        debug_assert_eq!(
            self.entered.packets,
            self.departed.packets + self.refused + self.ledger.drops + self.lost + self.inside()
        );
    }
}

impl<P> Line<P> {
    fn len(&self) -> u64 {
        self.packets.len() as u64
    }

    /// Takes a packet whose last bit is sent at `departure`.
    fn put(&mut self, departure: Time, packet: Packet<P>) {
        let extra = self
            .reordering
            .as_mut()
            .map_or(Span::ZERO, Reordering::next);
        let detour = (self.detour).map_or(Span::ZERO, |detour| detour.extra(departure));
        let timely = departure + self.delay + detour;
        let jittering = self.jittering.as_mut();
        let arrival = jittering.map_or(timely, |jittering| jittering.next(timely)) + extra;
        // Behind all others, unless the packet overtakes a delayed one.
        let place = (self.packets).partition_point(|(other, _)| *other <= arrival);
        self.packets.insert(place, (arrival, packet));
    }

    /// Removes the first packet, if it arrives by `now`.
    fn take(&mut self, now: Time) -> Option<Packet<P>> {
        let (arrival, _) = self.packets.front()?;
        (*arrival <= now)
            .then(|| self.packets.pop_front())?
            .map(|(_, packet)| packet)
    }
}

#[cfg(test)]
#[path = "general_tests.rs"]
mod tests;
