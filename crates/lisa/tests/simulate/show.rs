//! `lisa show` and `lisa new`.

use super::{Place, complaint};

const PRESETS: [&str; 5] = [
    "shared-bottleneck",
    "wifi-lte",
    "home-two-lines",
    "fairness",
    "data-centre",
];

#[test]
fn presets_run_without_warnings() {
    let place = Place::new();
    for preset in PRESETS {
        place.good(&format!("new {preset} -o {preset}.toml"));
        let show = format!("show {preset}.toml --json");
        place.valid_json(&show, "show.schema.json");
        let output = (place.lisa(&format!("run {preset}.toml --json")))
            .output()
            .unwrap();
        // A progress bar is only for terminals.
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.success() && errors.is_empty(),
            "{preset}: {errors}"
        );
        assert!(
            place
                .good(&format!("show {preset}.toml"))
                .contains("--on sim")
        );
    }
}

#[test]
fn a_file_is_replaced_with_force_only() {
    let place = Place::new();
    place.good("new fairness -o a.toml");
    let before = place.read("a.toml");
    let output = place.lisa("new wifi-lte -o a.toml").output().unwrap();
    let complaint = complaint(&output, 1);
    assert!(
        complaint.contains("-o a.toml: the file exists; --force replaces it"),
        "{complaint}"
    );
    assert_eq!(place.read("a.toml"), before);
    place.good("new wifi-lte -o a.toml --force");
    assert_eq!(
        place.read("a.toml"),
        place.good("new wifi-lte").into_bytes()
    );
}

#[test]
fn who_shares_a_link() {
    let place = Place::new();
    place.good("new fairness -o a.toml");
    let shown = &place.valid_json("show a.toml --json", "show.schema.json")[0];
    let links = shown["links"].as_array().unwrap();
    let shared = links.iter().find(|link| link["is_bottleneck"] == true);
    // Two connections with two subflows, three with one.
    let subflows = shared.unwrap()["subflows"].as_array().unwrap();
    assert_eq!(subflows.len(), 2 * 2 + 3);
    assert_eq!(shown["backends"][0]["reasons"].as_array().unwrap().len(), 0);
    let reasons = shown["backends"][2]["reasons"].to_string();
    for part in ["several connections of one name", "`start`"] {
        assert!(reasons.contains(part), "{part}: {reasons}");
    }
    let text = place.good("show a.toml");
    for part in [
        "bottleneck down *",
        "7: multipath 1 #1",
        "--on host, vm: cannot run",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
