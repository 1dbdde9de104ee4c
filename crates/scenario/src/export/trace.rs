//! Files with the trace of a run: the rows as a table, the credits as JSON Lines.

use std::io::{self, Write};
use std::path::Path;

use files::NewFile;

use super::columns::{Format, Kind, Property, Table, Value};
use super::file_name;
use crate::outcome::Outcome;
use crate::run::Run;
use crate::trace::{Credit, Loss, Row};

/// Version of the form of a trace.
pub const SCHEMA: &str = "lisa.trace/1";

/// Columns of a trace: the fields of [`Row`]. Numbers of subflows begin with 1.
pub const COLUMNS: [(&str, Kind); 11] = [
    ("time_s", Kind::Float),
    ("connection", Kind::Text),
    ("subflow", Kind::Integer),
    ("cwnd_segments", Kind::Integer),
    ("ssthresh_segments", Kind::Integer),
    ("srtt_s", Kind::Float),
    ("flight_segments", Kind::Integer),
    ("phase", Kind::Text),
    ("rtt_s", Kind::Float),
    ("published_1", Kind::Integer),
    ("published_2", Kind::Integer),
];

/// Writes the rows of a run into `STEM-seed-SEED.parquet` (or `.csv`) of this directory, and the credits into
/// `STEM-seed-SEED.credits.jsonl` ([`stem`](super::stem)).
///
/// # Errors
/// With the file's name.
pub fn write_trace(run: &Run, directory: &Path, stem: &str, format: Format) -> io::Result<()> {
    let path = |extension: &str| directory.join(file_name(stem, run.outcome.seed, extension));
    let mut table = Table::create(&path(format.extension()), format, &COLUMNS)?;
    for row in &run.rows {
        table.row(&values(row))?;
    }
    table.describe(&properties(&run.outcome));
    table.finish()?;
    let path = path("credits.jsonl");
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let mut file = NewFile::create(&path).map_err(named)?;
    for credit in &run.credits {
        serde_json::to_writer(&mut file, &json(credit)).map_err(|error| named(error.into()))?;
        file.write_all(b"\n").map_err(named)?;
    }
    file.finish().map_err(named)
}

/// Metadata of a trace.
#[must_use]
pub fn properties(outcome: &Outcome) -> [Property; 2] {
    let property = |key, value: &str| Property {
        key,
        value: value.into(),
    };
    [
        property("lisa.schema", SCHEMA),
        property("lisa.title", &outcome.scenario),
    ]
}

/// A credit in the form of files: numbers of subflows begin with 1.
#[must_use]
pub fn json(credit: &Credit) -> serde_json::Value {
    let credit = Credit {
        to: credit.to + 1,
        from: credit.from + 1,
        ..credit.clone()
    };
    serde_json::to_value(credit).expect("plain data")
}

/// Writes the rows of a trace into a file.
///
/// # Errors
/// With the file's name.
pub fn write_rows(rows: &[Row], path: &Path, format: Format) -> io::Result<()> {
    let mut table = Table::create(path, format, &COLUMNS)?;
    for row in rows {
        table.row(&values(row))?;
    }
    table.finish()
}

/// The values of [`COLUMNS`].
#[must_use]
pub fn values(row: &Row) -> [Value<'_>; COLUMNS.len()] {
    let published = |word: usize| row.published.map(|words| words[word]).into();
    [
        Value::Float(row.time),
        Value::Text(&row.connection),
        Value::Integer(row.subflow as i64 + 1),
        Value::Integer(row.cwnd.into()),
        row.ssthresh.into(),
        Value::Float(row.srtt),
        Value::Integer(row.flight.into()),
        Value::Text(row.phase.name()),
        row.rtt.into(),
        published(0),
        published(1),
    ]
}

/// Columns of a table of losses: the fields of [`Loss`]. Numbers of subflows begin with 1.
pub const LOSS_COLUMNS: [(&str, Kind); 3] = [
    ("time_s", Kind::Float),
    ("connection", Kind::Text),
    ("subflow", Kind::Integer),
];

/// The values of [`LOSS_COLUMNS`].
#[must_use]
pub fn loss_values(loss: &Loss) -> [Value<'_>; LOSS_COLUMNS.len()] {
    [
        Value::Float(loss.time),
        Value::Text(&loss.connection),
        Value::Integer(loss.subflow as i64 + 1),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Phase;
    use crate::{Scenario, simulate};
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    use std::fs::File;

    const FILE: &str = "title = \"A trace\"\nstop = \"9s\"\n[topology]\nkind = \"shared-bottleneck\"\n\
        rate = \"5Mbit\"\nrtt = \"40ms\"\nqueue = 17\n[[connection]]\nprotocol = \"mptcp\"\n\
        algorithm = \"lisa\"\nbytes = \"100KB\"\n";

    #[test]
    fn a_written_trace_reads_back() {
        let directory = std::env::temp_dir().join(format!("lisa-trace-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let run = simulate(&Scenario::parse(FILE, "a.toml").unwrap(), 4, true).unwrap();
        write_trace(&run, &directory, "a-trace", Format::Parquet).unwrap();
        let file = File::open(directory.join("a-trace-seed-4.parquet")).unwrap();
        let credits = std::fs::read_to_string(directory.join("a-trace-seed-4.credits.jsonl"));
        std::fs::remove_dir_all(&directory).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let rows: Vec<_> = reader
            .get_row_iter(None)
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(rows.len(), run.rows.len());
        for (read, row) in rows.iter().zip(&run.rows) {
            let integer = |value: u32| Field::Long(value.into());
            let published = |word: usize| integer(row.published.unwrap()[word]);
            let columns = [
                ("time_s", Field::Double(row.time)),
                ("connection", Field::Str(row.connection.to_string())),
                ("subflow", Field::Long(row.subflow as i64 + 1)),
                ("cwnd_segments", integer(row.cwnd)),
                (
                    "ssthresh_segments",
                    row.ssthresh.map_or(Field::Null, integer),
                ),
                ("srtt_s", Field::Double(row.srtt)),
                ("flight_segments", integer(row.flight)),
                ("phase", Field::Str(row.phase.name().into())),
                ("rtt_s", row.rtt.map_or(Field::Null, Field::Double)),
                ("published_1", published(0)),
                ("published_2", published(1)),
            ];
            let read = read
                .get_column_iter()
                .map(|(name, value)| (name.as_str(), value.clone()));
            assert_eq!(read.collect::<Vec<_>>(), columns);
        }
        assert!(
            run.rows
                .iter()
                .any(|row| row.subflow == 1 && row.phase == Phase::SlowStart)
        );
        assert_eq!(credits.unwrap().lines().count(), run.credits.len());
        assert_eq!(run.credits.len(), 1);
    }
}
