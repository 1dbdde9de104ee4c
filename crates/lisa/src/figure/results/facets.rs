//! The panels of a figure of runs: for each connection, subflow or link, and for each value of the keys that no axis shows.

use super::data::{Data, Key, Place, Setting};
use crate::figure::panel::Axis;
use crate::figure::scale::Scale;

/// Largest number of panels.
pub const MOST: usize = 12;

/// A panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Facet {
    /// The line above the panel.
    pub caption: String,
    /// For each key the number of its value; that of a key of an axis is replaced.
    pub point: Vec<u32>,
    /// Number of the part.
    pub part: u32,
}

impl Facet {
    /// The place of a series in the panel, with other values of some keys.
    pub fn place(&self, series: usize, keys: &[(usize, u32)]) -> Place {
        let mut point = self.point.clone();
        for (key, value) in keys {
            point[*key] = *value;
        }
        Place {
            point,
            series: series as u32,
            part: self.part,
        }
    }
}

/// The panels, without the keys of the axes. Returns also the number of panels that are left out.
pub fn facets(data: &Data, axes: &[usize]) -> (Vec<Facet>, usize) {
    each(data, axes, true)
}

/// The panels of all connections, subflows or links together: one for each value of the keys. Returns also the number of panels that
/// are left out.
pub fn together(data: &Data) -> (Vec<Facet>, usize) {
    each(data, &[], false)
}

fn each(data: &Data, axes: &[usize], is_apart: bool) -> (Vec<Facet>, usize) {
    let varied = data.varied();
    let rest: Vec<usize> = varied
        .iter()
        .copied()
        .filter(|key| !axes.contains(key))
        .collect();
    let mut found: Vec<Facet> = Vec::new();
    for place in data.places() {
        let mut point = place.point.clone();
        for axis in axes {
            point[*axis] = 0;
        }
        let is_same = |part: u32| !is_apart || part == place.part;
        if found
            .iter()
            .any(|facet| facet.point == point && is_same(facet.part))
        {
            continue;
        }
        if found.len() >= 10_000 {
            break;
        }
        let part = &data.parts[place.part as usize];
        let mut caption: Vec<String> = Vec::new();
        if is_apart && data.parts.len() > 1 && !part.is_empty() {
            caption.push(part.clone());
        }
        for key in &rest {
            let value = &data.keys[*key].values[point[*key] as usize];
            let name = name(&data.keys[*key].name);
            caption.push(format!("{name} = {}", shown(&data.keys[*key], value)));
        }
        found.push(Facet {
            caption: caption.join(", "),
            point,
            part: place.part,
        });
    }
    let left_out = found.len().saturating_sub(MOST);
    found.truncate(MOST);
    (found, left_out)
}

/// A key without the table that it is in: `queue` of `bottleneck.queue`.
pub fn name(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

/// Unit of the numbers of a key: times are in seconds, rates in bit/s, sizes in bytes (docs/rows.md).
pub fn unit(key: &str) -> &'static str {
    match name(key) {
        "rate" | "core_rate" | "c1" | "c2" | "cx" | "cy" | "cz" | "ct" => "bit/s",
        "rtt" | "delay" | "stop" | "start" | "warmup" | "join_delay" | "rto_initial"
        | "rto_min" | "delayed_ack" | "gap" | "at" | "target" | "interval" => "s",
        "bytes" | "receive_window" | "send_buffer" | "initial_ssthresh" | "mss" | "packet" => {
            "bytes"
        }
        "queue" | "packets" | "limit" => "packets",
        "initial_window" => "segments",
        _ => "",
    }
}

/// A value of a key as a label, with its unit.
fn shown(key: &Key, value: &Setting) -> String {
    match value {
        Setting::Text(text) if text.is_empty() => "(none)".into(),
        Setting::Text(text) => text.clone(),
        Setting::Number(number) => {
            let scale = Scale::new(
                0.0,
                number.abs().max(f64::MIN_POSITIVE),
                "",
                unit(&key.name),
            );
            let unit = scale.title.trim().trim_matches(['[', ']']).to_owned();
            format!("{} {unit}", scale.label(*number))
                .trim_end()
                .to_owned()
        }
    }
}

/// An axis of the values of a key as numbers, if all are numbers.
pub fn numeric(key: &Key) -> Option<Scale> {
    let mut values = key.numbers()?;
    values.sort_by(f64::total_cmp);
    let (least, most) = (*values.first()?, *values.last()?);
    let scale = Scale::over(values.iter().copied(), false, &key.name, unit(&key.name));
    let middle = values[values.len() / 2];
    // Values such as 1, 10, 100: on an even scale most would be at its start.
    let is_logarithmic = least > 0.0 && most / least >= 50.0 && middle < 0.2 * most;
    Some(match is_logarithmic {
        true => scale.logarithmic(least, most),
        false => {
            let space = 0.03 * (most - least);
            let scale = Scale::new(least - space, most + space, &key.name, unit(&key.name));
            match values.iter().all(|value| value.fract() == 0.0) {
                true => scale.whole(),
                false => scale,
            }
        }
    })
}

/// The values of a key in order: numbers by size, texts in the order of the rows.
pub fn ordered(key: &Key) -> Vec<u32> {
    let mut order: Vec<u32> = (0..key.values.len() as u32).collect();
    if let Some(numbers) = key.numbers() {
        order.sort_by(|a, b| numbers[*a as usize].total_cmp(&numbers[*b as usize]));
    }
    order
}

/// An axis with a category for each value of a key, in this order.
pub fn categories(key: &Key, order: &[u32]) -> Axis {
    let most = key
        .numbers()
        .map_or(1.0, |all| all.iter().fold(0.0, |a: f64, b| a.max(b.abs())));
    let scale = Scale::new(0.0, most, &key.name, unit(&key.name));
    let label = |value: &u32| match &key.values[*value as usize] {
        Setting::Number(number) => scale.label(*number),
        Setting::Text(text) if text.is_empty() => "(none)".into(),
        Setting::Text(text) => text.clone(),
    };
    let title = match key.numbers() {
        Some(_) => scale.title.clone(),
        None => key.name.clone(),
    };
    Axis::Categories(order.iter().map(label).collect(), title)
}

/// A mean with its interval in the unit of a scale: two digits of the interval, and the same decimals of the mean.
pub fn with_interval(scale: &Scale, mean: &scenario::statistics::Mean) -> String {
    let shown = scale.label(mean.mean);
    match mean.ci95 {
        None => shown,
        // An interval of rounding errors: all values are equal.
        Some(half) if half < 1e-9 * mean.mean.abs() => format!("{shown} ± 0"),
        Some(half) => match scale.decimals(half) {
            Some(decimals) => {
                let [mean, half] = [mean.mean, half].map(|value| scale.fixed(value, decimals));
                format!("{mean} ± {half}")
            }
            None => format!("{shown} ± {}", scale.label(half)),
        },
    }
}
