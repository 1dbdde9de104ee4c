//! Files with the time series of a run.

use std::io;
use std::path::Path;

use super::columns::{Format, Kind, Table, Value};
use super::file_name;
use crate::run::Run;
use crate::sample::{LinkSample, SubflowSample};

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
    let mut table = Table::create(&links, format, &LINKS)?;
    for sample in &run.samples.links {
        table.row(&of_link(sample))?;
    }
    table.finish()?;
    let mut table = Table::create(&subflows, format, &SUBFLOWS)?;
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
