//! Time series of a transfer.

use std::net::IpAddr;
use std::sync::Arc;

use netsim::Time;
use scenario::ConnectionSpec;
use scenario::sample::SubflowSample;

use super::outcome::{begin_of_run, path_of};
use super::transfer::Observation;

/// Counters of a subflow at a tick.
#[derive(Clone, Copy)]
struct Counted {
    time: Time,
    bytes: u64,
    retransmits: u32,
}

/// A sample of each subflow at each tick, in order of time. Rates and counts are those since the tick before; of a new subflow
/// since the begin of the connection.
pub(crate) fn subflows(
    connection: &ConnectionSpec,
    observed: &Observation,
    servers: &[IpAddr],
) -> Vec<SubflowSample> {
    let begin = begin_of_run(connection, observed);
    let name: Arc<str> = connection.name.as_str().into();
    let mut before = vec![
        Counted {
            time: observed.start,
            bytes: 0,
            retransmits: 0,
        };
        servers.len()
    ];
    let mut samples = Vec::new();
    for tick in &observed.ticks {
        for (state, bytes) in &tick.subflows {
            let Some(path) = path_of(state.local, connection.protocol, servers) else {
                continue;
            };
            let now = Counted {
                time: tick.time,
                bytes: *bytes,
                retransmits: state.retransmits,
            };
            let earlier = std::mem::replace(&mut before[path], now);
            let seconds = now.time.since(earlier.time).as_secs_f64();
            let acknowledged = now.bytes.saturating_sub(earlier.bytes);
            samples.push(SubflowSample {
                time_s: tick.time.since(begin).as_secs_f64(),
                connection: name.clone(),
                number: 1,
                subflow: path as u32 + 1,
                cwnd_segments: state.cwnd,
                ssthresh_segments: state.ssthresh,
                srtt_s: state.srtt.as_secs_f64(),
                in_flight_segments: state.flight,
                goodput_mbps: match seconds > 0.0 {
                    true => acknowledged as f64 * 8e-6 / seconds,
                    false => 0.0,
                },
                retransmits: now.retransmits.saturating_sub(earlier.retransmits).into(),
            });
        }
    }
    samples
}
