//! The file of `--output`: a table of runs (docs/rows.md).

use std::path::Path;

use netsim::Span;
use scenario::export::columns::{Format, Property, Table};
use scenario::export::rows::{Columns, Identity};
use scenario::metrics::Metric;
use scenario::sample::Samples;
use scenario::study::rows;
pub use scenario::study::rows::fixed;
use scenario::vary::Vary;
use scenario::{Outcome, Source};

use super::arguments::{Common, RowsArguments};
use super::files;
use super::on::On;
use super::rows::Rows;
use crate::output::Failure;

/// The columns of the rows. `varied` are the keys of `--vary`, which follow those of `--set`.
pub fn columns(
    common: &Common,
    rows: Rows,
    varied: &[Vary],
    names: &[String],
    metrics: &[&'static Metric],
) -> Result<Columns, Failure> {
    let mut settings = fixed(&common.set, varied);
    settings.extend(varied.iter().cloned());
    let chosen = Some(metrics).filter(|_| !names.is_empty());
    rows::columns(rows.into(), &settings, chosen).map_err(|missing| {
        Failure::usage(format!(
            "--metrics: rows of --rows {} have no `{}`: use --rows {}",
            missing.rows.name(),
            missing.metric.key,
            missing.other.name()
        ))
    })
}

/// Checks the options. Returns the format, if there is a file. JSON of a sweep has rows without a file.
pub fn check(
    arguments: &RowsArguments,
    rows_without_file: bool,
) -> Result<Option<Format>, Failure> {
    let Some(path) = &arguments.output else {
        return match arguments.rows {
            Some(_) if !rows_without_file => Err(Failure::usage(
                "--rows is for the table of -o: add `-o rows.parquet`",
            )),
            _ => Ok(None),
        };
    };
    let format = Format::of(path).ok_or_else(|| {
        let path = path.display();
        Failure::usage(format!("-o {path}: a name ends with .parquet or .csv"))
    })?;
    Ok(Some(format))
}

/// Interval of the time series of all runs. `traced`: whether traces are written, which have time series if an interval is given.
pub fn sample(arguments: &RowsArguments, traced: bool, on: &[On]) -> Result<Option<Span>, Failure> {
    const DEFAULT: Span = Span::from_millis(10);
    /// Interval at which real endpoints are observed.
    const SHORTEST: Span = Span::from_millis(1);
    let rows = arguments.rows == Some(Rows::Sample);
    if !rows && !traced && arguments.sample.is_some() {
        return Err(Failure::usage(
            "--sample is for time series: add `--rows sample -o series.parquet`",
        ));
    }
    let interval = arguments.sample.or(rows.then_some(DEFAULT));
    if interval.is_some_and(|interval| interval < SHORTEST) && on.iter().any(|on| *on != On::Sim) {
        return Err(Failure::usage(
            "--sample: real endpoints are observed each millisecond: from 1ms on, or use --on sim",
        ));
    }
    Ok(interval)
}

/// A table that becomes the file of `--output` once it is complete.
pub struct RowsFile {
    columns: Columns,
    table: Table,
}

impl RowsFile {
    /// The file of `--output`, if it is given. `names` and `metrics` are those of `--metrics`.
    pub fn open(
        common: &Common,
        arguments: &RowsArguments,
        names: &[String],
        metrics: &[&'static Metric],
    ) -> Result<Option<Self>, Failure> {
        let (Some(path), Some(format)) = (&arguments.output, check(arguments, false)?) else {
            return Ok(None);
        };
        files::check("-o", path, common.force)?;
        let kind = arguments.rows.unwrap_or_default();
        let columns = columns(common, kind, &[], names, metrics)?;
        Self::create(path, format, columns).map(Some)
    }

    /// Creates the file, which has its name once it is complete.
    pub fn create(path: &Path, format: Format, columns: Columns) -> Result<Self, Failure> {
        let table = Table::create(path, format, &columns.kinds())?;
        Ok(Self { columns, table })
    }

    /// Adds the rows of a run.
    pub fn add(
        &mut self,
        identity: Identity<'_>,
        outcome: &Outcome,
        samples: &Samples,
    ) -> Result<(), Failure> {
        let (table, columns) = (&mut self.table, &self.columns);
        Ok(columns.rows(identity, outcome, samples, |row| table.row(row))?)
    }

    /// Writes the end of the file with the metadata, and gives the file its name.
    pub fn finish(mut self, properties: &[Property]) -> Result<(), Failure> {
        self.table.describe(&self.columns.properties());
        self.table.describe(properties);
        Ok(self.table.finish()?)
    }
}

/// The words that name the file in the message of an interrupted command.
pub fn kept(arguments: &RowsArguments) -> String {
    let path = arguments.output.as_ref();
    path.map_or(String::new(), |path| {
        format!(", their rows are in {}", path.display())
    })
}

/// The metadata of the file: scenario, command line, backends, kernel.
pub fn properties(source: &Source, on: &[On], kernel: Option<String>) -> Vec<Property> {
    let property = |key, value| Property { key, value };
    let backends: Vec<&str> = on.iter().map(|on| on.name()).collect();
    let mut properties = vec![
        property("lisa.command", command_line(std::env::args().collect())),
        property("lisa.scenario", source.text.clone()),
        property("lisa.backend", backends.join(",")),
    ];
    properties.extend(kernel.map(|release| property("lisa.kernel", release)));
    properties
}

/// The command line without options that change no row, so that equal rows are equal files.
fn command_line(arguments: Vec<String>) -> String {
    const FLAGS: [&str; 4] = ["--resume", "--force", "--json", "--timing"];
    const WITH_VALUE: [&str; 7] = [
        "-o",
        "--output",
        "--jobs",
        "--plot",
        "--trace",
        "--trace-format",
        "--pcap",
    ];
    let mut kept = vec!["lisa".to_owned()];
    let mut arguments = arguments.into_iter().skip(1);
    while let Some(argument) = arguments.next() {
        let name = argument
            .split_once('=')
            .map_or(&*argument, |(name, _)| name);
        if WITH_VALUE.contains(&&*argument) {
            arguments.next();
            continue;
        }
        let changes_no_row =
            FLAGS.contains(&&*argument) || WITH_VALUE.contains(&name) || argument.starts_with("-o");
        if !changes_no_row {
            kept.push(quoted(argument));
        }
    }
    kept.join(" ")
}

/// The argument as a shell reads it.
fn quoted(argument: String) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:@%+".contains(c);
    match !argument.is_empty() && argument.chars().all(plain) {
        true => argument,
        false => format!("'{}'", argument.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_makes_the_rows_again() {
        let line =
            "target/lisa sweep a.toml --jobs 2 -o x.csv --output=y.csv -oz.csv --resume --seeds 3";
        let line = command_line(line.split(' ').map(String::from).collect());
        assert_eq!(line, "lisa sweep a.toml --seeds 3");
        let line = command_line(vec!["lisa".into(), "run".into(), "it's a.toml".into()]);
        assert_eq!(line, "lisa run 'it'\\''s a.toml'");
    }
}
