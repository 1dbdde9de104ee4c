//! Properties of a link as plain data.

use netsim::{
    CoDel, Detour, DropTail, FqCoDel, LinkSpec, Outage, Pie, Policer, Rate, Span, Time, Trace,
};
use serde::{Deserialize, Serialize};

/// Properties of a link in one direction, or in both ([`Properties::up`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Properties {
    /// Rate of whole IP packets; none: no limit, and no queue.
    pub rate: Option<Rate>,
    /// Propagation delay.
    pub delay: Span,
    /// Queue and drop policy.
    pub queue: Queue,
    /// Losses on the line.
    pub loss: Option<Loss>,
    /// Reordering on the line.
    pub reorder: Option<Reorder>,
    /// Largest additional delay of a packet, without reordering.
    pub jitter: Option<Span>,
    /// Delivery opportunities, in place of `rate`.
    pub rate_trace: Option<Trace>,
    /// Outages, in order of time and without overlap.
    pub down: Vec<Outage>,
    /// A time with a longer route.
    pub detour: Option<Detour>,
    /// What the direction up has for itself; none: the same as down.
    pub up: Option<Box<Up>>,
}

/// Properties of the direction up of a link, where they are others than those down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Up {
    /// Rate; none: no limit, or recorded.
    pub rate: Option<Rate>,
    /// Delivery opportunities, in place of `rate`.
    pub rate_trace: Option<Trace>,
    /// Queue and drop policy.
    pub queue: Queue,
    /// Losses on the line.
    pub loss: Option<Loss>,
}

/// Queue and drop policy of a link. The packet in transmission is not part of the queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Queue {
    /// First in, first out; limit in packets.
    DropTailPackets(u32),
    /// First in, first out; limit in bytes.
    DropTailBytes(u64),
    /// Random early detection.
    Red(Red),
    /// Random early detection, with thresholds in proportion to the link's rate.
    RedForRate(RedForRate),
    /// Controlled delay (RFC 8289).
    CoDel {
        /// Target delay.
        target: Span,
        /// Interval for which the delay may exceed the target.
        interval: Span,
        /// Limit, packets.
        limit: u32,
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool,
    },
    /// Flow queues, each with controlled delay (RFC 8290). ECN-capable packets are marked.
    FqCoDel {
        /// Target delay of a flow's queue.
        target: Span,
        /// Interval for which the delay may exceed the target.
        interval: Span,
        /// Limit of all queues together, packets.
        limit: u32,
        /// Bytes that a queue may send in one round.
        quantum: u32,
    },
    /// Proportional integral controller, enhanced (RFC 8033).
    Pie {
        /// Target delay.
        target: Span,
        /// Limit, packets.
        limit: u32,
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool,
    },
    /// A token bucket: packets beyond its rate are dropped, and none waits longer than its burst takes on the link.
    Policer {
        /// Rate of whole IP packets.
        rate: Rate,
        /// Bytes that pass at once.
        burst: u64,
    },
}

/// Random early detection (Floyd and Jacobson, 1993). The drop probability is 0 up to `min` and grows linearly to `max_p`
/// at `max`. Beyond it is 1, or with `gentle` grows linearly to 1 at `2 max`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Red {
    /// Average queue below which no packet is dropped, packets.
    pub min: u32,
    /// Average queue at which the drop probability is `max_p`, packets.
    pub max: u32,
    /// Drop probability at `max`.
    pub max_p: f64,
    /// Whether the drop probability grows linearly above `max` instead of jumping to 1.
    pub gentle: bool,
    /// Limit, packets.
    pub limit: u32,
    /// Weight of the instantaneous queue in the average; 1: no average.
    pub weight: f64,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
}

/// RED of draft-khalili-mptcp-performance-issues-04, section 3: the thresholds follow from the link's rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RedForRate {
    /// Limit, packets.
    pub limit: u32,
    /// Weight of the instantaneous queue in the average; 1: no average.
    pub weight: f64,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
}

impl Default for RedForRate {
    /// The values of the Click routers in the draft ([`netsim::Red::lia_olia`]).
    fn default() -> Self {
        Self {
            limit: netsim::Red::CLICK_LIMIT,
            weight: netsim::Red::CLICK_WEIGHT,
            ecn: false,
        }
    }
}

/// Losses on a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Loss {
    /// Independent losses with this probability.
    Random(f64),
    /// Bursts (Gilbert and Elliott): the line is good or bad, and may change with each packet.
    Bursty {
        /// Probability of a change from good to bad, for each packet.
        enter: f64,
        /// Probability of a change from bad to good, for each packet.
        leave: f64,
        /// Loss probability while bad.
        bad: f64,
        /// Loss probability while good.
        good: f64,
    },
}

/// Reordering on a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reorder {
    /// Probability that a packet is delayed.
    pub share: f64,
    /// Additional delay of these packets.
    pub delay: Span,
}

impl Properties {
    /// A line with this delay and without any limit.
    #[must_use]
    pub fn line(delay: Span) -> Self {
        Self {
            rate: None,
            delay,
            queue: Queue::DropTailPackets(0),
            loss: None,
            reorder: None,
            jitter: None,
            rate_trace: None,
            down: Vec::new(),
            detour: None,
            up: None,
        }
    }

    /// These properties with another rate in each direction, up and down.
    #[must_use]
    pub fn with_rates(self, [up, down]: [Rate; 2]) -> Self {
        let is_apart = self.up.is_some() || up != down;
        let [before, _] = self.directions();
        let of_up = Up {
            rate: Some(up),
            rate_trace: None,
            queue: before.queue,
            loss: before.loss,
        };
        Self {
            rate: Some(down),
            rate_trace: None,
            up: is_apart.then(|| Box::new(of_up)),
            ..self
        }
    }

    /// The properties of each direction, up and down.
    #[must_use]
    pub fn directions(&self) -> [Self; 2] {
        let down = Self {
            up: None,
            ..self.clone()
        };
        let up = match self.up.as_deref().cloned() {
            None => down.clone(),
            Some(up) => Self {
                rate: up.rate,
                rate_trace: up.rate_trace,
                queue: up.queue,
                loss: up.loss,
                ..down.clone()
            },
        };
        [up, down]
    }

    /// Changes the recorded rates of both directions.
    pub(crate) fn map_traces(&mut self, change: &impl Fn(&Trace) -> Trace) {
        let up = self.up.iter_mut().filter_map(|up| up.rate_trace.as_mut());
        for trace in self.rate_trace.iter_mut().chain(up) {
            *trace = change(trace);
        }
    }

    /// A link with this rate, queue and delay.
    #[must_use]
    pub fn shaped(rate: Rate, queue: Queue, delay: Span) -> Self {
        Self {
            rate: Some(rate),
            queue,
            ..Self::line(delay)
        }
    }

    /// Rate, of a recorded one the mean, at most that of a policer; none without a rate.
    #[must_use]
    pub fn mean_rate(&self) -> Option<Rate> {
        let recorded = self.rate_trace.as_ref().map(Trace::mean_rate);
        let rate = recorded.or(self.rate)?;
        Some(match self.queue {
            Queue::Policer { rate: limit, .. } => rate.min(limit),
            _ => rate,
        })
    }

    /// Whether the link is up at this time of a run.
    #[must_use]
    pub fn is_up(&self, at: Time) -> bool {
        !self.down.iter().any(|outage| outage.contains(at))
    }

    /// The properties as a link of `netsim`. RED on a link with a trace is in proportion to the trace's mean rate.
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
        if let Some(longest) = self.jitter {
            spec = spec.jitter(netsim::Jitter::new(longest));
        }
        if let Some(detour) = self.detour {
            spec = spec.detour(detour);
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
            Self::Pie { target, limit, ecn } => {
                let queue = Pie::new().target(target).limit(limit as usize);
                (if ecn { queue.ecn() } else { queue }).into()
            }
            Self::Policer { rate, burst } => Policer::new(rate, burst).into(),
        }
    }
}
