//! Friendliness bottlenecks and groups: the cases of the NMCC paper's section IV-A, the boundary of (2), and brute force.

use std::collections::BTreeMap;

use netsim::Rate;
use proptest::prelude::*;

use crate::*;

/// Paths as names of links, links with a rate in kbit/s, and the expected bottlenecks and groups.
struct Case {
    name: &'static str,
    rates: &'static [(&'static str, u64)],
    paths: &'static [&'static str],
    bottlenecks: &'static [&'static str],
    groups: &'static [u32],
}

#[rustfmt::skip]
const CASES: &[Case] = &[
    // Figure 1: n = 3 subflows with first links x1, x2, x3 and one second link b. By (2) b is none iff b > max(x) · (3 + 1)/2.
    Case { name: "figure 1, at the boundary", rates: &[("x1", 10), ("x2", 30), ("x3", 20), ("b", 60)], paths: &["x1 b", "x2 b", "x3 b"], bottlenecks: &["b"], groups: &[0, 0, 0] },
    Case { name: "figure 1, above it", rates: &[("x1", 10), ("x2", 30), ("x3", 20), ("b", 61)], paths: &["x1 b", "x2 b", "x3 b"], bottlenecks: &[], groups: &[0, 1, 2] },
    Case { name: "figure 1, the shared link is the narrowest", rates: &[("x1", 10), ("x2", 30), ("x3", 20), ("b", 5)], paths: &["x1 b", "x2 b", "x3 b"], bottlenecks: &["b"], groups: &[0, 0, 0] },
    // Two subflows: the factor is 3/2.
    Case { name: "two subflows at 3/2", rates: &[("x1", 10), ("x2", 20), ("b", 30)], paths: &["x1 b", "x2 b"], bottlenecks: &["b"], groups: &[0, 0] },
    Case { name: "two subflows above 3/2", rates: &[("x1", 10), ("x2", 20), ("b", 31)], paths: &["x1 b", "x2 b"], bottlenecks: &[], groups: &[0, 1] },
    // Figure 2: subflows over x11 x21 x31, x12 x21 x32 and x13 x23 x32. Of x21 the others are min(x11, x31) = 10 and min(x12, x32) = 20,
    // of x32 min(x13, x23) = 12 and min(x12, x21): two subflows each, 3/2.
    Case { name: "figure 2, none", rates: &[("x11", 10), ("x31", 90), ("x12", 20), ("x13", 40), ("x23", 12), ("x21", 31), ("x32", 31)], paths: &["x11 x21 x31", "x12 x21 x32", "x13 x23 x32"], bottlenecks: &[], groups: &[0, 1, 2] },
    Case { name: "figure 2, x21", rates: &[("x11", 10), ("x31", 90), ("x12", 20), ("x13", 40), ("x23", 12), ("x21", 30), ("x32", 31)], paths: &["x11 x21 x31", "x12 x21 x32", "x13 x23 x32"], bottlenecks: &["x21"], groups: &[0, 0, 1] },
    // x32 = 18 limits the second path, so that x21 = 30 exceeds max(10, 18) · 3/2 = 27; of x32 the others are 12 and 20: 30.
    Case { name: "figure 2, x32", rates: &[("x11", 10), ("x31", 90), ("x12", 20), ("x13", 40), ("x23", 12), ("x21", 30), ("x32", 18)], paths: &["x11 x21 x31", "x12 x21 x32", "x13 x23 x32"], bottlenecks: &["x32"], groups: &[0, 1, 1] },
    Case { name: "figure 2, both", rates: &[("x11", 10), ("x31", 90), ("x12", 20), ("x13", 40), ("x23", 12), ("x21", 20), ("x32", 20)], paths: &["x11 x21 x31", "x12 x21 x32", "x13 x23 x32"], bottlenecks: &["x21", "x32"], groups: &[0, 0, 0] },
    // Figure 3, all links of one rate.
    Case { name: "figure 3a: disjoint", rates: &[], paths: &["a1 a2", "b1 b2", "c1 c2"], bottlenecks: &[], groups: &[0, 1, 2] },
    Case { name: "figure 3b: A and B share a link", rates: &[], paths: &["a1 s a2", "b1 s b2", "c1 c2"], bottlenecks: &["s"], groups: &[0, 0, 1] },
    Case { name: "figure 3c: A and B share one, B and C another", rates: &[], paths: &["a1 s a2", "b1 s t", "c1 c2 t"], bottlenecks: &["s", "t"], groups: &[0, 0, 0] },
    Case { name: "figure 3d: two pairs", rates: &[], paths: &["a1 s", "b1 s", "c1 t", "d1 t"], bottlenecks: &["s", "t"], groups: &[0, 0, 1, 1] },
    // Beyond the paper.
    Case { name: "a path that is its shared link alone", rates: &[("s", 1000)], paths: &["s", "s b1"], bottlenecks: &["s"], groups: &[0, 0] },
    Case { name: "one path twice", rates: &[], paths: &["a1 a2", "a1 a2"], bottlenecks: &["a1", "a2"], groups: &[0, 0] },
    Case { name: "groups in the order of the paths", rates: &[], paths: &["a1", "s b1", "c1", "s d1"], bottlenecks: &["s"], groups: &[0, 1, 2, 1] },
    Case { name: "a link without a limit", rates: &[("s", 0)], paths: &["a1 s", "b1 s"], bottlenecks: &[], groups: &[0, 1] },
    Case { name: "the largest rates", rates: &[("s", u64::MAX / 1000), ("a1", u64::MAX / 1000), ("b1", 1)], paths: &["a1 s", "b1 s"], bottlenecks: &["s"], groups: &[0, 0] },
];

#[test]
fn cases_of_the_paper() {
    for case in CASES {
        let mut links: Vec<&str> = case.paths.iter().flat_map(|path| path.split(' ')).collect();
        links.sort_unstable();
        links.dedup();
        let index = |name: &str| index_of(&links, name).unwrap();
        let paths: Vec<Vec<LinkIndex>> = (case.paths.iter())
            .map(|path| path.split(' ').map(index).collect())
            .collect();
        // 10 kbit/s unless the case says otherwise; 0: no limit.
        let rate = |link: LinkIndex| {
            let found = case
                .rates
                .iter()
                .find(|(name, _)| index_of(&links, name) == Some(link));
            let kbit = found.map_or(10, |(_, kbit)| *kbit);
            (kbit > 0).then(|| Rate::from_bits_per_second(kbit * 1000))
        };
        let sharing = Sharing::of(&paths, rate);
        let bottlenecks: Vec<&str> = (sharing.bottlenecks())
            .map(|shared| links[shared.link.index()])
            .collect();
        assert_eq!(bottlenecks, case.bottlenecks, "{}", case.name);
        assert_eq!(sharing.groups, case.groups, "{}", case.name);
    }
}

fn index_of(links: &[&str], name: &str) -> Option<LinkIndex> {
    links
        .binary_search(&name)
        .ok()
        .map(|at| LinkIndex(at as u32))
}

/// The parts of (2): 61 kbit/s beside at most 30 kbit/s, three subflows.
#[test]
fn a_shared_link_has_the_parts_of_the_condition() {
    let [x1, x2, b] = [0, 1, 2].map(LinkIndex);
    let kbit = |kbit: u64| Rate::from_bits_per_second(kbit * 1000);
    let rates = [Some(kbit(30)), None, Some(kbit(61))];
    let paths = [vec![x1, b], vec![x1, b], vec![x2, b]];
    let sharing = Sharing::of(&paths, |link| rates[link.index()]);
    // The third path has no other link with a limit.
    let expected = SharedLink {
        link: b,
        paths: vec![0, 1, 2],
        rate: Some(kbit(61)),
        others: None,
        is_bottleneck: true,
    };
    assert_eq!(sharing.links[1], expected);
    assert_eq!(sharing.links[0].others, Some(kbit(61)));
    assert_eq!(sharing.links[0].paths, [0, 1]);
}

/// Bottlenecks and groups by the definition, for small numbers.
fn brute(paths: &[Vec<LinkIndex>], rates: &[Option<u64>]) -> (Vec<LinkIndex>, Vec<u32>) {
    let mut bottlenecks = Vec::new();
    for link in (0..rates.len() as u32).map(LinkIndex) {
        let on: Vec<_> = paths.iter().filter(|path| path.contains(&link)).collect();
        let least = |path: &&Vec<LinkIndex>| {
            let others = path.iter().filter(|other| **other != link);
            let least = others.filter_map(|other| rates[other.index()]).min();
            least.map_or(f64::INFINITY, |rate| rate as f64)
        };
        let most = on.iter().map(least).fold(0.0, f64::max);
        let rate = rates[link.index()].map_or(f64::INFINITY, |rate| rate as f64);
        let is_none = rate.is_infinite() || rate > most * (on.len() as f64 + 1.0) / 2.0;
        if on.len() > 1 && !is_none {
            bottlenecks.push(link);
        }
    }
    // Sets grow until nothing changes.
    let mut groups: Vec<u32> = (0..paths.len() as u32).collect();
    loop {
        let before = groups.clone();
        for link in &bottlenecks {
            let on = |path: &usize| paths[*path].contains(link);
            let least = (0..paths.len())
                .filter(on)
                .map(|path| groups[path])
                .min()
                .unwrap();
            for path in (0..paths.len()).filter(on) {
                groups[path] = least;
            }
        }
        if groups == before {
            break;
        }
    }
    let mut numbers = BTreeMap::new();
    let groups = groups.iter().map(|group| {
        let next = numbers.len() as u32;
        *numbers.entry(*group).or_insert(next)
    });
    (bottlenecks, groups.collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn bottlenecks_and_groups_are_those_of_the_definition(
        paths in prop::collection::vec(prop::collection::btree_set(0..10u32, 1..5), 1..6),
        rates in prop::collection::vec(prop::option::weighted(0.9, 1..8u64), 10),
    ) {
        let paths: Vec<Vec<LinkIndex>> = paths.iter().map(|path| path.iter().copied().map(LinkIndex).collect()).collect();
        let sharing = Sharing::of(&paths, |link| rates[link.index()].map(Rate::from_bits_per_second));
        let mut found: Vec<_> = sharing.bottlenecks().map(|shared| shared.link).collect();
        found.sort();
        prop_assert_eq!((found, sharing.groups), brute(&paths, &rates));
    }
}
