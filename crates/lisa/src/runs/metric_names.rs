//! Names of metrics as arguments.

use clap::builder::{NonEmptyStringValueParser, PossibleValue, TypedValueParser};
use scenario::metrics::{self, Metric, Value};

use crate::output::Failure;
use crate::tables;

/// Parses the name of a metric. Accepts any name, because [`chosen`] reports an unknown name with the nearest ones; lists all
/// names in help texts and completions.
#[derive(Clone)]
pub struct MetricName;

impl TypedValueParser for MetricName {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<String, clap::Error> {
        NonEmptyStringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let value = |metric: &'static Metric| {
            let of = match metric.value {
                Value::Connection(_) | Value::Share(_) => "connection",
                Value::Run(_) => "run",
                Value::Subflow(_) => "subflow",
                Value::Link(_) => "link",
            };
            PossibleValue::new(metric.key).help(format!("{of}: {}", tables::heading(metric)))
        };
        Some(Box::new(metrics::all().map(value)))
    }
}

/// The metrics of these names; without names, the standard metrics.
pub fn chosen(names: &[String]) -> Result<Vec<&'static Metric>, Failure> {
    if names.is_empty() {
        return Ok(metrics::standard().collect());
    }
    metrics::choose(names).map_err(|problem| Failure::usage(format!("--metrics: {problem}")))
}
