//! Links: a queue, a transmitter with a rate, a line with a delay.

mod fifo;
mod general;
mod ring;
mod transmitter;

use crate::impairment::{Detour, Jitter, Loss, Outage, Reorder};
use crate::packet::Payload;
use crate::queue::Queue;
use crate::time::{Rate, Span, Time};
use crate::trace::Trace;

pub(crate) use fifo::{BurstArrival, Fifo};
pub(crate) use general::{General, Step};

/// Specification of a link.
///
/// A packet passes the random loss of the link, then the queue, the transmitter and the line. A link with a plain DropTail queue and
/// without loss, reordering, jitter, outages, detour and trace costs one event for each packet, and is several times as fast as other links.
///
/// ```
/// use netsim::{CoDel, LinkSpec, Loss, Rate, Span};
///
/// let rate = Rate::from_bits_per_second(20_000_000);
/// let wlan = LinkSpec::shaped(rate, CoDel::new(), Span::from_millis(10))
///     .loss(Loss::bursty(0.01, 4.0));
/// ```
#[derive(Clone, Debug)]
pub struct LinkSpec {
    delay: Span,
    sender: Sender,
    loss: Option<Loss>,
    reorder: Option<Reorder>,
    jitter: Option<Jitter>,
    /// In order.
    outages: Vec<Outage>,
    detour: Option<Detour>,
    stream: Option<u64>,
}

/// Queue and transmitter of a link.
#[derive(Clone, Debug)]
enum Sender {
    /// Neither: packets do not wait.
    Open,
    Rate(Rate, Queue),
    Trace(Trace, Queue),
}

impl LinkSpec {
    /// A line that delays each packet by `delay`, without a rate.
    #[must_use]
    pub const fn delay(delay: Span) -> Self {
        Self::new(Sender::Open, delay)
    }

    /// A queue in front of a transmitter of `rate`, then a line of `delay`.
    #[must_use]
    pub fn shaped(rate: Rate, queue: impl Into<Queue>, delay: Span) -> Self {
        Self::new(Sender::Rate(rate, queue.into()), delay)
    }

    /// A queue in front of a transmitter that follows a `trace`, then a line of `delay`. A packet waits for an opportunity even if
    /// it is alone: the queue needs room for one packet at least.
    #[must_use]
    pub fn traced(trace: Trace, queue: impl Into<Queue>, delay: Span) -> Self {
        Self::new(Sender::Trace(trace, queue.into()), delay)
    }

    const fn new(sender: Sender, delay: Span) -> Self {
        Self {
            delay,
            sender,
            loss: None,
            reorder: None,
            jitter: None,
            outages: Vec::new(),
            detour: None,
            stream: None,
        }
    }

    /// Loses packets at random, before the queue.
    #[must_use]
    pub fn loss(self, loss: Loss) -> Self {
        let loss = Some(loss);
        Self { loss, ..self }
    }

    /// Reorders packets on the line.
    #[must_use]
    pub fn reorder(self, reorder: Reorder) -> Self {
        let reorder = Some(reorder);
        Self { reorder, ..self }
    }

    /// Delays packets on the line at random, in order. A packet that [reordering](Self::reorder) delays is the exception: others may
    /// overtake it.
    #[must_use]
    pub fn jitter(self, jitter: Jitter) -> Self {
        let jitter = Some(jitter);
        Self { jitter, ..self }
    }

    /// Takes the link down during outages, as an interface without carrier (Linux: `dev_deactivate`, which resets the queue).
    ///
    /// At the start of an outage the packets in the queue and in transmission are lost. Packets whose last bit has left by then
    /// arrive. Packets that reach the link during the outage are lost: they draw no random number and enter no queue.
    ///
    /// # Panics
    /// If an outage begins before the previous one has ended.
    #[must_use]
    pub fn down(self, outages: Vec<Outage>) -> Self {
        assert!(
            outages.is_sorted_by(Outage::precedes),
            "outages follow one another"
        );
        Self { outages, ..self }
    }

    /// Delays packets that are sent during a detour.
    #[must_use]
    pub fn detour(self, detour: Detour) -> Self {
        let detour = Some(detour);
        Self { detour, ..self }
    }

    /// Selects the random stream of this link (by a hash of its name, for example), so that its draws do not depend on its number.
    /// The default stream is the link's number.
    #[must_use]
    pub fn stream(self, stream: u64) -> Self {
        let stream = Some(stream);
        Self { stream, ..self }
    }
}

/// Counters of a link, from the start of the run to an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkCounters {
    /// Packets that reached the link, lost packets included.
    pub packets_in: u64,
    /// Bytes of these packets.
    pub bytes_in: u64,
    /// Packets that left the link at the far end.
    pub packets_out: u64,
    /// Bytes of these packets.
    pub bytes_out: u64,
    /// Packets dropped by the queue: at its limit, or by its algorithm.
    pub drops: u64,
    /// Packets lost at random, before the queue, and packets lost by an outage: packets that reached the link during it, and packets
    /// in the queue and in transmission at its start.
    pub losses: u64,
    /// Packets marked instead of dropped (ECN).
    pub marks: u64,
    /// Packets in the queue or on the line.
    pub inside: u64,
    /// Largest number of packets in the queue.
    pub queue_max: u64,
    /// Mean number of packets in the queue over time.
    pub queue_mean: f64,
    /// Fraction of time in transmission, or used fraction of a trace's opportunities; `None` for a link without a rate.
    pub utilisation: Option<f64>,
}

impl LinkCounters {
    /// Counters of the time from `from`, with the counters `earlier`, to `to`. `queue_max` remains that of the whole run.
    #[must_use]
    pub fn since(&self, earlier: &Self, from: Time, to: Time) -> Self {
        let seconds = |time: Time| time.since(Time::ZERO).as_secs_f64();
        let (before, all) = (seconds(from), seconds(to));
        // `later` and `earlier` are means over the time since the start of the run.
        let mean = |later: f64, earlier: f64| {
            let rest = (later * all - earlier * before) / (all - before);
            if rest.is_finite() { rest.max(0.0) } else { 0.0 }
        };
        let utilisations = self.utilisation.zip(earlier.utilisation);
        Self {
            packets_in: self.packets_in - earlier.packets_in,
            bytes_in: self.bytes_in - earlier.bytes_in,
            packets_out: self.packets_out - earlier.packets_out,
            bytes_out: self.bytes_out - earlier.bytes_out,
            drops: self.drops - earlier.drops,
            losses: self.losses - earlier.losses,
            marks: self.marks - earlier.marks,
            inside: self.inside,
            queue_max: self.queue_max,
            queue_mean: mean(self.queue_mean, earlier.queue_mean),
            utilisation: utilisations.map(|(later, earlier)| mean(later, earlier)),
        }
    }
}

/// A link with its packets.
#[derive(Debug)]
pub(crate) enum Link<P> {
    Fifo(Fifo<P>),
    General(Box<General<P>>),
}

impl<P: Payload> Link<P> {
    /// The link with this `number` in a network with this `seed`.
    pub(crate) fn new(spec: LinkSpec, seed: u64, number: u64) -> Self {
        let steady = spec.loss.is_none()
            && spec.reorder.is_none()
            && spec.jitter.is_none()
            && spec.detour.is_none()
            && spec.outages.is_empty();
        match &spec.sender {
            Sender::Open if steady => Self::Fifo(Fifo::new(None, spec.delay)),
            Sender::Rate(rate, Queue::DropTail(queue)) if steady && queue.is_plain() => {
                Self::Fifo(Fifo::new(Some((*rate, *queue)), spec.delay))
            }
            _ => {
                let stream = spec.stream.unwrap_or(number);
                Self::General(Box::new(General::new(spec, seed, stream)))
            }
        }
    }

    /// Packets in the queue or on the line, or dropped and not yet returned by `advance`.
    pub(crate) fn held(&self) -> u64 {
        match self {
            Self::Fifo(link) => link.inside(),
            Self::General(link) => link.held(),
        }
    }

    /// Transmission time of so many bytes; `None` for a link without a constant rate.
    pub(crate) fn transmission_time(&self, bytes: u32) -> Option<Span> {
        match self {
            Self::Fifo(link) => link.transmission_time(bytes),
            Self::General(link) => link.transmission_time(bytes),
        }
    }

    pub(crate) fn counters(&self, now: Time) -> LinkCounters {
        match self {
            Self::Fifo(link) => link.counters(now),
            Self::General(link) => link.counters(now),
        }
    }
}
