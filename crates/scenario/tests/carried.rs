//! Scenarios and runs are sent to another process and back as JSON, without a change.

use std::fs;
use std::path::{Path, PathBuf};

use lisa_scenario::{Run, Scenario, simulate};
use topology::Spec;

/// All scenario files of the repository.
fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = fs::read_dir(root.join("experiments")).unwrap();
    let folders = folders.map(|folder| folder.unwrap().path());
    let mut files = Vec::new();
    for folder in folders.chain([root.join("bench")]) {
        for file in fs::read_dir(folder).unwrap() {
            files.push(file.unwrap().path());
        }
    }
    files.retain(|file| file.extension().is_some_and(|end| end == "toml"));
    files
}

#[test]
fn a_scenario_survives() {
    let files = files();
    assert!(files.len() >= 7, "{files:?}");
    for file in files {
        let mut scenario = Scenario::load(&file).unwrap();
        if let Spec::SharedBottleneck(shared) = &mut scenario.topology {
            // Keys that no file has.
            shared.bottleneck.rate_trace = Some("1\n4\n4\n".parse().unwrap());
            shared.bottleneck.down = vec![netsim::Outage::for_good(netsim::Time::from_nanos(7))];
        }
        let text = serde_json::to_string(&scenario).unwrap();
        let read: Scenario = serde_json::from_str(&text).unwrap();
        assert_eq!(read, scenario, "{}", file.display());
    }
}

#[test]
fn a_run_survives_bit_by_bit() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/examples");
    let scenario = Scenario::load(file.join("shared-bottleneck.toml")).unwrap();
    let run = simulate(&scenario, 1, true).unwrap();
    assert!(run.rows.len() > 100 && !run.credits.is_empty());
    let text = serde_json::to_string(&run).unwrap();
    let read: Run = serde_json::from_str(&text).unwrap();
    assert_eq!(read.rows, run.rows);
    assert_eq!(read.credits, run.credits);
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
    let unknown = text.replacen("\"sim\"", "\"moon\"", 1);
    let error = serde_json::from_str::<Run>(&unknown).unwrap_err();
    assert!(error.to_string().contains("unknown variant `moon`"));
}
