use super::*;
use crate::metrics::choose;
use crate::{Scenario, Watch, simulate_watched};

const FILE: &str = "stop = \"9s\"\n[topology]\nkind = \"shared-bottleneck\"\nrate = \"5Mbit\"\nrtt = \"40ms\"\nqueue = 17\nnames = [\"Wi-Fi\", \"LTE\"]\n\
    [[connection]]\nname = \"download\"\nprotocol = \"mptcp\"\nalgorithm = \"lisa\"\nbytes = \"100KB\"\n\
    [[connection]]\nname = \"udp\"\nprotocol = \"udp\"\nrate = \"100kbit\"\n";

/// The rows of a run, as text.
fn rows(kind: RowKind, metrics: &[&'static Metric], identity: Identity<'_>) -> Vec<String> {
    let settings = [
        Vary::parse("bottleneck.queue=9,17").unwrap(),
        Vary::fixed("connection.1.start="),
    ];
    let columns = Columns::new(kind, &settings, metrics);
    let watch = Watch {
        sample: (kind == RowKind::Sample).then(|| netsim::Span::from_millis(100)),
        ..Watch::default()
    };
    let scenario = Scenario::parse(FILE, "a.toml").unwrap();
    let outcome = simulate_watched(&scenario, 3, watch).unwrap();
    let names: Vec<&str> = columns.all().iter().map(|c| c.name.as_str()).collect();
    let mut rows = vec![names.join(" ")];
    let add = |row: &[Value<'_>]| {
        assert_eq!(row.len(), names.len());
        let text = |value: &Value<'_>| match value {
            Value::None => "-".into(),
            Value::Integer(value) => value.to_string(),
            Value::Float(value) => format!("{value:.0}"),
            Value::Text(value) => (*value).to_owned(),
        };
        rows.push(row.iter().map(text).collect::<Vec<_>>().join(" "));
        Ok::<_, ()>(())
    };
    columns
        .rows(identity, &outcome.outcome, &outcome.samples, add)
        .unwrap();
    rows
}

const IDENTITY: Identity<'_> = Identity {
    settings: &[1, 0],
    algorithm: None,
};

#[test]
fn a_row_is_a_connection() {
    let metrics = choose(&["bytes", "links.drops", "completion_s", "retransmits"]).unwrap();
    let rows = rows(RowKind::Connection, &metrics, IDENTITY);
    let heading = "bottleneck.queue connection.1.start algorithm backend seed connection number start_s bytes completion_s \
                   retransmits note";
    assert_eq!(rows[0], heading);
    assert!(
        rows[1].starts_with("17 - lisa sim 3 download 1 0 100000 0 "),
        "{}",
        rows[1]
    );
    // UDP has no algorithm and no metric of TCP.
    assert!(rows[2].starts_with("17 -  sim 3 udp 1 0 "), "{}", rows[2]);
    assert!(rows[2].ends_with(" - - -"), "{}", rows[2]);
    assert_eq!(rows.len(), 3);
}

#[test]
fn a_row_is_a_subflow_or_a_link() {
    let named = Identity {
        algorithm: Some("css"),
        ..IDENTITY
    };
    let subflows = rows(RowKind::Subflow, &RowKind::Subflow.metrics(), named);
    assert!(subflows[0].contains(
        " seed connection number subflow path path_name established_s bytes goodput_mbps "
    ));
    assert_eq!(subflows.len(), 3);
    for (row, (number, name)) in subflows[1..].iter().zip([(1, "Wi-Fi"), (2, "LTE")]) {
        let begin = format!("17 - css sim 3 download 1 {number} {number} {name} ");
        assert!(row.starts_with(&begin), "{row}");
    }
    let links = rows(RowKind::Link, &RowKind::Link.metrics(), IDENTITY);
    let heading = "bottleneck.queue connection.1.start algorithm backend seed link packets drops losses loss_rate marks \
                   utilisation queue_max_packets queue_mean_packets";
    assert_eq!(links[0], heading);
    assert!(
        links
            .iter()
            .any(|row| row.starts_with("17 - - sim 3 bottleneck down ")),
        "{links:?}"
    );
}

/// At each time a row for each link, then one for each subflow of TCP.
#[test]
fn a_row_is_a_sample() {
    let rows = rows(RowKind::Sample, &RowKind::Sample.metrics(), IDENTITY);
    let heading = "bottleneck.queue connection.1.start algorithm backend seed time_s kind connection number subflow path_name link \
                   queue_mean_packets in_flight_packets throughput_mbps utilisation drops losses marks cwnd_segments \
                   ssthresh_segments srtt_s in_flight_segments goodput_mbps retransmits";
    assert_eq!(rows[0], heading);
    let starts = |row: &&String, begin: &str| row.starts_with(&format!("17 - {begin}"));
    assert!(starts(&&rows[1], "- sim 3 0 link - - - - "), "{}", rows[1]);
    let subflow = rows[1..].iter().find(|row| row.contains(" subflow "));
    let subflow = subflow.filter(|row| {
        starts(
            row,
            "lisa sim 3 0 subflow download 1 1 Wi-Fi - - - - - - - - ",
        )
    });
    assert!(subflow.is_some(), "{rows:?}");
}
