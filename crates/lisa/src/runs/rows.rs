//! The kinds of rows, as `--rows` names them.

use clap::ValueEnum;
use scenario::export::rows::RowKind;

/// The part of a run that has a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Rows {
    /// A row for each connection.
    #[default]
    Connection,
    /// A row for each established subflow.
    Subflow,
    /// A row for each link.
    Link,
    /// Time series: at each --sample interval a row for each link and each established subflow.
    Sample,
}

impl From<Rows> for RowKind {
    fn from(rows: Rows) -> Self {
        match rows {
            Rows::Connection => Self::Connection,
            Rows::Subflow => Self::Subflow,
            Rows::Link => Self::Link,
            Rows::Sample => Self::Sample,
        }
    }
}
