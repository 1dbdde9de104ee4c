//! Results of connections and UDP sources.

use super::Simulation;
use crate::connection::send::SlowStartTotals;
use crate::subflow::sender::{Counters, LimitedTimes};
use crate::trace::{Observer, View};
use netsim::{Span, Time};

/// Results of a connection.
#[derive(Clone, Debug)]
pub struct Report {
    /// Time of the first SYN.
    pub start: Time,
    /// Time at which the last byte was acknowledged; none: not complete.
    pub completion: Option<Time>,
    /// Of replies: time from the write of each until its last byte was acknowledged, in order.
    pub replies: Vec<Span>,
    /// Bytes of the stream acknowledged in order.
    pub bytes: u64,
    /// Sums over the subflows when the last one left slow start; none: not all have.
    pub slow_start_exit: Option<SlowStartTotals>,
    /// Results of each subflow.
    pub subflows: Vec<SubflowReport>,
}

/// Results of a subflow.
#[derive(Clone, Copy, Debug)]
pub struct SubflowReport {
    /// Counters.
    pub counters: Counters,
    /// Congestion window at the end, segments.
    pub cwnd: u32,
    /// Smoothed RTT at the end, µs.
    pub srtt_us: u32,
    /// Times that it was held back, by the limit, from its establishment until the connection was complete.
    pub limited: LimitedTimes,
}

/// Results of a UDP source.
#[derive(Clone, Copy, Debug)]
pub struct UdpReport {
    /// Number of datagrams sent.
    pub sent: u64,
    /// Number of datagrams that arrived.
    pub received: u64,
}

/// State of a subflow during a run.
#[derive(Clone, Copy, Debug)]
pub struct SubflowState {
    /// Whether the subflow is established, and the connection is not complete.
    pub is_open: bool,
    /// State of the sender.
    pub view: View,
    /// Bytes of payload acknowledged on the subflow.
    pub acknowledged: u64,
    /// Number of segments retransmitted.
    pub retransmits: u64,
}

impl<O: Observer> Simulation<O> {
    /// State of each subflow of a connection.
    pub fn subflow_states(&self, number: usize) -> impl Iterator<Item = SubflowState> + '_ {
        let connection = &self.connections[number];
        let is_complete = connection.application.completion.is_some();
        (connection.send.subflows.iter()).map(move |sender| SubflowState {
            is_open: sender.counters.established.is_some() && !is_complete,
            view: sender.view(&connection.send.stream.coupled),
            acknowledged: sender.scoreboard.una(),
            retransmits: sender.counters.retransmits.into(),
        })
    }

    /// Results of a connection so far.
    pub fn report(&self, number: usize) -> Report {
        let connection = &self.connections[number];
        let (send, application) = (&connection.send, &connection.application);
        let open = send
            .subflows
            .iter()
            .filter(|s| s.counters.established.is_some());
        let all_left = open
            .clone()
            .all(|sender| sender.counters.slow_start_exit.is_some());
        let subflows = send.subflows.iter().enumerate();
        let subflows = subflows
            .map(|(i, sender)| SubflowReport {
                counters: Counters {
                    bytes: sender.scoreboard.una(),
                    ..sender.counters
                },
                cwnd: application
                    .cwnd_at_end
                    .get(i)
                    .copied()
                    .unwrap_or(sender.tcp.cwnd),
                srtt_us: sender.rtt.srtt(),
                limited: sender.limits.times(self.now()),
            })
            .collect();
        Report {
            start: connection.spec.start,
            completion: application.completion,
            replies: application.replies.clone(),
            bytes: send.stream.una,
            slow_start_exit: send.stream.slow_start_exit.filter(|_| all_left),
            subflows,
        }
    }

    /// Results of a UDP source so far.
    pub fn udp_report(&self, number: usize) -> UdpReport {
        let udp = &self.udp[number];
        UdpReport {
            sent: udp.sent,
            received: udp.received,
        }
    }
}
