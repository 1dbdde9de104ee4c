//! The values of a metric in the rows of runs (docs/rows.md), by settings, algorithm, and connection, subflow or link.

use std::collections::HashMap;

use clap::ValueEnum;
use scenario::Backend;
use scenario::export::columns::Value;
use scenario::metrics::{self, Metric};
use scenario::statistics::Mean;

use crate::figure::scale;
use crate::runs::on::On;

/// A value of a key of the scenario.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// A number: sizes in bytes, rates in bit/s, times in seconds.
    Number(f64),
    /// A text; empty for a removed key.
    Text(String),
}

/// A key of the scenario with its different values, in the order of their first rows.
#[derive(Clone, Debug)]
pub struct Key {
    /// Name, as on the command line.
    pub name: String,
    /// The values.
    pub values: Vec<Setting>,
}

impl Key {
    /// The values as numbers, if all are.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        let number = |value: &Setting| match value {
            Setting::Number(number) => Some(*number),
            Setting::Text(_) => None,
        };
        self.values.iter().map(number).collect()
    }
}

/// A metric as axes show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Name of the column.
    pub field: String,
    /// Title.
    pub title: String,
    /// Unit; empty for a share or an index.
    pub unit: String,
    /// Decimals of a mean.
    pub decimals: usize,
}

impl Measured {
    /// The metric of this column.
    pub fn of(field: &str) -> Self {
        match metrics::all().find(|metric| metric.field() == field) {
            Some(metric) => Self::from(metric),
            None => Self {
                field: field.into(),
                title: field.replace('_', " "),
                unit: String::new(),
                decimals: 3,
            },
        }
    }
}

impl From<&Metric> for Measured {
    fn from(metric: &Metric) -> Self {
        Self {
            field: metric.field().into(),
            title: metric.title.into(),
            unit: metric.unit.into(),
            decimals: metric.decimals,
        }
    }
}

/// The runs of an algorithm on a backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// The algorithm, with the backend if there are several.
    pub name: String,
    /// Number of the algorithm.
    pub algorithm: usize,
    /// Number of its colour and dashes ([`palette`](crate::figure::palette)).
    pub style: usize,
    /// Number of the series that differences are to: the first algorithm on the same backend; of a single algorithm that on
    /// the first backend.
    pub baseline: usize,
}

/// Columns that say which part of a run a row has.
const PARTS: [&str; 4] = ["connection", "subflow", "path_name", "link"];

/// Numbers of different values, in the order of their first occurrence.
#[derive(Clone, Debug, Default)]
struct Dictionary {
    numbers: HashMap<u64, u32>,
    texts: HashMap<String, u32>,
    values: Vec<Setting>,
    /// The last text, because successive rows often have the same.
    last: (String, u32),
}

impl Dictionary {
    fn code(&mut self, value: Value<'_>) -> u32 {
        let next = self.values.len() as u32;
        let number = match value {
            Value::Integer(number) => number as f64,
            Value::Float(number) => number,
            Value::None => return self.text(""),
            Value::Text(text) => return self.text(text),
        };
        let code = *self.numbers.entry(number.to_bits()).or_insert(next);
        if code == next {
            self.values.push(Setting::Number(number));
        }
        code
    }

    /// The value with this number, as a text.
    fn name(&self, code: u32) -> String {
        match &self.values[code as usize] {
            Setting::Text(text) => text.clone(),
            Setting::Number(number) => scale::short(*number),
        }
    }

    fn text(&mut self, text: &str) -> u32 {
        if !self.texts.is_empty() && self.last.0 == text {
            return self.last.1;
        }
        let code = match self.texts.get(text) {
            Some(code) => *code,
            None => {
                let code = self.values.len() as u32;
                self.texts.insert(text.into(), code);
                self.values.push(Setting::Text(text.into()));
                code
            }
        };
        self.last = (text.into(), code);
        code
    }
}

/// Names of backends in figures.
fn endpoints(backends: &Dictionary) -> Vec<String> {
    let name = |code| backends.name(code);
    let names: Vec<String> = (0..backends.values.len() as u32).map(name).collect();
    let on: Vec<Option<On>> = (names.iter())
        .map(|name| On::from_str(name, false).ok())
        .collect();
    let all: Vec<Backend> = on.iter().flatten().copied().map(Backend::from).collect();
    let shown = names.into_iter().zip(on);
    shown
        .map(|(name, on)| on.map_or(name, |on| on.endpoints(&all).to_owned()))
        .collect()
}

/// Place of values: the number of the value of each key, of the series and of the part.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// For each key the number of its value.
    pub point: Vec<u32>,
    /// Number of the series.
    pub series: u32,
    /// Number of the connection, subflow or link.
    pub part: u32,
}

/// The values of a metric.
#[derive(Debug)]
pub struct Data {
    /// The metric.
    pub metric: Measured,
    /// The keys of the scenario in the rows.
    pub keys: Vec<Key>,
    /// Algorithms, each on all backends.
    pub series: Vec<Series>,
    /// What differences are to.
    pub baseline: String,
    /// Connections, subflows or links.
    pub parts: Vec<String>,
    /// Number of rows without a value.
    pub missing: usize,
    /// Number of rows.
    pub rows: usize,
    wanted: Vec<String>,
    dictionaries: Vec<Dictionary>,
    /// Whether the metric has one value for each run.
    pub is_of_run: bool,
    places: HashMap<Vec<u32>, usize>,
    /// For each place the seed and the value of each row.
    values: Vec<(Place, Vec<(i64, f64)>)>,
    last: Option<(Vec<u32>, usize)>,
}

impl Data {
    /// Data of a metric from rows with these columns.
    ///
    /// # Errors
    /// If a column is missing.
    pub fn new(columns: &[&str], metric: Measured) -> Result<Self, String> {
        let has = |name: &str| columns.contains(&name);
        let first = columns.iter().position(|name| *name == "algorithm");
        let (Some(settings), true) = (first, has("seed") && has("backend")) else {
            return Err(
                "no table of runs: columns `algorithm`, `backend` and `seed` are needed".into(),
            );
        };
        if !has(&metric.field) {
            return Err(format!("no column `{}`", metric.field));
        }
        let keys = columns[..settings].iter();
        let keys: Vec<Key> = keys
            .map(|name| Key {
                name: (*name).into(),
                values: Vec::new(),
            })
            .collect();
        let mut wanted: Vec<String> = keys.iter().map(|key| key.name.clone()).collect();
        wanted.extend(["algorithm", "backend"].map(String::from));
        wanted.extend(
            PARTS
                .iter()
                .filter(|name| has(name))
                .map(|name| (*name).into()),
        );
        let dictionaries = vec![Dictionary::default(); wanted.len()];
        wanted.extend(["seed".into(), metric.field.clone()]);
        let is_of_run = metrics::all().any(|other| {
            other.field() == metric.field && matches!(other.value, metrics::Value::Run(_))
        });
        Ok(Self {
            metric,
            keys,
            series: Vec::new(),
            baseline: String::new(),
            parts: Vec::new(),
            missing: 0,
            rows: 0,
            wanted,
            dictionaries,
            is_of_run,
            places: HashMap::new(),
            values: Vec::new(),
            last: None,
        })
    }

    /// Names of the columns that [`add`](Self::add) takes, in this order.
    pub fn wanted(&self) -> &[String] {
        &self.wanted
    }

    /// Adds a row.
    pub fn add(&mut self, row: &[Value<'_>]) {
        self.rows += 1;
        let identity = self.dictionaries.len();
        let seed = match row[identity] {
            Value::Integer(seed) => seed,
            Value::Float(seed) => seed as i64,
            _ => 0,
        };
        let value = match row[identity + 1] {
            Value::Integer(value) => value as f64,
            Value::Float(value) if value.is_finite() => value,
            _ => {
                self.missing += 1;
                f64::NAN
            }
        };
        let codes = self.dictionaries.iter_mut().zip(row);
        let codes: Vec<u32> = codes
            .map(|(dictionary, value)| dictionary.code(*value))
            .collect();
        let at = match &self.last {
            Some((last, at)) if *last == codes => *at,
            _ => {
                let next = self.values.len();
                let at = *self.places.entry(codes.clone()).or_insert(next);
                if at == next {
                    // The place is known in `finish`, when all names are.
                    let place = Place {
                        point: codes.clone(),
                        series: 0,
                        part: 0,
                    };
                    self.values.push((place, Vec::new()));
                }
                self.last = Some((codes, at));
                at
            }
        };
        if !value.is_nan() {
            self.values[at].1.push((seed, value));
        }
    }

    /// Names the series and the parts. Call once, after the last row.
    pub fn finish(&mut self) {
        let keys = self.keys.len();
        for (key, dictionary) in self.keys.iter_mut().zip(&self.dictionaries) {
            key.values.clone_from(&dictionary.values);
        }
        let numbers = self.name_series(keys);
        let name = |dictionary: usize, code: u32| self.dictionaries[dictionary].name(code);
        let mut parts = Dictionary::default();
        let columns = &self.wanted[keys + 2..self.dictionaries.len()];
        for (place, _) in &mut self.values {
            let codes = std::mem::take(&mut place.point);
            let part = columns.iter().zip(keys + 2..);
            let part = part.filter_map(|(column, number)| {
                let name = name(number, codes[number]);
                match &**column {
                    "subflow" => Some(format!("subflow {name}")),
                    // A path without a name.
                    "path_name" if name.is_empty() => None,
                    _ => Some(name),
                }
            });
            let part = match self.is_of_run {
                true => String::new(),
                false => part.collect::<Vec<_>>().join(", "),
            };
            place.series = numbers[&(codes[keys], codes[keys + 1])];
            place.part = parts.text(&part);
            place.point = codes[..keys].to_vec();
        }
        self.parts = (0..parts.values.len() as u32)
            .map(|code| parts.name(code))
            .collect();
        self.places.clear();
        let mut index: HashMap<Place, usize> = HashMap::new();
        let mut merged: Vec<(Place, Vec<(i64, f64)>)> = Vec::new();
        for (place, values) in std::mem::take(&mut self.values) {
            let at = *index.entry(place.clone()).or_insert(merged.len());
            match merged.get_mut(at) {
                Some((_, all)) => all.extend(values),
                None => merged.push((place, values)),
            }
        }
        for (_, values) in &mut merged {
            values.sort_by_key(|(seed, _)| *seed);
        }
        self.values = merged;
        // The place in `values`, by the codes with series and part.
        self.places = index
            .into_iter()
            .map(|(place, at)| (codes(&place), at))
            .collect();
    }

    /// Names the series: the algorithms in the order of their first rows, each on the backends in the order of theirs. Returns the
    /// number of the series of each algorithm and backend.
    fn name_series(&mut self, keys: usize) -> HashMap<(u32, u32), u32> {
        let [algorithms, backends] = [&self.dictionaries[keys], &self.dictionaries[keys + 1]];
        let mut used: Vec<(u32, u32)> = (self.values.iter())
            .map(|(place, _)| (place.point[keys], place.point[keys + 1]))
            .collect();
        used.sort_unstable();
        used.dedup();
        let names = endpoints(backends);
        let several = (algorithms.values.len() > 1, backends.values.len() > 1);
        let series = used.iter().map(|(algorithm, backend)| {
            let is_baseline = |(first, on): &(u32, u32)| match several.0 {
                true => on == backend && first < algorithm,
                false => on < backend,
            };
            let baseline = used.iter().position(is_baseline);
            let own = used.iter().position(|pair| *pair == (*algorithm, *backend));
            let (algorithm_name, backend_name) =
                (algorithms.name(*algorithm), &names[*backend as usize]);
            Series {
                name: match (several.1, &*algorithm_name) {
                    (false, _) => algorithm_name,
                    (true, "") => backend_name.clone(),
                    (true, name) => format!("{name}, {backend_name}"),
                },
                algorithm: *algorithm as usize,
                style: own.unwrap_or_default(),
                baseline: baseline.or(own).unwrap_or_default(),
            }
        });
        self.series = series.collect();
        self.baseline = match (several, self.series.first()) {
            ((true, true), _) => format!("{} on the same backend", algorithms.name(0)),
            (_, Some(first)) => first.name.clone(),
            (_, None) => String::new(),
        };
        used.into_iter().zip(0..).collect()
    }

    /// Chooses the styles of the series by the algorithm's name and the number of its backend. Call after [`finish`](Self::finish).
    pub fn restyle(&mut self, style: impl Fn(&str, usize) -> usize) {
        let keys = self.keys.len();
        let mut backends: HashMap<usize, usize> = HashMap::new();
        for series in &mut self.series {
            let backend = backends.entry(series.algorithm).or_default();
            let name = self.dictionaries[keys].name(series.algorithm as u32);
            series.style = style(&name, *backend);
            *backend += 1;
        }
    }

    /// What a row has: `connection`, `subflow` or `link`.
    pub fn part(&self) -> &'static str {
        let has = |name: &&&str| self.wanted.iter().any(|column| column == *name);
        let parts = ["link", "subflow"];
        parts.iter().find(has).unwrap_or(&"connection")
    }

    /// Keys that have one value in all runs.
    pub fn fixed(&self) -> impl Iterator<Item = &Key> {
        self.keys.iter().filter(|key| key.values.len() == 1)
    }

    /// Numbers of the keys that have several values.
    pub fn varied(&self) -> Vec<usize> {
        let keys = self.keys.iter().enumerate();
        keys.filter(|(_, key)| key.values.len() > 1)
            .map(|(number, _)| number)
            .collect()
    }

    /// Seeds and values of a place, in the order of the seeds.
    pub fn rows(&self, place: &Place) -> &[(i64, f64)] {
        let at = self.places.get(&codes(place));
        at.map_or(&[], |at| &self.values[*at].1)
    }

    /// For each seed the mean of the connections of one name.
    pub fn runs(&self, place: &Place) -> Vec<(i64, f64)> {
        let of_seed = self.rows(place).chunk_by(|one, other| one.0 == other.0);
        of_seed
            .map(|rows| {
                let sum: f64 = rows.iter().map(|(_, value)| value).sum();
                (rows[0].0, sum / rows.len() as f64)
            })
            .collect()
    }

    /// Mean over the seeds.
    pub fn mean(&self, place: &Place) -> Option<Mean> {
        let runs = self.runs(place).into_iter();
        Mean::of(&runs.map(|(_, value)| value).collect::<Vec<f64>>())
    }

    /// Mean difference to another place, seed by seed.
    pub fn difference(&self, place: &Place, base: &Place) -> Option<Mean> {
        let base: HashMap<i64, f64> = self.runs(base).into_iter().collect();
        let runs = self.runs(place).into_iter();
        let pairs = runs.filter_map(|(seed, value)| Some(value - base.get(&seed)?));
        Mean::of(&pairs.collect::<Vec<f64>>())
    }

    /// All places with values.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        let filled = self.values.iter().filter(|(_, values)| !values.is_empty());
        filled.map(|(place, _)| place)
    }

    /// Largest number of seeds of a place.
    pub fn seeds(&self) -> usize {
        let seeds = |(_, values): &(Place, Vec<(i64, f64)>)| {
            values.chunk_by(|one, other| one.0 == other.0).count()
        };
        self.values.iter().map(seeds).max().unwrap_or(0)
    }
}

fn codes(place: &Place) -> Vec<u32> {
    let mut codes = place.point.clone();
    codes.extend([place.series, place.part]);
    codes
}

#[cfg(test)]
mod tests;
