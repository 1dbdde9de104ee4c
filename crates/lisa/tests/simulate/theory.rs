//! `lisa theory`.

use std::fs;

use serde_json::Value;

use crate::{Place, SCENARIO};

fn scenario(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/lia-olia");
    format!("{folder}/scenario-{name}.toml")
}

/// Mean rate of the connections of a name, Mbit/s.
fn rate(found: &Value, prediction: &str, connection: &str) -> f64 {
    let all = found["predictions"].as_array().unwrap();
    let one = all.iter().find(|one| one["name"] == prediction).unwrap();
    one["connections"][connection]["mean_mbps"]
        .as_f64()
        .unwrap()
}

/// draft-khalili-mptcp-performance-issues-04: type 2 of scenario A gets 0.74 with LIA. Without probing all users of B get 63/30; with
/// 1500 bytes in each of 150 ms on the second path of Red, through both bottlenecks, (63 − 15 · 0.08)/30.
#[test]
fn scenarios_of_the_draft() {
    let place = Place::new();
    let json = |name: &str| {
        let theory = format!("theory {} --queueing 70ms --json", scenario(name));
        place.valid_json(&theory, "theory.schema.json").remove(0)
    };
    let a = json("a");
    assert!((rate(&a, "lia", "type 2") - 0.74).abs() < 0.01, "{a}");
    let b = json("b");
    for name in ["red", "blue"] {
        assert!((rate(&b, "fair", name) - 2.1).abs() < 1e-3, "{b}");
        assert!((rate(&b, "fair-probing", name) - 2.06).abs() < 1e-3, "{b}");
    }
}

#[test]
fn a_table_has_each_connection_and_each_lossy_link() {
    let place = Place::new();
    let text = place.good(&format!("theory {} --queueing 70ms", scenario("c")));
    for word in [
        "multipath",
        "single-path",
        "AP1 down",
        "AP2 down",
        "fair, probing",
        "nmcc",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn udp_has_no_congestion_control() {
    let place = Place::new();
    let udp = "[[connection]]\nname = \"noise\"\nprotocol = \"udp\"\nrate = \"1Mbit\"\n";
    fs::write(place.0.join("udp.toml"), SCENARIO.to_owned() + udp).unwrap();
    let line = place.bad("theory udp.toml", 1);
    assert!(line.contains("udp.toml: `noise` is UDP"), "{line}");
}
