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
        complaint.contains(
            "-o a.toml: the file exists; choose another name, or --force to replace the file"
        ),
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
    for backend in shown["backends"].as_array().unwrap() {
        assert_eq!(backend["reasons"].as_array().unwrap().len(), 0);
    }
    // A kernel joins when it joins.
    let joins_late = "show a.toml --set connection.1.join_delay=1s --set connection.1.mss=500";
    let shown = &place.valid_json(&format!("{joins_late} --json"), "show.schema.json")[0];
    assert_eq!(shown["backends"][0]["reasons"].as_array().unwrap().len(), 0);
    let reasons = shown["backends"][2]["reasons"].to_string();
    for part in ["a `join_delay`", "an `mss`"] {
        assert!(reasons.contains(part), "{part}: {reasons}");
    }
    let text = place.good(joins_late);
    for part in [
        "bottleneck down *",
        "7: multipath 1 #1",
        "--on host, vm: cannot run",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// The busiest link of a fat tree has the subflows that its JSON has.
#[test]
fn who_shares_a_link_of_a_large_network() {
    let place = Place::new();
    place.good("new data-centre -o tree.toml");
    let shown = &place.valid_json("show tree.toml --json", "show.schema.json")[0];
    let text = place.good("show tree.toml");
    let links = shown["links"].as_array().unwrap();
    let users = |link: &&serde_json::Value| link["subflows"].as_array().unwrap().len();
    let most = links.iter().map(|link| users(&link)).max().unwrap();
    let busiest = links.iter().find(|link| users(link) == most).unwrap();
    let first = &busiest["subflows"][0];
    let row = format!(
        " {} {most}: host {} #{}, ",
        busiest["name"].as_str().unwrap(),
        first["number"],
        first["subflow"]
    );
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&text).contains(row.trim()), "{row}: {text}");
    assert!(text.contains(&format!("{} more", most - 5)), "{text}");
}

/// `rtt_spread` of 10 % changes delays by at most this share.
#[test]
fn the_factor_of_the_delays_is_shown() {
    let place = Place::new();
    let shown = &place.valid_json("show small.toml --seed 3 --json", "show.schema.json")[0];
    let factor = shown["delay_factor"].as_f64().unwrap();
    assert!((0.9..=1.1).contains(&factor) && factor != 1.0, "{factor}");
    let rtt = shown["connections"][0]["subflows"][0]["rtt_s"].as_f64();
    assert!((rtt.unwrap() / 0.04 - factor).abs() < 1e-6);
    let text = place.good("show small.toml --seed 3");
    let line = format!("seed 3, which multiplies all delays by {factor:.3}");
    assert!(text.contains(&line), "{text}");
    let picture = format!("seed 3, all delays × {factor:.3}");
    let drawn = place.picture("show small.toml --seed 3");
    assert!(drawn.texts.iter().any(|(text, _)| text.ends_with(&picture)));
    assert!(
        !place
            .good("show small.toml --set rtt_spread=")
            .contains("multiplies")
    );
}

#[test]
fn a_dash_is_standard_input() {
    let place = Place::new();
    for command in ["show", "theory"] {
        let mut lisa = place.lisa(&format!("{command} -"));
        lisa.stdin(std::fs::File::open(place.0.join("small.toml")).unwrap());
        let output = lisa.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text, place.good(&format!("{command} small.toml")));
    }
}
