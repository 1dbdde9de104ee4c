//! Algorithms, and paths through networks.

use std::path::PathBuf;

use mpcc::Algorithm;
use pyo3::prelude::*;
use scenario::paths::{MOST_PATHS, Network, Question};
use scenario::units;
use serde_json::json;
use topology::{Disjointness, Metric};

use crate::error::Failure;
use crate::scenario::Scenario;

/// The algorithms, as a JSON list.
#[pyfunction]
pub fn algorithms() -> String {
    let setting = |setting: mpcc::Setting| {
        json!({
            "name": setting.name,
            "unit": setting.unit,
            "min": setting.range.start(),
            "max": setting.range.end(),
            "default": setting.standard,
            "about": setting.about,
        })
    };
    let algorithm = |algorithm: Algorithm| {
        json!({
            "name": algorithm.name(),
            "about": algorithm.about(),
            "slow_start": algorithm.slow_start(),
            "avoidance": algorithm.avoidance(),
            "linux_own": algorithm.in_linux(),
            "loadable": algorithm.is_loadable(),
            "settings": algorithm.settings().map(setting).collect::<Vec<_>>(),
        })
    };
    let all: Vec<_> = Algorithm::all().map(algorithm).collect();
    serde_json::Value::from(all).to_string()
}

/// What is asked about a network.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Arguments {
    from_node: Option<String>,
    to_node: Option<String>,
    k: Option<usize>,
    disjoint: Option<String>,
    by: String,
}

/// Paths through a map, as JSON (docs/paths.schema.json).
#[pyfunction]
#[pyo3(signature = (file, rate, both_ways, arguments))]
pub fn paths_of_map(
    py: Python<'_>,
    file: PathBuf,
    rate: Option<String>,
    both_ways: bool,
    arguments: Arguments,
) -> PyResult<String> {
    let answer = || {
        let rate = rate.as_deref().map(units::parse_rate).transpose();
        let rate = rate.map_err(|_| {
            Failure::Argument(
                "rate: a rate, like `10Mbit`; units are bit, kbit, Mbit, Gbit, Tbit".into(),
            )
        })?;
        answer(
            &Network::read_map(&file, rate, both_ways)?,
            &file.display().to_string(),
            &arguments,
        )
    };
    answer().map_err(|failure: Failure| failure.raise(py))
}

/// Paths through the network of a scenario, as JSON (docs/paths.schema.json).
#[pyfunction]
pub fn paths_of_scenario(
    py: Python<'_>,
    scenario: &Scenario,
    arguments: Arguments,
) -> PyResult<String> {
    let answer = || {
        let network = Network::of_scenario(&scenario.scenario)?;
        answer(&network, &scenario.about(), &arguments)
    };
    answer().map_err(|failure: Failure| failure.raise(py))
}

fn answer(network: &Network, name: &str, arguments: &Arguments) -> Result<String, Failure> {
    let wrong = |text: String| Failure::Argument(text);
    let most = usize::try_from(MOST_PATHS).unwrap_or(usize::MAX);
    if let Some(k) = arguments.k.filter(|k| !(1..=most).contains(k)) {
        return Err(wrong(format!("k {k}: a whole number from 1 to {most}")));
    }
    let disjoint = match arguments.disjoint.as_deref() {
        None => None,
        Some("links") => Some(Disjointness::Links),
        Some("nodes") => Some(Disjointness::Nodes),
        Some(other) => {
            return Err(wrong(format!("disjoint {other}: one of links, nodes")));
        }
    };
    let metric = match &*arguments.by {
        "hops" => Metric::Hops,
        "delay" => Metric::Delay,
        other => return Err(wrong(format!("by {other}: one of hops, delay"))),
    };
    let query = match (&arguments.from_node, &arguments.to_node) {
        (Some(from), Some(to)) => Some(network.query(&Question {
            from,
            to,
            k: arguments.k,
            disjoint,
            metric,
        })?),
        (None, None) => None,
        _ => {
            return Err(wrong(
                "from_node and to_node: a path has two ends: give both".into(),
            ));
        }
    };
    let answer = network.answer(query.as_ref());
    if let (Some(from), Some(to), true) = (
        &arguments.from_node,
        &arguments.to_node,
        answer.paths.is_empty(),
    ) {
        return Err(wrong(format!("{name}: no path from `{from}` to `{to}`")));
    }
    serde_json::to_string(&answer).map_err(|error| Failure::Internal(error.to_string()))
}
