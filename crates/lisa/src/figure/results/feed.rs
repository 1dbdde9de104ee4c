//! The rows of runs as they finish, as data of a figure.

use std::convert::Infallible;

use scenario::Outcome;
use scenario::export::columns::Value;
use scenario::export::rows::{Columns, Identity, RowKind};
use scenario::metrics::Metric;
use scenario::sample::Samples;
use scenario::vary::Vary;

use super::data::{Data, Measured};

/// Data of a metric that grow with each run.
pub struct Feed {
    columns: Columns,
    /// Columns of the data in a row.
    indexes: Vec<usize>,
    data: Data,
}

impl Feed {
    /// Data without a run. `settings` are the columns of keys. None for a metric that no rows have.
    pub fn new(settings: &[Vary], metric: &'static Metric) -> Option<Self> {
        let kinds = [RowKind::Connection, RowKind::Subflow, RowKind::Link];
        let kind = kinds
            .into_iter()
            .find(|kind| kind.has(metric))
            .unwrap_or_default();
        let columns = Columns::new(kind, settings, &[metric]);
        let names: Vec<&str> = columns
            .all()
            .iter()
            .map(|column| column.name.as_str())
            .collect();
        let data = Data::new(&names, Measured::from(metric));
        let data = data.ok()?;
        let index = |wanted: &String| names.iter().position(|name| name == wanted);
        let indexes = data.wanted().iter().filter_map(index).collect();
        Some(Self {
            indexes,
            data,
            columns,
        })
    }

    /// Adds the rows of a run.
    pub fn add(&mut self, identity: Identity<'_>, outcome: &Outcome) {
        let (data, indexes) = (&mut self.data, &self.indexes);
        let samples = Samples::default();
        let added: Result<(), Infallible> = self.columns.rows(identity, outcome, &samples, |row| {
            let wanted: Vec<Value<'_>> = indexes.iter().map(|index| row[*index]).collect();
            data.add(&wanted);
            Ok(())
        });
        match added {
            Ok(()) => {}
            Err(never) => match never {},
        }
    }

    /// The data of all runs.
    pub fn finish(mut self) -> Data {
        self.data.finish();
        self.data
    }
}
