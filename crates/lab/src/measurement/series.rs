//! Time series of a transfer.

use std::sync::Arc;

use netsim::Time;
use scenario::sample::SubflowSample;

use super::flow::ObservedFlow;

/// Counters of a subflow at a tick.
#[derive(Clone, Copy)]
struct Counted {
    time: Time,
    bytes: u64,
    retransmits: u32,
}

/// A sample of each subflow at each tick, in order of time. Rates and counts are those since the tick before; of a new subflow
/// since the begin of the connection.
pub(crate) fn subflows(of: &ObservedFlow<'_>) -> Vec<SubflowSample> {
    let name: Arc<str> = of.connection().name.as_str().into();
    let mut before = vec![
        Counted {
            time: of.observed.start,
            bytes: 0,
            retransmits: 0,
        };
        of.servers.len()
    ];
    let mut samples = Vec::new();
    for tick in &of.observed.ticks {
        for (state, bytes) in &tick.subflows {
            let Some(path) = of.path(state.local) else {
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
                time_s: tick.time.as_secs_f64(),
                connection: name.clone(),
                number: of.flow.number,
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

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use netsim::Span;
    use scenario::Scenario;
    use scenario::outcome::SubflowOutcome;
    use scenario::trace::{Credit, Settled};

    use super::*;
    use crate::measurement::events::Trace;
    use crate::measurement::outcome::count_credits;
    use crate::measurement::socket::Subflow;
    use crate::measurement::transfer::{Observation, Tick};

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn scenario() -> Scenario {
        let text = "stop = '9s'\n[topology]\nkind = 'shared-bottleneck'\nrate = '5Mbit'\nrtt = '40ms'\nqueue = 17\n\
                    [[connection]]\nprotocol = 'tcp'\nbytes = '30KB'";
        Scenario::parse(text, "a.toml").unwrap()
    }

    /// By hand: 125 000 bytes in 100 ms are 10 Mbit/s, and half of them in half the time as well.
    #[test]
    fn rates_are_of_the_interval_before() {
        let state = |retransmits| Subflow {
            local: Ipv4Addr::UNSPECIFIED,
            remote_port: 0,
            cwnd: 10,
            ssthresh: None,
            srtt: Span::from_millis(40),
            flight: 7,
            state: 0,
            retransmits,
        };
        let tick = |millis, bytes, retransmits| Tick {
            time: at(millis),
            subflows: vec![(state(retransmits), bytes)],
        };
        let observed = Observation {
            start: at(0),
            end: Some(at(150)),
            ticks: vec![tick(100, 125_000, 2), tick(150, 187_500, 5)],
            ..Observation::default()
        };
        let scenario = scenario();
        let samples = subflows(&ObservedFlow {
            scenario: &scenario,
            flow: &scenario.draw(1).unwrap().flows[0],
            servers: &[IpAddr::V4(Ipv4Addr::LOCALHOST)],
            observed: &observed,
        });
        let values: Vec<_> = (samples.iter())
            .map(|s| (s.time_s, s.subflow, s.goodput_mbps, s.retransmits))
            .collect();
        assert_eq!(values, [(0.1, 1, 10.0, 2), (0.15, 1, 10.0, 3)]);
        assert_eq!(samples[0].ssthresh_segments, None);
    }

    #[test]
    fn credits_count_at_both_ends() {
        let credit = |from, to, paid: bool| Credit {
            taken: 0.1,
            connection: "a".into(),
            to,
            from,
            segments: 10,
            settled: paid.then_some(Settled {
                time: 0.2,
                ignored: 0,
                sum_before: 20,
                sum_after: 20,
            }),
        };
        let subflow = |subflow| SubflowOutcome {
            subflow,
            ..SubflowOutcome::default()
        };
        let observed = Observation::default();
        let scenario = scenario();
        let mut outcome = crate::measurement::outcome::outcome(&ObservedFlow {
            scenario: &scenario,
            flow: &scenario.draw(1).unwrap().flows[0],
            servers: &[IpAddr::V4(Ipv4Addr::LOCALHOST)],
            observed: &observed,
        });
        outcome.subflows = vec![subflow(1), subflow(2), subflow(3)];
        let trace = Trace {
            rows: Vec::new(),
            credits: vec![credit(0, 1, true), credit(0, 2, false), credit(1, 2, false)],
            void: vec![false, true, false],
        };
        count_credits(&mut outcome, &trace);
        let of = |s: &SubflowOutcome| [s.credits_taken, s.credits_paid, s.credits_void];
        let subflows: Vec<_> = outcome.subflows.iter().map(of).collect();
        assert_eq!(subflows, [[0, 1, 1], [1, 0, 0], [2, 0, 0]]);
        let (taken, paid) = (outcome.credits_taken, outcome.credits_paid);
        assert_eq!([taken, paid, outcome.credits_void], [3, 1, 1]);
    }
}
