//! Outcomes that were written, and what a crash leaves.

use scenario::Scenario;

use super::*;

fn outcome(seed: u64) -> Outcome {
    let text = crate::library::file("lisa/fig6.toml").unwrap();
    let set = ["connection.download.bytes=50KB".to_owned()];
    let scenario = Scenario::parse_with(text, "fig6.toml", &set).unwrap();
    scenario::simulate(&scenario, seed, false).unwrap().outcome
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("lisa-store-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    folder
}

/// More outcomes than a line has, each under its own key, also for a second reader.
#[test]
fn what_was_added_is_there() {
    let folder = folder("added");
    let mut store = Store::open(&folder, "build").unwrap();
    let outcomes = [outcome(1), outcome(2)];
    for number in 0..LINE + 5 {
        store
            .add(&format!("k{number}"), &outcomes[number % 2])
            .unwrap();
    }
    store.update().unwrap();
    let second = Store::open(&folder, "build").unwrap();
    for number in [0, 1, LINE - 1, LINE, LINE + 4] {
        for store in [&store, &second] {
            let found = store.get(&format!("k{number}")).unwrap();
            assert_eq!(found.seed, number as u64 % 2 + 1);
        }
    }
    assert!(!store.has("k"));
    fs::remove_dir_all(folder).unwrap();
}

/// A line that was cut is ignored, and the lines after it are read.
#[test]
fn a_line_that_a_crash_has_cut() {
    let folder = folder("cut");
    let mut store = Store::open(&folder, "build").unwrap();
    for key in ["a", "b"] {
        store.add(key, &outcome(1)).unwrap();
        store.flush().unwrap();
    }
    let path = store.path.clone();
    drop(store);
    let mut bytes = fs::read(&path).unwrap();
    bytes.truncate(bytes.len() - 100);
    fs::write(&path, bytes).unwrap();
    let mut store = Store::open(&folder, "build").unwrap();
    assert!(store.get("a").is_some());
    assert!(!store.has("b"));
    store.add("c", &outcome(2)).unwrap();
    store.update().unwrap();
    assert_eq!(store.get("c").unwrap().seed, 2);
    fs::remove_dir_all(folder).unwrap();
}
