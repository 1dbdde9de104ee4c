//! Changes one by one against contents that are built at once, by the definition.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::network::RATE_AGE_MS;

const NODES: usize = 6;

/// A change.
#[derive(Clone, Debug)]
enum Change {
    Report(u32, Vec<(usize, usize)>),
    Close(u32),
    Rates(Vec<(usize, u64)>),
    Links(Vec<(usize, bool)>),
    Wait(u64),
}

fn changes() -> impl Strategy<Value = Change> {
    let ends = (0..NODES, 0..NODES);
    prop_oneof![
        4 => (0..4u32, prop::collection::vec(ends, 1..5)).prop_map(|(token, ends)| Change::Report(token, ends)),
        1 => (0..4u32).prop_map(Change::Close),
        3 => prop::collection::vec((0..20usize, 1..8u64), 1..12).prop_map(Change::Rates),
        3 => prop::collection::vec((0..20usize, any::<bool>()), 1..4).prop_map(Change::Links),
        1 => (1..RATE_AGE_MS).prop_map(Change::Wait),
    ]
}

/// The state of the network, kept by the test.
#[derive(Default)]
struct Expected {
    links: Vec<(usize, usize)>,
    rates: BTreeMap<usize, (u64, u64)>,
    down: BTreeSet<usize>,
    now: u64,
}

impl Expected {
    /// All shortest paths as sets of links, by enumeration.
    fn paths(&self, from: usize, to: usize) -> Vec<Vec<usize>> {
        let mut found: Vec<Vec<usize>> = Vec::new();
        let mut level = vec![(from, Vec::new())];
        for _ in 0..NODES {
            let mut next = Vec::new();
            for (node, path) in level {
                for (index, (begin, end)) in self.links.iter().enumerate() {
                    if *begin == node && !self.down.contains(&index) {
                        let longer: Vec<usize> = [&path[..], &[index]].concat();
                        next.push((*end, longer));
                    }
                }
            }
            found.extend(
                next.iter()
                    .filter(|(node, _)| *node == to)
                    .map(|(_, path)| path.clone()),
            );
            if !found.is_empty() {
                return found;
            }
            level = next;
        }
        found
    }

    /// Which subflows are in one group, by the definition; none: a path or a rate is unknown.
    fn coupled(&self, subflows: &[(usize, usize)]) -> Option<BTreeSet<(usize, usize)>> {
        let mut routes = Vec::new();
        for (from, to) in subflows {
            let paths = if from == to {
                Vec::new()
            } else {
                self.paths(*from, *to)
            };
            if paths.is_empty() {
                return None;
            }
            routes.push(paths);
        }
        let rate = |link: usize| {
            let (rate, at) = self.rates.get(&link)?;
            (self.now - at <= RATE_AGE_MS).then_some(*rate as f64)
        };
        for link in routes.iter().flatten().flatten() {
            rate(*link)?;
        }
        let mut coupled = BTreeSet::new();
        for link in 0..self.links.len() {
            let on: Vec<usize> = (0..routes.len())
                .filter(|subflow| routes[*subflow].iter().any(|path| path.contains(&link)))
                .collect();
            let beside = |path: &Vec<usize>| {
                let others = path.iter().filter(|other| **other != link);
                others
                    .map(|other| rate(*other).unwrap())
                    .fold(f64::INFINITY, f64::min)
            };
            let paths = on.iter().flat_map(|subflow| &routes[*subflow]);
            let widest = paths
                .filter(|path| path.contains(&link))
                .map(beside)
                .fold(0.0, f64::max);
            let limits =
                on.len() > 1 && rate(link).unwrap() <= widest * (on.len() as f64 + 1.0) / 2.0;
            if limits {
                coupled.extend(
                    on.iter()
                        .flat_map(|one| on.iter().map(|other| (*one, *other))),
                );
            }
        }
        // The transitive closure.
        for _ in 0..routes.len() {
            let pairs: Vec<_> = coupled.iter().copied().collect();
            for (one, two) in &pairs {
                for (three, four) in &pairs {
                    if two == three {
                        coupled.insert((*one, *four));
                    }
                }
            }
        }
        Some(coupled)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn incremental_groups_are_those_of_the_definition(
        links in prop::collection::btree_set((0..NODES, 0..NODES), 4..20),
        changes in prop::collection::vec(changes(), 1..30),
    ) {
        let links: Vec<_> = links.into_iter().filter(|(from, to)| from != to).collect();
        prop_assume!(!links.is_empty());
        let mut world = World::new(NODES, &links);
        let mut expected = Expected { links: links.clone(), ..Expected::default() };
        let mut open: BTreeMap<u32, Vec<(usize, usize)>> = BTreeMap::new();
        let named = |index: usize| format!("n{} – n{}", links[index].0, links[index].1);
        for change in changes {
            match change {
                Change::Report(token, ends) => {
                    world.report(token, &ends);
                    open.insert(token, ends);
                }
                Change::Close(token) => {
                    open.remove(&token);
                    world.sequence += 1;
                    let report = api::Report {
                        session: SESSION.into(),
                        sequence: world.sequence,
                        closed: vec![Token(token)],
                        ..api::Report::default()
                    };
                    let id = world.state.authenticate(&[1; 32]).unwrap();
                    world.state.report(id, &report, 0).unwrap();
                }
                Change::Rates(rates) => {
                    let rates: Vec<_> = rates.into_iter().filter(|(link, _)| *link < links.len()).collect();
                    let list: Vec<_> = rates.iter().map(|(link, rate)| rate_of(&named(*link), *rate)).collect();
                    world.state.set_rates(&list, expected.now).unwrap();
                    expected.rates.extend(rates.iter().map(|(link, rate)| (*link, (*rate, expected.now))));
                }
                Change::Links(states) => {
                    let mut states: Vec<_> = states.into_iter().filter(|(link, _)| *link < links.len()).collect();
                    states.sort_unstable();
                    states.dedup_by_key(|(link, _)| *link);
                    let list: Vec<_> = states.iter().map(|(link, up)| api::LinkState { link: named(*link), up: *up }).collect();
                    world.state.set_links(&list).unwrap();
                    for (link, up) in states {
                        if up { expected.down.remove(&link); } else { expected.down.insert(link); }
                    }
                }
                Change::Wait(span) => {
                    expected.now += span;
                    world.state.expire(expected.now, |_| true);
                }
            }
            prop_assert_eq!(world.state.totals().connections, open.len());
            let mut on_link = vec![0u32; links.len()];
            for (token, ends) in &open {
                let groups = world.groups(*token);
                match expected.coupled(ends) {
                    None => {
                        prop_assert!(groups.iter().all(|group| *group == 0));
                        prop_assert!(world.unknown(*token).is_some());
                    }
                    Some(coupled) => {
                        prop_assert_eq!(world.unknown(*token), None);
                        for one in 0..ends.len() {
                            for other in 0..one {
                                prop_assert_eq!(groups[one] == groups[other], coupled.contains(&(one, other)));
                            }
                        }
                    }
                }
                for (from, to) in ends.iter().filter(|(from, to)| from != to) {
                    let links: BTreeSet<usize> = expected.paths(*from, *to).into_iter().flatten().collect();
                    links.into_iter().for_each(|link| on_link[link] += 1);
                }
            }
            let shown: Vec<u32> = world.state.map().links.iter().map(|link| link.live.subflows).collect();
            prop_assert_eq!(shown, on_link);
        }
    }
}
