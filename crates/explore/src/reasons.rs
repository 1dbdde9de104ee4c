//! Reasons of changes of a window: joins, credits, ends of slow start, reductions.

use scenario::trace::Credit;
use serde::Serialize;

use crate::subflow::Subflow;

/// A change of a window, and its reason.
#[derive(Serialize)]
pub(crate) struct Reason {
    /// Seconds since the start of the run.
    pub(crate) time: f64,
    /// Index of the subflow.
    pub(crate) subflow: usize,
    pub(crate) kind: Kind,
    /// Reason, in sentences.
    pub(crate) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// A subflow is established.
    Join,
    /// A subflow takes its initial window from another one.
    Credit,
    /// The lender settles a credit.
    Settlement,
    /// A subflow leaves slow start.
    Exit,
    /// A subflow reduces its window.
    Reduction,
}

/// Longest time from a loss to the reduction that it causes, in round trips.
const ROUND_TRIPS: f64 = 4.0;

/// The reasons of all subflows, in order of time.
pub(crate) fn of(subflows: &[Subflow], credits: &[Credit]) -> Vec<Reason> {
    let mut reasons = Vec::new();
    for (index, subflow) in subflows.iter().enumerate() {
        let joined = joined_credit(subflow, credits);
        changes(index, subflow, joined, &mut reasons);
    }
    for credit in credits {
        settlement(subflows, credit, &mut reasons);
    }
    reasons.sort_by(|a, b| a.time.total_cmp(&b.time));
    reasons
}

fn name(subflow: &Subflow) -> String {
    format!("{}, subflow {}", subflow.connection, subflow.number)
}

fn segments(n: u32) -> String {
    match n {
        1 => "1 segment".into(),
        n => format!("{n} segments"),
    }
}

fn joined_credit<'a>(subflow: &Subflow, credits: &'a [Credit]) -> Option<&'a Credit> {
    let mut all = credits.iter();
    all.find(|credit| credit.connection == subflow.connection && credit.to + 1 == subflow.number)
}

fn changes(index: usize, subflow: &Subflow, credit: Option<&Credit>, reasons: &mut Vec<Reason>) {
    let mut add = |time: f64, kind: Kind, text: String| {
        reasons.push(Reason {
            time,
            subflow: index,
            kind,
            text,
        });
    };
    let Some(&first) = subflow.time.first() else {
        return;
    };
    let title = name(subflow);
    let window = segments(subflow.cwnd[0]);
    match credit {
        Some(credit) => add(
            credit.taken,
            Kind::Credit,
            format!(
                "{title} joins with a credit of {} from subflow {}: its initial window is part of that window, so the sum of both stays the same.",
                segments(credit.segments),
                credit.from + 1
            ),
        ),
        None => add(
            first,
            Kind::Join,
            format!("{title} is established. Its first window is {window}."),
        ),
    }
    for i in 1..subflow.time.len() {
        let (before, after) = (subflow.phase[i - 1], subflow.phase[i]);
        let (was, is) = (subflow.ssthresh[i - 1], subflow.ssthresh[i]);
        let lower = is.is_some_and(|is| was.is_none_or(|was| is < was));
        let starts_recovery = after == "recovery" && before != "recovery";
        let time = subflow.time[i];
        if before == "slow start" && after != "slow start" {
            add(time, Kind::Exit, exit(subflow, i));
        }
        if starts_recovery || (after == "recovery" && lower) {
            add(time, Kind::Reduction, reduction(subflow, i));
        }
    }
}

fn exit(subflow: &Subflow, i: usize) -> String {
    let title = name(subflow);
    let window = segments(subflow.cwnd[i - 1]);
    match (subflow.phase[i], subflow.ssthresh[i]) {
        ("recovery", _) => format!(
            "{title} leaves slow start with a window of {window}, because it reduces that window."
        ),
        (_, Some(ssthresh)) if subflow.ssthresh[i - 1] != Some(ssthresh) => format!(
            "{title} leaves slow start at a window of {} without a loss: {}.",
            segments(subflow.cwnd[i]),
            rule(&subflow.algorithm)
        ),
        (_, Some(ssthresh)) => format!(
            "{title} leaves slow start: its window of {} has reached its threshold of {}.",
            segments(subflow.cwnd[i]),
            segments(ssthresh)
        ),
        _ => format!("{title} leaves slow start with a window of {window}."),
    }
}

/// The rule by which an algorithm sets the threshold and so ends slow start.
fn rule(algorithm: &str) -> &'static str {
    let parts = mpcc::Algorithm::find(algorithm).map(|a| (a.slow_start(), a.avoidance()));
    match parts {
        Some(("css", _)) => {
            "the windows of the subflows together have reached con_ssthresh, where CSS ends the slow start of each"
        }
        Some(("hystartpp", _)) => "HyStart++ found that the RTT grows",
        Some(("convoy", _)) => "the slow start of convoy found that the path is full",
        Some((_, "cubic")) => {
            "HyStart found that the path is full, by a train of ACKs as long as half of the RTT or by a longer RTT"
        }
        _ => "the algorithm set its threshold to the window",
    }
}

fn reduction(subflow: &Subflow, i: usize) -> String {
    let title = name(subflow);
    let was = subflow.cwnd[i - 1];
    let because = cause(subflow, i);
    if subflow.cwnd[i] == 1 && was > 1 {
        return format!(
            "{title} falls from {} to 1: its retransmission timer expired; {because}.",
            segments(was)
        );
    }
    let Some(ssthresh) = subflow.ssthresh[i] else {
        return format!(
            "{title} reduces its window of {}: {because}.",
            segments(was)
        );
    };
    let share = 100.0 * f64::from(ssthresh) / f64::from(was.max(1));
    format!(
        "{title} reduces its window of {} to {ssthresh} ({share:.0} %): {because}.",
        segments(was)
    )
}

/// The losses that a reduction at row `i` answers, in words.
fn cause(subflow: &Subflow, i: usize) -> String {
    let time = subflow.time[i];
    let since = time - ROUND_TRIPS * subflow.srtt[i].max(0.01);
    let previous = (1..i)
        .rev()
        .find(|&j| subflow.phase[j] == "recovery" && subflow.phase[j - 1] != "recovery");
    let since = previous.map_or(since, |j| since.max(subflow.time[j]));
    let lost: Vec<f64> = (subflow.losses.iter().copied())
        .filter(|at| (since..=time).contains(at))
        .collect();
    match (lost.first(), lost.last()) {
        (Some(first), Some(last)) if lost.len() > 1 => format!(
            "the network lost {} of it from {first:.3} to {last:.3} s, and ACKs report the gap",
            segments(lost.len() as u32)
        ),
        (Some(at), _) => format!(
            "the network lost a segment of it at {at:.3} s, and ACKs report the gap"
        ),
        _ => "no loss of the last round trips explains it: an ECN mark, reordering, or an earlier loss".into(),
    }
}

fn settlement(subflows: &[Subflow], credit: &Credit, reasons: &mut Vec<Reason>) {
    let lender = subflows.iter().position(|subflow| {
        subflow.connection == credit.connection && subflow.number == credit.from + 1
    });
    let (Some(subflow), Some(settled)) = (lender, &credit.settled) else {
        return;
    };
    reasons.push(Reason {
        time: settled.time,
        subflow,
        kind: Kind::Settlement,
        text: format!(
            "{} settles the credit of subflow {}: its window becomes smaller by {}, and {} that it had in flight beyond the new window do not grow it. Sum of the windows: {} before, {} after.",
            name(&subflows[subflow]),
            credit.to + 1,
            segments(credit.segments),
            segments(settled.ignored),
            settled.sum_before,
            settled.sum_after
        ),
    });
}
