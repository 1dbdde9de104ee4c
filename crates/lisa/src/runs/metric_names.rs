//! Names of metrics as arguments.

use clap::builder::PossibleValue;
use scenario::metrics::{self, Metric, Value};

use crate::output::Failure;
use crate::tables;
use crate::values::{self, Form};

/// Parses the name of a metric. Accepts any name, because [`chosen`] reports an unknown name with the nearest ones; lists all
/// names in help texts and completions.
pub fn parser() -> Form<String> {
    let form = "the name of a metric, like goodput_mbps or links.utilisation: --help lists them";
    values::text(form).listing(possible)
}

fn possible() -> Vec<PossibleValue> {
    let value = |metric: &'static Metric| {
        let of = match metric.value {
            Value::Connection(_) | Value::Share(_) | Value::Completion(_) => "connection",
            Value::Run(_) => "run",
            Value::Subflow(_) => "subflow",
            Value::Link(_) => "link",
        };
        PossibleValue::new(metric.key).help(format!("{of}: {}", tables::heading(metric)))
    };
    metrics::all().map(value).collect()
}

/// The metrics of these names; without names, these defaults.
pub fn chosen(
    names: &[String],
    default: impl Iterator<Item = &'static Metric>,
) -> Result<Vec<&'static Metric>, Failure> {
    if names.is_empty() {
        return Ok(default.collect());
    }
    metrics::choose(names).map_err(|problem| Failure::usage(format!("--metrics: {problem}")))
}
