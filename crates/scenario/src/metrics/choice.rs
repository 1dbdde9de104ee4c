//! Choice of metrics by name.

use super::{Metric, all};
use crate::error::near;

/// Largest number of suggestions in an error.
const MAX_SUGGESTIONS: usize = 3;

/// Units at the ends of names.
const UNITS: [&str; 5] = ["_s", "_mbps", "_segments", "_packets", "_bytes"];

/// The metrics of these names, in this order.
///
/// # Errors
/// The problem of a name, in one line.
pub fn choose(names: &[impl AsRef<str>]) -> Result<Vec<&'static Metric>, String> {
    let mut chosen: Vec<&'static Metric> = Vec::new();
    for name in names {
        let name = name.as_ref();
        let metric = all().find(|metric| metric.key == name);
        let metric = metric.ok_or_else(|| unknown(name))?;
        if chosen.iter().any(|other| other.key == name) {
            return Err(format!("`{name}` is named twice: name each metric once"));
        }
        chosen.push(metric);
    }
    Ok(chosen)
}

/// Error of an unknown name. Suggests the fields of this name of subflows and links, else names with a similar spelling,
/// else all names.
fn unknown(name: &str) -> String {
    let keys = || all().map(|metric| metric.key);
    // A name without its unit: `srtt` for `srtt_s`.
    let is = |field: &str| {
        let rest = field.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || UNITS.contains(&rest))
    };
    let same: Vec<&str> = (all().filter(|metric| is(metric.field())))
        .map(|metric| metric.key)
        .collect();
    let similar = match same.is_empty() {
        false => same,
        true => near(name, keys().chain(all().map(Metric::field))),
    };
    // The name of a field stands for each metric with this field.
    let mut suggestions: Vec<&str> = Vec::new();
    for similar in similar {
        let metrics = keys().filter(|key| *key == similar);
        let fields = all().filter(|metric| metric.field() == similar);
        for key in metrics.chain(fields.map(|metric| metric.key)) {
            if !suggestions.contains(&key) {
                suggestions.push(key);
            }
        }
    }
    suggestions.truncate(MAX_SUGGESTIONS);
    let name: String = name.chars().take(64).flat_map(char::escape_debug).collect();
    match &suggestions[..] {
        [] => {
            let keys: Vec<&str> = keys().collect();
            format!("no metric `{name}`; there are {}", keys.join(", "))
        }
        suggestions => {
            let quoted: Vec<String> = suggestions.iter().map(|key| format!("`{key}`")).collect();
            format!("no metric `{name}`, did you mean {}?", quoted.join(" or "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_have_names() {
        let names = ["links.losses", "goodput_mbps", "jain_index"];
        let keys: Vec<&str> = choose(&names).unwrap().iter().map(|m| m.key).collect();
        assert_eq!(keys, names);
        for (names, problem) in [
            (
                &["goodput_mbs"][..],
                "no metric `goodput_mbs`, did you mean `goodput_mbps` or `subflows.goodput_mbps`?",
            ),
            (
                &["srtt"],
                "no metric `srtt`, did you mean `subflows.srtt_s`?",
            ),
            (
                &["losses"],
                "no metric `losses`, did you mean `subflows.losses` or `links.losses`?",
            ),
            (
                &["goodput"],
                "no metric `goodput`, did you mean `goodput_mbps` or `subflows.goodput_mbps`?",
            ),
            (
                &["link.losses"],
                "no metric `link.losses`, did you mean `links.losses`?",
            ),
            (
                &["utilization"],
                "no metric `utilization`, did you mean `links.utilisation`?",
            ),
            (
                &["share", "share"],
                "`share` is named twice: name each metric once",
            ),
        ] {
            assert_eq!(choose(names).unwrap_err(), problem);
        }
        let problem = choose(&["speed\n"]).unwrap_err();
        let listed = "no metric `speed\\n`; there are completion_s, completion_p50_s, ";
        assert!(problem.starts_with(listed), "{problem}");
        assert!(problem.ends_with(", links.queue_mean_packets"), "{problem}");
    }
}
