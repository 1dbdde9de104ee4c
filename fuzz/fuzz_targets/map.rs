//! Any text is a map whose graph has paths and groups, or one line that says why it is none.
//!
//! Begin with what there is: `cargo fuzz run map ../experiments/topologies`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lisa_topology::{Disjointness, Map, Metric, Properties, Sharing};
use netsim::{Rate, Span};

fuzz_target!(|text: &str| {
    let map = match text.parse::<Map>() {
        Ok(map) => map,
        Err(error) => {
            assert!(!error.to_string().contains('\n'));
            assert!((1..=text.lines().count().max(1)).contains(&error.line));
            return;
        }
    };
    let graph = map.graph(|_| Properties::line(Span::from_millis(1)));
    let (Some(from), Some(to)) = (graph.hosts().first(), graph.hosts().last()) else {
        return;
    };
    let mut paths: Vec<_> = graph
        .loopless_paths(*from, *to, Metric::Hops)
        .take(4)
        .collect();
    for disjointness in [Disjointness::Links, Disjointness::Nodes] {
        paths.extend(graph.disjoint_paths(*from, *to, 3, Metric::Delay, disjointness));
    }
    let sharing = Sharing::of(&paths, |_| Some(Rate::from_bits_per_second(1)));
    assert_eq!(sharing.groups.len(), paths.len());
});
