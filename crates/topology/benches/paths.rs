//! Time of a query for paths, and of grouping paths, by the size of the network: `cargo bench -p lisa-topology`. bench/README.md has the
//! results.
//!
//! A query is between two nodes drawn at random. The median of the queries counts, and of three rounds the fastest: other load can only slow
//! a round down.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use lisa_topology::{
    Disjointness, Graph, LinkIndex, Map, MapEdge, MapNode, Metric, NodeIndex, Properties, Sharing,
};
use netsim::{Rate, Span};

const ROUNDS: usize = 3;
/// Number of queries of a round.
const QUERIES: usize = 41;
/// Number of paths, as in the NMCC paper.
const K: usize = 3;

fn main() {
    println!(
        "{:<22} {:>7} {:>7} {:>6} {:>12} {:>12} {:>12}",
        "network", "nodes", "edges", "hops", "3 shortest", "link pair", "node pair"
    );
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/topologies");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("experiments/topologies")
        .map(|file| file.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|end| end == "gml"))
        .collect();
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a map");
        let map = text.parse().expect("a map");
        row(&file.file_stem().expect("a name").to_string_lossy(), &map);
    }
    for nodes in [100, 1000, 10_000, 100_000] {
        row("random, degree 4", &random(nodes, 2 * nodes));
    }
    for nodes in [100, 1000, 10_000, 100_000] {
        row("grid", &grid((nodes as f64).sqrt() as usize));
    }
    println!(
        "\n{:>7} {:>6} {:>12} {:>14}",
        "paths", "hops", "grouping", "path and hop"
    );
    for (paths, hops) in [
        (2, 8),
        (8, 8),
        (64, 8),
        (512, 8),
        (4096, 8),
        (64, 64),
        (64, 512),
    ] {
        let seconds = grouping(paths, hops);
        let each = seconds * 1e9 / (paths * hops) as f64;
        println!(
            "{paths:>7} {hops:>6} {:>9.1} µs {each:>11.1} ns",
            seconds * 1e6
        );
    }
}

fn row(name: &str, map: &Map) {
    let graph = map.graph(|_| Properties::line(Span::from_millis(5)));
    let mut numbers = Numbers(1);
    let mut node = || graph.hosts()[numbers.below(map.nodes.len())];
    let pairs: Vec<[NodeIndex; 2]> = std::iter::repeat_with(|| [node(), node()])
        .filter(|[from, to]| from != to)
        .take(QUERIES)
        .collect();
    let mut hops: Vec<usize> = (pairs.iter())
        .filter_map(|[from, to]| graph.loopless_paths(*from, *to, Metric::Hops).next())
        .map(|path| path.len())
        .collect();
    hops.sort_unstable();
    let shortest = median(&pairs, |from, to| {
        graph.loopless_paths(from, to, Metric::Hops).take(K).count()
    });
    let disjoint = |disjointness| median(&pairs, |from, to| pair(&graph, from, to, disjointness));
    let [links, nodes] = [Disjointness::Links, Disjointness::Nodes].map(disjoint);
    let times = [shortest, links, nodes].map(|seconds| format!("{:>9.1} µs", seconds * 1e6));
    println!(
        "{name:<22} {:>7} {:>7} {:>6} {}",
        map.nodes.len(),
        map.edges.len(),
        hops[hops.len() / 2],
        times.join(" ")
    );
}

fn pair(graph: &Graph, from: NodeIndex, to: NodeIndex, disjointness: Disjointness) -> usize {
    graph
        .disjoint_paths(from, to, 2, Metric::Hops, disjointness)
        .len()
}

/// Median time of the queries, seconds, of the fastest round.
fn median(pairs: &[[NodeIndex; 2]], query: impl Fn(NodeIndex, NodeIndex) -> usize) -> f64 {
    let round = || {
        let mut times: Vec<f64> = (pairs.iter())
            .map(|[from, to]| {
                let begun = Instant::now();
                black_box(query(*from, *to));
                begun.elapsed().as_secs_f64()
            })
            .collect();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    (0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min)
}

/// Time of grouping paths of random links, each on eight paths on average; seconds.
fn grouping(paths: usize, hops: usize) -> f64 {
    let links = (paths * hops / 8).max(hops);
    let map = random(links + 1, links);
    let graph = map.graph(|_| Properties::line(Span::ZERO));
    let all: Vec<LinkIndex> = graph.link_indices().take(links).collect();
    let mut numbers = Numbers(7);
    let paths: Vec<Vec<LinkIndex>> = (0..paths)
        .map(|_| (0..hops).map(|_| all[numbers.below(links)]).collect())
        .collect();
    let rate = |link: LinkIndex| {
        Some(Rate::from_bits_per_second(
            1_000_000 + link.index() as u64 % 7,
        ))
    };
    let times = (0..200).map(|_| {
        let begun = Instant::now();
        black_box(Sharing::of(&paths, rate));
        begun.elapsed().as_secs_f64()
    });
    times.fold(f64::INFINITY, f64::min)
}

fn nodes(number: usize) -> Vec<MapNode> {
    (0..number)
        .map(|id| MapNode {
            id: id.to_string(),
            label: None,
            place: None,
        })
        .collect()
}

fn edge(source: usize, target: usize) -> MapEdge {
    MapEdge {
        source,
        target,
        is_one_way: false,
        rate: None,
        delay: None,
        loss: None,
    }
}

/// A connected random graph: a random tree, and further edges between random nodes.
fn random(number: usize, edges: usize) -> Map {
    let mut numbers = Numbers(number as u64);
    let tree = (1..number).map(|node| (node, None));
    let further = (number - 1..edges).map(|_| (number, Some(())));
    let edges = tree.chain(further).map(|(node, further)| match further {
        None => edge(node, numbers.below(node)),
        Some(()) => edge(numbers.below(number), numbers.below(number)),
    });
    Map {
        edges: edges.collect(),
        nodes: nodes(number),
        ..Map::default()
    }
}

/// A square grid with this number of nodes along an edge.
fn grid(edge_nodes: usize) -> Map {
    let mut edges = Vec::new();
    for node in 0..edge_nodes * edge_nodes {
        if (node + 1) % edge_nodes != 0 {
            edges.push(edge(node, node + 1));
        }
        if node + edge_nodes < edge_nodes * edge_nodes {
            edges.push(edge(node, node + edge_nodes));
        }
    }
    Map {
        edges,
        nodes: nodes(edge_nodes * edge_nodes),
        ..Map::default()
    }
}

/// Pseudo-random numbers (SplitMix64, Steele, Lea and Flood 2014).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }
}
