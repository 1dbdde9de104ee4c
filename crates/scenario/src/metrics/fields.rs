//! The other numbers of an outcome, under the names of its schema: those of a connection that are not in
//! [`METRICS`](super::METRICS), and those of subflows and links. `tests/schema.rs` compares them with the schema.

use super::Value::{Connection, Link, Subflow};
use super::{Metric, Value};

#[rustfmt::skip]
pub(super) static FIELDS: [Metric; 41] = [
    count("receive_window_bytes", "receive window", "bytes", Connection(|c| c.receive_window_bytes.map(|n| n as f64))),
    count("send_buffer_bytes", "send buffer", "bytes", Connection(|c| c.send_buffer_bytes.map(|n| n as f64))),
    measure("start_s", "start", "s", 3, Connection(|c| Some(c.start_s))),
    count("bytes", "delivered", "bytes", Connection(|c| Some(c.bytes as f64))),
    measure("slowdown", "slowdown", "", 3, Connection(|c| c.slowdown)),
    count("credits_taken", "credits taken", "", Connection(|c| Some(c.credits_taken.into()))),
    count("credits_paid", "credits paid", "", Connection(|c| Some(c.credits_paid.into()))),
    count("credits_void", "credits void", "", Connection(|c| Some(c.credits_void.into()))),
    measure("limited_congestion_window", "limited by congestion window", "", 3, Connection(|c| c.limited.limited_congestion_window)),
    measure("limited_receive_window", "limited by receive window", "", 3, Connection(|c| c.limited.limited_receive_window)),
    measure("limited_send_buffer", "limited by send buffer", "", 3, Connection(|c| c.limited.limited_send_buffer)),
    measure("limited_scheduler", "limited by scheduler", "", 3, Connection(|c| c.limited.limited_scheduler)),
    measure("limited_application", "limited by application", "", 3, Connection(|c| c.limited.limited_application)),

    count("subflows.path", "path", "", Subflow(|s| Some(s.path as f64))),
    measure("subflows.established_s", "joined", "s", 3, Subflow(|s| Some(s.established_s))),
    count("subflows.bytes", "delivered", "bytes", Subflow(|s| s.bytes.map(|n| n as f64))),
    measure("subflows.goodput_mbps", "goodput", "Mbit/s", 3, Subflow(|s| s.goodput_mbps)),
    count("subflows.retransmits", "retransmits", "segments", Subflow(|s| Some(s.retransmits as f64))),
    count("subflows.retransmits_slow_start", "R_ss", "segments", Subflow(|s| Some(s.retransmits_slow_start as f64))),
    count("subflows.credits_taken", "credits taken", "", Subflow(|s| Some(s.credits_taken.into()))),
    count("subflows.credits_paid", "credits paid", "", Subflow(|s| Some(s.credits_paid.into()))),
    count("subflows.credits_void", "credits void", "", Subflow(|s| Some(s.credits_void.into()))),
    measure("subflows.slow_start_exit_s", "slow start until", "s", 3, Subflow(|s| s.slow_start_exit_s)),
    count("subflows.cwnd_at_slow_start_exit_segments", "cwnd at exit", "segments", Subflow(|s| s.cwnd_at_slow_start_exit_segments.map(f64::from))),
    count("subflows.cwnd_at_end_segments", "cwnd at end", "segments", Subflow(|s| Some(s.cwnd_at_end_segments.into()))),
    measure("subflows.srtt_s", "srtt", "s", 4, Subflow(|s| Some(s.srtt_s))),
    count("subflows.losses", "window reductions", "", Subflow(|s| Some(s.losses.into()))),
    measure("subflows.first_loss_s", "first reduction", "s", 3, Subflow(|s| s.first_loss_s)),
    measure("subflows.limited_congestion_window", "limited by congestion window", "", 3, Subflow(|s| s.limited.limited_congestion_window)),
    measure("subflows.limited_receive_window", "limited by receive window", "", 3, Subflow(|s| s.limited.limited_receive_window)),
    measure("subflows.limited_send_buffer", "limited by send buffer", "", 3, Subflow(|s| s.limited.limited_send_buffer)),
    measure("subflows.limited_scheduler", "limited by scheduler", "", 3, Subflow(|s| s.limited.limited_scheduler)),
    measure("subflows.limited_application", "limited by application", "", 3, Subflow(|s| s.limited.limited_application)),

    count("links.packets", "arrived", "packets", Link(|l| Some(l.packets as f64))),
    count("links.drops", "drops", "packets", Link(|l| Some(l.drops as f64))),
    count("links.losses", "losses", "packets", Link(|l| Some(l.losses as f64))),
    measure("links.loss_rate", "loss rate", "", 4, Link(|l| l.loss_rate)),
    count("links.marks", "marks", "packets", Link(|l| Some(l.marks as f64))),
    measure("links.utilisation", "utilisation", "", 3, Link(|l| l.utilisation)),
    count("links.queue_max_packets", "queue, most", "packets", Link(|l| Some(l.queue_max_packets as f64))),
    measure("links.queue_mean_packets", "queue, mean", "packets", 2, Link(|l| Some(l.queue_mean_packets))),
];

/// A metric that is a whole number in a single run.
const fn count(key: &'static str, title: &'static str, unit: &'static str, value: Value) -> Metric {
    Metric {
        key,
        title,
        unit,
        decimals: 1,
        whole: true,
        value,
    }
}

const fn measure(
    key: &'static str,
    title: &'static str,
    unit: &'static str,
    decimals: usize,
    value: Value,
) -> Metric {
    Metric {
        key,
        title,
        unit,
        decimals,
        whole: false,
        value,
    }
}
