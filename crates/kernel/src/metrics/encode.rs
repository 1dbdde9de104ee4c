//! The metrics as text.

use super::{Algorithm, Present};
use crate::contract::{LISA_CONTRACT, LISA_DEFAULTS, LISA_NAMESPACES};
use crate::totals::Totals;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
use std::fmt;

/// A text format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// Prometheus' own format, version 0.0.4, which node_exporter and `promtool` read.
    Prometheus,
}

impl Format {
    /// The media type for HTTP.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

/// A counter of each network namespace.
struct Counter {
    name: &'static str,
    help: &'static str,
    /// A label of its own: its name and value.
    label: Option<(&'static str, &'static str)>,
    value: fn(&Totals) -> u64,
}

const fn counter(name: &'static str, help: &'static str, value: fn(&Totals) -> u64) -> Counter {
    Counter {
        name,
        help,
        label: None,
        value,
    }
}

/// One of the counters of uncoupled subflows.
const fn uncoupled(bound: &'static str, value: fn(&Totals) -> u64) -> Counter {
    Counter {
        name: "lisa_subflows_uncoupled",
        help: "Subflows that run uncoupled for lack of room, by the bound: of all connections, of a user's, of a connection's subflows",
        label: Some(("bound", bound)),
        value,
    }
}

/// Counters of one name follow each other.
const COUNTERS: [Counter; 21] = [
    counter(
        "lisa_connections_opened",
        "Coupled MPTCP connections",
        |t| t.connections_opened,
    ),
    counter(
        "lisa_connections_closed",
        "Coupled MPTCP connections whose last subflow has closed",
        |t| t.connections_closed,
    ),
    counter(
        "lisa_connections_swept",
        "Closed connections whose entry had no socket any more",
        |t| t.connections_swept,
    ),
    counter(
        "lisa_subflows_opened",
        "Subflows of MPTCP connections",
        |t| t.subflows_opened,
    ),
    counter("lisa_subflows_closed", "Closed subflows", |t| {
        t.subflows_closed
    }),
    uncoupled("connections", |t| t.alone_full),
    uncoupled("user", |t| t.alone_user),
    uncoupled("subflows", |t| t.alone_slots),
    counter(
        "lisa_joins_without_room",
        "Uncoupled subflows that joined a connection, and therefore grow slowly",
        |t| t.alone_joins,
    ),
    counter(
        "lisa_joins_apart",
        "Subflows that joined a connection whose earlier subflows run another algorithm, or another load of this one",
        |t| t.apart_joins,
    ),
    counter(
        "lisa_plain_sockets_opened",
        "Sockets without MPTCP that run the algorithm alone",
        |t| t.plain_opened,
    ),
    counter(
        "lisa_plain_sockets_closed",
        "Closed sockets without MPTCP that ran the algorithm alone",
        |t| t.plain_closed,
    ),
    counter(
        "lisa_plain_sockets_returned",
        "Sockets without MPTCP that got the algorithm of plain TCP",
        |t| t.plain_returned,
    ),
    counter(
        "lisa_plain_sockets_refused",
        "Sockets without MPTCP whose change of algorithm the kernel refused",
        |t| t.plain_refused,
    ),
    counter(
        "lisa_credits_taken",
        "Initial windows that joining subflows took from another subflow",
        |t| t.credits_taken,
    ),
    counter("lisa_credits_paid", "Credits that their lender paid", |t| {
        t.credits_settled
    }),
    counter("lisa_credits_void", "Credits that became void", |t| {
        t.credits_void
    }),
    counter(
        "lisa_slow_start_exits",
        "Slow starts that ended without a loss",
        |t| t.slow_start_exits,
    ),
    counter(
        "lisa_losses",
        "Window reductions: recoveries, congestion signals, retransmission timeouts",
        |t| t.losses,
    ),
    counter(
        "lisa_events_lost",
        "Events that found no room in the ring buffer of a reader",
        |t| t.events_lost,
    ),
    counter(
        "lisa_map_deletions_failed",
        "Map entries that the kernel refused to delete",
        |t| t.deletions_failed,
    ),
];

/// A gauge of the present load of an algorithm.
struct Gauge {
    name: &'static str,
    help: &'static str,
    /// Values by label.
    values: fn(&Present) -> Vec<(&'static str, u64)>,
}

/// The label of a gauge's values is `map`, or absent if it is empty.
const GAUGES: [Gauge; 5] = [
    Gauge {
        name: "lisa_map_entries",
        help: "Entries of a BPF map",
        values: |p| {
            vec![
                ("connections", p.usage.connections.into()),
                ("defaults", p.defaults),
                ("namespaces", p.namespaces),
            ]
        },
    },
    Gauge {
        name: "lisa_map_entries_limit",
        help: "Largest number of entries of a BPF map",
        values: |p| {
            vec![
                ("connections", p.limits.connections.into()),
                ("defaults", LISA_DEFAULTS.into()),
                ("namespaces", LISA_NAMESPACES.into()),
            ]
        },
    },
    Gauge {
        name: "lisa_bounded_users_connections",
        help: "Coupled connections of users whose number of connections is bounded",
        values: |p| vec![("", p.usage.other_connections.into())],
    },
    Gauge {
        name: "lisa_bounded_users_connections_limit",
        help: "Largest number of coupled connections of all users whose number of connections is bounded",
        values: |p| vec![("", p.limits.other_connections.into())],
    },
    Gauge {
        name: "lisa_coupling_enabled",
        help: "1 if subflows are coupled, 0 after `lisa kernel off`",
        values: |p| vec![("", u64::from(!p.off))],
    },
];

#[derive(Debug)]
struct Metrics(Vec<Algorithm>);

impl Collector for Metrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        self.information(&mut encoder)?;
        self.counters(&mut encoder)?;
        self.open(&mut encoder)?;
        self.gauges(&mut encoder)
    }
}

impl Metrics {
    fn information(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let help = "A loaded algorithm, always 1";
        let mut metric =
            encoder.encode_descriptor("lisa_algorithm_loaded", help, None, MetricType::Gauge)?;
        let contract = LISA_CONTRACT.to_string();
        for algorithm in self.0.iter().filter(|a| a.present.is_some()) {
            let labels = [
                ("name", algorithm.name.as_str()),
                ("algorithm", &algorithm.algorithm),
                ("contract", &contract),
                ("version", env!("CARGO_PKG_VERSION")),
            ];
            metric.encode_family(&labels)?.encode_gauge(&1u64)?;
        }
        let help = "Former loads of the algorithm that open sockets keep in the kernel";
        let mut metric =
            encoder.encode_descriptor("lisa_former_loads", help, None, MetricType::Gauge)?;
        for algorithm in &self.0 {
            let labels = [("name", algorithm.name.as_str())];
            metric
                .encode_family(&labels)?
                .encode_gauge(&algorithm.former)?;
        }
        Ok(())
    }

    fn counters(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        for group in COUNTERS.chunk_by(|a, b| a.name == b.name) {
            let Counter { name, help, .. } = group[0];
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for counter in group {
                for (algorithm, netns, totals) in self.rows() {
                    let mut labels = vec![("name", algorithm), ("netns", netns)];
                    labels.extend(counter.label);
                    metric
                        .encode_family(&labels)?
                        .encode_counter::<NoLabelSet, _, u64>(&(counter.value)(totals), None)?;
                }
            }
        }
        Ok(())
    }

    /// The numbers of open connections and subflows, from the counters.
    fn open(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        type Value = fn(&Totals) -> u64;
        let gauges: [(&str, &str, Value); 2] = [
            (
                "lisa_connections",
                "Open coupled MPTCP connections",
                Totals::connections_open,
            ),
            (
                "lisa_subflows",
                "Open subflows of MPTCP connections",
                Totals::subflows_open,
            ),
        ];
        for (name, help, value) in gauges {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for (algorithm, netns, totals) in self.rows() {
                let labels = [("name", algorithm), ("netns", netns)];
                metric
                    .encode_family(&labels)?
                    .encode_gauge(&value(totals))?;
            }
        }
        Ok(())
    }

    fn gauges(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        for gauge in GAUGES {
            let mut metric =
                encoder.encode_descriptor(gauge.name, gauge.help, None, MetricType::Gauge)?;
            for algorithm in &self.0 {
                let Some(present) = &algorithm.present else {
                    continue;
                };
                for (map, value) in (gauge.values)(present) {
                    let mut labels = vec![("name", algorithm.name.as_str())];
                    if !map.is_empty() {
                        labels.push(("map", map));
                    }
                    metric.encode_family(&labels)?.encode_gauge(&value)?;
                }
            }
        }
        Ok(())
    }

    /// The counters of each network namespace, with the names of algorithm and namespace.
    fn rows(&self) -> impl Iterator<Item = (&str, &str, &Totals)> {
        self.0.iter().flat_map(|algorithm| {
            let namespaces = algorithm.namespaces.iter();
            namespaces.map(|(netns, totals)| (algorithm.name.as_str(), netns.as_str(), totals))
        })
    }
}

/// The metrics as text.
pub fn encode(algorithms: Vec<Algorithm>, format: Format) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Metrics(algorithms)));
    let mut text = String::new();
    text::encode(&mut text, &registry).expect("a string takes all text");
    match format {
        Format::OpenMetrics => text,
        Format::Prometheus => prometheus(&text),
    }
}

/// OpenMetrics as Prometheus' own format, in which a counter has the suffix `_total` in all lines, and nothing marks the end.
fn prometheus(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let is_counter = |name: &str| COUNTERS.iter().any(|counter| counter.name == name);
    for line in text.lines().filter(|line| *line != "# EOF") {
        let described = line.strip_prefix("# ").and_then(|line| {
            let (keyword, rest) = line.split_once(' ')?;
            let (name, rest) = rest.split_once(' ')?;
            is_counter(name).then(|| format!("# {keyword} {name}_total {rest}"))
        });
        result.push_str(described.as_deref().unwrap_or(line));
        result.push('\n');
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Users;
    use std::collections::BTreeMap;

    fn algorithms() -> Vec<Algorithm> {
        let totals = Totals {
            connections_opened: 7,
            connections_closed: 3,
            alone_user: 2,
            ..Totals::default()
        };
        let limits = crate::limits::Limits::new(mpcc::Settings::default(), 100, &Users::default());
        vec![Algorithm {
            name: "lisa".into(),
            algorithm: "lisa".into(),
            namespaces: BTreeMap::from([
                ("blue".into(), totals),
                (super::super::OTHER.into(), totals),
            ]),
            present: Some(Present {
                limits,
                usage: Default::default(),
                off: true,
                namespaces: 1,
                defaults: 2,
            }),
            former: 1,
        }]
    }

    #[test]
    fn open_metrics() {
        let text = encode(algorithms(), Format::OpenMetrics);
        for line in [
            "# TYPE lisa_connections_opened counter",
            "lisa_connections_opened_total{name=\"lisa\",netns=\"blue\"} 7",
            "lisa_connections{name=\"lisa\",netns=\"other\"} 4",
            "lisa_subflows_uncoupled_total{name=\"lisa\",netns=\"blue\",bound=\"user\"} 2",
            "lisa_map_entries{name=\"lisa\",map=\"defaults\"} 2",
            "lisa_coupling_enabled{name=\"lisa\"} 0",
            "lisa_former_loads{name=\"lisa\"} 1",
            "# EOF",
        ] {
            assert!(
                text.lines().any(|found| found == line),
                "no {line} in\n{text}"
            );
        }
        let types = text.lines().filter(|line| line.starts_with("# TYPE"));
        let names: Vec<_> = types.collect();
        assert_eq!(names.len(), 19 + 2 + 2 + 5, "one for each name: {names:?}");
    }

    #[test]
    fn prometheus_has_total_in_all_lines() {
        let text = encode(algorithms(), Format::Prometheus);
        assert!(
            text.contains("# TYPE lisa_credits_paid_total counter\n"),
            "{text}"
        );
        assert!(
            text.contains("# HELP lisa_credits_paid_total Credits"),
            "{text}"
        );
        assert!(text.contains("\nlisa_credits_paid_total{name=\"lisa\",netns=\"blue\"} 0\n"));
        assert!(text.contains("# TYPE lisa_connections gauge\n"), "{text}");
        assert!(!text.contains("EOF"));
    }
}
