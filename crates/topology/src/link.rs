//! What a link is like, in plain data.

use netsim::{CoDel, DropTail, FqCoDel, LinkSpec, Outage, Rate, Span, Trace};
use serde::{Deserialize, Serialize};

/// What a link is like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Properties {
    /// Whole IP packets at this rate; `None`: no limit, and then no queue either.
    pub rate: Option<Rate>,
    /// How long a packet is on the line.
    pub delay: Span,
    /// Who waits for the link, and who is dropped.
    pub queue: Queue,
    /// Packets that the line loses.
    pub loss: Option<Loss>,
    /// Packets that the line delays so that others overtake them.
    pub reorder: Option<Reorder>,
    /// When the link may send, in place of `rate`.
    pub rate_trace: Option<Trace>,
    /// When it is down; none begins before the one ahead of it has ended.
    pub down: Vec<Outage>,
}

/// Who waits for a link, and who is dropped. Packets that wait are counted without the one that is being sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Queue {
    /// First in, first out; at most this many packets wait.
    DropTailPackets(u32),
    /// First in, first out; at most this many bytes wait.
    DropTailBytes(u64),
    /// Random early detection.
    Red(Red),
    /// Random early detection, with a curve in proportion to the link's rate.
    RedForRate(RedForRate),
    /// Controlled delay (RFC 8289).
    CoDel {
        /// The delay that it lets stand.
        target: Span,
        /// How long it lets more than that stand.
        interval: Span,
        /// The most packets that wait.
        limit: u32,
        /// Whether it marks packets that can be marked, instead of dropping them.
        ecn: bool,
    },
    /// Flow queues, each with controlled delay (RFC 8290); it marks packets that can be marked.
    FqCoDel {
        /// The delay that it lets stand in a flow's queue.
        target: Span,
        /// How long it lets more than that stand.
        interval: Span,
        /// The most packets that wait, in all queues.
        limit: u32,
        /// How many bytes a queue may send in its turn.
        quantum: u32,
    },
}

/// Random early detection (Floyd and Jacobson, 1993). The probability to drop is 0 up to `min`, grows linearly to
/// `max_p` at `max`, and from there is 1, or with `gentle` grows linearly to 1 at `2 max`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Red {
    /// Average queue below which none is dropped, packets.
    pub min: u32,
    /// Average queue at which the probability is `max_p`, packets.
    pub max: u32,
    /// The probability at `max`.
    pub max_p: f64,
    /// Whether the probability grows on above `max` and does not jump.
    pub gentle: bool,
    /// The most packets that wait.
    pub limit: u32,
    /// The weight of the present queue in the average; 1: no average.
    pub weight: f64,
    /// Whether it marks packets that can be marked, instead of dropping them.
    pub ecn: bool,
}

/// The RED of draft-khalili-mptcp-performance-issues-04, section 3: its curve follows from the link's rate, and only this is left to choose.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RedForRate {
    /// The most packets that wait.
    pub limit: u32,
    /// The weight of the present queue in the average; 1: no average.
    pub weight: f64,
    /// Whether it marks packets that can be marked, instead of dropping them.
    pub ecn: bool,
}

impl Default for RedForRate {
    /// The draft's routers: those of Click ([`netsim::Red::lia_olia`]).
    fn default() -> Self {
        Self {
            limit: netsim::Red::CLICK_LIMIT,
            weight: netsim::Red::CLICK_WEIGHT,
            ecn: false,
        }
    }
}

/// How a line loses packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Loss {
    /// Each with this probability, whatever befell the others.
    Random(f64),
    /// In bursts (Gilbert and Elliott): the line is good or bad, and changes at packets.
    Bursty {
        /// The probability to become bad, at each packet.
        enter: f64,
        /// The probability to become good again, at each packet.
        leave: f64,
        /// The probability to lose a packet while bad.
        bad: f64,
        /// The probability to lose a packet while good.
        good: f64,
    },
}

/// How a line lets packets overtake.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reorder {
    /// The probability of a packet to be held back.
    pub share: f64,
    /// For how long.
    pub delay: Span,
}

impl Properties {
    /// A line of this delay and otherwise without limit.
    #[must_use]
    pub fn line(delay: Span) -> Self {
        Self {
            rate: None,
            delay,
            queue: Queue::DropTailPackets(0),
            loss: None,
            reorder: None,
            rate_trace: None,
            down: Vec::new(),
        }
    }

    /// A link of this rate with this queue before it.
    #[must_use]
    pub fn shaped(rate: Rate, queue: Queue, delay: Span) -> Self {
        Self {
            rate: Some(rate),
            queue,
            ..Self::line(delay)
        }
    }

    /// The same as the network takes it. A link of a trace has no rate that RED could be in proportion to: its mean is.
    pub(crate) fn to_netsim(&self) -> LinkSpec {
        let mut spec = match (&self.rate_trace, self.rate) {
            (Some(trace), _) => {
                let queue = self.queue.to_netsim(trace.mean_rate());
                LinkSpec::traced(trace.clone(), queue, self.delay)
            }
            (None, Some(rate)) => LinkSpec::shaped(rate, self.queue.to_netsim(rate), self.delay),
            (None, None) => LinkSpec::delay(self.delay),
        };
        match self.loss {
            None => {}
            Some(Loss::Random(share)) => spec = spec.loss(netsim::Loss::random(share)),
            Some(Loss::Bursty {
                enter,
                leave,
                bad,
                good,
            }) => spec = spec.loss(netsim::Loss::gilbert_elliott(enter, leave, good, bad)),
        }
        if let Some(Reorder { share, delay }) = self.reorder {
            spec = spec.reorder(netsim::Reorder::new(share, delay));
        }
        spec.down(self.down.clone())
    }
}

impl Queue {
    fn to_netsim(&self, rate: Rate) -> netsim::Queue {
        match *self {
            Self::DropTailPackets(packets) => DropTail::new(packets as usize).into(),
            Self::DropTailBytes(bytes) => DropTail::bytes(bytes).into(),
            Self::RedForRate(red) => {
                let queue = netsim::Red::lia_olia(rate);
                let queue = queue.weight(red.weight).limit(red.limit as usize);
                (if red.ecn { queue.ecn() } else { queue }).into()
            }
            Self::Red(ref red) => {
                let (min, max) = (f64::from(red.min), f64::from(red.max));
                let certain = if red.gentle { 2.0 * max } else { max };
                let queue = netsim::Red::new(min, max, red.max_p).gentle(certain);
                let queue = queue.weight(red.weight).limit(red.limit as usize);
                (if red.ecn { queue.ecn() } else { queue }).into()
            }
            Self::CoDel {
                target,
                interval,
                limit,
                ecn,
            } => {
                let queue = CoDel::new().times(target, interval).limit(limit as usize);
                (if ecn { queue.ecn() } else { queue }).into()
            }
            Self::FqCoDel {
                target,
                interval,
                limit,
                quantum,
            } => {
                let queue = FqCoDel::new().times(target, interval).quantum(quantum);
                queue.limit(limit as usize).into()
            }
        }
    }
}
