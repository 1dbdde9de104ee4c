//! K shortest and disjoint paths, compared with enumeration and with examples of the literature.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::graphs::{Cable, all_paths, assert_path, cables, graph};
use crate::*;

fn cable(a: usize, b: usize, delay: u64) -> Cable {
    Cable { a, b, delay }
}

fn nodes(graph: &Graph, path: &[LinkIndex]) -> Vec<usize> {
    let ends = path.iter().map(|link| graph.link(*link).to.index());
    std::iter::once(graph.link(path[0]).from.index())
        .chain(ends)
        .collect()
}

/// The usual example of Yen's algorithm, undirected here: C is 0, D 1, E 2, F 3, G 4, H 5. By hand: C E F H is 5 long, C E G H and
/// C D E F H 7, C D F H 8, and so are two paths of four links.
#[test]
fn yens_example() {
    let cables = [
        cable(0, 1, 3),
        cable(0, 2, 2),
        cable(2, 1, 1),
        cable(1, 3, 4),
        cable(2, 3, 2),
        cable(2, 4, 3),
        cable(3, 4, 2),
        cable(3, 5, 1),
        cable(4, 5, 2),
    ];
    let graph = graph(6, 0, &cables);
    let [from, to] = [NodeIndex(0), NodeIndex(5)];
    let paths = graph.loopless_paths(from, to, Metric::Delay).take(4);
    let paths: Vec<_> = paths
        .map(|path| {
            (
                graph.length(&path, Metric::Delay) / 1_000_000,
                nodes(&graph, &path),
            )
        })
        .collect();
    let expected = [
        (5, vec![0, 2, 3, 5]),
        // Of equal delays the fewer links.
        (7, vec![0, 2, 4, 5]),
        (7, vec![0, 1, 2, 3, 5]),
        (8, vec![0, 1, 3, 5]),
    ];
    assert_eq!(paths, expected);
}

/// The trap: the shortest path 0 1 2 3 takes a link of both disjoint paths, 0 1 3 and 0 2 3. Without the shortest path's links
/// nothing leads to 3.
#[test]
fn a_disjoint_pair_need_not_contain_the_shortest_path() {
    let cables = [
        cable(0, 1, 1),
        cable(1, 2, 1),
        cable(2, 3, 1),
        cable(0, 2, 4),
        cable(1, 3, 4),
    ];
    let graph = graph(4, 0, &cables);
    let [from, to] = [NodeIndex(0), NodeIndex(3)];
    let shortest = graph.loopless_paths(from, to, Metric::Delay).next();
    assert_eq!(nodes(&graph, &shortest.unwrap()), [0, 1, 2, 3]);
    for disjointness in [Disjointness::Links, Disjointness::Nodes] {
        let pair = graph.disjoint_paths(from, to, 3, Metric::Delay, disjointness);
        let pair: Vec<_> = pair.iter().map(|path| nodes(&graph, path)).collect();
        assert_eq!(pair, [[0, 1, 3], [0, 2, 3]], "there is no third");
    }
}

/// Two triangles that share node 2: two paths without a common link, none without the common node.
#[test]
fn paths_without_a_common_link_may_share_a_node() {
    let cables = [
        cable(0, 1, 1),
        cable(0, 2, 1),
        cable(1, 2, 1),
        cable(2, 3, 1),
        cable(2, 4, 1),
        cable(3, 4, 1),
    ];
    let graph = graph(5, 0, &cables);
    let [from, to] = [NodeIndex(0), NodeIndex(4)];
    let number = |disjointness| {
        graph
            .disjoint_paths(from, to, 2, Metric::Hops, disjointness)
            .len()
    };
    assert_eq!(number(Disjointness::Links), 2);
    assert_eq!(number(Disjointness::Nodes), 1);
}

#[test]
fn parallel_links_are_paths_of_their_own() {
    let graph = graph(3, 0, &[cable(0, 1, 2), cable(0, 1, 1), cable(1, 2, 1)]);
    let [from, middle, to] = [0, 1, 2].map(NodeIndex);
    let paths: Vec<_> = graph.loopless_paths(from, to, Metric::Delay).collect();
    assert_eq!(paths.len(), 2);
    // Link 2 is the second cable's.
    assert_eq!(paths[0][0], LinkIndex(2));
    let pair = graph.disjoint_paths(from, middle, 2, Metric::Hops, Disjointness::Nodes);
    assert_eq!(pair.len(), 2, "no node lies between");
}

#[test]
fn there_is_no_path_to_the_node_itself_or_to_another_component() {
    let graph = graph(4, 0, &[cable(0, 1, 1), cable(2, 3, 1)]);
    for to in [0, 2].map(NodeIndex) {
        let from = NodeIndex(0);
        assert_eq!(graph.loopless_paths(from, to, Metric::Hops).count(), 0);
        let pair = graph.disjoint_paths(from, to, 2, Metric::Hops, Disjointness::Links);
        assert_eq!(pair.len(), 0);
    }
}

/// Least total length of `k` of these paths that are disjoint; none if there are no such paths.
fn least(
    graph: &Graph,
    paths: &[Vec<LinkIndex>],
    k: usize,
    metric: Metric,
    disjointness: Disjointness,
) -> Option<u128> {
    if k == 0 {
        return Some(0);
    }
    let touched = |path: &[LinkIndex]| -> BTreeSet<usize> {
        match disjointness {
            // A cable has an even link and the odd one after it.
            Disjointness::Links => path.iter().map(|link| link.index() / 2).collect(),
            Disjointness::Nodes => {
                let inner = &path[..path.len() - 1];
                let mut touched: BTreeSet<usize> = (inner.iter())
                    .map(|link| graph.link(*link).to.index())
                    .collect();
                if inner.is_empty() {
                    touched.insert(usize::MAX - path[0].index());
                }
                touched
            }
        }
    };
    let lengths = paths.iter().enumerate().filter_map(|(at, path)| {
        let own = touched(path);
        let rest: Vec<_> = (paths[at + 1..].iter())
            .filter(|other| touched(other).is_disjoint(&own))
            .cloned()
            .collect();
        Some(graph.length(path, metric) + least(graph, &rest, k - 1, metric, disjointness)?)
    });
    lengths.min()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn loopless_paths_are_all_there_are_in_order(cables in cables(7, 14), hosts in 0..4usize) {
        let graph = graph(7, hosts, &cables);
        for (from, to) in [(0, 1), (1, 6), (5, 6)] {
            let ends = [NodeIndex(from), NodeIndex(to)];
            for metric in [Metric::Hops, Metric::Delay] {
                let found: Vec<_> = graph.loopless_paths(ends[0], ends[1], metric).collect();
                let all = all_paths(&graph, ends[0], ends[1], metric);
                let lengths = |paths: &[Vec<LinkIndex>]| -> Vec<(u128, usize)> {
                    paths.iter().map(|path| (graph.length(path, metric), path.len())).collect()
                };
                prop_assert_eq!(lengths(&found), lengths(&all));
                let each: BTreeSet<_> = found.iter().collect();
                prop_assert_eq!(each.len(), found.len());
                for path in &found {
                    assert_path(&graph, path, ends);
                }
            }
        }
    }

    #[test]
    fn disjoint_paths_have_the_least_total_length(cables in cables(6, 13), hosts in 0..3usize) {
        let graph = graph(6, hosts, &cables);
        for (from, to) in [(0, 1), (1, 5)] {
            let ends = [NodeIndex(from), NodeIndex(to)];
            for metric in [Metric::Hops, Metric::Delay] {
                let all = all_paths(&graph, ends[0], ends[1], metric);
                for disjointness in [Disjointness::Links, Disjointness::Nodes] {
                    let most = (0..=5).rev().find(|k| least(&graph, &all, *k, metric, disjointness).is_some());
                    for k in 1..=5 {
                        let found = graph.disjoint_paths(ends[0], ends[1], k, metric, disjointness);
                        prop_assert_eq!(found.len(), k.min(most.unwrap()));
                        let total: u128 = found.iter().map(|path| graph.length(path, metric)).sum();
                        prop_assert_eq!(Some(total), least(&graph, &all, found.len(), metric, disjointness));
                        for path in &found {
                            assert_path(&graph, path, ends);
                        }
                        prop_assert!(least(&graph, &found, found.len(), metric, disjointness).is_some(), "not disjoint");
                    }
                }
            }
        }
    }
}
