//! Time series of links or subflows: a panel for each metric, a line for each link or subflow.

mod columns;
mod connections;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use scenario::export::columns::Value;

use super::canvas::{Area, Canvas};
use super::envelope::{Between, Envelope};
use super::legend::{Entry, Mark};
use super::page::{self, Grid, Texts};
use super::palette;
use super::panel::{Axis, Panel};
use super::results::{Key, Setting, settings};
use super::scale::Scale;
use super::size::Size;
use super::windows::{self, Interval};
use crate::output::counted;
use columns::{NAMES, STANDARD, measured};
pub use columns::{are, metrics};
pub use connections::Connections;

/// Largest number of lines.
const MOST: usize = 8;

/// Kind of the line of an index of all connections, which is always drawn.
const INDEX: &str = "index";

/// What a figure shares with its neighbours: styles of its lines, and ends of its axes.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// Number of the colour and dashes ([`palette`]) of a line, by its title; of others by their place in the legend.
    pub styles: HashMap<String, usize>,
    /// Values that the axis of each metric includes, by its column.
    pub ranges: HashMap<String, [f64; 2]>,
    /// Least end of the axis of time, seconds.
    pub end: f64,
}

/// Time series of some links or subflows.
#[derive(Debug)]
pub struct Samples {
    interval: Interval,
    /// The columns of the names, in the order of the table.
    names: Vec<String>,
    has_algorithm: bool,
    metrics: Vec<String>,
    wanted: Vec<String>,
    /// The columns whose values differ between runs: settings, backend and seed.
    run: Vec<String>,
    /// The values of the first run, which is drawn, and whether there are others.
    first: Option<(Vec<String>, bool)>,
    series: Vec<Series>,
    numbers: HashMap<[String; 2], usize>,
    /// For each chosen series a line for each metric.
    lines: HashMap<usize, Vec<Envelope>>,
    chosen: Vec<usize>,
    last: Option<([String; 2], usize)>,
}

/// A link or a subflow.
#[derive(Debug)]
struct Series {
    title: String,
    /// Algorithm of the row; empty for a link without one.
    algorithm: String,
    /// Kind of the item, a noun. Means of links and of subflows are not compared, because their metrics differ.
    kind: &'static str,
    /// Number of the first metric of which the link or subflow has a value.
    metric: Option<usize>,
    /// Sum and number of the values of this metric.
    sum: f64,
    count: u64,
}

impl Series {
    fn mean(&self) -> f64 {
        self.sum / self.count.max(1) as f64
    }
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
        let settings = columns.iter().position(|name| *name == "algorithm");
        let settings = columns[..settings.unwrap_or(0)].iter();
        let others = ["backend", "seed"].iter();
        let run = settings.chain(others.filter(|name| columns.contains(name)));
        Ok(Self {
            interval,
            names: names.map(|name| (*name).into()).collect(),
            metrics,
            wanted: wanted.to_vec(),
            run: run.map(|name| (*name).into()).collect(),
            first: None,
            has_algorithm: columns.contains(&"algorithm"),
            series: Vec::new(),
            numbers: HashMap::new(),
            lines: HashMap::new(),
            chosen: Vec::new(),
            last: None,
        })
    }

    /// Columns that [`weigh`](Self::weigh) and [`add`](Self::add) take: texts, namely names, the run and the algorithm, then
    /// numbers, namely time and metrics.
    pub fn columns(&self) -> (Vec<&str>, Vec<&str>) {
        let mut numbers = vec!["time_s"];
        numbers.extend(self.metrics.iter().map(String::as_str));
        let texts = self.names.iter().chain(&self.run).map(String::as_str);
        let algorithm = self.has_algorithm.then_some("algorithm");
        (texts.chain(algorithm).collect(), numbers)
    }

    /// Number of the texts of a row.
    fn texts(&self) -> usize {
        self.names.len() + self.run.len() + usize::from(self.has_algorithm)
    }

    /// Whether the row is of the first run.
    fn is_first(&mut self, row: &[Value<'_>]) -> bool {
        let of = &row[self.names.len()..][..self.run.len()];
        let (first, others) = (self.first).get_or_insert_with(|| {
            let values = of.iter().map(|value| text(*value));
            (values.collect(), false)
        });
        let mut values = first.iter().zip(of);
        let is_first = values.all(|(first, value)| match value {
            Value::Text(value) => first == value,
            value => *first == text(*value),
        });
        *others |= !is_first;
        is_first
    }

    fn number(&mut self, row: &[Value<'_>]) -> Option<usize> {
        if !self.is_first(row) {
            return None;
        }
        let mut title = String::new();
        for (name, value) in self.names.iter().zip(row) {
            let text = match value {
                Value::None => continue,
                value => text(*value),
            };
            match &**name {
                "number" if text == "1" || text.is_empty() => {}
                "number" => title = format!("{title} {text}"),
                "subflow" => title = format!("{title}, subflow {text}"),
                "path_name" if text.is_empty() => {}
                "path_name" => title = format!("{title}, {text}"),
                _ => title += &text,
            }
        }
        let title = title.trim_start_matches(", ");
        let algorithm = match self.has_algorithm {
            true => text(row[self.texts() - 1]),
            false => String::new(),
        };
        let key = [title.to_owned(), algorithm];
        match &self.last {
            Some((last, number)) if *last == key => return Some(*number),
            _ => {}
        }
        let name = title
            .rsplit_once(", subflow ")
            .map_or(title, |(name, _)| name);
        if !windows::is_wanted(&self.wanted, name) {
            return None;
        }
        let next = self.series.len();
        let number = *self.numbers.entry(key.clone()).or_insert(next);
        if number == next {
            let [title, algorithm] = key.clone();
            let has = |name: &str| {
                let at = self.names.iter().position(|known| known == name);
                at.is_some_and(|at| row[at] != Value::None && row[at] != Value::Text(""))
            };
            let kind = match () {
                () if has("link") => "link",
                () if has("subflow") => "subflow",
                () if title == connections::TITLE => INDEX,
                () => "connection",
            };
            self.series.push(Series {
                title,
                algorithm,
                kind,
                metric: None,
                sum: 0.0,
                count: 0,
            });
        }
        self.last = Some((key, number));
        Some(number)
    }

    /// Adds a row to the means by which series are chosen.
    pub fn weigh(&mut self, row: &[Value<'_>]) {
        let texts = self.texts();
        let has = |time| self.interval.has(time);
        if !float(row[texts]).is_some_and(has) {
            return;
        }
        let Some(number) = self.number(row) else {
            return;
        };
        let values: Vec<Option<f64>> = row[texts + 1..].iter().map(|value| float(*value)).collect();
        let series = &mut self.series[number];
        series.metric = series.metric.or(values.iter().position(Option::is_some));
        if let Some(value) = series.metric.and_then(|metric| values[metric]) {
            series.sum += value;
            series.count += 1;
        }
    }

    /// Chooses the links with the largest means of their first metric, and as many subflows with the largest means of theirs.
    pub fn choose(&mut self) {
        let mean = |number: &usize| self.series[*number].mean();
        let mut all: Vec<usize> = (0..self.series.len()).collect();
        all.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
        // Links without data would only hide the others.
        if all.len() > MOST || self.names == ["link"] {
            all.retain(|number| mean(number) > 0.0);
        }
        let has_values = |number: &&usize| self.series[**number].metric.is_some();
        let kinds: BTreeSet<&str> = (all.iter().filter(has_values))
            .map(|number| self.series[*number].kind)
            .collect();
        let mut order: Vec<usize> = Vec::new();
        for kind in &kinds {
            let of = all.iter().filter(has_values);
            let of = of.filter(|number| self.series[**number].kind == *kind);
            let most = match all.len() > MOST {
                true => MOST / kinds.iter().filter(|kind| **kind != INDEX).count().max(1),
                false => MOST,
            };
            order.extend(of.take(most));
        }
        order.sort_unstable();
        for number in &order {
            let line = || Envelope::new(Between::Interpolated);
            self.lines
                .insert(*number, self.metrics.iter().map(|_| line()).collect());
        }
        self.chosen = order;
    }

    /// Which series are drawn, for each kind with the metric that decided.
    fn chosen_by(&self) -> String {
        let mut numbers: BTreeMap<(&str, usize), usize> = BTreeMap::new();
        for series in self.chosen.iter().map(|number| &self.series[*number]) {
            if let Some(metric) = series.metric {
                *numbers.entry((series.kind, metric)).or_default() += 1;
            }
        }
        let of = numbers.into_iter().filter(|((kind, _), _)| *kind != INDEX);
        let of = of.map(|((kind, metric), number)| {
            let title = measured(&self.metrics[metric]).title;
            format!(
                "the {} with the largest means of {title}",
                counted(number, kind)
            )
        });
        let text = of.collect::<Vec<_>>().join(", and ");
        text.replacen("the", "The", 1)
    }

    /// Adds a row to the lines of the chosen series.
    pub fn add(&mut self, row: &[Value<'_>]) {
        let texts = self.texts();
        let Some(time) = float(row[texts]).filter(|time| self.interval.has(*time)) else {
            return;
        };
        let Some(lines) = self
            .number(row)
            .and_then(|number| self.lines.get_mut(&number))
        else {
            return;
        };
        for (line, value) in lines.iter_mut().zip(&row[texts + 1..]) {
            if let Some(value) = float(*value) {
                line.add(time, value);
            }
        }
    }

    /// Name of a link or subflow in the legend, with the algorithm if the file has several for it.
    fn title(&self, number: usize) -> String {
        let Series {
            title, algorithm, ..
        } = &self.series[number];
        let mut series = self.series.iter();
        match series.any(|of| of.title == *title && of.algorithm != *algorithm) {
            true => format!("{algorithm}: {title}"),
            false => title.clone(),
        }
    }

    /// The settings of the run that is drawn.
    fn settings(&self) -> Option<String> {
        let (values, _) = self.first.as_ref()?;
        let keys = self.run.iter().zip(values);
        let keys = keys.filter(|(name, _)| !["backend", "seed"].contains(&name.as_str()));
        let keys: Vec<Key> = keys
            .map(|(name, value)| Key {
                name: name.clone(),
                values: vec![match value.parse() {
                    Ok(number) => Setting::Number(number),
                    Err(_) => Setting::Text(value.clone()),
                }],
            })
            .collect();
        settings::line(&keys)
    }

    /// Draws the figure as SVG.
    ///
    /// # Errors
    /// If there is nothing to draw, or no space.
    pub fn svg(
        &self,
        title: &str,
        about: &str,
        size: Option<Size>,
        shared: &Shared,
    ) -> Result<String, String> {
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
            end.max(shared.end)
        };
        let x = Scale::new(from, to, "time since the run began", "s");
        let dense = lines().any(|line| windows::is_dense(line, page::plot_width(1, size)));
        let mark = |(place, number): (usize, &usize)| {
            let style = shared.styles.get(&self.title(*number));
            let style = *style.unwrap_or(&place);
            Mark::Line(palette::series(style).into(), 2, palette::dash(style))
        };
        let mut legend: Vec<Entry> = (self.chosen.iter().enumerate())
            .map(|(place, number)| Entry::new(mark((place, number)), self.title(*number)))
            .collect();
        if dense {
            legend.push(windows::band_entry(
                "range of values that change often, and their mean",
            ));
        }
        let mut notes = Vec::new();
        if let Some((values, true)) = &self.first {
            let names = self.run.iter().zip(values);
            let named = names.map(|(name, value)| format!("{name} {value}"));
            let named: Vec<String> = named.collect();
            notes.push(format!(
                "The first of several runs: {}. Others are left out.",
                named.join(", ")
            ));
        }
        let left_out = self.series.len() - self.chosen.len();
        if left_out > 0 {
            let chosen = self.chosen_by();
            notes.push(format!("{chosen}; {left_out} more are left out."));
        }
        let grid = Grid {
            panels: self.metrics.len(),
            columns: 1,
            height: 210.0,
            least: (190.0, 110.0),
        };
        let texts = Texts {
            title: title.into(),
            lines: std::iter::once(about.to_owned())
                .chain(self.settings())
                .collect(),
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
                    let range = shared.ranges.get(&self.metrics[metric]);
                    let values = values.chain(range.into_iter().flatten().copied());
                    let y = Scale::over(values, true, &measured.title, &measured.unit);
                    let axes = (Axis::Scale(x.clone()), Axis::Scale(y));
                    let panel = Panel::draw(canvas, *area, "", axes, true);
                    for (place, number) in self.chosen.iter().enumerate() {
                        windows::line(canvas, &panel, of(number), mark((place, number)));
                    }
                }
            },
        )
    }
}

fn text(value: Value<'_>) -> String {
    match value {
        Value::Text(text) => text.to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::None => String::new(),
    }
}

fn float(value: Value<'_>) -> Option<f64> {
    match value {
        Value::Integer(value) => Some(value as f64),
        Value::Float(value) => Some(value),
        Value::None | Value::Text(_) => None,
    }
}
