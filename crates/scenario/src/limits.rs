//! What a run must not outgrow: a memory, the clock of the network, the patience of whoever asked for so many events.

use netsim::{Span, Time};
use topology::{Graph, Queue};
use transport::{Observer, Profile, Quiet, Simulation};

use crate::capture::Watcher;
use crate::recorder::Recorder;
use crate::{Error, Scenario};

/// So many events of a run later it is looked at whether it still fits into a memory.
const LOOK: u64 = if cfg!(test) { 1 << 10 } else { 1 << 20 };
/// So often it may be looked while no time passes: many connections in step are a million packets at one instant.
const MOST_LOOKS: u32 = 64;
/// The most packets that are under way, and the most rows of a trace or packets of a capture: each takes a gigabyte or two.
const MOST_PACKETS: u64 = if cfg!(test) { 1 << 14 } else { 1 << 24 };
const MOST_ROWS: usize = if cfg!(test) { 1 << 12 } else { 1 << 24 };

/// Who keeps rows and packets, and how many.
pub(crate) trait Kept: Observer {
    fn rows(&self) -> usize;
    fn packets(&self) -> usize {
        0
    }
}

impl Kept for Quiet {
    fn rows(&self) -> usize {
        0
    }
}

impl Kept for Recorder {
    fn rows(&self) -> usize {
        self.rows()
    }
}

impl Kept for Watcher {
    fn rows(&self) -> usize {
        self.recorder.as_ref().map_or(0, Recorder::rows)
    }

    fn packets(&self) -> usize {
        self.packets.len()
    }
}

/// Runs until then, as long as that is possible.
pub(crate) fn run_until<O: Kept>(
    simulation: &mut Simulation<O>,
    stop: Time,
    events: u64,
) -> Result<(), Error> {
    let (mut before, mut looks) = (simulation.now(), 0);
    loop {
        let left = events - simulation.events();
        if simulation.run_for(stop, left.min(LOOK)) {
            return Ok(());
        }
        let (now, packets) = (simulation.now(), simulation.network().inside());
        let problem = if packets > MOST_PACKETS {
            format!("{packets} packets are under way: shorten queues and delays, or lower rates")
        } else if simulation.observer().rows() > MOST_ROWS {
            format!(
                "a trace has more than {MOST_ROWS} rows: trace a shorter run, or fewer connections"
            )
        } else if simulation.observer().packets() > MOST_ROWS {
            format!(
                "a capture has more than {MOST_ROWS} packets: capture a shorter run, or fewer connections"
            )
        } else if left <= LOOK {
            format!("more than {events} events")
        } else if looks == MOST_LOOKS {
            "no time passes: give each path a delay or a rate".into()
        } else {
            looks = if now == before { looks + 1 } else { 0 };
            before = now;
            continue;
        };
        return Err(Error::whole(format!("after {now} {problem}")));
    }
}

/// Whether all that may happen does so before the horizon of the network's clock. A queue's last packet leaves it when all
/// before it have been sent.
pub(crate) fn in_time(scenario: &Scenario, graph: &Graph, horizon: Time) -> Result<(), Error> {
    let header = u32::from(Profile::linux().header);
    let sizes = (scenario.connections.iter()).map(|c| c.packet.max(c.mss + header));
    let largest = u128::from(sizes.max().unwrap_or(0));
    for link in graph.links() {
        let properties = &link.properties;
        let waiting = match properties.queue {
            Queue::DropTailPackets(packets) => u128::from(packets) * largest,
            Queue::DropTailBytes(bytes) => bytes.into(),
            // These decide about a packet when it is its turn, and not before.
            _ => 0,
        };
        let sending = match (properties.rate, &properties.rate_trace) {
            (Some(rate), _) => {
                8_000_000_000 * (waiting + 2 * largest) / u128::from(rate.bits_per_second())
            }
            // Each repetition has room for a kilobyte at least.
            (None, Some(trace)) => largest.div_ceil(1000) * u128::from(trace.length().as_nanos()),
            (None, None) => 0,
        };
        let late = properties.reorder.as_ref();
        let late = late.map_or(Span::ZERO, |reorder| reorder.delay);
        let latest =
            [scenario.stop, properties.delay, late].map(|span| u128::from(span.as_nanos()));
        if latest.into_iter().sum::<u128>() + sending >= u128::from(horizon.as_nanos()) {
            let (links, hours) = (graph.links().len(), horizon.as_secs_f64() / 3600.0);
            return Err(Error::whole(format!(
                "a packet might leave `{}` after {hours:.0} h, where the clock of {links} links ends: lower `stop`, or \
                 shorten its queue",
                link.name,
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;
