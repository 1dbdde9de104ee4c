//! Files with the time series of a run.

use std::io;
use std::path::Path;

use super::columns::{Format, Kind, Property, Table, Value};
use super::file_name;
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
const SUBFLOWS: [(&str, Kind); 10] = [
    ("time_s", Kind::Float),
    ("connection", Kind::Text),
    ("number", Kind::Integer),
    ("subflow", Kind::Integer),
    ("cwnd_segments", Kind::Integer),
    ("ssthresh_segments", Kind::Integer),
    ("srtt_s", Kind::Float),
    ("in_flight_segments", Kind::Integer),
    ("goodput_mbps", Kind::Float),
    ("retransmits", Kind::Integer),
];

/// Columns of rows of both kinds ([`RowKind::Sample`](super::rows::RowKind::Sample)), after those of the run: name, kind, unit,
/// description.
pub(super) const ROWS: [(&str, Kind, &str, &str); 19] = [
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
    Subflow(&'a SubflowSample),
}

impl<'a> Sample<'a> {
    /// All samples in order of time: at each time the links, then the subflows.
    pub(super) fn all(samples: &'a Samples) -> Vec<Self> {
        let links = samples.links.iter().map(Self::Link);
        let mut all: Vec<Self> = links
            .chain(samples.subflows.iter().map(Self::Subflow))
            .collect();
        // Stable: links stay before subflows, and each in their order.
        all.sort_by(|a, b| a.time().total_cmp(&b.time()));
        all
    }

    fn time(&self) -> f64 {
        match self {
            Self::Link(sample) => sample.time_s,
            Self::Subflow(sample) => sample.time_s,
        }
    }

    /// The values of [`ROWS`].
    pub(super) fn row(&self) -> [Value<'a>; ROWS.len()] {
        let mut row = [Value::None; ROWS.len()];
        match self {
            Self::Link(sample) => {
                let [time, link, metrics @ ..] = of_link(sample);
                (row[0], row[1], row[5]) = (time, Value::Text("link"), link);
                row[6..13].copy_from_slice(&metrics);
            }
            Self::Subflow(sample) => {
                let [time, connection, number, subflow, metrics @ ..] = of_subflow(sample);
                (row[0], row[1]) = (time, Value::Text("subflow"));
                row[2..5].copy_from_slice(&[connection, number, subflow]);
                row[13..].copy_from_slice(&metrics);
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
    for sample in &run.samples.subflows {
        table.row(&of_subflow(sample))?;
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

fn of_subflow(sample: &SubflowSample) -> [Value<'_>; SUBFLOWS.len()] {
    [
        Value::Float(sample.time_s),
        Value::Text(&sample.connection),
        Value::Integer(sample.number.into()),
        Value::Integer(sample.subflow.into()),
        Value::Integer(sample.cwnd_segments.into()),
        sample.ssthresh_segments.into(),
        Value::Float(sample.srtt_s),
        Value::Integer(sample.in_flight_segments.into()),
        Value::Float(sample.goodput_mbps),
        Value::Integer(sample.retransmits as i64),
    ]
}
