//! A run's trace in files: its rows as a table, its credits as JSON, one a line.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::columns::{Format, Kind, Table, Value};
use crate::{Outcome, Run, trace};

/// The longest part of a title that a file's name has, bytes.
const LONGEST: usize = 60;

/// The columns of a trace: those of [`trace::Row`].
const COLUMNS: [(&str, Kind); 8] = [
    ("time", Kind::Float),
    ("connection", Kind::Text),
    ("subflow", Kind::Integer),
    ("cwnd", Kind::Integer),
    ("ssthresh", Kind::Integer),
    ("srtt", Kind::Float),
    ("flight", Kind::Integer),
    ("phase", Kind::Text),
];

/// Writes a run's rows into `<title>-seed-<seed>.parquet` (or `.csv`) of this directory, and its credits into
/// `<title>-seed-<seed>.credits.jsonl`, where `<title>` is the scenario's in small letters, digits and hyphens.
///
/// # Errors
/// With the file's name.
pub fn write(run: &Run, directory: &Path, format: Format) -> io::Result<()> {
    let path = path(&run.outcome, directory, format.extension());
    write_rows(&run.rows, &path, format)?;
    let path = self::path(&run.outcome, directory, "credits.jsonl");
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let mut file = BufWriter::new(File::create(&path).map_err(named)?);
    for credit in &run.credits {
        serde_json::to_writer(&mut file, credit).map_err(|error| named(error.into()))?;
        file.write_all(b"\n").map_err(named)?;
    }
    file.flush().map_err(named)
}

/// Writes rows into a file.
///
/// # Errors
/// With the file's name.
pub fn write_rows(rows: &[trace::Row], path: &Path, format: Format) -> io::Result<()> {
    let mut table = Table::create(path, format, &COLUMNS)?;
    for row in rows {
        table.row(&values(row))?;
    }
    table.finish()
}

fn values(row: &trace::Row) -> [Value<'_>; 8] {
    [
        Value::Float(row.time),
        Value::Text(&row.connection),
        Value::Integer(row.subflow as i64),
        Value::Integer(row.cwnd.into()),
        row.ssthresh.into(),
        Value::Float(row.srtt),
        Value::Integer(row.flight.into()),
        Value::Text(row.phase),
    ]
}

pub(crate) fn path(outcome: &Outcome, directory: &Path, extension: &str) -> PathBuf {
    let title = slug(&outcome.scenario);
    directory.join(format!("{title}-seed-{}.{extension}", outcome.seed))
}

fn slug(title: &str) -> String {
    let mut slug = String::new();
    for c in title.chars().flat_map(char::to_lowercase) {
        if slug.len() >= LONGEST {
            break;
        }
        match c.is_ascii_alphanumeric() {
            true => slug.push(c),
            false if slug.ends_with('-') || slug.is_empty() => {}
            false => slug.push('-'),
        }
    }
    match slug.trim_end_matches('-') {
        "" => "scenario".into(),
        slug => slug.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scenario, simulate};
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    const FILE: &str = "title = \"A trace\"\nstop = \"9s\"\n[topology]\nkind = \"shared-bottleneck\"\n\
        rate = \"5Mbit\"\nrtt = \"40ms\"\nqueue = 17\n[[connection]]\nprotocol = \"mptcp\"\n\
        algorithm = \"lisa\"\nbytes = \"100KB\"\n";

    #[test]
    fn what_is_written_reads_back() {
        let directory = std::env::temp_dir().join(format!("lisa-trace-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let run = simulate(&Scenario::parse(FILE, "a.toml").unwrap(), 4, true).unwrap();
        write(&run, &directory, Format::Parquet).unwrap();
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
            let columns = [
                ("time", Field::Double(row.time)),
                ("connection", Field::Str(row.connection.to_string())),
                ("subflow", Field::Long(row.subflow as i64)),
                ("cwnd", integer(row.cwnd)),
                ("ssthresh", row.ssthresh.map_or(Field::Null, integer)),
                ("srtt", Field::Double(row.srtt)),
                ("flight", integer(row.flight)),
                ("phase", Field::Str(row.phase.into())),
            ];
            let read = read
                .get_column_iter()
                .map(|(name, value)| (name.as_str(), value.clone()));
            assert_eq!(read.collect::<Vec<_>>(), columns);
        }
        assert!(
            run.rows
                .iter()
                .any(|row| row.subflow == 1 && row.phase == "slow start")
        );
        assert_eq!(credits.unwrap().lines().count(), run.credits.len());
        assert_eq!(run.credits.len(), 1);
    }

    #[test]
    fn titles_are_names_of_files() {
        assert_eq!(slug("300 KB over 2.5 Mbit/s"), "300-kb-over-2-5-mbit-s");
        assert_eq!(slug("../LISA fig. 6: (a)"), "lisa-fig-6-a");
        assert_eq!(slug("…"), "scenario");
        assert_eq!(slug(&"x".repeat(1000)).len(), 60);
    }
}
