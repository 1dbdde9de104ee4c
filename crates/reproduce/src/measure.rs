//! The value of a measure in an outcome: a metric of `lisa sweep`, or one that only the papers have.

use scenario::Outcome;
use scenario::metrics::{self, Groups, Part};
use scenario::outcome::{ConnectionOutcome, SubflowOutcome};

use crate::paper::Measure;

/// Value of a measure in a run; none where the run has none.
pub(crate) fn value(measure: &Measure, outcome: &Outcome) -> Option<f64> {
    let named = |name: &str| -> Vec<&ConnectionOutcome> {
        let connections = outcome.connections.iter();
        connections.filter(|one| one.name == name).collect()
    };
    let connections = named(measure.connection.as_deref().unwrap_or_default());
    let mean = |of: fn(&ConnectionOutcome) -> Option<f64>| -> Option<f64> {
        let values: Vec<f64> = connections.iter().filter_map(|one| of(one)).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let value = match measure.metric.as_str() {
        "first_loss_s" => mean(first_loss),
        "share_of_first_subflow" => mean(share_of_first_subflow),
        "m" => mean(|connection| m_squared(connection).map(f64::sqrt)),
        "m_squared" => mean(m_squared),
        "sum_cwnd_before_last_reduction" => mean(sum_cwnd_before_last_reduction),
        "credits_paid_of_subflow_1" => mean(|connection| credits_paid(connection, 1)),
        "credits_paid_of_subflow_2" => mean(|connection| credits_paid(connection, 2)),
        "retransmits_of_subflow_1" => mean(|connection| retransmits(connection, 1)),
        "retransmits_of_subflow_2" => mean(|connection| retransmits(connection, 2)),
        "sum_goodput_mbps" => {
            let all = measure.among.iter().flat_map(|name| named(name));
            all.map(|one| one.goodput_mbps).sum()
        }
        "imbalance" => mean(imbalance),
        "share_among" => {
            let sum = |connections: &[&ConnectionOutcome]| -> Option<f64> {
                connections.iter().map(|one| one.goodput_mbps).sum()
            };
            let all: Vec<_> = measure.among.iter().flat_map(|name| named(name)).collect();
            Some(sum(&connections)? / sum(&all)?)
        }
        metric => {
            let mut groups = Groups::new(metrics::choose(&[metric]).ok()?);
            groups.add(outcome);
            let part = match (&measure.connection, &measure.link) {
                (Some(name), _) => Part::Connection(name),
                (None, Some(name)) => Part::Link(name),
                (None, None) => Part::Run,
            };
            groups.samples(part)?.mean(0).map(|mean| mean.mean)
        }
    };
    value.map(|value| value * measure.scale)
}

/// Time of the first loss of any subflow.
fn first_loss(connection: &ConnectionOutcome) -> Option<f64> {
    let times = connection
        .subflows
        .iter()
        .filter_map(|one| one.first_loss_s);
    times.min_by(f64::total_cmp)
}

/// Share of the bytes that the first subflow carried.
fn share_of_first_subflow(connection: &ConnectionOutcome) -> Option<f64> {
    let bytes = |subflow: usize| {
        let found = connection
            .subflows
            .iter()
            .find(|one| one.subflow == subflow);
        found.and_then(|one| one.bytes)
    };
    let all: u64 = (connection.subflows.iter())
        .filter_map(|one| one.bytes)
        .sum();
    Some(bytes(1)? as f64 / all as f64)
}

/// Difference of the bytes of two subflows over their sum: 0 of equal ones, 1 if one has everything.
fn imbalance(connection: &ConnectionOutcome) -> Option<f64> {
    let share = share_of_first_subflow(connection).filter(|_| connection.subflows.len() == 2)?;
    Some((2.0 * share - 1.0).abs())
}

/// Σ cwnd when the last subflow leaves slow start, before the reduction of that subflow: a loss halves its window. Within a segment,
/// the half being rounded down.
fn sum_cwnd_before_last_reduction(connection: &ConnectionOutcome) -> Option<f64> {
    let sum = connection.sum_cwnd_at_slow_start_exit_segments?;
    let exit = |one: &&SubflowOutcome| one.slow_start_exit_s.unwrap_or_default();
    let last = (connection.subflows.iter()).max_by(|a, b| exit(a).total_cmp(&exit(b)))?;
    let is_loss = last.first_loss_s.is_some() && last.first_loss_s == last.slow_start_exit_s;
    let half = last.cwnd_at_slow_start_exit_segments.filter(|_| is_loss);
    Some(f64::from(sum + half.unwrap_or(0)))
}

fn credits_paid(connection: &ConnectionOutcome, subflow: usize) -> Option<f64> {
    let found = (connection.subflows.iter()).find(|one| one.subflow == subflow);
    found.map(|one| f64::from(one.credits_paid))
}

fn retransmits(connection: &ConnectionOutcome, subflow: usize) -> Option<f64> {
    let found = (connection.subflows.iter()).find(|one| one.subflow == subflow);
    found.map(|one| one.retransmits as f64)
}

/// NMCC's friendliness factor m² = rtt_min² · Σ 1/rtt² (equation 4), from the smoothed RTTs at the end.
fn m_squared(connection: &ConnectionOutcome) -> Option<f64> {
    let rtts = || connection.subflows.iter().map(|one| one.srtt_s);
    let min = rtts().min_by(f64::total_cmp).filter(|min| *min > 0.0)?;
    Some(rtts().map(|rtt| (min / rtt).powi(2)).sum())
}

/// Whether there is a metric of this name.
pub(crate) fn is_known(metric: &str) -> bool {
    const OWN: [&str; 12] = [
        "first_loss_s",
        "share_of_first_subflow",
        "m",
        "m_squared",
        "sum_cwnd_before_last_reduction",
        "retransmits_of_subflow_1",
        "retransmits_of_subflow_2",
        "share_among",
        "sum_goodput_mbps",
        "imbalance",
        "credits_paid_of_subflow_1",
        "credits_paid_of_subflow_2",
    ];
    OWN.contains(&metric) || metrics::choose(&[metric]).is_ok()
}
