//! What a link is like, in plain data.

use std::sync::Arc;

use netsim::{DropTail, LinkSpec, Rate, Span};

use crate::Error;

/// What a link is like.
#[derive(Clone, Debug, PartialEq)]
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
    /// Instead of `rate`: when the link may send, in the form of mahimahi's traces. At each entry, a millisecond since
    /// the start, 1500 bytes may go; after the last entry it begins anew.
    pub rate_trace: Option<Arc<[u32]>>,
}

/// Who waits for a link, and who is dropped. Packets that wait are counted without the one that is being sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Queue {
    /// First in, first out; at most this many packets wait.
    DropTailPackets(u32),
    /// First in, first out; at most this many bytes wait.
    DropTailBytes(u64),
    /// Random early detection.
    Red(Red),
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
    /// Flow queues, each with controlled delay (RFC 8290).
    FqCoDel {
        /// The delay that it lets stand in a flow's queue.
        target: Span,
        /// How long it lets more than that stand.
        interval: Span,
        /// The most packets that wait, in all queues.
        limit: u32,
        /// How many queues there are.
        flows: u32,
        /// How many bytes a queue may send in its turn.
        quantum: u32,
        /// Whether it marks packets that can be marked, instead of dropping them.
        ecn: bool,
    },
}

/// Random early detection (Floyd and Jacobson, 1993). The probability to drop is 0 up to `min`, grows linearly to
/// `max_p` at `max`, and from there is 1, or with `gentle` grows linearly to 1 at `2 max`.
#[derive(Clone, Debug, PartialEq)]
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

/// How a line loses packets.
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq)]
pub struct Reorder {
    /// The probability of a packet to be held back.
    pub share: f64,
    /// For how long.
    pub delay: Span,
}

impl Red {
    /// RED as the testbed of draft-khalili-mptcp-performance-issues-04 (section 3) has it: for 10 Mbit/s 0 to 25
    /// packets, 0.1 at 50 and 1 at 100, proportional to the rate. It names no average, so there is none.
    #[must_use]
    pub fn for_rate(rate: Rate) -> Self {
        let per_10mbit = |packets: u64| {
            let scaled = u128::from(packets) * u128::from(rate.bits_per_second());
            // At least one packet, whatever the rate.
            u32::try_from((scaled + 5_000_000) / 10_000_000)
                .unwrap_or(u32::MAX)
                .max(1)
        };
        Self {
            min: per_10mbit(25),
            max: per_10mbit(50),
            max_p: 0.1,
            gentle: true,
            limit: per_10mbit(100),
            weight: 1.0,
            ecn: false,
        }
    }
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

    /// The same as the network takes it.
    pub fn to_netsim(&self) -> Result<LinkSpec, Error> {
        // All that the network cannot do yet is refused here and nowhere else.
        let not_yet =
            |key: &str, what: &str| Err(Error::new(key, format!("the network cannot {what} yet")));
        if self.loss.is_some() {
            return not_yet("loss", "lose packets on the line");
        }
        if self.reorder.is_some() {
            return not_yet("reorder", "reorder packets");
        }
        if self.rate_trace.is_some() {
            return not_yet("trace", "follow a trace of rates");
        }
        let Some(rate) = self.rate else {
            return Ok(LinkSpec::delay(self.delay));
        };
        match &self.queue {
            Queue::DropTailPackets(packets) => Ok(LinkSpec::shaped(
                rate,
                DropTail::new(*packets as usize),
                self.delay,
            )),
            Queue::DropTailBytes(_) => not_yet("queue", "limit a queue in bytes"),
            Queue::Red(_) => not_yet("queue", "do RED"),
            Queue::CoDel { .. } => not_yet("queue", "do CoDel"),
            Queue::FqCoDel { .. } => not_yet("queue", "do FQ-CoDel"),
        }
    }
}
