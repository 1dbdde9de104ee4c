//! The suite: the settings and algorithms that are compared, from `suite.toml` beside this crate's manifest.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use scenario::Scenario;
use scenario::vary::{self, Vary};
use serde::Deserialize;

/// Number of seeds that tests run in the VM again. Each takes some seconds.
const AGAIN: u64 = 2;

/// The file `suite.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Each point runs with the seeds from 1 to this.
    seeds: u64,
    /// Names of the points at which the simulator is outside of the tolerances.
    misses: Vec<String>,
    /// Least number of clear signs.
    #[serde(default)]
    signs: usize,
    /// Names of the points that tests run in the VM again.
    #[serde(default)]
    again: Vec<String>,
    set: Vec<Set>,
}

/// Points of one scenario file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Set {
    name: String,
    /// The scenario, in experiments/agreement.
    file: String,
    /// Overrides, as `--set` takes them.
    #[serde(default)]
    set: Vec<String>,
    /// Keys and values, as `--vary` takes them. All combinations run.
    vary: Vec<String>,
    /// Algorithms of the first connection.
    algorithms: Vec<String>,
}

/// Name of a point: `grid queue=9 lisa`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// Name of the set.
    pub set: String,
    /// The varied keys with their values.
    pub setting: String,
    /// Algorithm of the first connection.
    pub algorithm: String,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.set, self.setting, self.algorithm)
    }
}

/// One setting with one algorithm.
#[derive(Clone, Debug)]
pub struct Point {
    pub name: Name,
    pub scenario: Arc<Scenario>,
    /// The last seed; the first is 1.
    pub seeds: u64,
}

/// The suite.
#[derive(Debug)]
pub struct Suite {
    /// Names of the points at which the simulator is outside of the tolerances.
    pub misses: BTreeSet<String>,
    /// Least number of clear signs.
    pub signs: usize,
    /// All points, in the order of the file.
    pub points: Vec<Point>,
    /// The points that tests run in the VM again.
    pub again: Vec<Point>,
}

impl Suite {
    /// Reads the suite, and the scenarios in this folder.
    pub fn load(path: &Path, scenarios: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let file: File = toml::from_str(&text).map_err(|error| {
            let before = error.span().map_or("", |span| &text[..span.start]);
            let line = before.matches('\n').count() + 1;
            anyhow::anyhow!("{}:{line}: {}", path.display(), error.message())
        })?;
        let (mut points, mut names) = (Vec::new(), BTreeSet::new());
        for set in &file.set {
            let found = set.points(scenarios, file.seeds);
            for point in found.with_context(|| format!("{}: {}", path.display(), set.name))? {
                if !names.insert(point.name.clone()) {
                    bail!("{}: there are two points `{}`", path.display(), point.name);
                }
                points.push(point);
            }
        }
        let find = |key: &str, name: &String| {
            let found = points.iter().find(|point| point.name.to_string() == *name);
            found.with_context(|| format!("{}: {key}: there is no point `{name}`", path.display()))
        };
        for name in &file.misses {
            find("misses", name)?;
        }
        let again = file.again.iter().map(|name| {
            Ok(Point {
                seeds: AGAIN,
                ..find("again", name)?.clone()
            })
        });
        Ok(Self {
            misses: file.misses.into_iter().collect(),
            signs: file.signs,
            again: again.collect::<Result<_>>()?,
            points,
        })
    }
}

impl Set {
    fn points(&self, folder: &Path, seeds: u64) -> Result<Vec<Point>> {
        let varied: Vec<Vary> = (self.vary.iter())
            .map(|text| Vary::parse(text).map_err(|problem| anyhow::anyhow!("{text}: {problem}")))
            .collect::<Result<_>>()?;
        let mut points = Vec::new();
        for number in 0..vary::combinations(&varied).context("too many combinations")? {
            let chosen = vary::combination(&varied, number);
            let chosen = || varied.iter().zip(&chosen);
            let setting: Vec<String> = chosen()
                .map(|(vary, value)| short(&vary.key, &vary.values[*value]))
                .collect();
            for algorithm in &self.algorithms {
                let mut overrides = self.set.clone();
                overrides.extend(chosen().map(|(vary, value)| vary.set(*value)));
                overrides.push(format!("connection.1.algorithm={algorithm}"));
                let scenario = Scenario::load_with(folder.join(&self.file), &overrides)?;
                points.push(Point {
                    name: Name {
                        set: self.name.clone(),
                        setting: setting.join(" "),
                        algorithm: algorithm.clone(),
                    },
                    scenario: Arc::new(scenario),
                    seeds,
                });
            }
        }
        Ok(points)
    }
}

/// Short form of a key and its value: `rate=8Mbit,2Mbit` of `topology.rate` and `["8Mbit", "2Mbit"]`.
fn short(key: &str, value: &str) -> String {
    let key = key.rsplit('.').next().unwrap_or(key);
    let plain: String = value.chars().filter(|c| !"[]\" ".contains(*c)).collect();
    format!("{key}={plain}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_short() {
        assert_eq!(short("topology.queue", "9"), "queue=9");
        let rates = r#"["8Mbit", "2Mbit"]"#;
        assert_eq!(short("topology.rate", rates), "rate=8Mbit,2Mbit");
    }

    #[test]
    fn the_suite_can_be_read() {
        let suite = crate::suite().unwrap();
        assert!(suite.points.len() > 100 && !suite.again.is_empty());
    }

    #[test]
    fn an_error_is_one_line() {
        let folder = std::env::temp_dir().join(format!("suite-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        fs::copy(crate::folder().join("grid.toml"), folder.join("grid.toml")).unwrap();
        let path = folder.join("suite.toml");
        let good = "seeds = 2\nmisses = []\nsigns = 0\nagain = []\n[[set]]\nname = \"grid\"\nfile = \"grid.toml\"\n\
                    vary = [\"topology.queue=9,17\"]\nalgorithms = [\"lisa\"]\n";
        let load = |text: &str| {
            fs::write(&path, text).unwrap();
            Suite::load(&path, &folder)
        };
        let names = load(good).unwrap().points.into_iter();
        let names: Vec<String> = names.map(|point| point.name.to_string()).collect();
        assert_eq!(names, ["grid queue=9 lisa", "grid queue=17 lisa"]);
        for (from, to, words) in [
            ("vary", "varies", "suite.toml:8: unknown field `varies`"),
            (
                "again = []",
                "again = [\"grid\"]",
                "suite.toml: again: there is no point `grid`",
            ),
            (
                "misses = []",
                "misses = [\"grid\"]",
                "suite.toml: misses: there is no point `grid`",
            ),
            (
                "9,17",
                "9,9",
                "suite.toml: there are two points `grid queue=9 lisa`",
            ),
            ("9,17", "9..1", "suite.toml: grid: topology.queue=9..1: "),
            ("\"lisa", "\"lsia", "connection.1.algorithm=lsia"),
        ] {
            let error = format!("{:#}", load(&good.replace(from, to)).unwrap_err());
            assert!(error.contains(words) && !error.contains('\n'), "{error}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
