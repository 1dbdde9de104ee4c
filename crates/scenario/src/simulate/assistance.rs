//! Groups that the network decides: `assistance = true`.
//!
//! The rule is that of the topology manager ([`topology::Assistance`]), with the links of the scenario as the map, their rates as the available
//! ones, and the paths of the subflows as the installed routes. During an outage the path of a subflow is unknown: all are coupled.

use netsim::Time;
use topology::{Assistance, Graph, LinkIndex, Path, Route};

use crate::connection::Regroup;

/// The group of each subflow at a time.
pub(super) fn groups_at(graph: &Graph, paths: &[Path], at: Time) -> Vec<u8> {
    let is_up = |link: &LinkIndex| graph.link(*link).properties.is_up(at);
    let routes: Vec<Option<Route>> = (paths.iter())
        .map(|path| {
            let usable = path.forward.iter().all(is_up).then_some(&path.forward);
            Route::of(usable.as_slice())
        })
        .collect();
    let rate = |link| {
        let rate = graph.link(link).properties.mean_rate();
        Some(rate.map_or(u64::MAX, netsim::Rate::bits_per_second))
    };
    let mut assistance = Assistance::default();
    match assistance.decide(routes.iter().map(Option::as_ref), rate) {
        Ok(groups) => groups.iter().map(|group| *group as u8).collect(),
        Err(_) => vec![0; paths.len()],
    }
}

/// The changes of the groups of a connection when links fail and return, in order of time.
pub(super) fn regroups(graph: &Graph, paths: &[Path]) -> Vec<Regroup> {
    let links = paths.iter().flat_map(|path| &path.forward);
    let outages = links.flat_map(|link| &graph.link(*link).properties.down);
    let mut times: Vec<Time> = outages
        .flat_map(|outage| [Some(outage.from()), outage.to()])
        .flatten()
        .collect();
    times.sort_unstable();
    times.dedup();
    let mut groups = groups_at(graph, paths, Time::ZERO);
    let mut regroups = Vec::new();
    for at in times {
        let now = groups_at(graph, paths, at);
        if now != groups {
            regroups.push(Regroup {
                at: at.since(Time::ZERO),
                groups: now.clone(),
            });
            groups = now;
        }
    }
    regroups
}
