//! Trees of shortest paths, compared with the search for one pair.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::graphs::{cables, graph};
use crate::*;

proptest! {
    /// Distances, numbers and paths are those of [`Graph::shortest_paths`], from and to a root.
    #[test]
    fn trees_are_the_shortest_paths(cables in cables(7, 20), hosts in 0..3u32, root in 0..7usize) {
        let graph = graph(7, hosts as usize, &cables);
        let root = NodeIndex(root as u32);
        let from = graph.shortest_tree(root, Direction::From, |_| true);
        let back = graph.shortest_tree(root, Direction::To, |_| true);
        for node in (0..7).map(NodeIndex).filter(|node| *node != root) {
            let paths = graph.shortest_paths(root, node);
            let expected: BTreeSet<Vec<LinkIndex>> = (0..paths.count()).map(|n| paths.nth(n).unwrap().forward).collect();
            let found = from.paths(&graph, node, |_| true);
            prop_assert_eq!(u64::from(from.count(node)), paths.count());
            prop_assert_eq!(found.len(), expected.len());
            prop_assert_eq!(from.distance(node).map(|links| links as usize), expected.first().map(Vec::len));
            prop_assert_eq!(BTreeSet::from_iter(found), expected);
            prop_assert_eq!(u64::from(back.count(node)), graph.shortest_paths(node, root).count());
        }
    }

    /// A link that is not usable is on no path.
    #[test]
    fn unusable_links_are_left_out(cables in cables(6, 20), without in 0..40u32) {
        let graph = graph(6, 0, &cables);
        let usable = |link: LinkIndex| link != LinkIndex(without);
        let tree = graph.shortest_tree(NodeIndex(0), Direction::From, usable);
        for node in (1..6).map(NodeIndex) {
            let paths = tree.paths(&graph, node, usable);
            prop_assert_eq!(paths.len(), tree.count(node) as usize);
            for path in paths {
                prop_assert!(!path.contains(&LinkIndex(without)));
                prop_assert_eq!(Some(path.len()), tree.distance(node).map(|links| links as usize));
            }
        }
    }
}
