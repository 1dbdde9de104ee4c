//! Time series of links or subflows: a panel for each metric, a line for each link or subflow.

use std::collections::HashMap;

use scenario::export::columns::Value;

use super::canvas::{Area, Canvas};
use super::envelope::{Between, Envelope};
use super::legend::{Entry, Mark};
use super::page::{self, Grid, Texts};
use super::palette;
use super::panel::{Axis, Panel};
use super::results::Measured;
use super::scale::Scale;
use super::size::Size;
use super::windows::{self, Interval};

/// Largest number of lines.
const MOST: usize = 8;

/// Columns that name a link or a subflow.
const NAMES: [&str; 4] = ["connection", "number", "subflow", "link"];

/// Columns that are drawn without `--metric`, as far as a file has them.
const STANDARD: [&str; 5] = [
    "throughput_mbps",
    "goodput_mbps",
    "queue_mean_packets",
    "in_flight_packets",
    "in_flight_segments",
];

/// Titles and units of the columns that outcomes do not have.
const TITLES: [(&str, &str, &str); 6] = [
    ("throughput_mbps", "throughput", "Mbit/s"),
    ("in_flight_packets", "in flight", "packets"),
    ("in_flight_segments", "in flight", "segments"),
    ("cwnd_segments", "cwnd", "segments"),
    ("ssthresh_segments", "ssthresh", "segments"),
    ("srtt_s", "smoothed RTT", "s"),
];

/// Whether a table with these columns has time series.
pub fn are(columns: &[&str]) -> bool {
    let has = |name: &str| columns.contains(&name);
    has("time_s") && (has("link") || has("subflow") && !has("phase"))
}

/// Names of the columns of numbers that can be drawn.
pub fn metrics<'a>(columns: &[&'a str]) -> Vec<&'a str> {
    const OTHER: [&str; 8] = [
        "kind",
        "time_s",
        "algorithm",
        "backend",
        "seed",
        "path",
        "note",
        "interval_s",
    ];
    let identity =
        |name: &&&str| NAMES.contains(name) || OTHER.contains(name) || name.contains('.');
    columns
        .iter()
        .filter(|name| !identity(name))
        .copied()
        .collect()
}

fn measured(field: &str) -> Measured {
    match TITLES.iter().find(|(name, ..)| *name == field) {
        Some((_, title, unit)) => Measured {
            title: (*title).into(),
            unit: (*unit).into(),
            ..Measured::of(field)
        },
        None => Measured::of(field),
    }
}

/// Time series of some links or subflows.
#[derive(Debug)]
pub struct Samples {
    interval: Interval,
    /// The columns of the names, in the order of the table.
    names: Vec<String>,
    metrics: Vec<String>,
    wanted: Vec<String>,
    /// Titles of the links or subflows, with the sum and number of values of the first metric.
    series: Vec<(String, f64, u64)>,
    numbers: HashMap<String, usize>,
    /// For each chosen series a line for each metric.
    lines: HashMap<usize, Vec<Envelope>>,
    chosen: Vec<usize>,
    last: Option<(String, usize)>,
}

impl Samples {
    /// Time series of these metrics, or without any of the standard ones.
    ///
    /// # Errors
    /// If the table lacks a metric.
    pub fn new(
        columns: &[&str],
        chosen: &[String],
        interval: Interval,
        wanted: &[String],
    ) -> Result<Self, String> {
        let all = metrics(columns);
        let missing = chosen.iter().find(|name| !all.contains(&name.as_str()));
        if let Some(name) = missing {
            return Err(format!("--metric {name}: the file has {}", all.join(", ")));
        }
        let mut metrics: Vec<String> = match chosen {
            [] => STANDARD
                .iter()
                .filter(|name| all.contains(name))
                .map(|n| (*n).into())
                .collect(),
            chosen => chosen.to_vec(),
        };
        if metrics.is_empty() {
            metrics = all.first().map(|name| (*name).into()).into_iter().collect();
        }
        if metrics.is_empty() {
            return Err("the file has no column of numbers to draw".into());
        }
        let names = NAMES.iter().filter(|name| columns.contains(name));
        Ok(Self {
            interval,
            names: names.map(|name| (*name).into()).collect(),
            metrics,
            wanted: wanted.to_vec(),
            series: Vec::new(),
            numbers: HashMap::new(),
            lines: HashMap::new(),
            chosen: Vec::new(),
            last: None,
        })
    }

    /// Columns that [`weigh`](Self::weigh) and [`add`](Self::add) take: names, time, metrics.
    pub fn columns(&self) -> (Vec<&str>, Vec<&str>) {
        let mut numbers = vec!["time_s"];
        numbers.extend(self.metrics.iter().map(String::as_str));
        (self.names.iter().map(String::as_str).collect(), numbers)
    }

    fn number(&mut self, row: &[Value<'_>]) -> Option<usize> {
        let mut title = String::new();
        for (name, value) in self.names.iter().zip(row) {
            let text = match value {
                Value::Text(text) => (*text).to_owned(),
                Value::Integer(number) => number.to_string(),
                Value::Float(number) => number.to_string(),
                Value::None => continue,
            };
            match &**name {
                "number" if text == "1" => {}
                "number" => title = format!("{title} {text}"),
                "subflow" => title = format!("{title}, subflow {text}"),
                _ => title += &text,
            }
        }
        let title = title.trim_start_matches(", ");
        match &self.last {
            Some((last, number)) if last == title => return Some(*number),
            _ => {}
        }
        let name = title
            .rsplit_once(", subflow ")
            .map_or(title, |(name, _)| name);
        if !windows::is_wanted(&self.wanted, name) {
            return None;
        }
        let next = self.series.len();
        let number = *self.numbers.entry(title.into()).or_insert(next);
        if number == next {
            self.series.push((title.into(), 0.0, 0));
        }
        self.last = Some((title.into(), number));
        Some(number)
    }

    /// Adds a row to the means by which series are chosen.
    pub fn weigh(&mut self, row: &[Value<'_>]) {
        let names = self.names.len();
        let (Some(time), value) = (float(row[names]), float(row[names + 1])) else {
            return;
        };
        if !self.interval.has(time) {
            return;
        }
        if let (Some(number), Some(value)) = (self.number(row), value) {
            self.series[number].1 += value;
            self.series[number].2 += 1;
        }
    }

    /// Chooses the series with the largest means of the first metric.
    pub fn choose(&mut self) {
        let mean = |number: &usize| {
            let (_, sum, count) = &self.series[*number];
            sum / (*count).max(1) as f64
        };
        let mut order: Vec<usize> = (0..self.series.len()).collect();
        order.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
        // Links without data would only hide the others.
        if order.len() > MOST || self.names == ["link"] {
            order.retain(|number| mean(number) > 0.0);
        }
        order.truncate(MOST);
        order.sort_unstable();
        for number in &order {
            let line = || Envelope::new(Between::Interpolated);
            self.lines
                .insert(*number, self.metrics.iter().map(|_| line()).collect());
        }
        self.chosen = order;
    }

    /// Adds a row to the lines of the chosen series.
    pub fn add(&mut self, row: &[Value<'_>]) {
        let names = self.names.len();
        let Some(time) = float(row[names]).filter(|time| self.interval.has(*time)) else {
            return;
        };
        let Some(lines) = self
            .number(row)
            .and_then(|number| self.lines.get_mut(&number))
        else {
            return;
        };
        for (line, value) in lines.iter_mut().zip(&row[names + 1..]) {
            if let Some(value) = float(*value) {
                line.add(time, value);
            }
        }
    }

    /// Draws the figure as SVG.
    ///
    /// # Errors
    /// If there is nothing to draw, or no space.
    pub fn svg(&self, title: &str, size: Option<Size>) -> Result<String, String> {
        let lines = || self.chosen.iter().flat_map(|number| &self.lines[number]);
        let ends = lines().filter_map(Envelope::end);
        let end = ends.fold(f64::NEG_INFINITY, f64::max);
        if !end.is_finite() {
            return Err("the file has no samples in this time of these links or subflows".into());
        }
        let from = self.interval.from.max(0.0);
        let to = if self.interval.to.is_finite() {
            self.interval.to
        } else {
            end
        };
        let x = Scale::new(from, to, "time since the run began", "s");
        let dense = lines().any(|line| windows::is_dense(line, page::plot_width(1, size)));
        let mut legend: Vec<Entry> = (self.chosen.iter().enumerate())
            .map(|(colour, number)| {
                let mark = Mark::Line(palette::series(colour).into(), 2, palette::dash(colour));
                Entry::new(mark, self.series[*number].0.clone())
            })
            .collect();
        if dense {
            legend.push(windows::band_entry(
                "range of values that change often, and their mean",
            ));
        }
        let mut notes = Vec::new();
        let left_out = self.series.len() - self.chosen.len();
        if left_out > 0 {
            let first = measured(&self.metrics[0]).title;
            let shown = self.chosen.len();
            notes.push(format!(
                "The {shown} with the largest mean of {first}; {left_out} more are left out."
            ));
        }
        let grid = Grid {
            panels: self.metrics.len(),
            columns: 1,
            height: 210.0,
            least: (190.0, 110.0),
        };
        let texts = Texts {
            title: title.into(),
            lines: Vec::new(),
            legend,
            notes,
        };
        page::page(
            &texts,
            grid,
            size,
            |canvas: &mut Canvas<'_>, areas: &[Area]| {
                for (metric, area) in areas.iter().enumerate() {
                    let of = |number: &usize| &self.lines[number][metric];
                    let measured = measured(&self.metrics[metric]);
                    let values = self.chosen.iter().map(of).filter_map(Envelope::values);
                    let values = values.flat_map(|(least, most)| [least, most]);
                    let y = Scale::over(values, true, &measured.title, &measured.unit);
                    let axes = (Axis::Scale(x.clone()), Axis::Scale(y));
                    let panel = Panel::draw(canvas, *area, "", axes, true);
                    for (colour, number) in self.chosen.iter().enumerate() {
                        let mark =
                            Mark::Line(palette::series(colour).into(), 2, palette::dash(colour));
                        windows::line(canvas, &panel, of(number), mark);
                    }
                }
            },
        )
    }
}

fn float(value: Value<'_>) -> Option<f64> {
    match value {
        Value::Integer(value) => Some(value as f64),
        Value::Float(value) => Some(value),
        Value::None | Value::Text(_) => None,
    }
}
