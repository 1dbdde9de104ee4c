//! Limits of a run: memory, number of events, and the clock of the network.

use std::sync::atomic::{AtomicBool, Ordering};

use netsim::{Span, Time};
use topology::{Graph, Queue};
use transport::{Profile, Simulation};

use super::recording::Recording;
use crate::error::Error;
use crate::scenario::Scenario;

/// Number of events between two checks of the limits.
const CHECK_INTERVAL: u64 = if cfg!(test) { 1 << 10 } else { 1 << 20 };
/// Largest number of successive checks at one instant: many connections in step send a million packets at one instant.
const MAX_CHECKS_AT_AN_INSTANT: u32 = 64;
/// Largest number of packets in flight, in queues and on lines: 1 to 2 GB.
const MAX_PACKETS: u64 = if cfg!(test) { 1 << 14 } else { 1 << 24 };
/// Largest number of rows of a trace, and of packets of a capture: 1 to 2 GB each.
const MAX_RECORDS: usize = if cfg!(test) { 1 << 12 } else { 1 << 24 };

/// Limits of a run that its caller sets, besides those of memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits<'a> {
    /// Largest number of events in all.
    max_events: u64,
    /// The run ends once this is set.
    cancelled: Option<&'a AtomicBool>,
}

impl<'a> Limits<'a> {
    /// This largest number of events.
    pub(super) fn events(max_events: u64) -> Self {
        Self {
            max_events,
            cancelled: None,
        }
    }

    /// Any number of events, until `cancelled` is set.
    pub(super) fn cancelled_by(cancelled: &'a AtomicBool) -> Self {
        Self {
            cancelled: Some(cancelled),
            ..Self::events(u64::MAX)
        }
    }

    /// Runs a simulation until `stop`, within the limits.
    pub(super) fn run_until<O: Recording>(
        self,
        simulation: &mut Simulation<O>,
        stop: Time,
    ) -> Result<(), Error> {
        let max_events = self.max_events;
        let (mut last_check, mut checks) = (simulation.now(), 0);
        loop {
            if self
                .cancelled
                .is_some_and(|flag| flag.load(Ordering::Relaxed))
            {
                return Err(Error::whole("cancelled"));
            }
            let remaining = max_events - simulation.events();
            if simulation.run_for(stop, remaining.min(CHECK_INTERVAL)) {
                return Ok(());
            }
            let (now, packets) = (simulation.now(), simulation.network().inside());
            let problem = if packets > MAX_PACKETS {
                format!(
                    "{packets} packets are in flight: shorten queues and delays, or lower rates"
                )
            } else if simulation.observer().rows() > MAX_RECORDS {
                format!(
                    "a trace has more than {MAX_RECORDS} rows: trace a shorter run, or fewer connections"
                )
            } else if simulation.observer().packets() > MAX_RECORDS {
                format!(
                    "a capture has more than {MAX_RECORDS} packets: capture a shorter run, or fewer connections"
                )
            } else if remaining <= CHECK_INTERVAL {
                format!("more than {max_events} events")
            } else if checks == MAX_CHECKS_AT_AN_INSTANT {
                "time does not advance: give each path a delay or a rate".into()
            } else {
                checks = if now == last_check { checks + 1 } else { 0 };
                last_check = now;
                continue;
            };
            return Err(Error::whole(format!("after {now} {problem}")));
        }
    }
}

/// Checks that every event is before the horizon of the network's clock. The last packet of a queue leaves after all
/// others have been sent.
pub(super) fn check_horizon(
    scenario: &Scenario,
    graph: &Graph,
    horizon: Time,
) -> Result<(), Error> {
    let header = u32::from(Profile::linux().header);
    let sizes = (scenario.connections.iter()).map(|c| c.packet.max(c.mss + header));
    let largest = u128::from(sizes.max().unwrap_or(0));
    for link in graph.links() {
        let properties = &link.properties;
        let queued_bytes = match properties.queue {
            Queue::DropTailPackets(packets) => u128::from(packets) * largest,
            Queue::DropTailBytes(bytes) | Queue::Policer { burst: bytes, .. } => bytes.into(),
            // These drop a packet when its transmission is due, and not later.
            _ => 0,
        };
        let transmission = match (properties.rate, &properties.rate_trace) {
            (Some(rate), _) => {
                8_000_000_000 * (queued_bytes + 2 * largest) / u128::from(rate.bits_per_second())
            }
            // Each repetition of a trace has room for at least a kilobyte.
            (None, Some(trace)) => largest.div_ceil(1000) * u128::from(trace.length().as_nanos()),
            (None, None) => 0,
        };
        let reorder = properties.reorder.as_ref();
        let reorder_delay = reorder.map_or(Span::ZERO, |reorder| reorder.delay);
        let jitter = properties.jitter.unwrap_or(Span::ZERO);
        let detour = (properties.detour).map_or(Span::ZERO, |detour| detour.delay());
        let latest = [
            scenario.stop,
            properties.delay,
            reorder_delay,
            jitter,
            detour,
        ];
        let latest = latest.map(|span| u128::from(span.as_nanos()));
        if latest.into_iter().sum::<u128>() + transmission >= u128::from(horizon.as_nanos()) {
            let (links, hours) = (graph.links().len(), horizon.as_secs_f64() / 3600.0);
            return Err(Error::whole(format!(
                "a packet might leave `{}` after {hours:.0} h, where the clock of {links} links ends: lower `stop`, or \
                 shorten the queue",
                link.name,
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;
