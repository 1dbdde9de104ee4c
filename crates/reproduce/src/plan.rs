//! The runs of a figure.

use std::fmt::Write as _;

use scenario::Scenario;
use sha2::{Digest, Sha256};

use crate::paper::{Claim, Day, Figure, Line, Paper, Point, Setting};
use crate::{Error, KERNEL_BUILD, SIMULATOR_BUILD, Sample, library};

/// Conditions of all runs of a figure.
#[derive(Clone, Copy, Debug)]
pub struct Variant<'a> {
    /// The endpoints.
    pub day: &'a Day,
    /// Settings of parameters that are not the file's: at most two.
    pub settings: [Option<&'a Setting>; 2],
    /// Largest number of seeds; none: that of the figure.
    pub seeds: Option<u64>,
    /// The part of the figure; none: all of it.
    pub sample: Option<Sample>,
    /// Release of the kernel of the endpoints, in a VM; none: they are simulated.
    pub kernel: Option<&'a str>,
}

impl<'a> Variant<'a> {
    /// Simulations of the whole figure with the settings of its file.
    #[must_use]
    pub fn of(day: &'a Day, seeds: Option<u64>) -> Self {
        Self {
            day,
            settings: [None; 2],
            seeds,
            sample: None,
            kernel: None,
        }
    }

    /// The same with other settings of parameters: the first two of them.
    #[must_use]
    pub fn with(self, settings: impl IntoIterator<Item = &'a Setting>) -> Self {
        let mut settings = settings.into_iter();
        Self {
            settings: [settings.next(), settings.next()],
            ..self
        }
    }

    /// The settings that are not the file's.
    pub(crate) fn settings(&self) -> impl Iterator<Item = &'a Setting> + use<'a> {
        self.settings.into_iter().flatten()
    }
}

/// A run of a figure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// Scenario file: `PAPER/NAME.toml`.
    pub file: String,
    /// Changed keys, later ones before earlier ones.
    pub set: Vec<String>,
    /// Seed.
    pub seed: u64,
    /// Release of the kernel of the endpoints, in a VM; none: they are simulated.
    pub kernel: Option<String>,
}

impl Run {
    /// Digest of all that decides the outcome: the simulator, or the lab and the kernel; the scenario, the changed keys and the seed.
    ///
    /// # Errors
    /// If there is no such file.
    pub fn key(&self) -> Result<String, Error> {
        let mut hash = Sha256::new();
        let keys = self.set.join("\n");
        let mut parts = vec![SIMULATOR_BUILD, library::file(&self.file)?, &keys];
        if let Some(release) = &self.kernel {
            parts[0] = KERNEL_BUILD;
            parts.extend(["vm", release]);
        }
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hash.update(self.seed.to_le_bytes());
        let mut key = String::new();
        for byte in &hash.finalize()[..16] {
            let _ = write!(key, "{byte:02x}");
        }
        Ok(key)
    }

    /// The same run with simulated endpoints.
    #[must_use]
    pub fn simulated(&self) -> Self {
        Self {
            kernel: None,
            ..self.clone()
        }
    }

    /// The scenario of the run.
    ///
    /// # Errors
    /// Those of the scenario.
    pub fn scenario(&self) -> Result<Scenario, Error> {
        let text = library::file(&self.file)?;
        Ok(Scenario::parse_with(
            text,
            format!("experiments/{}", self.file),
            &self.set,
        )?)
    }
}

/// The runs of a figure, without those of predicted lines.
///
/// # Errors
/// If the figure's axis is wrong.
pub fn plan(paper: &Paper, figure: &Figure, variant: Variant<'_>) -> Result<Vec<Run>, Error> {
    let mut runs = Vec::new();
    if figure.not_run.is_some() {
        return Ok(runs);
    }
    for line in lines(figure, variant).filter(|line| line.theory.is_none()) {
        for point in points(paper, figure, variant)? {
            runs.extend(of_point(paper, figure, line, &point, variant)?);
        }
    }
    Ok(runs)
}

/// The runs that decide a claim, without those of predicted lines.
pub(crate) fn of_claim(
    paper: &Paper,
    figure: &Figure,
    claim: &Claim,
    variant: Variant<'_>,
) -> Result<Vec<Run>, Error> {
    let is_needed = |line: &&Line| line.theory.is_none() && claim.needs(line);
    let mut runs = Vec::new();
    for line in figure.lines.iter().filter(is_needed) {
        for point in points(paper, figure, variant)? {
            if claim.needs_at(line, &point) {
                runs.extend(of_point(paper, figure, line, &point, variant)?);
            }
        }
    }
    Ok(runs)
}

/// The lines of a figure.
pub(crate) fn lines<'a>(
    figure: &'a Figure,
    variant: Variant<'_>,
) -> impl Iterator<Item = &'a Line> + use<'a> {
    let is_sample = variant.sample.is_some();
    let is_needed = |line: &Line| {
        let mut claims = figure.claims.iter();
        claims.any(|claim| Sample::has(claim) && claim.needs(line))
    };
    let lines = figure.lines.iter();
    lines.filter(move |line| !is_sample || is_needed(line))
}

/// The points of a figure.
pub(crate) fn points(
    paper: &Paper,
    figure: &Figure,
    variant: Variant<'_>,
) -> Result<Vec<Point>, Error> {
    let points = figure.points().map_err(|problem| Error::File {
        file: format!("experiments/papers/claims/{}.toml", paper.id),
        problem: format!("{}: {problem}", figure.id),
    })?;
    Ok(match variant.sample {
        Some(sample) => sample.points(figure, points),
        None => points,
    })
}

/// The runs of one point of a line: the samples of its mean.
pub(crate) fn of_point(
    paper: &Paper,
    figure: &Figure,
    line: &Line,
    point: &Point,
    variant: Variant<'_>,
) -> Result<Vec<Run>, Error> {
    let file = format!("{}/{}", paper.id, figure.scenario);
    let pool = match figure.pool.is_empty() {
        true => &[Vec::new()][..],
        false => &figure.pool,
    };
    let run = |set: &[String], pooled: &Vec<String>, seed| Run {
        file: file.clone(),
        set: set.iter().chain(pooled).cloned().collect(),
        seed,
        kernel: variant.kernel.map(String::from),
    };
    let mut set = keys(figure, line, point, variant);
    let mut limit = u64::MAX;
    if let Some(sample) = variant.sample {
        let scenario = run(&set, &pool[0], 1).scenario()?;
        set.extend(sample.shorter(&scenario));
        limit = sample.seeds(&scenario);
    }
    let seeds = variant
        .seeds
        .unwrap_or(u64::MAX)
        .min(limit)
        .min(figure.seeds);
    let runs = pool.iter();
    Ok(runs
        .flat_map(|pooled| {
            (1..=seeds)
                .map(|seed| run(&set, pooled, seed))
                .collect::<Vec<_>>()
        })
        .collect())
}

/// The runs that a figure draws over time with the endpoints of a day, one for each line, with the line's name.
#[must_use]
pub fn over_time<'a>(paper: &Paper, figure: &'a Figure, day: &Day) -> Vec<(&'a str, Run)> {
    let Some(over_time) = &figure.over_time else {
        return Vec::new();
    };
    let point = Point {
        name: String::new(),
        set: over_time.set.clone(),
        x: None,
    };
    let lines = figure.lines.iter().filter(|line| line.theory.is_none());
    let run = |line: &'a Line| {
        let run = Run {
            file: format!("{}/{}", paper.id, figure.scenario),
            set: keys(figure, line, &point, Variant::of(day, None)),
            seed: 1,
            kernel: None,
        };
        (line.name.as_str(), run)
    };
    lines.map(run).collect()
}

/// The changed keys of a point of a line.
pub(crate) fn keys(
    figure: &Figure,
    line: &Line,
    point: &Point,
    variant: Variant<'_>,
) -> Vec<String> {
    let mut set = figure.set.clone();
    set.extend(point.set.iter().cloned());
    if let Some(algorithm) = &line.algorithm {
        let names = figure.connections.iter();
        set.extend(names.map(|name| format!("connection.{name}.algorithm={algorithm}")));
    }
    set.extend(variant.day.set.iter().cloned());
    set.extend(figure.of_day(variant.day).iter().cloned());
    set.extend(variant.settings().flat_map(|setting| setting.set.clone()));
    // Last: a line of TCP removes keys that only MPTCP has.
    set.extend(line.set.iter().cloned());
    set.iter().flat_map(|set| expanded(figure, set)).collect()
}

/// A changed key of all connections as one of each endpoint: UDP has no profile.
fn expanded(figure: &Figure, set: &str) -> Vec<String> {
    match set.strip_prefix("connection.*.") {
        Some(key) if !figure.endpoints.is_empty() => {
            let names = figure.endpoints.iter();
            names
                .map(|name| format!("connection.{name}.{key}"))
                .collect()
        }
        _ => vec![set.into()],
    }
}
