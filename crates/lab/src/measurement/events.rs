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

/// Trace rows and credits of one connection, whose sender has the local port `port`. `subflow_of` returns the subflow with a remote
/// port. `start` is the start of the run on CLOCK_MONOTONIC, ns.
pub(crate) fn rows_and_credits(
    events: &[lisa_event],
    name: &str,
    port: u16,
    start: u64,
    subflow_of: impl Fn(u16) -> Option<usize>,
) -> (Vec<Row>, Vec<Credit>) {
    let Some(first) = events
        .iter()
        .find(|e| is(e, kind::LISA_EVENT_START) && e.local_port == port)
    else {
        return Default::default();
    };
    let connection: Arc<str> = name.into();
    let id = (first.connection.socket, first.connection.token);
    let seconds = |e: &lisa_event| e.time.saturating_sub(start) as f64 / 1e9;
    // The slot of a closed subflow is used again, so the map is updated by the events.
    let mut subflow_in: HashMap<u8, usize> = HashMap::new();
    let (mut rows, mut credits) = (Vec::new(), Vec::<Credit>::new());
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
            (kind::LISA_EVENT_START, Some(from)) if e.credit > 0 => credits.push(Credit {
                taken: seconds(e),
                connection: name.into(),
                to: subflow,
                from,
                segments: e.credit,
                settled: None,
            }),
            (kind::LISA_EVENT_SETTLED, Some(to)) => {
                let open = credits
                    .iter_mut()
                    .rfind(|c| (c.from, c.to) == (subflow, to));
                if let Some(credit) = open {
                    credit.settled = Some(Settled {
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
        rows.push(Row {
            time: seconds(e),
            connection: connection.clone(),
            subflow,
            cwnd: e.cwnd,
            ssthresh: (e.ssthresh < i32::MAX as u32).then_some(e.ssthresh),
            srtt: f64::from(e.srtt8) / 8e6,
            flight: e.flight,
            phase: phase(e.phase),
        });
    }
    (rows, credits)
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
