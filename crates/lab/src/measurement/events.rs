//! Events of an algorithm during a run, and their trace rows and credits.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kernel::contract::{lisa_event, lisa_event_kind as kind, mpcc_phase};
use kernel::events::{Kinds, Listener};
use kernel::registry::Registered;
use scenario::trace::{Credit, Phase, Row, Settled};

use crate::error::Error;

/// Collects the events of these kinds until `done`. Calls `ready` when events are recorded.
pub(crate) fn collect(
    registered: &Registered,
    kinds: Kinds,
    ready: impl FnOnce(),
    done: &AtomicBool,
) -> Result<Vec<lisa_event>, Error> {
    let mut listener = Listener::new(registered, kinds)?;
    ready();
    let mut events = Vec::new();
    while !done.load(Ordering::Acquire) {
        events.extend(listener.poll(Duration::from_millis(50))?);
    }
    events.extend(listener.poll(Duration::ZERO)?);
    Ok(events)
}

/// The trace of one connection.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Trace {
    pub rows: Vec<Row>,
    pub credits: Vec<Credit>,
    /// For each credit whether it became void.
    pub void: Vec<bool>,
}

/// The trace of one connection, whose sender has the local port `port`. `subflow_of` returns the subflow with a remote
/// port. `start` is the start of the run on CLOCK_MONOTONIC, ns.
pub(crate) fn trace(
    events: &[lisa_event],
    name: &str,
    port: u16,
    start: u64,
    subflow_of: impl Fn(u16) -> Option<usize>,
) -> Trace {
    let Some(first) = events
        .iter()
        .find(|e| is(e, kind::LISA_EVENT_START) && e.local_port == port)
    else {
        return Trace::default();
    };
    let connection: Arc<str> = name.into();
    let id = (first.connection.socket, first.connection.token);
    let seconds = |e: &lisa_event| e.time.saturating_sub(start) as f64 / 1e9;
    // The slot of a closed subflow is used again, so the map is updated by the events.
    let mut subflow_in: HashMap<u8, usize> = HashMap::new();
    let mut trace = Trace::default();
    for e in events
        .iter()
        .filter(|e| (e.connection.socket, e.connection.token) == id)
    {
        if is(e, kind::LISA_EVENT_START) {
            if let Some(subflow) = subflow_of(e.remote_port) {
                subflow_in.insert(e.slot, subflow);
            }
        }
        let Some(&subflow) = subflow_in.get(&e.slot) else {
            continue;
        };
        let other = subflow_in.get(&e.other).copied();
        match (u32::from(e.kind), other) {
            (kind::LISA_EVENT_START, Some(from)) if e.credit > 0 => {
                trace.void.push(false);
                trace.credits.push(Credit {
                    taken: seconds(e),
                    connection: name.into(),
                    to: subflow,
                    from,
                    segments: e.credit,
                    settled: None,
                });
            }
            (kind::LISA_EVENT_VOID, Some(to)) => {
                if let Some(credit) = trace.last_credit(subflow, to) {
                    trace.void[credit] = true;
                }
            }
            (kind::LISA_EVENT_SETTLED, Some(to)) => {
                if let Some(credit) = trace.last_credit(subflow, to) {
                    trace.credits[credit].settled = Some(Settled {
                        time: seconds(e),
                        ignored: e.ignored,
                        sum_before: e.sum_before,
                        sum_after: e.sum_after,
                    });
                }
            }
            _ => {}
        }
        if is(e, kind::LISA_EVENT_VOID) {
            continue; // its state may be that of the borrower
        }
        trace.rows.push(Row {
            time: seconds(e),
            connection: connection.clone(),
            subflow,
            cwnd: e.cwnd,
            ssthresh: (e.ssthresh < i32::MAX as u32).then_some(e.ssthresh),
            srtt: f64::from(e.srtt8) / 8e6,
            rtt: None,
            published: None,
            flight: e.flight,
            phase: phase(e.phase),
        });
    }
    trace
}

impl Trace {
    /// Number of the last credit between these subflows.
    fn last_credit(&self, from: usize, to: usize) -> Option<usize> {
        let mut credits = self.credits.iter();
        credits.rposition(|credit| (credit.from, credit.to) == (from, to))
    }
}

fn phase(phase: u8) -> Phase {
    match phase.into() {
        mpcc_phase::MPCC_STANDBY => Phase::Standby,
        mpcc_phase::MPCC_SLOW_START => Phase::SlowStart,
        mpcc_phase::MPCC_AVOIDANCE => Phase::Avoidance,
        mpcc_phase::MPCC_RECOVERY => Phase::Recovery,
        _ => Phase::Absent,
    }
}

fn is(event: &lisa_event, kind: u32) -> bool {
    u32::from(event.kind) == kind
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of three joining subflows one settles, one withdraws its credit, and the run ends before the last is settled.
    #[test]
    fn a_credit_is_paid_or_void_or_open() {
        let event = |kind: u32, slot: u8, other: u8, credit: u32| lisa_event {
            kind: kind as u8,
            slot,
            other,
            credit,
            local_port: 80,
            remote_port: u16::from(slot),
            ..lisa_event::default()
        };
        let events = [
            event(kind::LISA_EVENT_START, 0, 9, 0),
            event(kind::LISA_EVENT_START, 1, 0, 10),
            event(kind::LISA_EVENT_SETTLED, 0, 1, 10),
            event(kind::LISA_EVENT_START, 2, 0, 10),
            event(kind::LISA_EVENT_VOID, 0, 2, 10),
            event(kind::LISA_EVENT_START, 3, 0, 10),
        ];
        let trace = trace(&events, "a", 80, 0, |port| Some(port.into()));
        let paid: Vec<bool> = (trace.credits.iter().map(|c| c.settled.is_some())).collect();
        assert_eq!(paid, [true, false, false]);
        assert_eq!(trace.void, [false, true, false]);
        assert_eq!(trace.rows.len(), 5);
    }
}
