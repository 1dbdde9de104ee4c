//! Completion of the transfers of a run.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scenario::Scenario;
use crate::statistics::quantile;

/// Completion of the transfers of one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Transfers {
    /// Name of the connection.
    pub name: String,
    /// Number of transfers that started.
    pub count: u64,
    /// Number of transfers that did not finish. The quantiles leave them out.
    pub unfinished: u64,
    /// Median completion time, seconds; none for fewer than two transfers.
    pub completion_p50_s: Option<f64>,
    /// Quantile 0.9 of the completion times, seconds; none for fewer than ten transfers.
    pub completion_p90_s: Option<f64>,
    /// Quantile 0.99 of the completion times, seconds; none for fewer than 100 transfers.
    pub completion_p99_s: Option<f64>,
}

impl Transfers {
    /// The transfers among the connections of a run, in the order of the scenario. `connections` has names and completion times.
    #[must_use]
    pub fn of<'a>(
        scenario: &Scenario,
        connections: impl Iterator<Item = (&'a str, Option<f64>)>,
    ) -> Vec<Self> {
        let mut completions: BTreeMap<&str, Vec<Option<f64>>> = BTreeMap::new();
        for (name, completion_s) in connections {
            completions.entry(name).or_default().push(completion_s);
        }
        let transfers = scenario.connections.iter().filter_map(|spec| {
            let all = (completions.get(&*spec.name)).filter(|_| spec.application.is_finite())?;
            let mut finished: Vec<f64> = all.iter().copied().flatten().collect();
            finished.sort_by(f64::total_cmp);
            Some(Self {
                name: spec.name.clone(),
                count: all.len() as u64,
                unfinished: (all.len() - finished.len()) as u64,
                completion_p50_s: quantile(&finished, 0.5),
                completion_p90_s: quantile(&finished, 0.9),
                completion_p99_s: quantile(&finished, 0.99),
            })
        });
        transfers.collect()
    }
}
