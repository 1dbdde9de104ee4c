//! The line of a figure with the settings of its runs: the keys of `--set` with their values, as on the command line.

use netsim::{Rate, Span};
use scenario::units;
use scenario::vary::{Numbers, Vary};

use super::data::{Key, Setting};
use super::facets::unit;
use crate::figure::scale::short;

/// `with bottleneck.queue=9, stop=10s`; none without settings.
pub fn line<'a>(keys: impl IntoIterator<Item = &'a Key>) -> Option<String> {
    let setting = |key: &Key| Some(format!("{}={}", key.name, value(key, key.values.first()?)));
    let settings: Vec<String> = keys.into_iter().filter_map(setting).collect();
    match settings.is_empty() {
        true => None,
        false => Some(format!("with {}", settings.join(", "))),
    }
}

fn value(key: &Key, value: &Setting) -> String {
    let number = match value {
        Setting::Text(text) if text.is_empty() => return "(none)".into(),
        Setting::Text(text) => return text.clone(),
        Setting::Number(number) => *number,
    };
    match unit(&key.name) {
        "bit/s" => units::show_rate(Rate::from_bits_per_second(number as u64)),
        "s" => units::show_time(Span::from_nanos((number * 1e9).round() as u64)),
        "bytes" => units::show_bytes(number as u64),
        _ => short(number),
    }
}

/// The line of these settings, each with one value.
pub fn of(settings: &[Vary]) -> Option<String> {
    let key = |vary: &Vary| Key {
        name: vary.key.clone(),
        values: vec![match vary.numbers() {
            Numbers::Integers(values) => Setting::Number(values[0] as f64),
            Numbers::Floats(values) => Setting::Number(values[0]),
            Numbers::Texts => Setting::Text(vary.values[0].clone()),
        }],
    };
    line(&settings.iter().map(key).collect::<Vec<Key>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_command_line() {
        let settings = [
            "topology.queue=9",
            "topology.rate=5Mbit",
            "stop=500ms",
            "connection.1.bytes=3MB",
            "rtt_spread=10%",
            "title=a b",
            "warmup=",
        ];
        let settings: Vec<Vary> = settings.into_iter().map(Vary::fixed).collect();
        assert_eq!(
            of(&settings).unwrap(),
            "with topology.queue=9, topology.rate=5Mbit, stop=500ms, connection.1.bytes=3MB, rtt_spread=0.1, title=a b, warmup=(none)"
        );
        assert_eq!(of(&[]), None);
    }
}
