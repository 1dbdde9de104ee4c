//! Files with the time series of a run.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::columns::{Format, Kind, Property, Table, Value};
use super::file_name;
use crate::outcome::Outcome;
use crate::run::Run;
use crate::sample::{LinkSample, Samples, SubflowSample};

/// Columns of the samples of links: the fields of [`LinkSample`].
const LINKS: [(&str, Kind); 9] = [
    ("time_s", Kind::Float),
    ("link", Kind::Text),
    ("queue_mean_packets", Kind::Float),
    ("in_flight_packets", Kind::Integer),
    ("throughput_mbps", Kind::Float),
    ("utilisation", Kind::Float),
    ("drops", Kind::Integer),
    ("losses", Kind::Integer),
    ("marks", Kind::Integer),
];

/// Columns of the samples of subflows: the fields of [`SubflowSample`].
const SUBFLOWS: [(&str, Kind); 11] = [
    ("time_s", Kind::Float),
    ("connection", Kind::Text),
    ("number", Kind::Integer),
    ("subflow", Kind::Integer),
    ("path_name", Kind::Text),
    ("cwnd_segments", Kind::Integer),
    ("ssthresh_segments", Kind::Integer),
    ("srtt_s", Kind::Float),
    ("in_flight_segments", Kind::Integer),
    ("goodput_mbps", Kind::Float),
    ("retransmits", Kind::Integer),
];

/// Columns of rows of both kinds ([`RowKind::Sample`](super::rows::RowKind::Sample)), after those of the run: name, kind, unit,
/// description.
pub(super) const ROWS: [(&str, Kind, &str, &str); 20] = [
    (
        "time_s",
        Kind::Float,
        "s",
        "end of the interval since the start of the run",
    ),
    ("kind", Kind::Text, "", "link or subflow"),
    ("connection", Kind::Text, "", "name of the connection"),
    (
        "number",
        Kind::Integer,
        "",
        "number among the connections of this name, from 1",
    ),
    (
        "subflow",
        Kind::Integer,
        "",
        "number of the subflow in its connection, from 1",
    ),
    ("path_name", Kind::Text, "", "name of the path"),
    ("link", Kind::Text, "", "name of the link"),
    (
        "queue_mean_packets",
        Kind::Float,
        "packets",
        "time-averaged queue of the link",
    ),
    (
        "in_flight_packets",
        Kind::Integer,
        "packets",
        "packets in the queue and on the line",
    ),
    (
        "throughput_mbps",
        Kind::Float,
        "Mbit/s",
        "rate of packets that left the link",
    ),
    (
        "utilisation",
        Kind::Float,
        "",
        "share of the interval in transmission",
    ),
    (
        "drops",
        Kind::Integer,
        "packets",
        "packets that the queue dropped",
    ),
    (
        "losses",
        Kind::Integer,
        "packets",
        "packets that the line lost",
    ),
    (
        "marks",
        Kind::Integer,
        "packets",
        "packets that the queue marked",
    ),
    (
        "cwnd_segments",
        Kind::Integer,
        "segments",
        "congestion window",
    ),
    (
        "ssthresh_segments",
        Kind::Integer,
        "segments",
        "slow start threshold",
    ),
    ("srtt_s", Kind::Float, "s", "smoothed round-trip time"),
    (
        "in_flight_segments",
        Kind::Integer,
        "segments",
        "segments in flight",
    ),
    (
        "goodput_mbps",
        Kind::Float,
        "Mbit/s",
        "rate of acknowledged payload",
    ),
    (
        "retransmits",
        Kind::Integer,
        "segments",
        "retransmitted segments",
    ),
];

/// A sample of either kind.
pub(super) enum Sample<'a> {
    Link(&'a LinkSample),
    /// With the name of its path.
    Subflow(&'a SubflowSample, Option<&'a str>),
}

/// Names of the paths of subflows.
struct PathNames<'a>(BTreeMap<(&'a str, u32, usize), &'a str>);

impl<'a> PathNames<'a> {
    fn of(outcome: &'a Outcome) -> Self {
        let connections = outcome.connections.iter();
        let named = connections.flat_map(|connection| {
            let subflows = connection.subflows.iter();
            subflows.filter_map(|subflow| {
                let identity = (&*connection.name, connection.number, subflow.subflow);
                Some((identity, subflow.path_name.as_deref()?))
            })
        });
        Self(named.collect())
    }

    fn name(&self, sample: &SubflowSample) -> Option<&'a str> {
        let identity = (&*sample.connection, sample.number, sample.subflow as usize);
        self.0.get(&identity).copied()
    }
}

impl<'a> Sample<'a> {
    /// All samples in order of time: at each time the links, then the subflows.
    pub(super) fn all(samples: &'a Samples, outcome: &'a Outcome) -> Vec<Self> {
        let names = PathNames::of(outcome);
        let links = samples.links.iter().map(Self::Link);
        let subflows = samples.subflows.iter();
        let subflows = subflows.map(|sample| Self::Subflow(sample, names.name(sample)));
        let mut all: Vec<Self> = links.chain(subflows).collect();
        // Stable: links stay before subflows, and each in their order.
        all.sort_by(|a, b| a.time().total_cmp(&b.time()));
        all
    }

    fn time(&self) -> f64 {
        match self {
            Self::Link(sample) => sample.time_s,
            Self::Subflow(sample, _) => sample.time_s,
        }
    }

    /// The values of [`ROWS`].
    pub(super) fn row(&self) -> [Value<'a>; ROWS.len()] {
        let mut row = [Value::None; ROWS.len()];
        match self {
            Self::Link(sample) => {
                let [time, link, metrics @ ..] = of_link(sample);
                (row[0], row[1], row[6]) = (time, Value::Text("link"), link);
                row[7..14].copy_from_slice(&metrics);
            }
            Self::Subflow(sample, name) => {
                let [time, connection, number, subflow, name, metrics @ ..] =
                    of_subflow(sample, *name);
                (row[0], row[1]) = (time, Value::Text("subflow"));
                row[2..6].copy_from_slice(&[connection, number, subflow, name]);
                row[14..].copy_from_slice(&metrics);
            }
        }
        row
    }
}

/// Ends of the names of the files of samples, before the extension of the format.
pub const SAMPLES: [&str; 2] = ["links", "subflows"];

/// Writes the samples of a run into `STEM-seed-SEED.links.parquet` and `STEM-seed-SEED.subflows.parquet` (or `.csv`) of this directory
/// ([`stem`](super::stem)).
///
/// # Errors
/// With the file's name.
pub fn write_samples(run: &Run, directory: &Path, stem: &str, format: Format) -> io::Result<()> {
    let [links, subflows] = SAMPLES.map(|end| {
        let extension = format!("{end}.{}", format.extension());
        directory.join(file_name(stem, run.outcome.seed, &extension))
    });
    let title = [Property {
        key: "lisa.title",
        value: run.outcome.scenario.clone(),
    }];
    let mut table = Table::create(&links, format, &LINKS)?;
    table.describe(&title);
    for sample in &run.samples.links {
        table.row(&of_link(sample))?;
    }
    table.finish()?;
    let mut table = Table::create(&subflows, format, &SUBFLOWS)?;
    table.describe(&title);
    let names = PathNames::of(&run.outcome);
    for sample in &run.samples.subflows {
        table.row(&of_subflow(sample, names.name(sample)))?;
    }
    table.finish()
}

fn of_link(sample: &LinkSample) -> [Value<'_>; LINKS.len()] {
    [
        Value::Float(sample.time_s),
        Value::Text(&sample.link),
        Value::Float(sample.queue_mean_packets),
        Value::Integer(sample.in_flight_packets as i64),
        Value::Float(sample.throughput_mbps),
        sample.utilisation.into(),
        Value::Integer(sample.drops as i64),
        Value::Integer(sample.losses as i64),
        Value::Integer(sample.marks as i64),
    ]
}

fn of_subflow<'a>(
    sample: &'a SubflowSample,
    path_name: Option<&'a str>,
) -> [Value<'a>; SUBFLOWS.len()] {
    [
        Value::Float(sample.time_s),
        Value::Text(&sample.connection),
        Value::Integer(sample.number.into()),
        Value::Integer(sample.subflow.into()),
        path_name.map_or(Value::None, Value::Text),
        Value::Integer(sample.cwnd_segments.into()),
        sample.ssthresh_segments.into(),
        Value::Float(sample.srtt_s),
        Value::Integer(sample.in_flight_segments.into()),
        Value::Float(sample.goodput_mbps),
        Value::Integer(sample.retransmits as i64),
    ]
}
