//! What a simulation came to, connection by connection and link by link.

use netsim::Time;
use transport::{Report, SubflowReport};

use super::{Place, World, finite};
use crate::limits::Kept;
use crate::outcome::{ConnectionOutcome, SubflowOutcome};
use crate::{Drawn, Flow, Scenario};

/// Bytes that a flow has delivered, and each of its subflows.
#[derive(Clone, Default)]
pub(super) struct Counted {
    bytes: u64,
    subflows: Vec<u64>,
}

impl<O: Kept> World<O> {
    /// What each flow has delivered.
    pub(super) fn counted(&self, scenario: &Scenario, drawn: &Drawn) -> Vec<Counted> {
        let of = |(flow, place): (&Flow, &Place)| match *place {
            Place::Connection(number) => {
                let report = self.simulation.report(number);
                Counted {
                    bytes: report.bytes,
                    subflows: report.subflows.iter().map(|s| s.tally.bytes).collect(),
                }
            }
            Place::Udp(number) => {
                let packet = scenario.connections[flow.connection].packet;
                Counted {
                    bytes: self.simulation.udp_report(number).1 * u64::from(packet),
                    subflows: Vec::new(),
                }
            }
        };
        drawn.flows.iter().zip(&self.places).map(of).collect()
    }

    /// What a flow came to, which had delivered `before` when it was `warm`.
    pub(super) fn outcome(
        &self,
        scenario: &Scenario,
        flow: &Flow,
        place: Place,
        before: &Counted,
        [warm, end]: [Time; 2],
    ) -> ConnectionOutcome {
        let spec = &scenario.connections[flow.connection];
        let outcome = ConnectionOutcome {
            name: spec.name.clone(),
            number: flow.number,
            protocol: spec.protocol,
            algorithm: spec.algorithm.clone(),
            receive_window: spec.receive_window,
            start_s: flow.start.as_secs_f64(),
            completion_s: None,
            bytes: 0,
            goodput_mbps: None,
            note: None,
            retransmits: 0,
            retransmits_slow_start: 0,
            sum_cwnd_at_slow_start_exit: None,
            sum_cwnd_at_end: 0,
            subflows: Vec::new(),
        };
        let start = Time::ZERO + flow.start;
        let measured = (start.max(warm), Some(end));
        match place {
            Place::Udp(number) => {
                let received = self.simulation.udp_report(number).1;
                let bytes = received * u64::from(spec.packet) - before.bytes;
                ConnectionOutcome {
                    bytes,
                    goodput_mbps: mbps(bytes, measured),
                    ..outcome
                }
            }
            Place::Connection(number) => {
                let report = self.simulation.report(number);
                // All of a transfer counts, from its start on.
                let whole = ((start, report.completion), &Counted::default());
                let (measured, before) = match finite(spec) {
                    true => whole,
                    false => (measured, before),
                };
                let mut subflows = subflows(&report, flow, &spec.backup);
                for subflow in &mut subflows {
                    let before = before.subflows.get(subflow.subflow).unwrap_or(&0);
                    let bytes = subflow.bytes.map(|bytes| bytes - before);
                    subflow.goodput_mbps = bytes.and_then(|bytes| mbps(bytes, measured));
                    subflow.bytes = bytes;
                }
                let bytes = report.bytes - before.bytes;
                let retransmits = subflows.iter().map(|s| s.retransmits).sum();
                ConnectionOutcome {
                    completion_s: report.completion.map(|at| at.since(start).as_secs_f64()),
                    bytes,
                    goodput_mbps: mbps(bytes, measured),
                    note: note(&report, finite(spec)),
                    retransmits,
                    retransmits_slow_start: report.exit.map_or(retransmits, |exit| exit.1),
                    sum_cwnd_at_slow_start_exit: report.exit.map(|exit| exit.0),
                    sum_cwnd_at_end: subflows.iter().map(|s| s.cwnd_at_end).sum(),
                    subflows,
                    ..outcome
                }
            }
        }
    }
}

/// So many bytes over a time; none where it has no end, or no length.
fn mbps(bytes: u64, (from, to): (Time, Option<Time>)) -> Option<f64> {
    let seconds = to?.since(from).as_secs_f64();
    (seconds > 0.0).then(|| bytes as f64 * 8e-6 / seconds)
}

/// What a reader of the figures must know.
fn note(report: &Report, finite: bool) -> Option<String> {
    let joined = report
        .subflows
        .iter()
        .filter(|s| s.tally.established.is_some())
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

fn subflows(report: &Report, flow: &Flow, backup: &[bool]) -> Vec<SubflowOutcome> {
    let since = |at: Time| at.since(Time::ZERO + flow.start).as_secs_f64();
    let of = |(number, subflow): (usize, &SubflowReport)| {
        let tally = &subflow.tally;
        Some(SubflowOutcome {
            subflow: number,
            path: flow.numbers[number],
            backup: backup.get(number).copied().unwrap_or(false),
            established_s: since(tally.established?),
            bytes: Some(tally.bytes),
            goodput_mbps: None,
            retransmits: tally.retransmits.into(),
            retransmits_slow_start: tally.exit.map_or(tally.retransmits, |exit| exit.2).into(),
            slow_start_exit_s: tally.exit.map(|exit| since(exit.0)),
            cwnd_at_slow_start_exit: tally.exit.map(|exit| exit.1),
            cwnd_at_end: subflow.cwnd,
            srtt: f64::from(subflow.srtt_us) * 1e-6,
            losses: tally.losses,
            first_loss_s: tally.first_loss.map(since),
        })
    };
    report.subflows.iter().enumerate().filter_map(of).collect()
}
