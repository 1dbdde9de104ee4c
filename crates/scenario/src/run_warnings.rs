//! Warnings about the results of a run.

use crate::connection::{ConnectionSpec, Protocol};
use crate::draw::{Drawn, Flow};
use crate::limited::{Cause, Limited};
use crate::outcome::ConnectionOutcome;
use crate::scenario::Scenario;
use crate::transfers::Transfers;
use crate::units;
use crate::warning::{
    BUFFERS, Warning, WarningKind, about, of_drawn, receive_buffer, unfinished_text,
};

/// All warnings about a run with these results.
#[must_use]
pub fn of_run(
    scenario: &Scenario,
    drawn: &Drawn,
    connections: &[ConnectionOutcome],
    transfers: &[Transfers],
) -> Vec<Warning> {
    let mut warnings = of_drawn(scenario, drawn);
    // What a run shows of its buffers replaces the estimate, of which it may be too short.
    warnings.retain(|warning| !BUFFERS.contains(&warning.kind));
    for (number, spec) in scenario.connections.iter().enumerate() {
        let flows = drawn.flows.iter().zip(connections);
        let of_spec = flows.filter(|(flow, _)| flow.connection == number);
        if let Some((_, connection)) = of_spec.clone().find(|(_, c)| is_held_back(c)) {
            warnings.extend(small_buffer_of_run(spec, &connection.limited));
        }
        warnings.extend(idle_subflows(spec, of_spec));
    }
    let unfinished = transfers.iter().filter(|of_name| of_name.unfinished > 0);
    warnings.extend(unfinished.map(|of_name| Warning {
        kind: WarningKind::UnfinishedTransfers,
        connection: Some(of_name.name.clone()),
        text: unfinished_text(of_name.unfinished, of_name.count),
    }));
    warnings
}

/// Share of the time of a connection from which on a buffer that held it back is small.
const HELD_BACK: f64 = 0.5;

/// Whether a buffer held a connection back for half of its time.
fn is_held_back(connection: &ConnectionOutcome) -> bool {
    let cause = connection.limited.cause();
    cause.is_some_and(|(cause, share)| share >= HELD_BACK && cause.is_buffer())
}

/// The warning about the buffer that held a connection back.
fn small_buffer_of_run(spec: &ConnectionSpec, limited: &Limited) -> Option<Warning> {
    let line = limited.line()?;
    let warning = |kind, size, key| {
        let text = format!(
            "{line}, which is {} at most: set a larger `{key}`",
            units::show_bytes(size)
        );
        about(spec, kind, text)
    };
    match limited.cause()?.0 {
        Cause::ReceiveWindow => Some(warning(
            WarningKind::SmallReceiveBuffer,
            receive_buffer(spec),
            "receive_window",
        )),
        Cause::SendBuffer => Some(warning(
            WarningKind::SmallSendBuffer,
            spec.send_buffer_bytes().into(),
            "send_buffer",
        )),
        Cause::Scheduler | Cause::Application => None,
    }
}

/// The warning about subflows that were not established or sent nothing, of the connections of a name; a backup need not send.
fn idle_subflows<'a>(
    spec: &ConnectionSpec,
    of_spec: impl Iterator<Item = (&'a Flow, &'a ConnectionOutcome)> + Clone,
) -> Option<Warning> {
    if spec.protocol == Protocol::Udp {
        return None;
    }
    let count = of_spec.clone().count();
    let mut idle = of_spec.filter_map(|(flow, connection)| idle_text(flow, connection));
    let mut text = idle.next()?;
    if count > 1 {
        text += &format!(
            " (of {count} connections {} have idle subflows)",
            1 + idle.count()
        );
    }
    Some(about(spec, WarningKind::IdleSubflows, text))
}

/// Text about the idle subflows of a connection.
fn idle_text(flow: &Flow, connection: &ConnectionOutcome) -> Option<String> {
    let (joined, wanted) = (connection.subflows.len(), flow.paths.len());
    let remedy = "a path may be down, or the transfer too short";
    if joined < wanted {
        let were = if wanted == 1 {
            "subflow was"
        } else {
            "subflows were"
        };
        return Some(format!("{joined} of {wanted} {were} established: {remedy}"));
    }
    let idle: Vec<String> = (connection.subflows.iter())
        .filter(|subflow| subflow.bytes == Some(0) && !subflow.backup)
        .map(|subflow| subflow.subflow.to_string())
        .collect();
    let subflows = if idle.len() == 1 {
        "subflow"
    } else {
        "subflows"
    };
    (!idle.is_empty()).then(|| format!("{subflows} {} sent no data: {remedy}", idle.join(", ")))
}
