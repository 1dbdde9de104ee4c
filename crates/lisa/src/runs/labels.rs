//! Names of connections and paths in figures.

use scenario::outcome::ConnectionOutcome;
use scenario::{Run, Scenario};

/// Name of the path of each subflow, if it has a name and all connections agree about it.
pub fn paths(scenario: &Scenario, run: &Run) -> Vec<Option<String>> {
    let connections = &run.outcome.connections;
    let most = connections
        .iter()
        .map(|c| c.subflows.len())
        .max()
        .unwrap_or(0);
    let name = |subflow: usize| -> Option<String> {
        let all = connections.iter().filter_map(|c| c.subflows.get(subflow));
        let mut names = all.map(|outcome| scenario.path_name(outcome.path));
        let first = names.next()??;
        names.all(|name| name == Some(first)).then(|| first.into())
    };
    (0..most).map(name).collect()
}

/// The completion time or the goodput of a connection, with its unit.
pub fn result(outcome: &ConnectionOutcome) -> Option<String> {
    let completion = outcome.completion_s.map(|seconds| match seconds {
        seconds if seconds < 0.1 => format!("{:.2} ms", seconds * 1e3),
        seconds => format!("{seconds:.2} s"),
    });
    let goodput = || outcome.goodput_mbps.map(|rate| format!("{rate:.2} Mbit/s"));
    completion.or_else(goodput)
}
