//! What connections came to.

use super::Simulation;
use crate::subflow::sender::Tally;
use crate::trace::Observer;
use netsim::Time;

/// What a connection came to.
#[derive(Clone, Debug)]
pub struct Report {
    /// When the first SYN was sent.
    pub start: Time,
    /// When the last byte was acknowledged; none where that did not happen.
    pub completion: Option<Time>,
    /// Bytes acknowledged in order.
    pub bytes: u64,
    /// When the last subflow left slow start, where all have: Σ of the windows with which avoidance begins, segments, and
    /// the segments sent again until then.
    pub exit: Option<(u32, u64)>,
    /// Each subflow.
    pub subflows: Vec<SubflowReport>,
}

/// What a subflow came to.
#[derive(Clone, Copy, Debug)]
pub struct SubflowReport {
    /// Its counts.
    pub tally: Tally,
    /// Window at the end, segments.
    pub cwnd: u32,
    /// Smoothed RTT at the end, µs.
    pub srtt_us: u32,
}

impl<O: Observer> Simulation<O> {
    /// What a connection has come to.
    pub fn report(&self, number: usize) -> Report {
        let connection = &self.connections[number];
        let (send, application) = (&connection.send, &connection.application);
        let open = send
            .subflows
            .iter()
            .filter(|s| s.tally.established.is_some());
        let all_left = open.clone().all(|sender| sender.tally.exit.is_some());
        let subflows = send.subflows.iter().enumerate();
        let subflows = subflows
            .map(|(i, sender)| SubflowReport {
                tally: Tally {
                    bytes: sender.scoreboard.una(),
                    ..sender.tally
                },
                cwnd: application
                    .cwnd_at_end
                    .get(i)
                    .copied()
                    .unwrap_or(sender.tcp.cwnd),
                srtt_us: sender.rtt.srtt(),
            })
            .collect();
        Report {
            start: connection.spec.start,
            completion: application.completion,
            bytes: send.stream.una,
            exit: send.stream.slow_start_exit.filter(|_| all_left),
            subflows,
        }
    }

    /// Datagrams that a UDP source sent, and that arrived.
    pub fn udp_report(&self, number: usize) -> (u64, u64) {
        let udp = &self.udp[number];
        (udp.sent, udp.received)
    }
}
