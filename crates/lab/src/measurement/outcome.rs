//! Outcome of a transfer, from the samples of its sender: the same computation for every algorithm.

use std::net::Ipv4Addr;
use std::sync::Arc;

use netsim::Time;
use scenario::outcome::{ConnectionOutcome, SubflowOutcome};
use scenario::trace::{Phase, Row};

use scenario::ConnectionSpec;
use scenario::limited::Limited;
use transport::LimitedTimes;

use super::events::Trace;
use super::flow::ObservedFlow;
use super::socket::Subflow;
use super::transfer::{Delivered, Observation, Sample};

/// Outcome of a connection. Times are since the first SYN.
pub(crate) fn outcome(of: &ObservedFlow<'_>) -> ConnectionOutcome {
    let ObservedFlow { flow, observed, .. } = *of;
    let connection = of.connection();
    let seconds = |time: Time| time.since(observed.start).as_secs_f64();
    let find = |sample: &Sample, path: usize| {
        let mut subflows = sample.subflows.iter();
        subflows.find(|s| of.path(s.local) == Some(path)).copied()
    };
    let completion_s = observed.end.map(seconds);
    // A transfer counts as a whole, an endless one from its start or the warm-up.
    let is_endless = !connection.application.is_finite();
    let before = match is_endless {
        true => observed.before.clone(),
        false => Delivered::default(),
    };
    let period_s = match is_endless {
        true => Some(seconds(observed.delivered.time) - seconds(before.time.max(observed.start))),
        false => completion_s,
    };
    let goodput = |bytes: u64| {
        let seconds = period_s.filter(|seconds| *seconds > 0.0)?;
        Some(bytes as f64 * 8.0 / 1e6 / seconds)
    };
    let acknowledged = observed.delivered.acknowledged - before.acknowledged;
    let (mut subflows, mut exits, mut limited) = (Vec::new(), Vec::new(), Vec::new());
    for (path, number) in flow.numbers.iter().enumerate() {
        let series: Vec<(Time, Subflow)> = observed
            .samples
            .iter()
            .filter_map(|sample| Some((sample.time, find(sample, path)?)))
            .collect();
        let (Some(first), Some((_, last))) = (series.first(), series.last()) else {
            continue;
        };
        let exit = series.iter().position(|(_, s)| s.is_past_slow_start());
        let at_exit = exit.map(|at| series[at]);
        exits.push(at_exit.map(|(time, _)| time));
        let before_exit = exit.map_or(last.retransmits, |at| {
            if at == 0 {
                0
            } else {
                series[at - 1].1.retransmits
            }
        });
        let reductions: Vec<Time> = series
            .windows(2)
            .filter(|pair| !pair[0].1.is_reducing() && pair[1].1.is_reducing())
            .map(|pair| pair[1].0)
            .collect();
        let here = |local: Ipv4Addr| of.path(local) == Some(path);
        let all = |delivered: &Delivered| -> u64 {
            let ends = delivered.bytes.iter();
            let ends = ends.filter(|((local, _), _)| here(*local));
            ends.map(|(_, bytes)| bytes).sum()
        };
        let bytes = all(&observed.delivered) - all(&before);
        let times = (observed.delivered.limits.times(here)).since(&before.limits.times(here));
        limited.push(times);
        subflows.push(SubflowOutcome {
            subflow: path + 1,
            path: number + 1,
            path_name: of.scenario.path_name(number + 1).map(Into::into),
            backup: connection.backup.get(path).copied().unwrap_or(false),
            established_s: seconds(first.0),
            bytes: Some(bytes),
            goodput_mbps: goodput(bytes),
            retransmits: last.retransmits.into(),
            retransmits_slow_start: before_exit.into(),
            // The events of the algorithm have the credits: `count_credits`.
            credits_taken: 0,
            credits_paid: 0,
            credits_void: 0,
            slow_start_exit_s: at_exit.map(|(time, _)| seconds(time)),
            cwnd_at_slow_start_exit_segments: at_exit.map(|(_, s)| effective_cwnd(&s)),
            cwnd_at_end_segments: last.cwnd,
            srtt_s: last.srtt.as_secs_f64(),
            losses: reductions.len() as u32,
            first_loss_s: reductions.first().map(|time| seconds(*time)),
            limited: Limited::of(&times),
        });
    }

    // The sample in which the last subflow has left slow start, if all have.
    let all_exits = exits.into_iter().collect::<Option<Vec<_>>>();
    let last_exit = all_exits.and_then(|times| times.into_iter().max());
    let exit = last_exit.and_then(|time| observed.samples.iter().position(|s| s.time == time));
    let retransmits = |sample: &Sample| {
        sample
            .subflows
            .iter()
            .map(|s| u64::from(s.retransmits))
            .sum()
    };
    ConnectionOutcome {
        name: connection.name.clone(),
        number: flow.number,
        protocol: connection.protocol,
        algorithm: connection.algorithm.clone(),
        receive_window_bytes: connection.receive_window,
        send_buffer_bytes: connection.send_buffer,
        start_s: observed.start.as_secs_f64(),
        completion_s,
        requests_s: Vec::new(),
        bytes: acknowledged,
        goodput_mbps: goodput(acknowledged),
        note: unfinished(connection, observed),
        retransmits: observed.samples.last().map_or(0, retransmits),
        retransmits_slow_start: match exit {
            Some(0) => 0,
            Some(at) => retransmits(&observed.samples[at - 1]),
            None => observed.samples.last().map_or(0, retransmits),
        },
        credits_taken: 0,
        credits_paid: 0,
        credits_void: 0,
        slowdown: None, // the host knows the paths
        sum_cwnd_at_slow_start_exit_segments: exit.map(|at| {
            observed.samples[at]
                .subflows
                .iter()
                .map(effective_cwnd)
                .sum()
        }),
        sum_cwnd_at_end_segments: subflows.iter().map(|s| s.cwnd_at_end_segments).sum(),
        limited: Limited::of(&LimitedTimes::sum(&limited)),
        subflows,
    }
}

/// Counts the credits of a connection. One that is open at the end of the run is neither paid nor void.
pub(crate) fn count_credits(connection: &mut ConnectionOutcome, trace: &Trace) {
    for (credit, void) in trace.credits.iter().zip(&trace.void) {
        let (paid, void) = (credit.settled.is_some(), *void);
        connection.credits_taken += 1;
        connection.credits_paid += u32::from(paid);
        connection.credits_void += u32::from(void);
        for subflow in &mut connection.subflows {
            subflow.credits_taken += u32::from(subflow.subflow == credit.to + 1);
            if subflow.subflow == credit.from + 1 {
                subflow.credits_paid += u32::from(paid);
                subflow.credits_void += u32::from(void);
            }
        }
    }
}

/// Note for a transfer that did not finish.
fn unfinished(connection: &ConnectionSpec, observed: &Observation) -> Option<String> {
    // Without numbers, so that tables count equal notes. The outcome has the number of bytes.
    (connection.application.is_finite() && observed.end.is_none()).then(|| "did not finish".into())
}

/// Window at the start of congestion avoidance: during a reduction the slow start threshold.
fn effective_cwnd(subflow: &Subflow) -> u32 {
    match subflow.ssthresh {
        Some(ssthresh) if subflow.is_reducing() => ssthresh,
        _ => subflow.cwnd,
    }
}

/// Trace rows from the samples of the sender.
///
/// `title` is the connection's ([`ConnectionOutcome::title`]).
pub(crate) fn rows(of: &ObservedFlow<'_>, title: &str) -> Vec<Row> {
    let name: Arc<str> = title.into();
    let row = |time: Time, s: &Subflow| {
        Some(Row {
            time: time.as_secs_f64(),
            connection: name.clone(),
            subflow: of.path(s.local)?,
            cwnd: s.cwnd,
            ssthresh: s.ssthresh,
            srtt: s.srtt.as_secs_f64(),
            rtt: None,
            published: None,
            flight: s.flight,
            phase: match s.ssthresh {
                _ if s.is_reducing() => Phase::Recovery,
                Some(ssthresh) if s.cwnd >= ssthresh => Phase::Avoidance,
                _ => Phase::SlowStart,
            },
        })
    };
    let rows = |sample: &Sample| {
        let time = sample.time;
        sample
            .subflows
            .iter()
            .filter_map(|s| row(time, s))
            .collect::<Vec<_>>()
    };
    of.observed.samples.iter().flat_map(rows).collect()
}
