//! Stale subflows: in-flight data without an ACK for several intervals of MPTCP's retransmission timer (net/mptcp/pm.c:
//! mptcp_pm_subflow_chk_stale).

use super::{Life, Sender};
use netsim::Time;

/// A subflow without an ACK for more intervals than this is stale (net.mptcp.stale_loss_cnt), if another has fewer than one less.
pub(crate) const STALE: u32 = 4;

/// Intervals of the retransmission timer without an ACK of a subflow.
#[derive(Debug, Default)]
pub(crate) struct Stale {
    pub(crate) intervals: u32,
    /// When the last ACK had come at the interval before.
    last_ack: Time,
}

impl Stale {
    #[cfg(test)]
    pub(crate) fn intervals(&self) -> u32 {
        self.intervals
    }
}

impl Sender {
    /// Nothing is in flight or waits to be sent (tcp_rtx_and_write_queues_empty).
    pub(crate) fn is_idle(&self) -> bool {
        self.out() == 0 && self.queue.is_empty()
    }

    /// Called once an interval, with data in flight. Returns whether there was no ACK for too many.
    pub(crate) fn becomes_stale(&mut self) -> bool {
        let stale = &mut self.stale;
        if stale.intervals > 0 && stale.last_ack != self.last_ack {
            stale.intervals = 0;
            return false;
        }
        stale.last_ack = self.last_ack;
        stale.intervals += 1;
        stale.intervals > STALE && self.life == Life::Open
    }
}
