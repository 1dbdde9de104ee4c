//! The columns of time series: names, metrics, and those that are drawn without a choice.

use crate::figure::results::Measured;

/// Columns that name a link or a subflow.
pub const NAMES: [&str; 5] = ["connection", "number", "subflow", "path_name", "link"];

/// Column of Jain's index of the connections ([`super::Connections`]).
pub const FAIRNESS: &str = "jain_index";

/// Columns that are drawn without `--metric`, as far as a file has them.
pub const STANDARD: [&str; 5] = [
    "throughput_mbps",
    "goodput_mbps",
    "queue_mean_packets",
    "cwnd_segments",
    "srtt_s",
];

/// Titles and units of the columns that outcomes do not have.
const TITLES: [(&str, &str, &str); 12] = [
    (FAIRNESS, "Jain's fairness index", ""),
    ("throughput_mbps", "throughput", "Mbit/s"),
    ("in_flight_packets", "in flight", "packets"),
    ("in_flight_segments", "in flight", "segments"),
    ("cwnd_segments", "cwnd", "segments"),
    ("ssthresh_segments", "ssthresh", "segments"),
    ("srtt_s", "smoothed RTT", "s"),
    ("sum_cwnd_segments", "Σcwnd", "segments"),
    ("retransmitted_segments", "retransmissions", ""),
    ("acknowledged_kb", "acknowledged", "KB"),
    ("rate_mbps", "rate", "Mbit/s"),
    ("subflow_rate_mbps", "rate of a subflow", "Mbit/s"),
];

/// Whether a table with these columns has time series.
pub fn are(columns: &[&str]) -> bool {
    let has = |name: &str| columns.contains(&name);
    has("time_s") && (has("link") || has("subflow") && !has("phase"))
}

/// Names of the columns of numbers that can be drawn: none of the keys of settings, which stand before `algorithm`.
pub fn metrics<'a>(columns: &[&'a str]) -> Vec<&'a str> {
    let settings = columns.iter().position(|name| *name == "algorithm");
    let columns = &columns[settings.unwrap_or(0)..];
    const OTHER: [&str; 8] = [
        "kind",
        "time_s",
        "algorithm",
        "backend",
        "seed",
        "path",
        "note",
        "interval_s",
    ];
    let identity = |name: &&&str| NAMES.contains(name) || OTHER.contains(name);
    columns
        .iter()
        .filter(|name| !identity(name))
        .copied()
        .collect()
}

pub fn measured(field: &str) -> Measured {
    match TITLES.iter().find(|(name, ..)| *name == field) {
        Some((_, title, unit)) => Measured {
            title: (*title).into(),
            unit: (*unit).into(),
            ..Measured::of(field)
        },
        None => Measured::of(field),
    }
}
