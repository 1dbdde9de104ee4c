//! The comparison as lines of JSON (docs/compare.schema.json).

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{At, Comparison};
use crate::metrics::{Group, Metric, Part, Samples, Value as Of};
use crate::statistics::Mean;
use crate::study::warnings::{Counted, Warnings};

/// The version of a line.
const SCHEMA: &str = "lisa.compare/5";

/// A line for each algorithm on each backend. Each has the warnings about all runs together.
pub(super) fn lines(comparison: &Comparison, warnings: &Warnings) -> String {
    let whole = warnings.whole();
    let line = |(at, _)| {
        let line = Line {
            comparison,
            at,
            whole: &whole,
        };
        let line = serde_json::to_string(&line);
        line.expect("plain data") + "\n"
    };
    comparison.each().map(line).collect()
}

/// The line of an algorithm on a backend.
struct Line<'a> {
    comparison: &'a Comparison,
    at: At,
    whole: &'a [Counted],
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (all, At { algorithm, backend }) = (self.comparison, self.at);
        let groups = &all.of(self.at).groups;
        let connections: Vec<Connection<'_>> = (groups.groups.iter())
            .map(|group| Connection { line: self, group })
            .collect();
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("schema", SCHEMA)?;
        map.serialize_entry("scenario", &all.title)?;
        map.serialize_entry("backend", all.backends[backend].name())?;
        map.serialize_entry("baseline_backend", all.backends[0].name())?;
        map.serialize_entry("algorithm", &all.algorithms[algorithm])?;
        map.serialize_entry("baseline", &all.algorithms[0])?;
        map.serialize_entry("n", &groups.runs)?;
        self.metrics(&mut map, Part::Run, &groups.run)?;
        map.serialize_entry("connections", &connections)?;
        if self.any(|metric| matches!(metric.value, Of::Link(_))) {
            let links = groups.links.iter();
            let links: Vec<Named<'_>> = links
                .map(|(name, samples)| Named {
                    line: self,
                    key: "name",
                    name: name.as_str().into(),
                    part: Part::Link(name),
                    samples,
                })
                .collect();
            map.serialize_entry("links", &links)?;
        }
        let of_runs = all.of(self.at).warnings.list();
        let warnings: Vec<&Counted> = of_runs.iter().chain(self.whole).collect();
        map.serialize_entry("warnings", &warnings)?;
        map.end()
    }
}

/// The connections of one name.
struct Connection<'a> {
    line: &'a Line<'a>,
    group: &'a Group,
}

impl Serialize for Connection<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("name", &self.group.name)?;
        map.serialize_entry("count", &self.group.connections)?;
        map.serialize_entry("all", &self.group.all)?;
        let part = Part::Connection(&self.group.name);
        self.line.metrics(&mut map, part, &self.group.samples)?;
        if (self.line).any(|metric| matches!(metric.value, Of::Subflow(_))) {
            let subflows = self.group.subflows.iter();
            let subflows: Vec<Named<'_>> = subflows
                .map(|(&number, samples)| Named {
                    line: self.line,
                    key: "subflow",
                    name: number.into(),
                    part: Part::Subflow(&self.group.name, number),
                    samples,
                })
                .collect();
            map.serialize_entry("subflows", &subflows)?;
        }
        map.end()
    }
}

/// A subflow or a link, with the key of its name.
struct Named<'a> {
    line: &'a Line<'a>,
    key: &'static str,
    name: serde_json::Value,
    part: Part<'a>,
    samples: &'a Samples,
}

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry(self.key, &self.name)?;
        self.line.metrics(&mut map, self.part, self.samples)?;
        map.end()
    }
}

impl Line<'_> {
    /// Whether any of the compared metrics satisfies a condition.
    fn any(&self, is: impl Fn(&Metric) -> bool) -> bool {
        self.comparison.metrics.iter().any(|metric| is(metric))
    }

    /// Writes the metrics of a part under the names of their fields.
    fn metrics<M: SerializeMap>(
        &self,
        map: &mut M,
        part: Part<'_>,
        samples: &Samples,
    ) -> Result<(), M::Error> {
        #[derive(serde::Serialize)]
        struct Value {
            #[serde(flatten)]
            mean: Mean,
            difference: Option<Mean>,
            backend_difference: Option<Mean>,
        }
        #[derive(serde::Serialize)]
        struct Quantile {
            n: usize,
            quantile: f64,
        }
        for (number, metric) in self.comparison.metrics.iter().enumerate() {
            if !metric.is_of(part) {
                continue;
            }
            if let Of::Completion(_) = metric.value {
                let value = samples.mean(number).map(|of| Quantile {
                    n: of.n,
                    quantile: of.mean,
                });
                map.serialize_entry(metric.field(), &value)?;
                continue;
            }
            let value = samples.mean(number).map(|mean| Value {
                mean,
                difference: self.comparison.to_algorithm(self.at, part, number),
                backend_difference: self.comparison.to_backend(self.at, part, number),
            });
            map.serialize_entry(metric.field(), &value)?;
        }
        Ok(())
    }
}
