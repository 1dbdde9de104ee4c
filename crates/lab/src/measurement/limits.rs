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
        let here = self.sampled.iter().filter(|((local, _), _)| is_here(*local));
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
