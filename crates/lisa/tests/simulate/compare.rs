//! `lisa compare`.

use super::Place;
use serde_json::Value;

/// The mean of a metric of the first connection over outcomes.
fn mean(outcomes: &[Value], metric: &str) -> f64 {
    let value = |outcome: &Value| outcome["connections"][0][metric].as_f64().unwrap();
    outcomes.iter().map(value).sum::<f64>() / outcomes.len() as f64
}

#[test]
fn a_comparison_is_that_of_the_runs() {
    let place = Place::new();
    let compare = "compare small.toml -a lia,lisa --seeds 6 --json";
    let lines = place.valid_json(compare, "compare.schema.json");
    assert_eq!(lines.len(), 2);
    let runs = |algorithm: &str| {
        let set = format!("--set connection.download.algorithm={algorithm}");
        place.json(&format!("run small.toml --seeds 6 --json {set}"))
    };
    let [lia, lisa] = ["lia", "lisa"].map(runs);
    for (line, (name, runs)) in lines.iter().zip([("lia", &lia), ("lisa", &lisa)]) {
        assert_eq!(line["algorithm"], name);
        assert_eq!(line["n"], 6);
        assert_eq!(line["connections"][1]["name"], "competitor");
        for metric in [
            "completion_s",
            "goodput_mbps",
            "retransmits",
            "sum_cwnd_at_end_segments",
        ] {
            let told = &line["connections"][0][metric];
            assert!((told["mean"].as_f64().unwrap() - mean(runs, metric)).abs() < 1e-9);
            assert!(told["ci95"].as_f64().unwrap() >= 0.0);
        }
    }
    let difference = &lines[1]["connections"][0]["completion_s"]["difference"];
    let expected = mean(&lisa, "completion_s") - mean(&lia, "completion_s");
    assert!((difference["mean"].as_f64().unwrap() - expected).abs() < 1e-9);
    assert_eq!(
        lines[0]["connections"][0]["completion_s"]["difference"],
        Value::Null
    );
    // One run has no interval.
    let alone = "compare small.toml -a lisa --seeds 1 --json";
    let alone = place.valid_json(alone, "compare.schema.json");
    assert_eq!(
        alone[0]["connections"][0]["completion_s"]["ci95"],
        Value::Null
    );
}

/// Expected values from the goodputs of the runs, by the definitions.
#[test]
fn shares_and_the_index_are_of_all_connections_of_a_run() {
    let place = Place::new();
    let runs = place.json("run small.toml --seeds 4 --json");
    let of = |outcome: &Value| -> (f64, f64) {
        let goodputs: Vec<f64> = (outcome["connections"].as_array().unwrap().iter())
            .map(|connection| connection["goodput_mbps"].as_f64().unwrap())
            .collect();
        let [a, b] = goodputs[..] else { panic!() };
        (a / (a + b), (a + b) * (a + b) / (2.0 * (a * a + b * b)))
    };
    let fairness: Vec<(f64, f64)> = runs.iter().map(of).collect();
    let share = fairness.iter().map(|f| f.0).sum::<f64>() / 4.0;
    let index = fairness.iter().map(|f| f.1).sum::<f64>() / 4.0;
    let compare = "compare small.toml -a lisa,lia --seeds 4";
    let lines = place.valid_json(&format!("{compare} --json"), "compare.schema.json");
    let mean = |value: &Value| value["mean"].as_f64().unwrap();
    let connections = &lines[0]["connections"];
    assert!((mean(&connections[0]["share"]) - share).abs() < 1e-12);
    assert!((mean(&connections[1]["share"]) - (1.0 - share)).abs() < 1e-12);
    assert!((mean(&lines[0]["jain_index"]) - index).abs() < 1e-12);
    let more = mean(&lines[1]["jain_index"]) - index;
    assert!((mean(&lines[1]["jain_index"]["difference"]) - more).abs() < 1e-12);
    // The index is in a table of its own, a share in the table of each connection.
    let text = place.good(compare);
    assert_eq!(text.matches("Jain's index").count(), 1, "{text}");
    assert_eq!(text.matches("share of goodput").count(), 2, "{text}");
    assert!(text.contains(&format!("{index:.4} ± ")), "{index}: {text}");
    // The row of a connection has the share of the connection and the index of the run.
    let sweep = "sweep small.toml --vary bottleneck.queue=17 --seeds 4";
    let rows = place.valid_json(&format!("{sweep} --json"), "sweep.schema.json");
    for (row, (share, index)) in rows.iter().step_by(2).zip(&fairness) {
        assert!((row["share"].as_f64().unwrap() - share).abs() < 1e-12);
        assert!((row["jain_index"].as_f64().unwrap() - index).abs() < 1e-12);
    }
    let table = place.good(sweep);
    assert_eq!(table.matches("all connections").count(), 1, "{table}");
    // A single connection has no share, and an unfinished transfer neither.
    let file = std::fs::read_to_string(place.0.join("small.toml")).unwrap();
    let alone = file.split("[[connection]]\nname = \"competitor\"").next();
    std::fs::write(place.0.join("alone.toml"), alone.unwrap()).unwrap();
    for arguments in ["alone.toml", "small.toml --set connection.1.bytes=1GB"] {
        let compare = format!("compare -a lisa --seeds 2 {arguments}");
        let lines = place.valid_json(&format!("{compare} --json"), "compare.schema.json");
        assert_eq!(lines[0]["jain_index"], Value::Null);
        assert_eq!(lines[0]["connections"][0]["share"], Value::Null);
        let text = place.good(&compare);
        assert!(!text.contains("Jain") && !text.contains("share"), "{text}");
    }
}

/// Metrics of connections, subflows, links and the run; the means equal those of the outcomes.
#[test]
fn metrics_can_be_chosen() {
    let place = Place::new();
    let runs = place.json("run small.toml --seeds 3 --json");
    let mean_of = |pointer: &str| {
        let values = runs
            .iter()
            .map(|run| run.pointer(pointer).unwrap().as_f64().unwrap());
        values.sum::<f64>() / 3.0
    };
    let metrics =
        "--metrics links.queue_mean_packets,subflows.cwnd_at_end_segments,bytes,jain_index";
    let compare = format!("compare small.toml -a lisa,lia --seeds 3 {metrics}");
    let lines = place.valid_json(&format!("{compare} --json"), "compare.schema.json");
    for (compared, outcome) in [
        ("/connections/0/bytes", "/connections/0/bytes"),
        (
            "/connections/0/subflows/1/cwnd_at_end_segments",
            "/connections/0/subflows/1/cwnd_at_end_segments",
        ),
        (
            "/connections/1/subflows/0/cwnd_at_end_segments",
            "/connections/1/subflows/0/cwnd_at_end_segments",
        ),
        ("/links/0/queue_mean_packets", "/links/0/queue_mean_packets"),
    ] {
        let mean = lines[0].pointer(compared).unwrap()["mean"]
            .as_f64()
            .unwrap();
        assert!((mean - mean_of(outcome)).abs() < 1e-9, "{compared}");
        assert!(lines[1].pointer(compared).unwrap()["difference"].is_object());
    }
    let link = runs[0]["links"][0]["name"].as_str().unwrap();
    assert_eq!(lines[0]["links"][0]["name"], link);
    let keys =
        |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    assert_eq!(
        keys(&lines[0]["connections"][0]),
        ["all", "bytes", "count", "name", "subflows"]
    );
    assert_eq!(keys(&lines[0]["links"][0]), ["name", "queue_mean_packets"]);
    assert!(lines[0]["jain_index"].is_object());
    let text = place.good(&compare);
    for words in [
        "subflow 2: cwnd at end [segments]",
        "delivered [bytes]",
        "Jain's index",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(
        text.contains(&format!("{link}: queue, mean [packets]")),
        "{text}"
    );
    assert!(!text.contains("goodput"), "{text}");
    let sweep = format!("sweep small.toml --vary bottleneck.queue=17 --seeds 3 {metrics}");
    let table = place.good(&sweep);
    for words in ["download, subflow 2", link, "all connections"] {
        assert!(table.contains(words), "{words}: {table}");
    }
}

/// A fat tree has many links, of which tables show ten.
#[test]
fn tables_of_many_links_are_cut() {
    let place = Place::new();
    let tree = "stop = '200ms'\n[topology]\nkind = 'fat-tree'\nk = 4\nrate = '10Mbit'\ndelay = '1ms'\nqueue = 20\n\
                [[connection]]\nprotocol = 'tcp'\npattern = 'permutation'\n";
    std::fs::write(place.0.join("tree.toml"), tree).unwrap();
    let note = "The 10 links with the highest links.utilisation are shown; 86 links are left out: --json prints all.";
    let metrics = "--seeds 1 --metrics links.utilisation,links.drops";
    let text = place.good(&format!("compare tree.toml -a reno,cubic {metrics}"));
    assert!(text.contains(note), "{text}");
    assert_eq!(text.matches(": utilisation").count(), 10, "{text}");
    let sweep = format!("sweep tree.toml --vary topology.queue=10,20 {metrics}");
    let text = place.good(&sweep);
    assert_eq!(text.matches(note).count(), 1, "{text}");
    assert_eq!(text.lines().count(), 2 + 5 + 2 * 10 + 2, "{text}");
    let text = place.good("run tree.toml");
    assert!(text.contains(&note.replace("links.util", "util")), "{text}");
}

/// UDP has no windows, and an unfinished transfer no completion.
#[test]
fn missing_values_are_null() {
    let place = Place::new();
    let udp = "--set connection.2={protocol=\"udp\",rate=\"1Mbit\"} --set stop=300ms";
    let compare = format!("compare small.toml -a lisa,lia --seeds 2 --json {udp}");
    for line in place.valid_json(&compare, "compare.schema.json") {
        assert_eq!(line["connections"][0]["completion_s"], Value::Null);
        assert_eq!(line["connections"][1]["retransmits"], Value::Null);
    }
    let sweep = format!("sweep small.toml --vary stop=200ms,300ms --json {udp}");
    for line in place.valid_json(&sweep, "sweep.schema.json") {
        assert_eq!(line["completion_s"], Value::Null);
        assert_eq!(line["note"].is_null(), line["connection"] != "download");
    }
}

#[test]
fn a_comparison_is_a_table_and_a_figure() {
    let place = Place::new();
    place.good("compare small.toml -a lisa,lia --seeds 3 --plot out.svg");
    // With one subflow there is nothing to link.
    let text =
        place.good("compare small.toml -a lisa,lia --set connection.download.subflows=1 --seeds 3");
    assert!(text.contains("the same in each run"), "{text}");
    let svg = String::from_utf8(place.read("out.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    for words in ["A small bottleneck", "lia", "completion [s]", "±"] {
        assert!(svg.contains(words), "{words}");
    }
    // A TCP connection keeps its algorithm unless --connection names it.
    let of = |more: &str| {
        place.json(&format!(
            "compare small.toml -a lia --seeds 2 --json {more}"
        ))
    };
    assert_ne!(of(""), of("--connection competitor"));
    let competitor = "--set connection.competitor.algorithm=lia";
    let by_hand = place.json(&format!("run small.toml --seeds 2 --json {competitor}"));
    let told = of("--connection competitor")[0]["connections"][0]["completion_s"]["mean"].clone();
    assert!((told.as_f64().unwrap() - mean(&by_hand, "completion_s")).abs() < 1e-9);
}

#[test]
fn a_failed_comparison_leaves_no_file() {
    let place = Place::new();
    // The simulator fails in the run: a petabit waits for a link of 1 bit/s.
    let fails = "compare small.toml -a lisa --set bottleneck.rate=1bit --set bottleneck.queue=100000000 --plot";
    place.bad(&format!("{fails} new.svg"), 1);
    assert!(!place.0.join("new.svg").exists());
    std::fs::write(place.0.join("old.svg"), "old").unwrap();
    place.bad(&format!("{fails} old.svg --force"), 1);
    assert_eq!(place.read("old.svg"), b"old");
}
