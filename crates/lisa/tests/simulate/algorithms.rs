//! `lisa algorithms`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use mpcc::Algorithm;
use serde_json::Value;

use crate::Place;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn listed(place: &Place) -> Vec<Value> {
    let lists = place.valid_json("algorithms --json", "algorithms.schema.json");
    assert_eq!(lists.len(), 1);
    lists[0]["algorithms"].as_array().unwrap().clone()
}

#[test]
fn lists_all_that_there_are() {
    let place = Place::new();
    let listed = listed(&place);
    let names: Vec<_> = listed.iter().map(|a| a["name"].as_str().unwrap()).collect();
    let all: Vec<_> = Algorithm::all().map(|a| a.name()).collect();
    assert_eq!(names, all);
    let table = place.good("algorithms");
    for algorithm in &listed {
        let words =
            ["name", "slow_start", "avoidance", "about"].map(|k| algorithm[k].as_str().unwrap());
        let line = table
            .lines()
            .find(|line| line.split_whitespace().next() == Some(words[0]));
        let line = line.unwrap_or_else(|| panic!("{words:?} in\n{table}"));
        assert!(
            words.iter().all(|word| line.contains(word)),
            "{words:?}: {line}"
        );
        assert_eq!(
            line.contains("Linux's own"),
            ["reno", "cubic"].contains(&words[0]),
            "{line}"
        );
    }
}

#[test]
fn every_name_is_a_pair_as_the_papers_have_it() {
    let place = Place::new();
    let listed = listed(&place);
    for (name, pair) in [
        ("lisa", ["lisa", "lia"]),
        ("css", ["css", "lia"]),
        ("lia", ["uncoupled", "lia"]),
        ("reno", ["uncoupled", "reno"]),
        ("cubic", ["uncoupled", "cubic"]),
        ("nmcc", ["nmcc", "nmcc"]),
    ] {
        let found = listed.iter().find(|a| a["name"] == name).unwrap();
        assert_eq!([&found["slow_start"], &found["avoidance"]], pair);
    }
    // The other algorithms are named by their parts.
    for algorithm in &listed {
        let part = |key: &str| algorithm[key].as_str().unwrap().to_owned();
        let (name, slow_start, avoidance) = (part("name"), part("slow_start"), part("avoidance"));
        if name.contains('_') {
            assert_eq!(name, format!("{slow_start}_{avoidance}"));
        }
    }
}

#[test]
fn the_simulator_runs_what_it_is_said_to_run() {
    let place = Place::new();
    for algorithm in listed(&place) {
        assert_eq!(algorithm["runs_in"]["simulator"], true);
        let name = algorithm["name"].as_str().unwrap();
        let run = format!("run small.toml --json --set connection.download.algorithm={name}");
        let outcome = &place.json(&run)[0]["connections"][0];
        assert_eq!(outcome["algorithm"], name);
        assert!(outcome["completion_s"].is_f64(), "{outcome}");
    }
}

#[test]
fn the_kernel_needs_what_the_loader_asks_for() {
    for algorithm in listed(&Place::new()) {
        let kernel = &algorithm["runs_in"]["kernel"];
        let name = algorithm["name"].as_str().unwrap();
        let loadable = kernel::load::loadable(name);
        let own = matches!(loadable, Err(kernel::Error::InLinux { .. }));
        assert_eq!(kernel["linux_own"], own, "{name}");
        let (major, minor) = kernel::requirements::OLDEST;
        let since = match loadable {
            Ok(_) => format!("{major}.{minor}").into(),
            Err(_) => Value::Null,
        };
        assert_eq!(kernel["since"], since, "{name}");
    }
}

#[test]
fn its_pages_are_there_and_none_is_forgotten() {
    let pages: BTreeSet<PathBuf> = fs::read_dir(root().join("docs/algorithms"))
        .unwrap()
        .map(|page| Path::new("docs/algorithms").join(page.unwrap().file_name()))
        .filter(|page| {
            // Pages about all algorithms.
            let of_all = ["README.md", "exactness.md", "properties.md"];
            !of_all.iter().any(|name| page.ends_with(name))
        })
        .collect();
    let named: BTreeSet<PathBuf> = listed(&Place::new())
        .iter()
        .flat_map(|algorithm| algorithm["pages"].as_array().unwrap())
        .map(|page| page.as_str().unwrap().into())
        .collect();
    assert_eq!(named, pages);
}

/// The table of pairs in docs/algorithms/README.md equals the table in cc/table.h.
#[test]
fn the_pages_have_the_pairs_that_there_are() {
    let text = fs::read_to_string(root().join("docs/algorithms/README.md")).unwrap();
    let cells = |line: &str| -> Vec<String> {
        let plain = |cell: &str| {
            let cell = cell.trim().trim_matches('`');
            let link = cell
                .strip_prefix('[')
                .and_then(|link| link.split(']').next());
            link.unwrap_or(cell).to_owned()
        };
        line.trim_matches('|').split('|').map(plain).collect()
    };
    let mut lines = text.lines().skip_while(|line| !line.starts_with('|'));
    let slow_starts = cells(lines.next().unwrap());
    let mut written = BTreeSet::new();
    for line in lines.skip(1).take_while(|line| line.starts_with('|')) {
        let row = cells(line);
        let pairs = slow_starts.iter().zip(&row).skip(1);
        let named = pairs.filter(|(_, name)| !name.is_empty() && !name.starts_with('–'));
        written.extend(
            named.map(|(slow_start, name)| [name.clone(), slow_start.clone(), row[0].clone()]),
        );
    }
    let table =
        Algorithm::all().map(|a| [a.name(), a.slow_start(), a.avoidance()].map(String::from));
    assert_eq!(written, table.collect());
}
