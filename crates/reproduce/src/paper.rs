//! The figures of a paper and its claims about them: `experiments/papers/claims/PAPER.toml`.

use std::collections::BTreeMap;

use scenario::vary::{Numbers, Vary};
use serde::Deserialize;

use crate::Error;

/// A paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Folder in `experiments/`, and name on the command line.
    #[serde(skip)]
    pub id: String,
    /// Title.
    pub title: String,
    /// Authors, place and year.
    pub source: String,
    /// Summary of the paper's proposal, for a reader who has not read it: a paragraph.
    pub about: String,
    /// Endpoints on which every figure is run; the first are those of the paper's day.
    #[serde(rename = "day")]
    pub days: Vec<Day>,
    /// Parameters that decide results.
    #[serde(rename = "parameter", default)]
    pub parameters: Vec<Parameter>,
    /// Figures and tables.
    #[serde(rename = "figure")]
    pub figures: Vec<Figure>,
}

/// Endpoints: those of the paper's day, or today's.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Day {
    /// Name in the report.
    pub name: String,
    /// Changed keys of each scenario.
    pub set: Vec<String>,
}

/// A parameter that decides results, and that the paper does not state or that has other settings than the stated one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Name by which figures refer to it.
    pub id: String,
    /// Title in the report.
    pub title: String,
    /// What the paper states of it, in words; none of a parameter that it does not state.
    pub stated: Option<String>,
    /// The setting of the figure, in words.
    pub default: String,
    /// Other settings.
    pub settings: Vec<Setting>,
}

/// A setting of a parameter.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// Title in the report.
    pub name: String,
    /// Changed keys of the scenario.
    #[serde(default)]
    pub set: Vec<String>,
    /// Queueing delay of predictions, in place of the figure's.
    pub queueing: Option<String>,
    /// Other metrics of measures, by their names: the paper does not state when a quantity is read.
    #[serde(default)]
    pub metrics: BTreeMap<String, String>,
    /// What the paper states otherwise: the setting is shown, but explains nothing.
    pub contradicts: Option<String>,
}

impl Setting {
    /// Whether both change the same key, or the metric of the same measure.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let key = |set: &String| set.split('=').next().map(str::to_owned);
        let mut keys = self.set.iter().map(key);
        let mut metrics = self.metrics.keys();
        keys.any(|one| other.set.iter().any(|set| key(set) == one))
            || metrics.any(|name| other.metrics.contains_key(name))
    }
}

/// A figure or table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Name on the command line and in `published.csv`.
    pub id: String,
    /// Title.
    pub title: String,
    /// Scenario file, in the paper's folder of `experiments/`.
    pub scenario: String,
    /// Changed keys of the scenario.
    #[serde(default)]
    pub set: Vec<String>,
    /// Changed keys with the endpoints of one day, by its name.
    #[serde(default)]
    of_day: BTreeMap<String, Vec<String>>,
    /// Connections whose algorithm is that of a line, by name.
    pub connections: Vec<String>,
    /// Connections for which `connection.*` stands in changed keys, if the scenario has UDP: all others.
    #[serde(default)]
    pub endpoints: Vec<String>,
    /// Number of seeds.
    pub seeds: u64,
    /// Horizontal axis; a figure without one is a table of `points`.
    pub x: Option<Axis>,
    /// Rows of a table.
    #[serde(default)]
    pub points: Vec<Point>,
    /// Variants whose runs are samples of one mean, like the queues of LISA's figure 6c.
    #[serde(default)]
    pub pool: Vec<Vec<String>>,
    /// Lines of a figure, columns of a table.
    pub lines: Vec<Line>,
    /// Measured quantities.
    pub measures: Vec<Measure>,
    /// Queueing delay of predictions, added to each path's RTT.
    pub queueing: Option<String>,
    /// Identifiers of parameters.
    #[serde(default)]
    pub parameters: Vec<String>,
    /// What is known about the figure beyond its claims.
    pub note: Option<String>,
    /// Why the figure does not run; its claims then are "not run".
    pub not_run: Option<String>,
    /// Drawings of one run of each line over time.
    pub over_time: Option<OverTime>,
    /// Claims about the figure.
    #[serde(default)]
    pub claims: Vec<Claim>,
}

/// What is drawn of one run of each line, with seed 1.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OverTime {
    /// Changed keys of the scenario.
    #[serde(default)]
    pub set: Vec<String>,
    /// Connections that are drawn.
    pub connections: Vec<String>,
    /// Interval of the samples, a time with its unit.
    pub sample: String,
    /// First time that is drawn, seconds since the start of the run.
    #[serde(default)]
    pub from: f64,
    /// Last time that is drawn; none: the end of the run.
    pub to: Option<f64>,
    /// Quantities, a panel each.
    pub quantities: Vec<Quantity>,
}

/// A quantity over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Window of each subflow, segments.
    Window,
    /// Sum of the windows of a connection, segments.
    SumOfWindows,
    /// Retransmissions of a connection since its start, segments.
    Retransmissions,
    /// Acknowledged payload of each subflow since its start, KB.
    Acknowledged,
    /// Rate of acknowledged payload of a connection, Mbit/s.
    Rate,
    /// Rate of acknowledged payload of each subflow, Mbit/s.
    SubflowRate,
}

/// The horizontal axis.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Label with its unit.
    pub label: String,
    /// A key with its values, in the form of `--vary`.
    pub vary: String,
    /// The axis shows the values of the key divided by this number.
    #[serde(default = "one")]
    pub unit: f64,
}

fn one() -> f64 {
    1.0
}

/// A point of a figure: a value on the horizontal axis, or a row of a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Title.
    pub name: String,
    /// Changed keys of the scenario.
    #[serde(default)]
    pub set: Vec<String>,
    /// Place on the horizontal axis.
    #[serde(skip)]
    pub x: Option<f64>,
}

/// A line of a figure: an algorithm, or what theory predicts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Title.
    pub name: String,
    /// Algorithm of the figure's connections.
    pub algorithm: Option<String>,
    /// Changed keys of the scenario.
    #[serde(default)]
    pub set: Vec<String>,
    /// Prediction in place of runs: `fair`, `fair-probing`, `equal` (equation 13 of NMCC), or a congestion avoidance.
    pub theory: Option<String>,
}

/// A measured quantity.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Name in claims.
    pub name: String,
    /// Label of the vertical axis.
    pub label: String,
    /// Unit of the axis.
    #[serde(default)]
    pub unit: String,
    /// The connections of this name; their mean is the value of a run.
    pub connection: Option<String>,
    /// The link of this name, in place of a connection.
    pub link: Option<String>,
    /// Metric of an outcome, or one that is computed from the runs of a point (module `measure`).
    pub metric: String,
    /// Connections among which a share is taken, or whose goodput is summed.
    #[serde(default)]
    pub among: Vec<String>,
    /// Factor from the metric to the axis.
    #[serde(default = "one")]
    pub scale: f64,
}

/// How a claim compares one line with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comparison {
    /// `than` − `of`, in the measure's unit.
    Less,
    /// The same in % of `than`.
    LessPercent,
    /// `of` − `than`, in the measure's unit.
    More,
    /// The same in % of `than`.
    MorePercent,
}

/// Points that a claim about a number summarises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// The mean over all points.
    #[default]
    Mean,
    /// The point with the largest value: claims of "up to".
    Max,
}

/// A claim of the paper: a row of `published.csv`, and how its value is measured.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The row's figure, if it is not the id of this one.
    pub figure: Option<String>,
    /// The row's condition.
    pub condition: String,
    /// The row's metric.
    pub metric: String,
    /// The row's algorithm.
    pub algorithm: String,
    /// Line that is measured.
    #[serde(default)]
    pub of: String,
    /// Line that it is compared with.
    pub than: Option<String>,
    /// Comparison with `than`; without it, signs at each point.
    #[serde(rename = "as")]
    pub comparison: Option<Comparison>,
    /// Measure of the figure; without it, the first.
    pub measure: Option<String>,
    /// First and last value of the horizontal axis.
    pub from: Option<f64>,
    /// Last value of the horizontal axis.
    pub to: Option<f64>,
    /// Row of a table, or value of the horizontal axis as the figure writes it.
    pub point: Option<String>,
    /// The point of `than`, if it is another one: for what changes along a line.
    pub than_point: Option<String>,
    /// Summary of several points.
    #[serde(default)]
    pub over: Over,
    /// Largest difference from the published number.
    pub within: Option<f64>,
    /// Largest factor between the measured and the published number.
    pub factor: Option<f64>,
    /// The published number is the least: "more than".
    #[serde(default)]
    pub at_least: bool,
    /// The sign holds at some points, and the other one at hardly any: "for a distinct set of queues".
    #[serde(default)]
    pub somewhere: bool,
    /// The paper's value is not at hand: the claim has no row.
    #[serde(default)]
    pub unpublished: bool,
}

impl Paper {
    /// Reads a file of `experiments/papers/claims`.
    pub(crate) fn read(id: &str, text: &str) -> Result<Self, Error> {
        let file = format!("experiments/papers/claims/{id}.toml");
        let mut paper: Paper = toml::from_str(text).map_err(|error| Error::File {
            file: file.clone(),
            problem: error.message().to_owned(),
        })?;
        paper.id = id.into();
        for figure in &paper.figures {
            paper.check(figure).map_err(|problem| Error::File {
                file: file.clone(),
                problem: format!("{}: {problem}", figure.id),
            })?;
        }
        Ok(paper)
    }

    /// The parameters of a figure.
    pub fn parameters<'a>(&'a self, figure: &'a Figure) -> impl Iterator<Item = &'a Parameter> {
        let named = |id: &'a String| self.parameters.iter().find(move |one| one.id == *id);
        figure.parameters.iter().filter_map(named)
    }

    /// Checks that the names in a figure are those of its parts.
    fn check(&self, figure: &Figure) -> Result<(), String> {
        let line = |name: &String| figure.lines.iter().any(|line| line.name == *name);
        let unknown = |what: &str, name: &str| Err(format!("there is no {what} `{name}`"));
        for id in &figure.parameters {
            if !self.parameters.iter().any(|one| one.id == *id) {
                return unknown("parameter", id);
            }
        }
        for name in figure.of_day.keys() {
            if !self.days.iter().any(|day| day.name == *name) {
                return unknown("day", name);
            }
        }
        let points = figure.points()?;
        for claim in &figure.claims {
            if figure.not_run.is_some() {
                continue;
            }
            for name in std::iter::once(&claim.of).chain(&claim.than) {
                if !line(name) {
                    return unknown("line", name);
                }
            }
            if figure.measure(claim).is_none() {
                return unknown("measure", claim.measure.as_deref().unwrap_or_default());
            }
            if !points.iter().any(|point| claim.is_at(point)) {
                return Err(format!("{}: no point is in its range", claim.metric));
            }
            if let Some(name) = &claim.than_point {
                if !points.iter().any(|point| point.name == *name) {
                    return unknown("point", name);
                }
            }
        }
        Ok(())
    }
}

impl Figure {
    /// The points of the figure.
    pub fn points(&self) -> Result<Vec<Point>, String> {
        let Some(axis) = &self.x else {
            return Ok(match self.points.is_empty() {
                false => self.points.clone(),
                true => vec![Point {
                    name: String::new(),
                    set: Vec::new(),
                    x: None,
                }],
            });
        };
        let vary = Vary::parse(&axis.vary)?;
        let numbers: Vec<f64> = match vary.numbers() {
            Numbers::Integers(numbers) => numbers.iter().map(|number| *number as f64).collect(),
            Numbers::Floats(numbers) => numbers,
            Numbers::Texts => return Err(format!("{}: values are no numbers", axis.vary)),
        };
        let point = |(number, x): (usize, &f64)| Point {
            name: vary.values[number].clone(),
            set: vec![vary.set(number)],
            x: Some(x / axis.unit),
        };
        Ok(numbers.iter().enumerate().map(point).collect())
    }

    /// Changed keys with the endpoints of a day.
    #[must_use]
    pub fn of_day(&self, day: &Day) -> &[String] {
        self.of_day.get(&day.name).map_or(&[], Vec::as_slice)
    }

    /// The measure of a claim.
    pub fn measure(&self, claim: &Claim) -> Option<usize> {
        match &claim.measure {
            None => (!self.measures.is_empty()).then_some(0),
            Some(name) => self.measures.iter().position(|one| one.name == *name),
        }
    }
}

impl Claim {
    /// Whether the claim is about this line.
    pub fn needs(&self, line: &Line) -> bool {
        self.of == line.name || self.than.as_ref() == Some(&line.name)
    }

    /// Whether the claim needs values of this line at this point.
    pub fn needs_at(&self, line: &Line, point: &Point) -> bool {
        let is_base = self.than.as_ref() == Some(&line.name);
        match &self.than_point {
            Some(name) if is_base && *name == point.name => true,
            Some(_) => self.of == line.name && self.is_at(point),
            None => self.needs(line) && self.is_at(point),
        }
    }

    /// Whether the claim is about this point.
    pub fn is_at(&self, point: &Point) -> bool {
        let is_in = match point.x {
            Some(x) => self.from.is_none_or(|from| x >= from) && self.to.is_none_or(|to| x <= to),
            None => true,
        };
        is_in && self.point.as_ref().is_none_or(|name| *name == point.name)
    }
}
