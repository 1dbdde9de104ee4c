//! Lengths of k shortest and disjoint paths on the fifteen maps, compared with networkx (Python) by tests/reference.py.
//!
//! Every 307th pair of nodes of all maps; `NETWORKX_EVERY=1` is all pairs, ten minutes. Equal lengths leave a choice between paths, so that
//! lengths are compared, not paths. src/tests/paths.rs has the paths.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use lisa_topology::{Disjointness, Graph, LinkIndex, Map, Metric, NodeIndex, Properties};
use netsim::Span;

/// Number of shortest paths.
const SHORTEST: usize = 4;

/// Delay of an edge by its index, milliseconds; tests/reference.py has the same.
fn delay(edge: usize) -> Span {
    Span::from_millis(1 + (7 * edge as u64) % 11)
}

/// Length in links or milliseconds.
fn length(graph: &Graph, path: &[LinkIndex], metric: Metric) -> u128 {
    let length = graph.length(path, metric);
    match metric {
        Metric::Hops => length,
        Metric::Delay => length / 1_000_000,
    }
}

/// Lines of a pair: metric, kind, lengths.
fn lines(graph: &Graph, from: NodeIndex, to: NodeIndex) -> Vec<String> {
    let mut lines = Vec::new();
    for (metric, name) in [(Metric::Hops, "hops"), (Metric::Delay, "delay")] {
        let mut line = format!("{name} shortest");
        for path in graph.loopless_paths(from, to, metric).take(SHORTEST) {
            write!(line, " {}", length(graph, &path, metric)).unwrap();
        }
        lines.push(line);
        for (disjointness, kind) in [
            (Disjointness::Links, "links"),
            (Disjointness::Nodes, "nodes"),
        ] {
            for k in [2, 3] {
                let paths = graph.disjoint_paths(from, to, k, metric, disjointness);
                let lengths = paths.iter().map(|path| length(graph, path, metric));
                let total: u128 = lengths.sum();
                lines.push(format!("{name} {kind}-{k} {} {total}", paths.len()));
            }
        }
    }
    lines
}

#[test]
fn lengths_are_those_of_networkx() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = root.join(".venv/bin/python");
    let has_it = Command::new(&python)
        .args(["-c", "import networkx"])
        .output();
    if !has_it.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no networkx in .venv: scripts/setup.sh installs it");
        return;
    }
    let every: usize =
        std::env::var("NETWORKX_EVERY").map_or(307, |text| text.parse().expect("a number"));
    let folder = root.join("experiments/topologies");
    let mut maps: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "gml"))
        .collect();
    maps.sort();
    assert_eq!(maps.len(), 15);
    let (mut found, mut pairs) = (String::new(), 0);
    for file in maps {
        let map: Map = fs::read_to_string(&file).unwrap().parse().unwrap();
        let graph = map.graph(|edge| Properties::line(delay(edge)));
        let name = file.file_stem().unwrap().to_str().unwrap();
        for from in 0..map.nodes.len() {
            for to in from + 1..map.nodes.len() {
                pairs += 1;
                if pairs % every != 0 {
                    continue;
                }
                let ends = [from, to].map(|node| map.nodes[node].id.clone());
                let hosts = [from, to].map(|node| graph.hosts()[node]);
                for line in lines(&graph, hosts[0], hosts[1]) {
                    writeln!(found, "{name} {} {} {line}", ends[0], ends[1]).unwrap();
                }
            }
        }
    }
    let results = Path::new(env!("CARGO_TARGET_TMPDIR")).join("networkx.txt");
    fs::write(&results, &found).unwrap();
    let output = Command::new(&python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference.py"))
        .args([&folder, &results])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    println!("{text}");
    assert!(text.ends_with(&format!("{} lines equal\n", found.lines().count())));
}
