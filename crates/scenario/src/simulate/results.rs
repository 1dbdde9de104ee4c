//! The outcome of a simulation: connection by connection, and link by link.

use netsim::{Span, Time};
use transport::{LimitedTimes, Report, SubflowReport};

use super::endpoints::Endpoints;
use super::limits::Limits;
use super::model::Model;
use super::recording::Recording;
use crate::connection::ConnectionSpec;
use crate::draw::Flow;
use crate::error::Error;
use crate::limited::Limited;
use crate::outcome::{Backend, ConnectionOutcome, LinkOutcome, Outcome, SCHEMA, SubflowOutcome};
use crate::scenario::Scenario;
use crate::transfers::Transfers;
use crate::{capacity, run_warnings};

/// Bytes that a flow and each of its subflows have delivered.
#[derive(Clone, Default)]
struct Delivered {
    bytes: u64,
    subflows: Vec<(u64, LimitedTimes)>,
}

/// Period over which a goodput is measured.
#[derive(Clone, Copy)]
struct Period {
    from: Time,
    /// End; none for a transfer that did not finish.
    to: Option<Time>,
}

/// Runs the simulation of a model, and returns its outcome.
pub(super) fn run<O: Recording>(
    model: &mut Model<'_, O>,
    seed: u64,
    limits: Limits<'_>,
) -> Result<Outcome, Error> {
    let (scenario, drawn) = (model.scenario, model.drawn);
    let warm = Time::ZERO + scenario.warmup;
    let mut before = vec![Delivered::default(); drawn.flows.len()];
    let mut links_before = None;
    if scenario.warmup > Span::ZERO {
        // Endless connections are measured from the warm-up to `stop`: the run then does not end with the last transfer.
        let any_endless = scenario.has_endless();
        if any_endless {
            model.simulation.ignore_completion();
        }
        model.run_until(warm, limits)?;
        before = delivered(model);
        links_before = any_endless.then(|| model.simulation.network().counters(warm));
    }
    model.run_until(Time::ZERO + scenario.stop, limits)?;
    let end = model.simulation.now();
    let mut counters = model.simulation.network().counters(end);
    let packet_hops = counters.iter().map(|link| link.packets_out).sum();
    for (link, earlier) in counters.iter_mut().zip(links_before.iter().flatten()) {
        *link = link.since(earlier, warm, end);
    }
    let flows = drawn.flows.iter().zip(&model.endpoints).zip(&before);
    let connections = flows.map(|((flow, endpoints), before)| {
        let from = (Time::ZERO + flow.start).max(warm);
        let period = Period {
            from,
            to: Some(end),
        };
        connection(model, flow, *endpoints, before, period)
    });
    let connections: Vec<ConnectionOutcome> = connections.collect();
    let transfers = Transfers::of(scenario, ConnectionOutcome::completions(&connections));
    let links = drawn.graph.links().iter().zip(&counters);
    let links = links.map(|(link, counters)| LinkOutcome::new(link.name.clone(), counters));
    Ok(Outcome {
        schema: SCHEMA,
        scenario: scenario.title.clone(),
        seed,
        backend: Backend::Sim,
        warnings: run_warnings::of_run(scenario, drawn, &connections, &transfers),
        connections,
        transfers,
        links: links.collect(),
        events: model.simulation.events(),
        packet_hops,
        sim_seconds: end.as_secs_f64(),
        wall_seconds: None,
        lateness_s: 0.0,
        spoiled_packets: 0,
    })
}

/// Bytes that each flow has delivered so far.
fn delivered<O: Recording>(model: &Model<'_, O>) -> Vec<Delivered> {
    let of = |(flow, endpoints): (&Flow, &Endpoints)| match *endpoints {
        Endpoints::Connection(number) => {
            let report = model.simulation.report(number);
            Delivered {
                bytes: report.bytes,
                subflows: (report.subflows.iter())
                    .map(|s| (s.counters.bytes, s.limited))
                    .collect(),
            }
        }
        Endpoints::Udp(number) => Delivered {
            bytes: udp_bytes(model, model.spec(flow), number),
            subflows: Vec::new(),
        },
    };
    let flows = model.drawn.flows.iter();
    flows.zip(&model.endpoints).map(of).collect()
}

/// Bytes that the sink of a UDP flow has received.
fn udp_bytes<O: Recording>(model: &Model<'_, O>, spec: &ConnectionSpec, number: usize) -> u64 {
    let received = model.simulation.udp_report(number).received;
    received * u64::from(spec.packet)
}

/// Results of a flow that delivered `before` until the warm-up ended.
fn connection<O: Recording>(
    model: &Model<'_, O>,
    flow: &Flow,
    endpoints: Endpoints,
    before: &Delivered,
    period: Period,
) -> ConnectionOutcome {
    let spec = model.spec(flow);
    let outcome = ConnectionOutcome {
        name: spec.name.clone(),
        number: flow.number,
        protocol: spec.protocol,
        algorithm: spec.algorithm.clone(),
        receive_window_bytes: spec.receive_window,
        send_buffer_bytes: spec.send_buffer,
        start_s: flow.start.as_secs_f64(),
        completion_s: None,
        requests_s: Vec::new(),
        bytes: 0,
        goodput_mbps: None,
        note: None,
        retransmits: 0,
        retransmits_slow_start: 0,
        credits_taken: 0,
        credits_paid: 0,
        credits_void: 0,
        slowdown: None,
        sum_cwnd_at_slow_start_exit_segments: None,
        sum_cwnd_at_end_segments: 0,
        limited: Limited::default(),
        subflows: Vec::new(),
    };
    let report = match endpoints {
        Endpoints::Udp(number) => {
            let bytes = udp_bytes(model, spec, number) - before.bytes;
            return ConnectionOutcome {
                bytes,
                goodput_mbps: mbps(bytes, period),
                ..outcome
            };
        }
        Endpoints::Connection(number) => model.simulation.report(number),
    };
    let start = Time::ZERO + flow.start;
    // A transfer counts as a whole, from its start.
    let whole = Period {
        from: start,
        to: report.completion,
    };
    let (period, before) = match spec.application.is_finite() {
        true => (whole, &Delivered::default()),
        false => (period, before),
    };
    let mut subflows = subflows(&report, flow, model.scenario);
    let mut limited = Vec::new();
    for subflow in &mut subflows {
        let index = subflow.subflow - 1;
        let (bytes_before, limited_before) =
            before.subflows.get(index).copied().unwrap_or_default();
        let bytes = subflow.bytes.map(|bytes| bytes - bytes_before);
        subflow.goodput_mbps = bytes.and_then(|bytes| mbps(bytes, period));
        subflow.bytes = bytes;
        let times = report.subflows[index].limited.since(&limited_before);
        subflow.limited = Limited::of(&times);
        limited.push(times);
    }
    let bytes = report.bytes - before.bytes;
    let retransmits = subflows.iter().map(|s| s.retransmits).sum();
    let credits = |of: fn(&SubflowOutcome) -> u32| subflows.iter().map(of).sum();
    let completion_s = report.completion.map(|at| at.since(start).as_secs_f64());
    ConnectionOutcome {
        completion_s,
        requests_s: report
            .replies
            .iter()
            .map(|span| span.as_secs_f64())
            .collect(),
        slowdown: capacity::slowdown(&model.drawn.graph, flow, spec, bytes, completion_s),
        credits_taken: credits(|s| s.credits_taken),
        credits_paid: credits(|s| s.credits_paid),
        credits_void: credits(|s| s.credits_void),
        bytes,
        goodput_mbps: mbps(bytes, period),
        note: note(&report, spec.application.is_finite()),
        retransmits,
        retransmits_slow_start: report
            .slow_start_exit
            .map_or(retransmits, |exit| exit.retransmits),
        sum_cwnd_at_slow_start_exit_segments: report.slow_start_exit.map(|exit| exit.cwnd),
        sum_cwnd_at_end_segments: subflows.iter().map(|s| s.cwnd_at_end_segments).sum(),
        limited: Limited::of(&LimitedTimes::sum(&limited)),
        subflows,
        ..outcome
    }
}

/// Goodput over a period, Mbit/s; none for a period without an end or a length.
fn mbps(bytes: u64, period: Period) -> Option<f64> {
    let seconds = period.to?.since(period.from).as_secs_f64();
    (seconds > 0.0).then(|| bytes as f64 * 8e-6 / seconds)
}

/// Restriction on the use of the figures.
fn note(report: &Report, finite: bool) -> Option<String> {
    let joined = report
        .subflows
        .iter()
        .filter(|s| s.counters.established.is_some())
        .count();
    let mut notes = Vec::new();
    if finite && report.completion.is_none() {
        notes.push("did not finish".to_string());
    }
    if joined < report.subflows.len() {
        notes.push(format!(
            "{joined} of {} subflows were established",
            report.subflows.len()
        ));
    }
    (!notes.is_empty()).then(|| notes.join("; "))
}

fn subflows(report: &Report, flow: &Flow, scenario: &Scenario) -> Vec<SubflowOutcome> {
    let backup = &scenario.connections[flow.connection].backup;
    let since = |at: Time| at.since(Time::ZERO + flow.start).as_secs_f64();
    let of = |(number, subflow): (usize, &SubflowReport)| {
        let counters = &subflow.counters;
        Some(SubflowOutcome {
            subflow: number + 1,
            path: flow.numbers[number] + 1,
            path_name: scenario.path_name(flow.numbers[number] + 1).map(Into::into),
            backup: backup.get(number).copied().unwrap_or(false),
            established_s: since(counters.established?),
            bytes: Some(counters.bytes),
            goodput_mbps: None,
            retransmits: counters.retransmits.into(),
            retransmits_slow_start: counters
                .slow_start_exit
                .map_or(counters.retransmits, |exit| exit.retransmits)
                .into(),
            credits_taken: counters.credits.taken,
            credits_paid: counters.credits.paid,
            credits_void: counters.credits.void,
            slow_start_exit_s: counters.slow_start_exit.map(|exit| since(exit.at)),
            cwnd_at_slow_start_exit_segments: counters.slow_start_exit.map(|exit| exit.cwnd),
            cwnd_at_end_segments: subflow.cwnd,
            srtt_s: f64::from(subflow.srtt_us) * 1e-6,
            losses: counters.losses,
            first_loss_s: counters.first_loss.map(since),
            limited: Limited::default(),
        })
    };
    report.subflows.iter().enumerate().filter_map(of).collect()
}
