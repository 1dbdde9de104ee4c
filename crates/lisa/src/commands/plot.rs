//! `lisa plot`: draws a file that another command wrote.

use std::borrow::Cow;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use scenario::Scenario;
use scenario::export::columns::Value;
use scenario::export::read::{Reader, Want};
use scenario::trace::{Credit, Phase};

use super::run;
use crate::figure::arguments::{Choice, Page, Time};
use crate::figure::drawing::Drawing;
use crate::figure::format;
use crate::figure::results::{self, Data, Measured};
use crate::figure::samples::{self, Connections, Samples};
use crate::figure::windows::{State, Windows};
use crate::output::{Failure, print};
use crate::runs::files;
use crate::values;

/// `lisa plot`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The file, .parquet or .csv: a trace or time series of `lisa run --trace`, or rows of `-o`. Several files of rows, such as the
    /// parts of a sweep, are one table.
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = values::path("the name of a file that ends with .parquet or .csv"))]
    pub files: Vec<PathBuf>,
    /// Write into this file, whose name ends with .svg, .png or .pdf [default: the first file's name with .svg].
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = format::parser())]
    pub output: Option<PathBuf>,
    /// Replace a file that exists.
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub choice: Choice,
    /// Draw only this connection of a trace, or this connection or link of time series. Can be given several times.
    #[arg(id = "connection", long, value_name = "NAME", value_parser = values::text("the name of a connection or link of the file"))]
    pub names: Vec<String>,
    /// Of time series draw the goodput of connections, the sum of their subflows, and Jain's fairness index of all.
    #[arg(long, conflicts_with = "metric")]
    pub connections: bool,
    #[command(flatten)]
    pub page: Page,
    #[command(flatten)]
    pub time: Time,
}

/// Reads the file, draws it, and prints the name of the figure.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let path = &arguments.files[0];
    let output = match &arguments.output {
        Some(output) => output.clone(),
        None => path.with_extension("svg"),
    };
    let interval = arguments.time.interval()?;
    let readers: Vec<Reader> = (arguments.files.iter())
        .map(|path| Ok(Reader::open(path)?))
        .collect::<Result<_, Failure>>()?;
    files::check("-o", &output, arguments.force)?;
    let columns = readers[0].columns();
    let shown = path.display();
    let wrong = |problem: String| Failure::new(format!("{shown}: {problem}"));
    let has = |name: &str| columns.contains(&name);
    let is_trace = ["time_s", "connection", "subflow", "cwnd_segments", "phase"]
        .iter()
        .all(|name| has(name));
    let is_samples = !is_trace && samples::are(&columns);
    if (is_trace || is_samples) && readers.len() > 1 {
        return Err(Failure::usage(
            "several files are one figure only if they have rows of runs: draw each alone",
        ));
    }
    let svg = match (is_trace, is_samples) {
        (true, _) => {
            no_choice(arguments, "a trace", false)?;
            trace(arguments, &readers[0], path)?
        }
        (_, true) => {
            no_choice(arguments, "time series", true)?;
            let chosen: Vec<String> = arguments
                .choice
                .metric
                .iter()
                .map(|name| field(name).into())
                .collect();
            let mut connections = match arguments.connections {
                true => Some(Connections::new(&columns).map_err(wrong)?),
                false => None,
            };
            let of_connections = connections.as_ref().map(|connections| {
                let columns = connections.columns().into_iter().map(String::from);
                columns.collect::<Vec<String>>()
            });
            let (columns, chosen) = match &of_connections {
                Some(columns) => (
                    columns.iter().map(String::as_str).collect(),
                    Connections::METRICS.map(String::from).to_vec(),
                ),
                None => (columns, chosen),
            };
            let mut samples =
                Samples::new(&columns, &chosen, interval, &arguments.names).map_err(wrong)?;
            series(&readers[0], &mut samples, connections.as_mut())?;
            let about = format!("time series of {}", file_name(path));
            samples
                .svg(
                    &title(&readers[0], path),
                    &about,
                    arguments.page.size,
                    &samples::Shared::default(),
                )
                .map_err(wrong)?
        }
        _ if has("algorithm") && has("seed") && has("backend") => {
            if !arguments.names.is_empty()
                || arguments.time.from.is_some()
                || arguments.time.to.is_some()
            {
                return Err(Failure::usage(format!(
                    "--connection, --from and --to are for traces and time series; {shown} has rows of runs"
                )));
            }
            rows(arguments, &readers, path)?
        }
        _ => {
            return Err(wrong(
                "neither a trace, nor time series, nor rows of runs: the columns are those of another table".into(),
            ));
        }
    };
    Drawing::open("-o", &output)?.write(&svg)?;
    print(&format!("{}\n", output.display()))
}

fn file_name(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

/// The name of a column: `drops` of the metric `links.drops`.
fn field(metric: &str) -> &str {
    metric.rsplit('.').next().unwrap_or(metric)
}

/// Checks that no option of other figures is given.
fn no_choice(arguments: &Arguments, what: &str, has_metrics: bool) -> Result<(), Failure> {
    let choice = &arguments.choice;
    let option = match () {
        () if choice.kind.is_some() => "--kind",
        () if choice.difference => "--difference",
        () if arguments.connections && !has_metrics => "--connections",
        () if choice.metric.is_some() && !has_metrics => "--metric",
        () => return Ok(()),
    };
    let file = arguments.files[0].display();
    let of = match option {
        "--connections" => "time series",
        _ => "rows of runs",
    };
    Err(Failure::usage(format!(
        "{option} is for {of}; {file} is {what}"
    )))
}

/// The title of the file's scenario, or the file's name.
fn title(reader: &Reader, path: &Path) -> String {
    if let Some(title) = reader.property("lisa.title") {
        return title.into();
    }
    let text = reader.property("lisa.scenario");
    let scenario = text.and_then(|text| Scenario::parse(text, path).ok());
    match scenario {
        Some(scenario) => scenario.title,
        None => path
            .file_stem()
            .map_or(String::new(), |name| name.to_string_lossy().into_owned()),
    }
}

/// The windows of a trace, with the credits beside it.
fn trace(arguments: &Arguments, reader: &Reader, path: &Path) -> Result<String, Failure> {
    let interval = arguments.time.interval()?;
    let mut windows = Windows::new(interval, &arguments.names, run::MOST_PANELS);
    let mut end = None;
    let phases = [
        Phase::SlowStart,
        Phase::Avoidance,
        Phase::Recovery,
        Phase::Absent,
        Phase::Standby,
    ];
    let mut unknown = None;
    let wanted = [
        ("time_s", Want::Number),
        ("connection", Want::Text),
        ("subflow", Want::Number),
        ("cwnd_segments", Want::Number),
        ("ssthresh_segments", Want::Number),
        ("phase", Want::Text),
    ];
    reader.each(&wanted, |row| {
        let [time, _, subflow, cwnd, ssthresh, _] = [0, 1, 2, 3, 4, 5].map(|n| number(row[n]));
        let (Value::Text(title), Value::Text(phase)) = (row[1], row[5]) else {
            return;
        };
        let (Some(time), Some(subflow), Some(cwnd)) = (time, subflow, cwnd) else {
            return;
        };
        let Some(phase) = phases.iter().find(|known| known.name() == phase) else {
            unknown.get_or_insert(phase.to_owned());
            return;
        };
        end = Some(time);
        let state = State {
            time,
            cwnd,
            ssthresh,
            phase: *phase,
        };
        windows.add(title, (subflow as usize).saturating_sub(1).min(255), state);
    })?;
    let shown = path.display();
    if let Some(phase) = unknown {
        return Err(Failure::new(format!(
            "{shown}: `{phase}` is no phase of congestion control"
        )));
    }
    for credit in credits(path)? {
        windows.lent(&credit);
    }
    windows.finish(end);
    let names = windows.titles.clone();
    windows.order(&names.iter().map(String::as_str).collect::<Vec<&str>>());
    let about = vec![format!("windows of {}", file_name(path))];
    let page = (interval, arguments.page.size);
    run::windows_svg(
        &windows,
        &title(reader, path),
        about,
        &[],
        page,
        |title, _| title.into(),
    )
    .map_err(|problem| Failure::new(format!("{shown}: {problem}")))
}

/// The credits of a trace: `A-seed-1.credits.jsonl` beside `A-seed-1.parquet`, if it exists.
fn credits(path: &Path) -> Result<Vec<Credit>, Failure> {
    let beside = path.with_extension("credits.jsonl");
    let Ok(file) = ::files::open(&beside) else {
        return Ok(Vec::new());
    };
    let wrong = |line: usize, problem: String| {
        Failure::new(format!("{}, line {line}: {problem}", beside.display()))
    };
    let mut credits = Vec::new();
    for (line, text) in std::io::BufReader::new(file).lines().enumerate() {
        let text = text.map_err(|error| wrong(line + 1, error.to_string()))?;
        let credit: Credit = serde_json::from_str(&text)
            .map_err(|_| wrong(line + 1, "no credit of a trace".into()))?;
        credits.push(Credit {
            to: credit.to.saturating_sub(1),
            from: credit.from.saturating_sub(1),
            ..credit
        });
    }
    Ok(credits)
}

/// Reads time series: first the means that choose the lines, then the lines.
fn series(
    reader: &Reader,
    samples: &mut Samples,
    connections: Option<&mut Connections>,
) -> Result<(), Failure> {
    if let Some(connections) = connections {
        let (texts, numbers) = connections.wanted();
        let texts = texts.into_iter().map(|name| (name.to_owned(), Want::Text));
        let numbers = numbers.map(|name| (name.to_owned(), Want::Number));
        let wanted: Vec<(String, Want)> = texts.chain(numbers).collect();
        let wanted: Vec<(&str, Want)> = (wanted.iter())
            .map(|(name, want)| (name.as_str(), *want))
            .collect();
        reader.each(&wanted, |row| {
            connections.add(row, |row| samples.weigh(row))
        })?;
        connections.finish(|row| samples.weigh(row));
        samples.choose();
        reader.each(&wanted, |row| connections.add(row, |row| samples.add(row)))?;
        connections.finish(|row| samples.add(row));
        return Ok(());
    }
    let (names, numbers) = samples.columns();
    let names = names.into_iter().map(|name| (name.to_owned(), Want::Text));
    let numbers = numbers
        .into_iter()
        .map(|name| (name.to_owned(), Want::Number));
    let wanted: Vec<(String, Want)> = names.chain(numbers).collect();
    let wanted: Vec<(&str, Want)> = wanted
        .iter()
        .map(|(name, want)| (name.as_str(), *want))
        .collect();
    reader.each(&wanted, |row| samples.weigh(row))?;
    samples.choose();
    reader.each(&wanted, |row| samples.add(row))?;
    Ok(())
}

/// A figure of rows of runs.
fn rows(arguments: &Arguments, readers: &[Reader], path: &Path) -> Result<String, Failure> {
    let columns = readers[0].columns();
    let wrong = |problem: String| Failure::new(format!("{}: {problem}", path.display()));
    let all = samples::metrics(&columns);
    let metric = match &arguments.choice.metric {
        Some(name) if all.contains(&field(name)) => field(name).to_owned(),
        Some(name) => {
            let all = all.join(", ");
            return Err(Failure::usage(format!(
                "--metric {name}: the file has {all}"
            )));
        }
        None => standard(&readers[0], &columns)?,
    };
    let mut data = Data::new(&columns, Measured::of(&metric)).map_err(wrong)?;
    let names = data.wanted().to_vec();
    let want = |name: &String| match name.as_str() {
        "seed" => Want::Number,
        name if name == metric => Want::Number,
        "algorithm" | "backend" | "connection" | "link" => Want::Text,
        _ => Want::Any,
    };
    let wanted: Vec<(&str, Want)> = names
        .iter()
        .map(|name| (name.as_str(), want(name)))
        .collect();
    for reader in readers {
        reader.each(&wanted, |row| data.add(row))?;
    }
    data.finish();
    let options = arguments.choice.options(&arguments.page);
    results::svg(&data, &title(&readers[0], path), options).map_err(wrong)
}

/// The metric that is drawn without `--metric`: the first of the standard ones with a value, else the first column of numbers.
fn standard(reader: &Reader, columns: &[&str]) -> Result<String, Failure> {
    for name in ["completion_s", "goodput_mbps", "utilisation"] {
        let mut has_value = false;
        if columns.contains(&name) {
            reader.each(&[(name, Want::Number)], |row| {
                has_value |= row[0] != Value::None
            })?;
        }
        if has_value {
            return Ok(name.into());
        }
    }
    let all = samples::metrics(columns);
    let first = all.iter().find(|name| !["start_s", "bytes"].contains(name));
    first
        .map(|name| (*name).to_owned())
        .ok_or_else(|| Failure::new("the file has no metric to draw: write rows with --metrics"))
}

fn number(value: Value<'_>) -> Option<f64> {
    match value {
        Value::Integer(value) => Some(value as f64),
        Value::Float(value) => Some(value),
        Value::None | Value::Text(_) => None,
    }
}

const EXAMPLES: &str = "Examples:
  lisa run download.toml --trace out --sample 10ms
  lisa plot out/*-seed-1.parquet -o windows.pdf --size 16cmx9cm
  lisa plot out/*-seed-1.links.parquet --metric queue_mean_packets --from 1s --to 3s
  lisa plot out/*-seed-1.subflows.parquet --connections          # the sums of their subflows, and how fair they are
  lisa sweep download.toml --vary bottleneck.queue=1..34 -a lia,lisa -o queues.parquet
  lisa plot queues.parquet --metric retransmits
  lisa plot queues.parquet --kind bars -o bars.png --force";
