//! What held the subflows of a sender back, from samples of their state and from the kernel's times
//! (tcp_get_info_chrono_stats).

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
    /// The kernel's times: receive window and send buffer.
    counted: BTreeMap<(Ipv4Addr, u16), (Span, Span)>,
}

impl Limits {
    /// Adds a sample, `elapsed` after the one before.
    pub(super) fn add(&mut self, state: &State<'_>, elapsed: Span) {
        for (index, (subflow, progress)) in state.subflows.iter().zip(state.progress).enumerate() {
            let end = (subflow.local, subflow.remote_port);
            let times = self.sampled.entry(end).or_default();
            let time = state.limit(index, times);
            *time = *time + elapsed;
            let counted = (progress.receive_window, progress.send_buffer);
            self.counted.insert(end, counted);
        }
    }

    /// Times of the subflows at the local addresses that `is_here` accepts.
    pub(crate) fn times(&self, is_here: impl Fn(Ipv4Addr) -> bool) -> LimitedTimes {
        let here = self
            .sampled
            .iter()
            .filter(|((local, _), _)| is_here(*local));
        let all: Vec<LimitedTimes> = here
            .map(|(end, sampled)| {
                let (receive_window, send_buffer) = self.counted[end];
                combined(sampled, receive_window, send_buffer)
            })
            .collect();
        LimitedTimes::sum(&all)
    }
}

/// Sampled times with the kernel's times in place of a part of them. The kernel counts the send buffer of TCP where the write
/// queue is empty and the congestion window has room; of MPTCP it would count the connection's window, too, so the samples decide.
fn combined(sampled: &LimitedTimes, receive_window: Span, send_buffer: Span) -> LimitedTimes {
    let receive_window = receive_window.min(sampled.congestion_window);
    let is_counted = sampled.scheduler == Span::ZERO && sampled.receive_window == Span::ZERO;
    let send_buffer = match is_counted {
        true => send_buffer.min(sampled.send_buffer),
        false => sampled.send_buffer,
    };
    LimitedTimes {
        congestion_window: sampled.congestion_window - receive_window
            + (sampled.send_buffer - send_buffer),
        receive_window: sampled.receive_window + receive_window,
        send_buffer,
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
                send_buffer: Span::from_secs(1),
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

    /// The kernel's times replace a part of the samples', and are never more.
    #[test]
    fn the_kernels_times_replace_those_of_samples() {
        let span = Span::from_millis;
        let sampled = LimitedTimes {
            congestion_window: span(60),
            send_buffer: span(40),
            ..LimitedTimes::default()
        };
        let found = combined(&sampled, span(20), span(30));
        let expected = LimitedTimes {
            congestion_window: span(50),
            receive_window: span(20),
            send_buffer: span(30),
            ..LimitedTimes::default()
        };
        assert_eq!(found, expected);
        assert_eq!(
            combined(&sampled, span(99), span(99)).total(),
            sampled.total()
        );
    }
}
