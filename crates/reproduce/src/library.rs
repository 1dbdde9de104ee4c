//! The papers, as they were when the program was built.

use crate::Error;
use crate::measure;
use crate::paper::{Claim, Figure, Paper};
use crate::published::{Expected, Row};

/// Files of `experiments/`: `PAPER/NAME.toml` with their texts.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

const PUBLISHED: &str = include_str!("../../../experiments/papers/published.csv");

/// The papers in the order of reports.
const PAPERS: [&str; 4] = ["lisa", "css", "lia-olia", "nmcc"];

/// All papers with their published values.
#[derive(Clone, Debug)]
pub struct Library {
    /// The papers.
    pub papers: Vec<Paper>,
    /// The published values.
    pub published: Vec<Row>,
}

/// Figures of papers.
pub type Selection<'a> = Vec<(&'a Paper, Vec<&'a Figure>)>;

impl Library {
    /// The library of this program.
    ///
    /// # Errors
    /// The first error of a file.
    pub fn new() -> Result<Self, Error> {
        let paper = |id: &str| -> Result<Paper, Error> {
            let name = format!("papers/claims/{id}.toml");
            let paper = Paper::read(id, file(&name)?)?;
            let measures = paper.figures.iter().flat_map(|figure| &figure.measures);
            let settings = paper.parameters.iter().flat_map(|one| &one.settings);
            let metrics = measures.map(|measure| &measure.metric);
            let metrics: Vec<&String> = metrics
                .chain(settings.flat_map(|setting| setting.metrics.values()))
                .collect();
            match metrics.iter().find(|metric| !measure::is_known(metric)) {
                Some(metric) => Err(Error::File {
                    file: format!("experiments/{name}"),
                    problem: format!("there is no metric `{metric}`"),
                }),
                None => Ok(paper),
            }
        };
        Ok(Self {
            papers: PAPERS.into_iter().map(paper).collect::<Result<_, _>>()?,
            published: Row::read(PUBLISHED)?,
        })
    }

    /// The figures that `PAPER` or `PAPER/FIGURE` names; without a name, all. `fig6` names `fig6a` to `fig6d`, unless a figure
    /// has that name.
    ///
    /// # Errors
    /// If there is no such paper or figure; the text has the names that exist.
    pub fn select(&self, name: Option<&str>) -> Result<Selection<'_>, Error> {
        let Some(name) = name else {
            return Ok(self
                .papers
                .iter()
                .map(|paper| (paper, figures(paper)))
                .collect());
        };
        let (of, figure) = match name.split_once('/') {
            Some((of, figure)) => (of, Some(figure)),
            None => (name, None),
        };
        let paper = self.papers.iter().find(|paper| paper.id == of);
        let paper = paper.ok_or_else(|| {
            let ids = self.papers.iter().map(|paper| paper.id.as_str());
            Error::Unknown(unknown("paper", of, ids.collect()))
        })?;
        let Some(figure) = figure else {
            return Ok(vec![(paper, figures(paper))]);
        };
        let exact = |one: &&Figure| one.id == figure;
        let is_part = |one: &&Figure| {
            let rest = one.id.strip_prefix(figure);
            rest.is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_lowercase()))
        };
        let mut found: Vec<&Figure> = paper.figures.iter().filter(exact).collect();
        if found.is_empty() && figure.ends_with(|last: char| last.is_ascii_digit()) {
            found = paper.figures.iter().filter(is_part).collect();
        }
        if found.is_empty() {
            let ids: Vec<&str> = paper.figures.iter().map(|one| one.id.as_str()).collect();
            return Err(Error::Unknown(unknown_figure(of, figure, &ids)));
        }
        Ok(vec![(paper, found)])
    }

    /// The published row of a claim; none of a claim without one.
    pub fn row(&self, paper: &Paper, figure: &Figure, claim: &Claim) -> Option<&Row> {
        let id = claim.figure.as_ref().unwrap_or(&figure.id);
        self.published.iter().find(|row| {
            row.paper == paper.id
                && row.figure == *id
                && row.condition == claim.condition
                && row.metric == claim.metric
                && row.algorithm == claim.algorithm
        })
    }

    /// What a claim expects.
    ///
    /// # Errors
    /// If the claim has no row, or the row no valid value.
    pub fn expected(
        &self,
        paper: &Paper,
        figure: &Figure,
        claim: &Claim,
    ) -> Result<Expected, Error> {
        if claim.unpublished {
            return Ok(Expected::Unpublished);
        }
        let row = self.row(paper, figure, claim);
        let row = row.ok_or_else(|| Error::File {
            file: format!("experiments/papers/claims/{}.toml", paper.id),
            problem: format!(
                "{}: no row of published.csv has `{}`, `{}`, `{}`",
                figure.id, claim.condition, claim.metric, claim.algorithm
            ),
        })?;
        row.expected()
    }
}

fn figures(paper: &Paper) -> Vec<&Figure> {
    paper.figures.iter().collect()
}

fn unknown(what: &str, name: &str, names: Vec<&str>) -> String {
    let hint = scenario::nearest(name, names.iter().copied());
    let known = scenario::there_are(&names);
    format!("no {what} `{name}`{hint}; {known}")
}

/// The error of an unknown figure. Suggests also `fig6`, which names `fig6a` to `fig6d`.
fn unknown_figure(paper: &str, name: &str, ids: &[&str]) -> String {
    let whole = ids.iter().filter_map(|id| {
        let whole = id.trim_end_matches(|last: char| last.is_ascii_lowercase());
        (whole.len() + 1 == id.len() && whole.ends_with(|last: char| last.is_ascii_digit()))
            .then_some(whole)
    });
    let names = ids.iter().copied().chain(whole);
    let names: Vec<String> = names.map(|id| format!("{paper}/{id}")).collect();
    let name = format!("{paper}/{name}");
    let hint = scenario::nearest(&name, names.iter().map(String::as_str));
    let known = scenario::there_are(&names[..ids.len()]);
    format!("no figure `{name}`{hint}; {known}")
}

/// Text of a file of `experiments/`.
pub(crate) fn file(name: &str) -> Result<&'static str, Error> {
    let found = FILES.iter().find(|(file, _)| *file == name);
    found.map(|(_, text)| *text).ok_or_else(|| Error::File {
        file: format!("experiments/{name}"),
        problem: "no such file".into(),
    })
}
