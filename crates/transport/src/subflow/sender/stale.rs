//! Stale subflows: data in flight without an ACK for several intervals of MPTCP's retransmission timer (net/mptcp/pm.c:
//! mptcp_pm_subflow_chk_stale).

use super::{Sender, SubflowState};
use netsim::Time;

/// Limit of intervals without an ACK, above which a subflow is stale (net.mptcp.stale_loss_cnt), if another subflow is
/// below this limit minus one.
pub(crate) const STALE_LOSS_COUNT: u32 = 4;

/// Intervals of the retransmission timer without an ACK of a subflow.
#[derive(Debug, Default)]
pub(crate) struct Stale {
    /// Number of consecutive intervals without an ACK.
    pub(crate) intervals: u32,
    /// Time of the last ACK, as of the interval before.
    last_ack: Time,
}

impl Sender {
    /// Whether no data is unacknowledged or unsent (tcp_rtx_and_write_queues_empty).
    pub(crate) fn is_idle(&self) -> bool {
        self.packets_out() == 0 && self.queue.is_empty()
    }

    /// Counts an interval, with data in flight. Returns whether the subflow is stale: too many intervals without an ACK.
    pub(crate) fn count_interval(&mut self) -> bool {
        let stale = &mut self.stale;
        if stale.intervals > 0 && stale.last_ack != self.last_ack {
            stale.intervals = 0;
            return false;
        }
        stale.last_ack = self.last_ack;
        stale.intervals += 1;
        stale.intervals > STALE_LOSS_COUNT && self.subflow_state == SubflowState::Open
    }
}
