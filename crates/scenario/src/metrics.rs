//! Metrics of runs: the numbers of connections, subflows and links under their names in an [`Outcome`], and the fairness of
//! the connections of a run.
//!
//! [`Outcome`]: crate::outcome::Outcome

mod choice;
mod fairness;
mod fields;
mod groups;

use crate::connection::Protocol;
use crate::outcome::{ConnectionOutcome, LinkOutcome, Outcome, SubflowOutcome};

pub use choice::choose;
pub use fairness::Goodputs;
pub use groups::{Group, Groups, Part, Samples};

/// A metric.
#[derive(Debug)]
pub struct Metric {
    /// Name: of the field, for subflows and links after `subflows.` or `links.`.
    pub key: &'static str,
    /// Title in tables.
    pub title: &'static str,
    /// Unit; empty for a share or an index.
    pub unit: &'static str,
    /// Number of decimals of a mean in tables.
    pub decimals: usize,
    /// Whether the value of a single run is a whole number.
    pub whole: bool,
    /// Source of the value.
    pub value: Value,
}

/// Source of a metric; a function returns none where there is no value.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// A connection by itself.
    Connection(fn(&ConnectionOutcome) -> Option<f64>),
    /// A connection among all connections of the run.
    Share(fn(&Goodputs, &ConnectionOutcome) -> Option<f64>),
    /// This quantile of the completion times of all transfers of one name in all runs.
    Completion(f64),
    /// The run as a whole.
    Run(fn(&Goodputs) -> Option<f64>),
    /// A subflow.
    Subflow(fn(&SubflowOutcome) -> Option<f64>),
    /// A link.
    Link(fn(&LinkOutcome) -> Option<f64>),
}

impl Metric {
    /// Whether the metric applies to this part of a run.
    #[must_use]
    pub fn is_of(&self, part: Part<'_>) -> bool {
        match self.value {
            Value::Connection(_) | Value::Share(_) | Value::Completion(_) => {
                matches!(part, Part::Connection(_))
            }
            Value::Run(_) => part == Part::Run,
            Value::Subflow(_) => matches!(part, Part::Subflow(..)),
            Value::Link(_) => matches!(part, Part::Link(_)),
        }
    }

    /// Value of a connection; `goodputs` are those of the run, if they can be compared.
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

    /// Name of the field in JSON.
    #[must_use]
    pub fn field(&self) -> &'static str {
        self.key.rsplit('.').next().unwrap_or(self.key)
    }

    /// Value of a subflow.
    #[must_use]
    pub fn of_subflow(&self, subflow: &SubflowOutcome) -> Option<f64> {
        match self.value {
            Value::Subflow(value) => value(subflow),
            _ => None,
        }
    }

    /// Value of a link.
    #[must_use]
    pub fn of_link(&self, link: &LinkOutcome) -> Option<f64> {
        match self.value {
            Value::Link(value) => value(link),
            _ => None,
        }
    }

    /// Value of a run.
    #[must_use]
    pub fn of_run(&self, goodputs: Option<&Goodputs>) -> Option<f64> {
        match self.value {
            Value::Run(value) => value(goodputs?),
            _ => None,
        }
    }
}

/// Metrics of a connection by itself, in the order of tables.
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
        key: "sum_cwnd_at_slow_start_exit_segments",
        title: "Σcwnd at exit",
        unit: "segments",
        decimals: 1,
        whole: true,
        value: Value::Connection(|c| c.sum_cwnd_at_slow_start_exit_segments.map(f64::from)),
    },
    Metric {
        key: "sum_cwnd_at_end_segments",
        title: "Σcwnd at end",
        unit: "segments",
        decimals: 1,
        whole: true,
        value: Value::Connection(|c| of_tcp(c, c.sum_cwnd_at_end_segments.into())),
    },
];

/// Metrics of fairness.
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

/// Quantiles of the completion times.
pub const QUANTILES: [Metric; 3] = [
    completion("completion_p50_s", "completion, median", 0.5),
    completion("completion_p90_s", "completion, p90", 0.9),
    completion("completion_p99_s", "completion, p99", 0.99),
];

const fn completion(key: &'static str, title: &'static str, quantile: f64) -> Metric {
    Metric {
        key,
        title,
        unit: "s",
        decimals: 3,
        whole: false,
        value: Value::Completion(quantile),
    }
}

/// Metrics of a row of a table by default, in the order of tables.
pub fn standard() -> impl Iterator<Item = &'static Metric> {
    METRICS.iter().chain(&FAIRNESS)
}

/// Metrics of several runs that are shown by default, in the order of tables: the standard ones, with the quantiles after the
/// completion time.
pub fn summary() -> impl Iterator<Item = &'static Metric> {
    let (completion, others) = METRICS.split_at(1);
    completion
        .iter()
        .chain(&QUANTILES)
        .chain(others)
        .chain(&FAIRNESS)
}

/// All metrics.
pub fn all() -> impl Iterator<Item = &'static Metric> {
    summary().chain(&fields::FIELDS)
}

/// Digest of the numbers of all connections and subflows of a run: equal for equal results. Names of algorithms have no effect.
#[must_use]
pub fn fingerprint(outcome: &Outcome) -> u64 {
    // FNV-1a, by words.
    let mut digest = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |value: u64| digest = (digest ^ value).wrapping_mul(0x0100_0000_01b3);
    for connection in &outcome.connections {
        add(connection.subflows.len() as u64);
        for metric in all() {
            let value = |value: Option<f64>| value.map_or(u64::MAX, f64::to_bits);
            match metric.value {
                Value::Connection(of) => add(value(of(connection))),
                Value::Subflow(of) => connection.subflows.iter().for_each(|s| add(value(of(s)))),
                _ => {}
            }
        }
    }
    digest
}

fn of_tcp(connection: &ConnectionOutcome, value: f64) -> Option<f64> {
    (connection.protocol != Protocol::Udp).then_some(value)
}
