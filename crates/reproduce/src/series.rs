//! Measured and predicted values of a figure.

use scenario::statistics::Mean;

use crate::paper::{Figure, Measure, Paper, Point};
use crate::plan::{lines as lines_of, of_point, points};
use crate::{Error, Store, Variant, measure, predicted};

/// Values of the runs of a point, in the order of the runs; none where a run has no value.
pub type Samples = Vec<Option<f64>>;

/// Values of a figure.
#[derive(Clone, Debug)]
pub struct Series {
    /// The points.
    pub points: Vec<Point>,
    /// The lines, in the order of the figure.
    pub lines: Vec<SeriesOfLine>,
}

/// Values of a line.
#[derive(Clone, Debug)]
pub struct SeriesOfLine {
    /// Title.
    pub name: String,
    /// Whether the values are predictions.
    pub is_theory: bool,
    /// For each measure of the figure and each point the samples.
    pub measures: Vec<Vec<Samples>>,
}

impl SeriesOfLine {
    /// Mean of a measure at a point.
    #[must_use]
    pub fn mean(&self, measure: usize, point: usize) -> Option<Mean> {
        let samples = self.measures[measure][point].iter().flatten();
        Mean::of(&samples.copied().collect::<Vec<f64>>())
    }
}

impl Series {
    /// Values of a figure from the outcomes of its runs. A run that is not in the store has no value.
    ///
    /// # Errors
    /// Those of the figure and its scenarios.
    pub fn read(
        paper: &Paper,
        figure: &Figure,
        variant: Variant<'_>,
        store: &Store,
    ) -> Result<Self, Error> {
        let points = points(paper, figure, variant)?;
        let measured = measures(figure, variant);
        let mut lines = Vec::new();
        if figure.not_run.is_some() {
            return Ok(Self { points, lines });
        }
        for line in lines_of(figure, variant) {
            let mut measures = vec![Vec::new(); figure.measures.len()];
            for point in &points {
                let runs = of_point(paper, figure, line, point, variant)?;
                if let Some(theory) = &line.theory {
                    let values = predicted::values(paper, figure, &runs[0], theory, variant)?;
                    for (all, value) in measures.iter_mut().zip(values) {
                        all.push(vec![value]);
                    }
                    continue;
                }
                let mut samples = vec![Samples::new(); figure.measures.len()];
                for run in runs {
                    let outcome = store.get(&run.key()?);
                    for (all, measure) in samples.iter_mut().zip(&measured) {
                        let value = outcome
                            .as_ref()
                            .and_then(|outcome| measure::value(measure, outcome));
                        all.push(value);
                    }
                }
                for (all, samples) in measures.iter_mut().zip(samples) {
                    all.push(samples);
                }
            }
            lines.push(SeriesOfLine {
                name: line.name.clone(),
                is_theory: line.theory.is_some(),
                measures,
            });
        }
        Ok(Self { points, lines })
    }

    /// The line of this name.
    #[must_use]
    pub fn line(&self, name: &str) -> Option<&SeriesOfLine> {
        self.lines.iter().find(|line| line.name == name)
    }
}

/// The measures of a figure, with the metrics of a variant.
fn measures(figure: &Figure, variant: Variant<'_>) -> Vec<Measure> {
    let mut measures = figure.measures.clone();
    for measure in &mut measures {
        let mut settings = variant.settings();
        if let Some(metric) = settings.find_map(|one| one.metrics.get(&measure.name)) {
            measure.metric.clone_from(metric);
        }
    }
    measures
}
