//! The results of the points on one side, and the record: the file with the kernel's results.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use scenario::Outcome;
use scenario::metrics::METRICS;
use scenario::statistics::Mean;

use crate::suite::{Name, Point};

/// Columns before those of the metrics.
const COLUMNS: [&str; 5] = ["set", "setting", "algorithm", "seed", "connection"];

/// A connection in one run, with its values of [`METRICS`].
#[derive(Clone, Debug, PartialEq)]
pub struct Connection {
    pub name: String,
    pub values: [Option<f64>; METRICS.len()],
}

/// The runs of one side, by point and seed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results(BTreeMap<(Name, u64), Vec<Connection>>);

impl Results {
    /// Adds a run.
    pub fn add(&mut self, point: &Name, outcome: &Outcome) {
        for connection in &outcome.connections {
            let values =
                std::array::from_fn(|metric| METRICS[metric].of_connection(connection, None));
            self.insert(point, outcome.seed, &connection.title(), values);
        }
    }

    /// Adds a connection of a run.
    pub fn insert(
        &mut self,
        point: &Name,
        seed: u64,
        connection: &str,
        values: [Option<f64>; METRICS.len()],
    ) {
        let run = self.0.entry((point.clone(), seed)).or_default();
        run.push(Connection {
            name: connection.into(),
            values,
        });
    }

    /// Whether this run is there.
    pub fn has(&self, point: &Name, seed: u64) -> bool {
        self.0.contains_key(&(point.clone(), seed))
    }

    /// Number of runs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Only the runs with these seeds.
    pub fn with_seeds(&self, wanted: impl Fn(u64) -> bool) -> Self {
        let all = self.0.iter().filter(|((_, seed), _)| wanted(*seed));
        Self(all.map(|(key, run)| (key.clone(), run.clone())).collect())
    }

    /// Whether each run of a point has this metric. A transfer that did not finish has no completion.
    pub fn all_have(&self, point: &Name, connection: &str, metric: usize) -> bool {
        self.values(point, connection, metric).len() == self.runs(point).count()
    }

    /// The names of a point's connections.
    pub fn connections(&self, point: &Name) -> Vec<String> {
        let run = self.runs(point).next();
        run.map_or(Vec::new(), |(_, run)| {
            run.iter().map(|c| c.name.clone()).collect()
        })
    }

    /// Mean of a metric of a connection over the runs that have it.
    pub fn mean(&self, point: &Name, connection: &str, metric: usize) -> Option<Mean> {
        let values: Vec<f64> = self
            .values(point, connection, metric)
            .into_values()
            .collect();
        Mean::of(&values)
    }

    /// Mean difference of a metric to another point, or to the same point on the other side, seed by seed.
    pub fn difference(
        &self,
        point: &Name,
        (other, base): (&Self, &Name),
        connection: &str,
        metric: usize,
    ) -> Option<Mean> {
        let theirs = other.values(base, connection, metric);
        let mine = self.values(point, connection, metric).into_iter();
        let more = mine.filter_map(|(seed, value)| Some(value - theirs.get(&seed)?));
        Mean::of(&more.collect::<Vec<f64>>())
    }

    /// Share of a connection of the goodput of all connections, in each run.
    pub fn shares(&self, point: &Name, connection: &str) -> Vec<f64> {
        let goodput = METRICS
            .iter()
            .position(|metric| metric.key == "goodput_mbps");
        let goodput = goodput.expect("a metric of this key");
        let share = |(_, run): (u64, &Vec<Connection>)| {
            let all: f64 = run.iter().filter_map(|c| c.values[goodput]).sum();
            let own = run.iter().find(|c| c.name == connection)?.values[goodput]?;
            Some(own / all).filter(|share| share.is_finite())
        };
        self.runs(point).filter_map(share).collect()
    }

    fn values(&self, point: &Name, connection: &str, metric: usize) -> BTreeMap<u64, f64> {
        let value = |(seed, run): (u64, &Vec<Connection>)| {
            let connection = run.iter().find(|c| c.name == connection)?;
            Some((seed, connection.values[metric]?))
        };
        self.runs(point).filter_map(value).collect()
    }

    fn runs(&self, point: &Name) -> impl Iterator<Item = (u64, &Vec<Connection>)> {
        let all = (point.clone(), 0)..=(point.clone(), u64::MAX);
        self.0.range(all).map(|((_, seed), run)| (*seed, run))
    }

    /// Only the runs of these points with their seeds.
    pub fn only(&self, points: &[Point]) -> Self {
        let all = points
            .iter()
            .flat_map(|p| (1..=p.seeds).map(|seed| (p.name.clone(), seed)));
        let has = |key: (Name, u64)| Some((key.clone(), self.0.get(&key)?.clone()));
        Self(all.filter_map(has).collect())
    }
}

/// The file of the kernel's results: a line with the versions of kernel and QEMU, then CSV.
#[derive(Debug)]
pub struct Record {
    pub path: PathBuf,
    /// Versions of the kernel and of QEMU.
    pub about: String,
    pub results: Results,
}

impl Record {
    /// Reads the file. Without a file the record is empty.
    pub fn load(path: &Path) -> Result<Self> {
        let mut record = Self {
            path: path.into(),
            about: String::new(),
            results: Results::default(),
        };
        if path.exists() {
            record.read().with_context(|| path.display().to_string())?;
        }
        Ok(record)
    }

    fn read(&mut self) -> Result<()> {
        let text = fs::read_to_string(&self.path)?;
        let first = text.lines().next().and_then(|line| line.strip_prefix("# "));
        self.about = first
            .context("line 1 lacks the versions of the kernel and of QEMU")?
            .into();
        let mut reader = csv::ReaderBuilder::new()
            .comment(Some(b'#'))
            .from_reader(text.as_bytes());
        let wanted = COLUMNS
            .into_iter()
            .chain(METRICS.iter().map(|metric| metric.key));
        if !reader.headers()?.iter().eq(wanted) {
            bail!(
                "line 2: other columns than this program writes: delete the file to measure again"
            );
        }
        for row in reader.records() {
            let row = row?;
            let line = row.position().map_or(0, csv::Position::line);
            let number = |text: &str| match text {
                "" => Ok(None),
                text => text.parse().map(Some),
            };
            let mut values = [None; METRICS.len()];
            for (value, text) in values.iter_mut().zip(row.iter().skip(COLUMNS.len())) {
                *value = number(text).with_context(|| format!("line {line}: `{text}`"))?;
            }
            let name = Name {
                set: row[0].into(),
                setting: row[1].into(),
                algorithm: row[2].into(),
            };
            let seed = row[3]
                .parse()
                .with_context(|| format!("line {line}: `{}`", &row[3]))?;
            self.results.insert(&name, seed, &row[4], values);
        }
        Ok(())
    }

    /// Adds a run, and appends it to the file, so that an interruption keeps it.
    pub fn add(&mut self, point: &Name, outcome: &Outcome) -> Result<()> {
        self.results.add(point, outcome);
        let key = (point.clone(), outcome.seed);
        let mut text = match self.path.exists() {
            true => String::new(),
            false => self.heading(),
        };
        text += &rows(&key, &self.results.0[&key]);
        let file = File::options().append(true).create(true).open(&self.path);
        file.and_then(|mut file| file.write_all(text.as_bytes()))
            .with_context(|| self.path.display().to_string())
    }

    /// Writes only the runs of these points, in their order.
    pub fn write(&mut self, points: &[Point]) -> Result<()> {
        self.results = self.results.only(points);
        let mut text = self.heading();
        for point in points {
            for (seed, run) in self.results.runs(&point.name) {
                text += &rows(&(point.name.clone(), seed), run);
            }
        }
        fs::write(&self.path, text).with_context(|| self.path.display().to_string())
    }

    fn heading(&self) -> String {
        let columns: Vec<&str> = (COLUMNS.into_iter())
            .chain(METRICS.iter().map(|metric| metric.key))
            .collect();
        format!("# {}\n{}\n", self.about, columns.join(","))
    }
}

/// The lines of a run in the file.
fn rows((name, seed): &(Name, u64), run: &[Connection]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for connection in run {
        let number = |value: &Option<f64>| value.map_or(String::new(), |value| value.to_string());
        let about = [&name.set, &name.setting, &name.algorithm].map(String::clone);
        let run = [seed.to_string(), connection.name.clone()];
        let row = about.into_iter().chain(run);
        let row = row.chain(connection.values.iter().map(number));
        writer.write_record(row).expect("writing into memory");
    }
    let bytes = writer.into_inner().expect("writing into memory");
    String::from_utf8(bytes).expect("made of text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let suite = crate::suite().unwrap();
        let mut points: Vec<Point> = suite.points.into_iter().take(2).collect();
        points.iter_mut().for_each(|point| point.seeds = 2);
        let folder = std::env::temp_dir().join(format!("agreement-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let path = folder.join("record.csv");
        let mut record = Record::load(&path).unwrap();
        record.about = "a kernel".into();
        // Not in the order of the suite, and with a seed that the suite lacks.
        for (point, seed) in [(1, 1), (0, 3), (0, 2), (0, 1)] {
            let run = scenario::simulate(&points[point].scenario, seed, false).unwrap();
            record.add(&points[point].name, &run.outcome).unwrap();
        }
        let text = || fs::read_to_string(&path).unwrap();
        assert_eq!(text().lines().count(), 2 + 4);
        let mut read = Record::load(&path).unwrap();
        assert_eq!(
            (&read.about, &read.results),
            (&record.about, &record.results)
        );
        read.write(&points).unwrap();
        let seeds: Vec<String> = (text().lines().skip(2))
            .map(|line| line.split(',').take(4).collect::<Vec<_>>().join(","))
            .collect();
        let name = |point: usize| points[point].name.to_string().replace(' ', ",");
        assert_eq!(
            seeds,
            [(0, 1), (0, 2), (1, 1)].map(|(point, seed)| format!("{},{seed}", name(point)))
        );
        fs::write(&path, "# a kernel\nset,what\n").unwrap();
        let error = format!("{:#}", Record::load(&path).unwrap_err());
        assert!(
            error.contains("record.csv: line 2: other columns"),
            "{error}"
        );
        fs::remove_dir_all(&folder).unwrap();
    }
}
