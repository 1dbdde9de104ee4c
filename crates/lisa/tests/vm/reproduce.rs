//! `lisa reproduce --on vm`.

use std::fs;
use std::path::PathBuf;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::json_schema;
use super::support::{complaint, until};
use super::{KERNEL, Place, good};

/// A figure with three lines at seven queues, of which four run in the VM.
const FIGURE: &str = "reproduce lisa/fig1 --seeds 1 --no-causes --cache cache --on vm -o report";

/// The summary of a valid line of JSON.
fn summary(text: &str) -> Value {
    let summary: Value = serde_json::from_str(text).unwrap();
    let schema = include_str!("../../../../docs/reproduce.schema.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    json_schema::validate(&summary, &schema).unwrap();
    summary
}

/// The file of the finished runs in the VM and its content. Equal runs have equal bytes, so that only the name shows a new file.
fn stored(place: &Place) -> (PathBuf, Vec<u8>) {
    let files = fs::read_dir(place.0.join("cache/vm")).into_iter().flatten();
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    assert!(files.len() < 2, "{files:?}");
    let file = files.pop().unwrap_or_default();
    let content = fs::read(&file).unwrap_or_default();
    (file, content)
}

/// Ctrl-C ends the command in one line, the same command runs what is missing, and a third one runs nothing. The report then has the
/// kernel's values beside those of the simulator at the same points.
#[test]
fn a_figure_on_a_kernel_goes_on() {
    let place = Place::new();
    let mut first = place.lisa(FIGURE).spawn().unwrap();
    until("a run", || {
        first.try_wait().unwrap().is_some() || !stored(&place).1.is_empty()
    });
    let _ = kill(Pid::from_raw(first.id() as i32), Signal::SIGINT);
    let output = first.wait_with_output().unwrap();
    if output.status.code() == Some(1) {
        eprintln!("skipped: {}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let text = complaint(&output, 130);
    let rest = "of 6 runs are finished; the same command runs the rest";
    assert!(text.contains(rest), "{text}");
    let (file, before) = stored(&place);
    let again = summary(&good(place.lisa(&format!("{FIGURE} --json"))).unwrap());
    let (same, after) = stored(&place);
    assert_eq!(same, file);
    assert!(after.starts_with(&before) && after.len() > before.len());
    assert_eq!(after.split(|byte| *byte == b'\n').count(), 6 + 1);
    let table = good(place.lisa(FIGURE)).unwrap();
    assert_eq!(stored(&place), (file, after));

    let release = again["kernel"]["release"].as_str().unwrap();
    assert!(release.starts_with(KERNEL), "{release}");
    assert_eq!(again["kernel"]["points"], 2);
    assert_eq!(again["kernel"]["vm"]["not_run"], 0);
    let claim = &again["claims"][0];
    assert_ne!(claim["verdict_vm"], "not-run");
    assert_eq!(claim["not_run_vm"], "");
    for value in ["measured_now", "measured_vm", "measured_same"] {
        assert!(claim[value].as_f64().unwrap().abs() < 1.0, "{claim}");
    }
    assert_ne!(
        claim["measured_now"], claim["measured_same"],
        "seven and two points"
    );
    let file = |name: &str| fs::read_to_string(place.0.join("report").join(name)).unwrap();
    let heading = format!("Linux {release} in a VM");
    for text in [&table, &file("report.html")] {
        assert!(
            text.contains(&heading) && text.contains("at most 2 points"),
            "{text}"
        );
    }
    assert!(
        file("results.csv")
            .lines()
            .next()
            .unwrap()
            .contains(",verdict_vm,")
    );
    let lines =
        |day: &str| file(&format!("lisa-fig1-completion-{day}.svg")).contains("LISA, kernel");
    assert!(lines("now") && !lines("then"));
}

/// A claim whose scenario the lab does not support, and one that theory predicts, have their causes in JSON, table and page.
#[test]
fn what_does_not_run_has_its_cause() {
    let place = Place::new();
    for (figure, cause) in [
        ("css/fig1", "the lab does not support an `mss` of its own"),
        ("nmcc/fig12", "the paper's 15 topologies"),
    ] {
        let command =
            format!("reproduce {figure} --seeds 1 --no-causes --cache cache --on vm -o report");
        let Some(json) = good(place.lisa(&format!("{command} --json"))) else {
            return;
        };
        let summary = summary(&json);
        for claim in summary["claims"].as_array().unwrap() {
            assert_eq!(claim["verdict_vm"], "not-run");
            let text = claim["not_run_vm"].as_str().unwrap();
            let cause = cause.trim_start_matches("the lab does not support ");
            assert!(text.contains(cause), "{text}");
        }
        let page = fs::read_to_string(place.0.join("report/report.html")).unwrap();
        let word = cause.rsplit(' ').next().unwrap();
        assert!(page.contains(word), "{word}");
        assert!(good(place.lisa(&command)).unwrap().contains("not run:"));
    }
    assert!(stored(&place).1.is_empty());
}

#[test]
fn wrong_options_are_one_line() {
    let place = Place::new();
    for (options, part) in [
        ("--on vn", "vm"),
        ("--on host", "vm"),
        ("--full", "--on"),
        ("--kernel small.toml", "--on"),
    ] {
        let output = place.lisa(&format!("reproduce lisa/fig1 --cache cache {options}"));
        let text = complaint(&{ output }.output().unwrap(), 2);
        assert!(text.contains(part), "{text}");
    }
    let output = place.lisa("reproduce lisa/fig1 --cache cache --on vm --kernel small.toml");
    let text = complaint(&{ output }.output().unwrap(), 1);
    assert!(text.contains("small.toml: this is no bzImage"), "{text}");
    assert!(!place.0.join("cache").exists());
}
