//! What is compared between runs: numbers of connections, subflows and links by their names in an
//! [`Outcome`](crate::Outcome), and how connections share a run.

mod choice;
mod fairness;
mod fields;
mod groups;

use crate::Protocol;
use crate::outcome::{ConnectionOutcome, LinkOutcome, SubflowOutcome};

pub use choice::choose;
pub use fairness::Goodputs;
pub use groups::{Group, Groups, Part, Samples};

/// A metric.
#[derive(Debug)]
pub struct Metric {
    /// Its name: that of the field, after `subflows.` or `links.` where those have it.
    pub key: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Its unit; empty for a share or an index.
    pub unit: &'static str,
    /// How many decimals of a mean are worth showing.
    pub decimals: usize,
    /// Whether it is a whole number in a single run.
    pub whole: bool,
    /// What has it, and how it is read; none where it has none.
    pub value: Value,
}

/// What has a metric, and how it is read.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// A connection.
    Connection(fn(&ConnectionOutcome) -> Option<f64>),
    /// A connection among all connections of its run.
    Share(fn(&Goodputs, &ConnectionOutcome) -> Option<f64>),
    /// A run.
    Run(fn(&Goodputs) -> Option<f64>),
    /// A subflow.
    Subflow(fn(&SubflowOutcome) -> Option<f64>),
    /// A link.
    Link(fn(&LinkOutcome) -> Option<f64>),
}

impl Metric {
    /// Whether such a part can have it.
    #[must_use]
    pub fn is_of(&self, part: Part<'_>) -> bool {
        match self.value {
            Value::Connection(_) | Value::Share(_) => matches!(part, Part::Connection(_)),
            Value::Run(_) => part == Part::Run,
            Value::Subflow(_) => matches!(part, Part::Subflow(..)),
            Value::Link(_) => matches!(part, Part::Link(_)),
        }
    }

    /// Of a connection; `goodputs` are those of its run, where they can be compared.
    #[must_use]
    pub fn of_connection(
        &self,
        connection: &ConnectionOutcome,
        goodputs: Option<&Goodputs>,
    ) -> Option<f64> {
        match self.value {
            Value::Connection(value) => value(connection),
            Value::Share(value) => value(goodputs?, connection),
            _ => None,
        }
    }

    /// Its name in the JSON of what has it.
    #[must_use]
    pub fn field(&self) -> &'static str {
        self.key.rsplit('.').next().unwrap_or(self.key)
    }

    /// Of a subflow.
    #[must_use]
    pub fn of_subflow(&self, subflow: &SubflowOutcome) -> Option<f64> {
        match self.value {
            Value::Subflow(value) => value(subflow),
            _ => None,
        }
    }

    /// Of a link.
    #[must_use]
    pub fn of_link(&self, link: &LinkOutcome) -> Option<f64> {
        match self.value {
            Value::Link(value) => value(link),
            _ => None,
        }
    }

    /// Of a run.
    #[must_use]
    pub fn of_run(&self, goodputs: Option<&Goodputs>) -> Option<f64> {
        match self.value {
            Value::Run(value) => value(goodputs?),
            _ => None,
        }
    }
}

/// The metrics of a connection by itself, in the order of tables.
pub const METRICS: [Metric; 6] = [
    Metric {
        key: "completion_s",
        title: "completion",
        unit: "s",
        decimals: 3,
        whole: false,
        value: Value::Connection(|c| c.completion_s),
    },
    Metric {
        key: "goodput_mbps",
        title: "goodput",
        unit: "Mbit/s",
        decimals: 3,
        whole: false,
        value: Value::Connection(|c| c.goodput_mbps),
    },
    Metric {
        key: "retransmits",
        title: "retransmits",
        unit: "segments",
        decimals: 1,
        whole: true,
        value: Value::Connection(|c| of_tcp(c, c.retransmits as f64)),
    },
    Metric {
        key: "retransmits_slow_start",
        title: "R_ss",
        unit: "segments",
        decimals: 1,
        whole: true,
        value: Value::Connection(|c| of_tcp(c, c.retransmits_slow_start as f64)),
    },
    Metric {
        key: "sum_cwnd_at_slow_start_exit",
        title: "Σcwnd at exit",
        unit: "segments",
        decimals: 1,
        whole: true,
        value: Value::Connection(|c| c.sum_cwnd_at_slow_start_exit.map(f64::from)),
    },
    Metric {
        key: "sum_cwnd_at_end",
        title: "Σcwnd at end",
        unit: "segments",
        decimals: 1,
        whole: true,
        value: Value::Connection(|c| of_tcp(c, c.sum_cwnd_at_end.into())),
    },
];

/// How connections share the network.
pub const FAIRNESS: [Metric; 2] = [
    Metric {
        key: "share",
        title: "share of goodput",
        unit: "",
        decimals: 3,
        whole: false,
        value: Value::Share(Goodputs::share),
    },
    Metric {
        key: "jain_index",
        title: "Jain's index",
        unit: "",
        decimals: 4,
        whole: false,
        value: Value::Run(|goodputs| Some(goodputs.jain_index())),
    },
];

/// The metrics that are shown where none are chosen, in the order of tables.
pub fn standard() -> impl Iterator<Item = &'static Metric> {
    METRICS.iter().chain(&FAIRNESS)
}

/// All metrics.
pub fn all() -> impl Iterator<Item = &'static Metric> {
    standard().chain(&fields::FIELDS)
}

fn of_tcp(connection: &ConnectionOutcome, value: f64) -> Option<f64> {
    (connection.protocol != Protocol::Udp).then_some(value)
}
