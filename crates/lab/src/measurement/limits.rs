//! What held the subflows of a sender back, from samples of their state and from the kernel's time of the receive window
//! (tcp_get_info_chrono_stats).
//!
//! The kernel's time of the send buffer is not used: it needs a write that found the buffer full (SOCK_NOSPACE), which the lab's
//! application avoids, and for MPTCP it includes the connection's receive window.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use netsim::Span;
use scenario::Protocol;
use transport::LimitedTimes;

use super::socket::{Progress, Subflow};

/// A sample of a connection.
pub(super) struct State<'a> {
    pub(super) protocol: Protocol,
    pub(super) subflows: &'a [Subflow],
    pub(super) progress: &'a [Progress],
    /// Whether the application has data that the socket has not taken.
    pub(super) is_blocked: bool,
    /// Number of bytes that MPTCP has not given to a subflow.
    pub(super) unassigned: u64,
}

/// Times of the subflows, by local address and remote port.
#[derive(Clone, Debug, Default)]
pub(crate) struct Limits {
    /// By the states of the samples. The congestion window's include the receive windows of the subflows.
    sampled: BTreeMap<(Ipv4Addr, u16), LimitedTimes>,
    /// The kernel's times of the receive window.
    counted: BTreeMap<(Ipv4Addr, u16), Span>,
}

impl Limits {
    /// Adds a sample, `elapsed` after the one before.
    pub(super) fn add(&mut self, state: &State<'_>, elapsed: Span) {
        for (index, (subflow, progress)) in state.subflows.iter().zip(state.progress).enumerate() {
            let end = (subflow.local, subflow.remote_port);
            let times = self.sampled.entry(end).or_default();
            let time = state.limit(index, times);
            *time = *time + elapsed;
            self.counted.insert(end, progress.receive_window);
        }
    }

    /// Times of the subflows at the local addresses that `is_here` accepts.
    pub(crate) fn times(&self, is_here: impl Fn(Ipv4Addr) -> bool) -> LimitedTimes {
        let here = self
            .sampled
            .iter()
            .filter(|((local, _), _)| is_here(*local));
        let all: Vec<LimitedTimes> = here
            .map(|(end, sampled)| combined(sampled, self.counted[end]))
            .collect();
        LimitedTimes::sum(&all)
    }
}

/// Sampled times, in which the kernel's time of the receive window is a part of the congestion window's.
fn combined(sampled: &LimitedTimes, receive_window: Span) -> LimitedTimes {
    let receive_window = receive_window.min(sampled.congestion_window);
    LimitedTimes {
        congestion_window: sampled.congestion_window - receive_window,
        receive_window: sampled.receive_window + receive_window,
        ..*sampled
    }
}

impl State<'_> {
    /// The time that a subflow's state belongs to.
    fn limit<'t>(&self, index: usize, times: &'t mut LimitedTimes) -> &'t mut Span {
        let (subflow, progress) = (&self.subflows[index], &self.progress[index]);
        let is_mptcp = self.protocol == Protocol::Mptcp;
        let others_wait = (self.progress.iter().enumerate())
            .any(|(other, progress)| other != index && progress.unsent > 0);
        if progress.unsent > 0 || subflow.flight >= subflow.cwnd {
            &mut times.congestion_window
        } else if others_wait {
            &mut times.scheduler
        } else if is_mptcp && self.unassigned > 0 {
            &mut times.receive_window
        } else if self.is_blocked {
            &mut times.send_buffer
        } else {
            &mut times.application
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subflow(port: u16, flight: u32) -> Subflow {
        Subflow {
            local: Ipv4Addr::LOCALHOST,
            remote_port: port,
            cwnd: 10,
            ssthresh: None,
            srtt: Span::ZERO,
            flight,
            state: 0,
            retransmits: 0,
        }
    }

    /// Time of a sample of 1 ms of the first subflow, by its limit.
    fn limit(
        protocol: Protocol,
        flights: &[u32],
        unsent: &[u32],
        blocked: bool,
        unassigned: u64,
    ) -> LimitedTimes {
        let subflows: Vec<Subflow> = (1..)
            .zip(flights)
            .map(|(port, flight)| subflow(port, *flight))
            .collect();
        let progress: Vec<Progress> = (unsent.iter())
            .map(|unsent| Progress {
                acknowledged: 0,
                unsent: *unsent,
                receive_window: Span::ZERO,
            })
            .collect();
        let state = State {
            protocol,
            subflows: &subflows,
            progress: &progress,
            is_blocked: blocked,
            unassigned,
        };
        let mut limits = Limits::default();
        limits.add(&state, Span::from_millis(1));
        limits.sampled.retain(|(_, port), _| *port == 1);
        limits.times(|_| true)
    }

    #[test]
    fn each_limit_of_a_sample() {
        use Protocol::{Mptcp, Tcp};
        let ms = Span::from_millis(1);
        let none = LimitedTimes::default();
        let window = LimitedTimes {
            congestion_window: ms,
            ..none
        };
        assert_eq!(
            limit(Tcp, &[10], &[0], true, 0),
            window,
            "the window is full"
        );
        assert_eq!(
            limit(Tcp, &[5], &[1448], true, 0),
            window,
            "a burst is deferred"
        );
        let buffer = LimitedTimes {
            send_buffer: ms,
            ..none
        };
        assert_eq!(limit(Tcp, &[5], &[0], true, 0), buffer);
        let application = LimitedTimes {
            application: ms,
            ..none
        };
        assert_eq!(limit(Tcp, &[5], &[0], false, 0), application);
        let scheduler = LimitedTimes {
            scheduler: ms,
            ..none
        };
        assert_eq!(limit(Mptcp, &[5, 10], &[0, 1448], true, 9), scheduler);
        let receive = LimitedTimes {
            receive_window: ms,
            ..none
        };
        assert_eq!(limit(Mptcp, &[5, 10], &[0, 0], true, 9), receive);
    }

    /// The kernel's time is a part of the congestion window's, and never more.
    #[test]
    fn the_kernels_time_of_the_receive_window() {
        let span = Span::from_millis;
        let sampled = LimitedTimes {
            congestion_window: span(60),
            send_buffer: span(40),
            ..LimitedTimes::default()
        };
        let expected = LimitedTimes {
            congestion_window: span(40),
            receive_window: span(20),
            send_buffer: span(40),
            ..LimitedTimes::default()
        };
        assert_eq!(combined(&sampled, span(20)), expected);
        assert_eq!(combined(&sampled, span(99)).total(), sampled.total());
    }
}
