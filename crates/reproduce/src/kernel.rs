//! Claims on the endpoints of a real kernel, in VMs.

use std::collections::{BTreeMap, BTreeSet};

use crate::assess::Assessment;
use crate::library::Selection;
use crate::paper::{Claim, Day, Figure, Paper};
use crate::plan::{Run, Variant, of_claim, plan};
use crate::{Error, Sample};

/// Number of the day whose settings the kernel gets.
pub const TODAY: usize = 1;

/// A kernel, and the part of each figure that runs on it.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Release, as `uname -r` prints it.
    pub release: String,
    /// The part; none: all.
    pub sample: Option<Sample>,
}

/// Result of a claim on a kernel.
#[derive(Clone, Debug)]
pub struct KernelResult {
    /// The result.
    pub assessment: Assessment,
    /// The cause of a claim that was not run; else empty.
    pub not_run: String,
    /// Result of the simulator at the same points with the same seeds; none of a claim that was not run.
    pub simulated: Option<Assessment>,
}

impl KernelResult {
    /// A claim without a run.
    pub(crate) fn not_run(cause: impl Into<String>) -> Self {
        Self {
            assessment: Assessment::not_run(),
            not_run: cause.into(),
            simulated: None,
        }
    }
}

impl Kernel {
    /// Name in reports.
    #[must_use]
    pub fn name(&self) -> String {
        format!("Linux {} in a VM", self.release)
    }

    pub(crate) fn variant<'a>(&'a self, paper: &'a Paper, seeds: Option<u64>) -> Variant<'a> {
        Variant {
            sample: self.sample,
            kernel: Some(&self.release),
            ..Variant::of(today(paper), seeds)
        }
    }

    /// Whether the part decides a claim.
    fn has(&self, claim: &Claim) -> bool {
        self.sample.is_none() || Sample::has(claim)
    }

    /// The runs of these figures that the kernel can make, each once. All runs with the first seed come first, then those with the
    /// second: an estimate after the first ones holds for the others.
    ///
    /// # Errors
    /// Those of the figures.
    pub fn runs(&self, selection: &Selection<'_>, seeds: Option<u64>) -> Result<Vec<Run>, Error> {
        let mut support = Support::default();
        let mut all = BTreeSet::new();
        for (paper, figures) in selection {
            let variant = self.variant(paper, seeds);
            for figure in figures {
                let claims = figure.claims.iter();
                for claim in claims.filter(|claim| self.has(claim)) {
                    let runs = of_claim(paper, figure, claim, variant)?;
                    if support.cause(&runs)?.is_none() {
                        all.extend(runs);
                    }
                }
                if self.sample.is_none() {
                    for run in plan(paper, figure, variant)? {
                        if support.cause(std::slice::from_ref(&run))?.is_none() {
                            all.insert(run);
                        }
                    }
                }
            }
        }
        let mut all: Vec<Run> = all.into_iter().collect();
        all.sort_by_key(|run| run.seed);
        Ok(all)
    }
}

fn today(paper: &Paper) -> &Day {
    &paper.days[TODAY]
}

/// Causes of runs that the lab does not support, by file and changed keys.
#[derive(Default)]
pub(crate) struct Support(BTreeMap<(String, Vec<String>), Option<String>>);

impl Support {
    /// The first cause for which one of the runs cannot be made.
    fn cause(&mut self, runs: &[Run]) -> Result<Option<String>, Error> {
        for run in runs {
            let key = (run.file.clone(), run.set.clone());
            let cause = match self.0.get(&key) {
                Some(cause) => cause.clone(),
                None => {
                    let cause = unsupported(run)?;
                    self.0.insert(key, cause.clone());
                    cause
                }
            };
            if cause.is_some() {
                return Ok(cause);
            }
        }
        Ok(None)
    }
}

/// What the lab does not support of a run's scenario, each once with its cause.
fn unsupported(run: &Run) -> Result<Option<String>, Error> {
    let mut causes: Vec<String> = Vec::new();
    for error in lab::unsupported(&run.scenario()?) {
        let cause = match error {
            lab::Error::Unsupported { what, reason, .. } => format!("{what} ({reason})"),
            error => error.to_string(),
        };
        if !causes.contains(&cause) {
            causes.push(cause);
        }
    }
    let text = || format!("the lab does not support {}", causes.join("; "));
    Ok((!causes.is_empty()).then(text))
}

/// Why a claim has no run on the kernel; none of one that has.
pub(crate) fn not_run(
    paper: &Paper,
    figure: &Figure,
    claim: &Claim,
    variant: Variant<'_>,
    support: &mut Support,
) -> Result<Option<String>, Error> {
    if let Some(cause) = &figure.not_run {
        return Ok(Some(cause.clone()));
    }
    let is_left_out = variant.sample.is_some() && !Sample::has(claim);
    let part = Variant {
        sample: variant.sample.filter(|_| !is_left_out),
        ..variant
    };
    let runs = of_claim(paper, figure, claim, part)?;
    if runs.is_empty() {
        return Ok(Some("theory predicts the value, without a run".into()));
    }
    let left_out = || "it has no published value, and runs with `--full`".into();
    let cause = support.cause(&runs)?;
    Ok(cause.or_else(|| is_left_out.then(left_out)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Library;

    fn kernel(sample: Option<Sample>) -> Kernel {
        Kernel {
            release: "6.12".into(),
            sample,
        }
    }

    #[test]
    fn a_sample_is_a_part_of_all_runs() {
        let library = Library::new().unwrap();
        let figure = library.select(Some("lisa/fig6a")).unwrap();
        let all = kernel(None).runs(&figure, None).unwrap();
        let sample = kernel(Some(Sample::VM)).runs(&figure, None).unwrap();
        // 34 queues, two algorithms, ten seeds; 4 queues with the limit of seeds.
        assert_eq!(all.len(), 34 * 2 * 10);
        assert_eq!(sample.len() as u64, 4 * 2 * Sample::VM.seeds);
        assert!(sample.iter().all(|run| all.contains(run)));
        assert!(sample.is_sorted_by_key(|run| run.seed));
        let key = |run: &Run| run.key().unwrap();
        let mut other = sample[0].clone();
        for kernel in [None, Some("6.1".into())] {
            other.kernel = kernel;
            assert_ne!(key(&other), key(&sample[0]));
        }
    }

    /// The simulator's verdict beside the kernel's is that of the kernel's runs, shortened like them.
    #[test]
    fn the_same_runs_are_simulated() {
        let library = Library::new().unwrap();
        let selection = library.select(Some("nmcc/fig5")).unwrap();
        let kernel = kernel(Some(Sample::VM));
        let real = kernel.runs(&selection, None).unwrap();
        let (paper, figures) = &selection[0];
        let same = Variant {
            kernel: None,
            ..kernel.variant(paper, None)
        };
        let mut needed = BTreeSet::new();
        for figure in figures {
            for claim in figure.claims.iter().filter(|claim| kernel.has(claim)) {
                needed.extend(of_claim(paper, figure, claim, same).unwrap());
            }
        }
        let simulated: BTreeSet<Run> = real.iter().map(Run::simulated).collect();
        assert_eq!(simulated, needed);
        let is_short = |run: &Run| run.set.contains(&"stop=120s".to_string());
        assert!(real.iter().all(is_short));
    }

    /// The claims with a published value run, if the lab supports them; each other one has a cause.
    #[test]
    fn causes_are_those_of_the_lab() {
        let library = Library::new().unwrap();
        let selection = library.select(None).unwrap();
        let kernel = kernel(Some(Sample::VM));
        let runs = kernel.runs(&selection, None).unwrap();
        for run in &runs {
            let causes = lab::unsupported(&run.scenario().unwrap());
            assert!(causes.is_empty(), "{run:?}: {causes:?}");
        }
        let (mut with, mut without) = (0, 0);
        for (paper, figures) in selection {
            let variant = kernel.variant(paper, None);
            for figure in figures {
                for claim in &figure.claims {
                    let of = of_claim(paper, figure, claim, variant).unwrap();
                    let mut support = Support::default();
                    match not_run(paper, figure, claim, variant, &mut support).unwrap() {
                        None => {
                            with += 1;
                            assert!(!claim.unpublished && !of.is_empty());
                            assert!(of.iter().all(|run| runs.contains(run)), "{claim:?}");
                        }
                        Some(cause) => {
                            without += 1;
                            let by_lab = cause.starts_with("the lab does not support ");
                            let other = figure.not_run.is_some() || claim.unpublished;
                            assert!(by_lab || other || of.is_empty(), "{cause}");
                            assert!(!cause.contains('\n') && !cause.contains("--on "), "{cause}");
                        }
                    }
                }
            }
        }
        assert!(with > 0 && without > 0, "{with}, {without}");
    }
}
