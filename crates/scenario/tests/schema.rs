//! The published schema of an outcome: equal to the schema of the types, and valid for outcomes.
//!
//! `UPDATE_SCHEMA=1 cargo test -p lisa-scenario --test schema` writes the file after a change of the types. A change that
//! affects readers of older outcomes raises `lisa_scenario::outcome::SCHEMA`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use lisa_scenario::Protocol;
use lisa_scenario::limited::Limited;
use lisa_scenario::metrics::{self, Value};
use lisa_scenario::outcome::{
    Backend, ConnectionOutcome, LinkOutcome, Outcome, SCHEMA, SubflowOutcome,
};
use lisa_scenario::{Transfers, Warning, WarningKind};

#[path = "support/json_schema.rs"]
mod json_schema;

fn schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(Outcome).to_value();
    schema["$id"] = SCHEMA.into();
    schema
}

#[test]
fn the_published_schema_is_that_of_the_types() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/outcome.schema.json");
    let text = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        fs::write(&file, &text).unwrap();
    }
    let published = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        published == text,
        "docs/outcome.schema.json differs from the schema of the types: UPDATE_SCHEMA=1 writes it"
    );
}

fn outcome() -> Outcome {
    let subflow = SubflowOutcome {
        subflow: 1,
        path: 2,
        bytes: Some(150_000),
        slow_start_exit_s: Some(0.5),
        ..SubflowOutcome::default()
    };
    let connection = ConnectionOutcome {
        name: "download".into(),
        number: 1,
        protocol: Protocol::Mptcp,
        algorithm: "lisa".into(),
        receive_window_bytes: Some(4 << 20),
        send_buffer_bytes: Some(1 << 20),
        start_s: 2.5,
        completion_s: None,
        requests_s: vec![0.25],
        bytes: 150_000,
        goodput_mbps: None,
        note: Some("did not finish".into()),
        retransmits: 3,
        retransmits_slow_start: 1,
        credits_taken: 11,
        credits_paid: 12,
        credits_void: 13,
        slowdown: Some(1.75),
        sum_cwnd_at_slow_start_exit_segments: Some(20),
        sum_cwnd_at_end_segments: 17,
        limited: Limited::default(),
        subflows: vec![subflow, SubflowOutcome::default()],
    };
    let link = LinkOutcome {
        name: "bottleneck down".into(),
        packets: 300,
        drops: 3,
        losses: 0,
        loss_rate: Some(0.01),
        marks: 0,
        utilisation: Some(0.5),
        queue_max_packets: 17,
        queue_mean_packets: 3.5,
    };
    Outcome {
        schema: SCHEMA,
        scenario: "a".into(),
        seed: u64::MAX,
        backend: Backend::Sim,
        connections: vec![connection],
        transfers: vec![Transfers {
            name: "download".into(),
            count: 1,
            unfinished: 1,
            completion_p50_s: None,
            completion_p90_s: None,
            completion_p99_s: None,
        }],
        links: vec![
            link.clone(),
            LinkOutcome {
                utilisation: None,
                ..link
            },
        ],
        events: 1000,
        packet_hops: 500,
        sim_seconds: 30.0,
        wall_seconds: Some(0.25),
        lateness_s: 0.0,
        spoiled_packets: 0,
        warnings: vec![Warning {
            kind: WarningKind::UnusedPaths,
            connection: None,
            text: "a".into(),
        }],
    }
}

/// Shares in the order of the fields.
fn limited(shares: [f64; 5]) -> Limited {
    let [
        congestion_window,
        receive_window,
        send_buffer,
        scheduler,
        application,
    ] = shares.map(Some);
    Limited {
        limited_congestion_window: congestion_window,
        limited_receive_window: receive_window,
        limited_send_buffer: send_buffer,
        limited_scheduler: scheduler,
        limited_application: application,
    }
}

#[test]
fn an_outcome_is_valid_by_the_schema() {
    let schema = schema();
    let value = serde_json::to_value(outcome()).unwrap();
    json_schema::validate(&value, &schema).unwrap();
    for (pointer, wrong) in [
        ("/seed", "x".into()),
        ("/connections/0/protocol", "sctp".into()),
        ("/links/0/drops", serde_json::Value::Null),
    ] {
        let mut value = value.clone();
        *value.pointer_mut(pointer).unwrap() = wrong;
        assert!(json_schema::validate(&value, &schema).is_err(), "{pointer}");
    }
}

/// The keys of version 6, which readers of the JSON depend on.
#[test]
fn an_outcome_has_all_keys_of_its_version() {
    let value = serde_json::to_value(outcome()).unwrap();
    let has = |value: &serde_json::Value, keys: &str| {
        for key in keys.split(", ") {
            assert!(value.get(key).is_some(), "no {key}");
        }
    };
    has(
        &value,
        "schema, scenario, seed, backend, connections, transfers, links, events, packet_hops, sim_seconds, wall_seconds, warnings",
    );
    let connection = &value["connections"][0];
    has(
        connection,
        "name, completion_s, goodput_mbps, retransmits, retransmits_slow_start",
    );
    has(
        connection,
        "sum_cwnd_at_slow_start_exit_segments, sum_cwnd_at_end_segments, subflows, start_s, bytes, note, slowdown",
    );
    let subflow = &connection["subflows"][0];
    has(
        subflow,
        "subflow, path, goodput_mbps, bytes, retransmits, retransmits_slow_start, cwnd_at_slow_start_exit_segments, cwnd_at_end_segments",
    );
    has(subflow, "srtt_s, losses, first_loss_s");
    has(connection, "credits_taken, credits_paid, credits_void");
    has(subflow, "credits_taken, credits_paid, credits_void");
    has(
        &value["transfers"][0],
        "name, count, unfinished, completion_p50_s, completion_p90_s, completion_p99_s",
    );
    has(
        &value["links"][0],
        "name, packets, drops, losses, loss_rate, marks, utilisation, queue_max_packets, queue_mean_packets",
    );
}

/// Every number of a connection, a subflow and a link is a metric, except for the numbers that identify them.
#[test]
fn every_number_is_a_metric() {
    let schema = schema();
    let mut numbers = BTreeSet::new();
    for (of, prefix) in [
        ("ConnectionOutcome", ""),
        ("SubflowOutcome", "subflows."),
        ("LinkOutcome", "links."),
    ] {
        let fields = &schema["$defs"][of]["properties"];
        for (field, property) in fields.as_object().unwrap() {
            let kinds = property["type"].to_string();
            if kinds.contains("\"integer\"") || kinds.contains("\"number\"") {
                numbers.insert(format!("{prefix}{field}"));
            }
        }
    }
    for identity in ["number", "subflows.subflow"] {
        assert!(numbers.remove(identity), "{identity}");
    }
    let of_several = [
        "share",
        "jain_index",
        "completion_p50_s",
        "completion_p90_s",
        "completion_p99_s",
    ];
    let metrics = metrics::all().map(|metric| metric.key.to_owned());
    let metrics: BTreeSet<_> = metrics
        .filter(|key| !of_several.contains(&&key[..]))
        .collect();
    assert_eq!(metrics, numbers);
    assert_eq!(metrics::all().count(), numbers.len() + of_several.len());
    // All fields have different values: each metric reads its own field.
    let mut outcome = outcome();
    outcome.connections[0].completion_s = Some(9.5);
    outcome.connections[0].goodput_mbps = Some(1.25);
    outcome.connections[0].subflows[0] = SubflowOutcome {
        subflow: 1,
        path: 2,
        path_name: Some("LTE".into()),
        backup: false,
        established_s: 0.1,
        bytes: Some(100_000),
        goodput_mbps: Some(0.75),
        retransmits: 5,
        retransmits_slow_start: 3,
        credits_taken: 6,
        credits_paid: 7,
        credits_void: 8,
        slow_start_exit_s: Some(0.5),
        cwnd_at_slow_start_exit_segments: Some(20),
        cwnd_at_end_segments: 17,
        srtt_s: 0.07,
        losses: 4,
        first_loss_s: Some(0.4),
        limited: limited([0.31, 0.32, 0.33, 0.03, 0.01]),
    };
    outcome.connections[0].limited = limited([0.21, 0.22, 0.23, 0.24, 0.1]);
    outcome.links[0].losses = 2;
    outcome.links[0].marks = 1;
    let goodputs = None;
    for metric in metrics::all() {
        let connection = &outcome.connections[0];
        let subflow = &connection.subflows[0];
        let link = &outcome.links[0];
        let (value, json) = match metric.value {
            Value::Connection(_) => {
                let json = serde_json::to_value(connection).unwrap();
                (metric.of_connection(connection, goodputs), json)
            }
            Value::Subflow(_) => {
                let json = serde_json::to_value(subflow).unwrap();
                (metric.of_subflow(subflow), json)
            }
            Value::Link(_) => (metric.of_link(link), serde_json::to_value(link).unwrap()),
            Value::Share(_) | Value::Run(_) | Value::Completion(_) => continue,
        };
        assert_eq!(value, json[metric.field()].as_f64(), "{}", metric.key);
    }
}
