//! The scenario of the arguments, and the scenario with another algorithm.

use std::sync::Arc;

use scenario::{Protocol, Scenario};

use super::arguments::Common;
use super::on::On;
use super::source::Source;
use crate::output::Failure;

/// Numbers of the connections whose algorithm is replaced: those named, else all MPTCP ones, else all TCP ones.
pub fn connections(scenario: &Scenario, named: &[String]) -> Result<Vec<usize>, Failure> {
    let all = || scenario.connections.iter().enumerate();
    let of = |protocol: Protocol| -> Vec<usize> {
        let those = all().filter(|(_, connection)| connection.protocol == protocol);
        those.map(|(number, _)| number).collect()
    };
    if named.is_empty() {
        let chosen = [of(Protocol::Mptcp), of(Protocol::Tcp)];
        let chosen = chosen.into_iter().find(|list| !list.is_empty());
        return chosen.ok_or_else(|| {
            Failure::usage("no connection of this scenario has an algorithm: all are UDP")
        });
    }
    let find = |name: &String| match all().find(|(_, connection)| connection.name == *name) {
        Some((_, udp)) if udp.protocol == Protocol::Udp => Err(Failure::usage(format!(
            "--connection {name}: UDP has no algorithm"
        ))),
        Some((number, _)) => Ok(number),
        None => {
            let names: Vec<&str> = all().map(|(_, c)| c.name.as_str()).collect();
            Err(no_connection(name, &names))
        }
    };
    named.iter().map(find).collect()
}

/// The error of an unknown name in `--connection`.
pub fn no_connection(name: &str, names: &[&str]) -> Failure {
    let nearest = scenario::nearest(name, names.iter().copied());
    let known = scenario::there_are(names);
    Failure::usage(format!(
        "--connection {name}: no such connection{nearest}; {known}"
    ))
}

/// The scenario with this algorithm on these connections, which keep their names.
pub fn with_algorithm(
    source: &Source,
    common: &Common,
    on: &[On],
    scenario: &Scenario,
    chosen: &[usize],
    algorithm: &str,
) -> Result<Arc<Scenario>, Failure> {
    let mut changed = scenario.clone();
    for &number in chosen {
        changed.connections[number].algorithm = algorithm.into();
    }
    // Quoted: `1` is a name here, not a number.
    let set = format!("connection.{}.algorithm={algorithm:?}", chosen[0] + 1);
    check_override(source, common, &set)
        .map_err(|problem| Failure::usage(format!("-a {algorithm}: {problem}")))?;
    if on.contains(&On::Sim) && mpcc::Algorithm::find(algorithm).is_none() {
        let all: Vec<_> = mpcc::Algorithm::all().map(|a| a.name()).collect();
        return Err(Failure::usage(format!(
            "-a {algorithm}: the simulator has no algorithm of this name; there are {}",
            all.join(", ")
        )));
    }
    Ok(Arc::new(changed))
}

/// The error of this override, as the reader of files reports it. Other errors are ignored: the file was read before.
fn check_override(source: &Source, common: &Common, set: &str) -> Result<(), String> {
    let all: Vec<&str> = (common.set.iter().map(String::as_str))
        .chain([set])
        .collect();
    match source.scenario(&all) {
        Err(error) if error.location == scenario::Location::Override(set.into()) => {
            Err(error.problem)
        }
        _ => Ok(()),
    }
}
