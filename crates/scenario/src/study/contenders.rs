//! A scenario with other algorithms.

use std::sync::Arc;

use super::problem::{Argument, Problem};
use crate::connection::Protocol;
use crate::error::{Location, nearest, there_are};
use crate::scenario::Scenario;
use crate::source::Source;

/// Numbers of the connections whose algorithm is replaced: those named, else all MPTCP ones, else all TCP ones.
///
/// # Errors
/// For a scenario without such a connection, and for a name that no connection has.
pub fn connections(scenario: &Scenario, named: &[String]) -> Result<Vec<usize>, Problem> {
    let all = || scenario.connections.iter().enumerate();
    let of = |protocol: Protocol| -> Vec<usize> {
        let those = all().filter(|(_, connection)| connection.protocol == protocol);
        those.map(|(number, _)| number).collect()
    };
    if named.is_empty() {
        let chosen = [of(Protocol::Mptcp), of(Protocol::Tcp)];
        let chosen = chosen.into_iter().find(|list| !list.is_empty());
        return chosen.ok_or_else(|| {
            Problem::whole("no connection of this scenario has an algorithm: all are UDP")
        });
    }
    let find = |name: &String| match all().find(|(_, connection)| connection.name == *name) {
        Some((_, udp)) if udp.protocol == Protocol::Udp => Err(Problem::of(
            Argument::Connections,
            name,
            "UDP has no algorithm",
        )),
        Some((number, _)) => Ok(number),
        None => {
            let names: Vec<&str> = all().map(|(_, c)| c.name.as_str()).collect();
            Err(no_connection(name, &names))
        }
    };
    named.iter().map(find).collect()
}

/// Refuses an algorithm that is named twice: results are told apart by its name.
///
/// # Errors
/// For the first algorithm that is there a second time.
pub fn check_distinct(algorithms: &[String]) -> Result<(), Problem> {
    let is_second = |(at, algorithm): &(usize, &String)| algorithms[..*at].contains(algorithm);
    match algorithms.iter().enumerate().find(is_second) {
        Some((_, algorithm)) => {
            let text = "is named twice: name each algorithm once";
            Err(Problem::of(Argument::Algorithms, algorithm, text))
        }
        None => Ok(()),
    }
}

/// The error of a name that no connection has.
#[must_use]
pub fn no_connection(name: &str, names: &[&str]) -> Problem {
    let nearest = nearest(name, names.iter().copied());
    let known = there_are(names);
    let text = format!("no such connection{nearest}; {known}");
    Problem::of(Argument::Connections, name, text)
}

/// The scenario with this algorithm on these connections, which keep their names. `set` are the overrides of the scenario.
/// `simulated`: whether simulated endpoints run it.
///
/// # Errors
/// For an algorithm that is not known, or that a connection cannot have.
pub fn with_algorithm(
    source: &Source,
    set: &[String],
    simulated: bool,
    scenario: &Scenario,
    chosen: &[usize],
    algorithm: &str,
) -> Result<Arc<Scenario>, Problem> {
    let wrong = |text: String| Problem::of(Argument::Algorithms, algorithm, text);
    let mut changed = scenario.clone();
    for &number in chosen {
        changed.connections[number].algorithm = algorithm.into();
    }
    // Quoted: `1` is a name here, not a number.
    let with = format!("connection.{}.algorithm={algorithm:?}", chosen[0] + 1);
    check_override(source, set, &with).map_err(wrong)?;
    if simulated && mpcc::Algorithm::find(algorithm).is_none() {
        let all: Vec<_> = mpcc::Algorithm::all().map(|a| a.name()).collect();
        return Err(wrong(format!(
            "the simulator has no algorithm of this name; there are {}",
            all.join(", ")
        )));
    }
    Ok(Arc::new(changed))
}

/// The error of this override, as the reader of files reports it. Other errors are ignored: the file was read before.
fn check_override(source: &Source, set: &[String], with: &str) -> Result<(), String> {
    let all: Vec<&str> = set.iter().map(String::as_str).chain([with]).collect();
    match source.scenario(&all) {
        Err(error) if error.location == Location::Override(with.into()) => Err(error.problem),
        _ => Ok(()),
    }
}
