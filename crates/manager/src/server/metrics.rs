//! Metrics for Prometheus.

use std::fmt;
use std::sync::atomic::AtomicU64;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::api;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(crate) struct Answer {
    pub(crate) status: u16,
}

/// Counters of the server.
#[derive(Debug)]
pub(crate) struct Metrics {
    pub(crate) answers: Family<Answer, Counter>,
    pub(crate) durations: Histogram,
    pub(crate) refused: Counter<u64, AtomicU64>,
}

impl Default for Metrics {
    fn default() -> Self {
        let bounds = [
            0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0,
        ];
        Self {
            answers: Family::default(),
            durations: Histogram::new(bounds),
            refused: Counter::default(),
        }
    }
}

/// The numbers of the contents.
#[derive(Debug)]
struct Contents {
    totals: api::Totals,
    streams: usize,
}

impl Collector for Contents {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let totals = &self.totals;
        for (name, help, value) in [
            ("endpoints", "Endpoints with a token", totals.endpoints),
            ("connections", "Reported connections", totals.connections),
            ("subflows", "Reported subflows", totals.subflows),
            (
                "connections_separated",
                "Connections with more than one group",
                totals.separated,
            ),
            (
                "connections_unknown",
                "Connections that are coupled because a path or a rate is unknown",
                totals.unknown,
            ),
            ("streams", "Open streams of events", self.streams),
        ] {
            let gauge = ConstGauge::new(value as i64);
            let name = format!("lisa_manager_{name}");
            let metric = encoder.encode_descriptor(&name, help, None, gauge.metric_type())?;
            gauge.encode(metric)?;
        }
        Ok(())
    }
}

impl Metrics {
    /// All metrics as OpenMetrics 1.0.
    pub(crate) fn text(&self, totals: api::Totals, streams: usize) -> String {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Contents { totals, streams }));
        let answers = self.answers.clone();
        registry.register(
            "lisa_manager_requests",
            "Answered requests, by status",
            answers,
        );
        let durations = self.durations.clone();
        registry.register_with_unit(
            "lisa_manager_request_duration",
            "Time from the header of a request to the header of its answer",
            Unit::Seconds,
            durations,
        );
        let refused = self.refused.clone();
        registry.register(
            "lisa_manager_connections_refused",
            "Connections that were closed at once because there were too many",
            refused,
        );
        let mut text = String::new();
        text::encode(&mut text, &registry).expect("a text takes all");
        text
    }
}
