//! A link: a queue, a transmitter of some rate, a line of some delay.

mod fifo;
mod managed;
mod ring;
mod transmitter;

use crate::impairment::{Loss, Outage, Reorder};
use crate::packet::Payload;
use crate::queue::Queue;
use crate::time::{Rate, Span, Time};
use crate::trace::Trace;

pub(crate) use fifo::Fifo;
pub(crate) use managed::{Managed, Step};

/// What a link is like.
///
/// A packet passes the random loss of the link, then its queue, its transmitter, its line. Without
/// loss, reordering, outages, trace and anything but a plain DropTail queue, a link costs one event
/// a packet and is several times as fast.
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
    /// Each after the ones before it.
    outages: Vec<Outage>,
    stream: Option<u64>,
}

/// What a packet passes on its way to the line.
#[derive(Clone, Debug)]
enum Sender {
    Open,
    Rate(Rate, Queue),
    Trace(Trace, Queue),
}

impl LinkSpec {
    /// A line that delays each packet by `delay` and is otherwise without limit.
    #[must_use]
    pub const fn delay(delay: Span) -> Self {
        Self::new(Sender::Open, delay)
    }

    /// A queue in front of a transmitter of `rate`, then a line of `delay`.
    #[must_use]
    pub fn shaped(rate: Rate, queue: impl Into<Queue>, delay: Span) -> Self {
        Self::new(Sender::Rate(rate, queue.into()), delay)
    }

    /// A queue in front of a transmitter that follows a `trace`, then a line of `delay`. A packet
    /// waits for its opportunity even when no other does: the queue needs room for one at least.
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
            outages: Vec::new(),
            stream: None,
        }
    }

    /// Loses packets at random, before the queue.
    #[must_use]
    pub fn loss(self, loss: Loss) -> Self {
        let loss = Some(loss);
        Self { loss, ..self }
    }

    /// Lets packets overtake each other on the line.
    #[must_use]
    pub fn reorder(self, reorder: Reorder) -> Self {
        let reorder = Some(reorder);
        Self { reorder, ..self }
    }

    /// Is down at times. It then does what an interface does that loses its carrier (Linux:
    /// `dev_deactivate`, which resets the queue): at the instant of `from`, what waits and what is
    /// being sent is lost, and so is what comes until `to`, but for a packet whose last bit left by
    /// `from`: what is on the line arrives. A packet that comes while the link is down draws
    /// nothing at random, and no queue sees it.
    ///
    /// # Panics
    /// When an outage begins before the one ahead of it has ended.
    #[must_use]
    pub fn down(self, outages: Vec<Outage>) -> Self {
        assert!(
            outages.is_sorted_by(Outage::precedes),
            "outages follow one another"
        );
        Self { outages, ..self }
    }

    /// Names the stream of random draws of this link (a hash of its name, say), so that it draws
    /// the same whatever number it has. Without, the number names the stream.
    #[must_use]
    pub fn stream(self, stream: u64) -> Self {
        let stream = Some(stream);
        Self { stream, ..self }
    }
}

/// What a link did from the start of the run to an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkCounters {
    /// Packets that came to the link, lost ones included.
    pub packets_in: u64,
    /// Their bytes.
    pub bytes_in: u64,
    /// Packets that left it at the far end.
    pub packets_out: u64,
    /// Their bytes.
    pub bytes_out: u64,
    /// Packets lost because the queue was full, or because it chose to.
    pub drops: u64,
    /// Packets lost at random, before the queue, and packets that an outage lost: those that came
    /// during it, and those in the queue and being sent as it began.
    pub losses: u64,
    /// Packets marked in place of a drop.
    pub marks: u64,
    /// Packets in the queue or on the line.
    pub inside: u64,
    /// The most packets that waited at once.
    pub queue_max: u64,
    /// How many packets waited on average over time.
    pub queue_mean: f64,
    /// The share of time spent sending, or of a trace's opportunities used; `None` for a link
    /// without a rate.
    pub utilisation: Option<f64>,
}

impl LinkCounters {
    /// What it did from `from`, when it counted `earlier`, to `to`. The most packets that waited are those of the whole run.
    #[must_use]
    pub fn since(&self, earlier: &Self, from: Time, to: Time) -> Self {
        let seconds = |time: Time| time.since(Time::ZERO).as_secs_f64();
        let (before, all) = (seconds(from), seconds(to));
        // Both are means over the time since the start of the run.
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

/// Packets and their bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

impl Count {
    #[inline]
    pub(crate) fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }
}

/// A link at work.
#[derive(Debug)]
pub(crate) enum Link<P> {
    Fifo(Fifo<P>),
    Managed(Box<Managed<P>>),
}

impl<P: Payload> Link<P> {
    /// The link of that `number` in a network of that `seed`.
    pub(crate) fn new(spec: LinkSpec, seed: u64, number: u64) -> Self {
        let steady = spec.loss.is_none() && spec.reorder.is_none() && spec.outages.is_empty();
        match &spec.sender {
            Sender::Open if steady => Self::Fifo(Fifo::new(None, spec.delay)),
            Sender::Rate(rate, Queue::DropTail(queue)) if steady && queue.is_plain() => {
                Self::Fifo(Fifo::new(Some((*rate, *queue)), spec.delay))
            }
            _ => {
                let stream = spec.stream.unwrap_or(number);
                Self::Managed(Box::new(Managed::new(spec, seed, stream)))
            }
        }
    }

    /// Packets in the queue or on the line, or dropped and not yet handed on.
    pub(crate) fn held(&self) -> u64 {
        match self {
            Self::Fifo(link) => link.inside(),
            Self::Managed(link) => link.held(),
        }
    }

    /// How long it takes to send so many bytes, where it has a rate.
    pub(crate) fn takes(&self, bytes: u32) -> Option<Span> {
        match self {
            Self::Fifo(link) => link.takes(bytes),
            Self::Managed(link) => link.takes(bytes),
        }
    }

    pub(crate) fn counters(&self, now: Time) -> LinkCounters {
        match self {
            Self::Fifo(link) => link.counters(now),
            Self::Managed(link) => link.counters(now),
        }
    }
}
