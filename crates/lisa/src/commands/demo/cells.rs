//! The runs of the demo, by bottleneck, contender and side.

use scenario::Run;
use scenario::metrics::{METRICS, Metric};
use scenario::statistics::Mean;

use super::contenders::{Bottleneck, CONTENDERS};
use super::sides::Side;

/// All runs of one contender over one bottleneck, on each side in the order of the seeds.
pub struct Cell {
    pub bottleneck: Bottleneck,
    /// Number among [`CONTENDERS`].
    pub contender: usize,
    pub kernel: Vec<Run>,
    pub simulator: Vec<Run>,
}

/// The metrics of the tables.
pub const METRICS_SHOWN: [&Metric; 4] = [&METRICS[0], &METRICS[2], &METRICS[3], &METRICS[4]];

/// The cells of each bottleneck, in the order of the contenders.
pub fn by_bottleneck(cells: &[Cell]) -> impl Iterator<Item = &[Cell]> {
    cells.chunks(CONTENDERS.len())
}

/// A metric of a run's only connection.
fn value(run: &Run, metric: &Metric) -> Option<f64> {
    metric.of_connection(&run.outcome.connections[0], None)
}

impl Cell {
    /// A cell without runs.
    pub fn new(bottleneck: Bottleneck, contender: usize) -> Self {
        Self {
            bottleneck,
            contender,
            kernel: Vec::new(),
            simulator: Vec::new(),
        }
    }

    /// The runs of a side.
    pub fn of(&self, side: Side) -> &[Run] {
        match side {
            Side::Kernel => &self.kernel,
            Side::Simulator => &self.simulator,
        }
    }

    /// Adds the run of the next seed.
    pub fn add(&mut self, side: Side, run: Run) {
        match side {
            Side::Kernel => self.kernel.push(run),
            Side::Simulator => self.simulator.push(run),
        }
    }

    /// Mean of a metric over the runs that have it.
    pub fn mean(&self, side: Side, metric: &Metric) -> Option<Mean> {
        let runs = self.of(side).iter();
        let values: Vec<f64> = runs.filter_map(|run| value(run, metric)).collect();
        Mean::of(&values)
    }

    /// Mean difference to another contender over the same bottleneck, seed by seed.
    pub fn difference(&self, other: &Cell, side: Side, metric: &Metric) -> Option<Mean> {
        let pairs = self.of(side).iter().zip(other.of(side));
        let values: Vec<f64> = pairs
            .filter_map(|(a, b)| Some(value(a, metric)? - value(b, metric)?))
            .collect();
        Mean::of(&values)
    }
}
