//! Proportionally fair rates with resource pooling ([`optimum`]).
//!
//! Source: Kelly and Voice, "Stability of end-to-end algorithms for joint routing and rate control", CCR 2005: the rates that maximise
//! the sum of the logarithms of the users' total rates. draft-khalili-mptcp-performance-issues-04, section 4, compares with them, and
//! with the same under one segment a round trip on each path ("probing cost").

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, SolverStatus, SupportedConeT,
};

use crate::{Error, Network};

/// Whether a path that a user does not need costs anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probing {
    /// A path may be unused.
    Free,
    /// Each path carries at least one segment a round trip, the smallest window.
    Segment,
}

/// Proportionally fair rate of each user, Mbit/s.
///
/// Rates of the single paths of a user are not unique, their sum is.
///
/// # Errors
/// [`Error::TooSmall`].
pub fn optimum(network: &Network, probing: Probing) -> Result<Vec<f64>, Error> {
    let paths: Vec<_> = network.paths().collect();
    let (n, users) = (paths.len(), network.users.len());
    // Variables: the rate of each path, then the logarithm of each user's rate. Clarabel minimises q·v for A·v + s = b, s in the cones.
    let mut rows = Rows::default();
    for (link, properties) in network.links.iter().enumerate() {
        let on = (paths.iter().enumerate()).filter(|(_, path)| path.links.contains(&link));
        rows.push(on.map(|(path, _)| (path, 1.0)), properties.capacity_mbps);
    }
    for (path, properties) in paths.iter().enumerate() {
        let least = match probing {
            Probing::Free => 0.0,
            Probing::Segment => properties.segment_mbps(),
        };
        rows.push([(path, -1.0)], -least);
    }
    let mut cones = vec![SupportedConeT::NonnegativeConeT(rows.right.len())];
    let mut first = 0;
    for (user, properties) in network.users.iter().enumerate() {
        // (log rate, 1, rate) in the exponential cone.
        rows.push([(n + user, -1.0)], 0.0);
        rows.push([], 1.0);
        let end = first + properties.paths.len();
        rows.push((first..end).map(|path| (path, -1.0)), 0.0);
        first = end;
        cones.push(SupportedConeT::ExponentialConeT());
    }
    let columns = n + users;
    let objective: Vec<f64> = (0..columns)
        .map(|v| if v < n { 0.0 } else { -1.0 })
        .collect();
    let matrix = rows.matrix(columns);
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .build()
        .expect("default settings are valid");
    let mut solver = DefaultSolver::new(
        &CscMatrix::zeros((columns, columns)),
        &objective,
        &matrix,
        &rows.right,
        &cones,
        settings,
    )
    .expect("the dimensions agree");
    solver.solve();
    match solver.solution.status {
        SolverStatus::Solved | SolverStatus::AlmostSolved => {}
        _ => return Err(Error::TooSmall),
    }
    let mut rates = solver.solution.x.iter();
    let sums = network
        .users
        .iter()
        .map(|user| rates.by_ref().take(user.paths.len()).sum());
    Ok(sums.collect())
}

/// Rows of a sparse matrix, and the right-hand side.
#[derive(Default)]
struct Rows {
    row: Vec<usize>,
    column: Vec<usize>,
    value: Vec<f64>,
    right: Vec<f64>,
}

impl Rows {
    fn push(&mut self, entries: impl IntoIterator<Item = (usize, f64)>, right: f64) {
        for (column, value) in entries {
            self.row.push(self.right.len());
            self.column.push(column);
            self.value.push(value);
        }
        self.right.push(right);
    }

    fn matrix(&self, columns: usize) -> CscMatrix {
        CscMatrix::new_from_triplets(
            self.right.len(),
            columns,
            self.row.clone(),
            self.column.clone(),
            self.value.clone(),
        )
    }
}
