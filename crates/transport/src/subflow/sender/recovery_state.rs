//! State of loss detection and recovery (fields of struct tcp_sock). The code is in `subflow/recovery`.

use crate::packet::sack_blocks::SackBlocks;
use std::collections::VecDeque;

/// Number of duplicate ACKs, or of SACKed segments beyond a gap, that indicate a loss (RFC 5681, 3.2).
pub(in crate::subflow) const THRESHOLD: u32 = 3;

/// Segments that were retransmitted at once.
#[derive(Clone, Copy, Debug)]
pub(in crate::subflow) struct Retransmission {
    /// Time of the retransmission, ns.
    pub(in crate::subflow) at: u64,
    /// Sequence number of the first byte.
    pub(in crate::subflow) seq: u64,
    /// Sequence number of the byte after the last one.
    pub(in crate::subflow) end: u64,
    /// snd_nxt at that time.
    pub(in crate::subflow) nxt: u64,
}

/// The most recently sent segment that was delivered (RFC 8985, 6.2, step 2).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rack {
    /// Time of its transmission, ns (rack.mstamp).
    pub(in crate::subflow) sent_at: u64,
    /// Byte after its last one (rack.end_seq).
    pub(in crate::subflow) end: u64,
    /// Its round-trip time, ns (rack.rtt_us).
    pub(in crate::subflow) rtt: u64,
}

/// A reduction of the window that may be undone.
#[derive(Clone, Copy, Debug)]
pub(in crate::subflow) struct Undo {
    /// snd_una when the reduction began (undo_marker).
    pub(in crate::subflow) marker: u64,
    /// Retransmissions since then that the receiver has not reported as duplicates; -1: none was sent (undo_retrans).
    pub(in crate::subflow) retransmissions: i32,
}

/// State of loss detection and recovery.
#[derive(Debug, Default)]
pub(crate) struct Recovery {
    /// End of the recovery: snd_nxt when it began (high_seq).
    pub(in crate::subflow) high_seq: u64,
    /// Window before the reduction, segments.
    pub(in crate::subflow) prior_cwnd: u32,
    /// Slow start threshold before the reduction, segments; 0: not to be restored.
    pub(in crate::subflow) prior_ssthresh: u32,
    /// Segments delivered since the reduction began.
    pub(in crate::subflow) prr_delivered: u32,
    /// Segments sent since the reduction began.
    pub(crate) prr_out: u32,
    pub(in crate::subflow) undo: Option<Undo>,
    /// Time of the first retransmission, ns; 0: none.
    pub(in crate::subflow) retrans_stamp: u64,
    /// F-RTO is in progress (RFC 5682).
    pub(in crate::subflow) frto: bool,
    /// snd_nxt when the loss probe was sent; 0: no probe is in flight.
    pub(crate) tlp_high_seq: u64,
    /// The loss probe is a retransmission.
    pub(in crate::subflow) tlp_retrans: bool,
    pub(in crate::subflow) rack: Rack,
    /// Reordering was observed.
    pub(in crate::subflow) reordering_seen: bool,
    /// Reordering degree, segments.
    pub(in crate::subflow) reordering: u32,
    /// RACK's reordering window beyond the first quarter of the minimum RTT, quarters (reo_wnd_steps - 1).
    pub(in crate::subflow) reordering_steps: u32,
    /// A DSACK widens the reordering window again when this byte is acknowledged: once a round trip.
    pub(in crate::subflow) dsack_round_end: u64,
    /// Number of recoveries after which the reordering window is reset (reo_wnd_persist).
    pub(in crate::subflow) reordering_persist: u32,
    /// All original transmissions before this byte are marked lost or need not be examined again.
    pub(in crate::subflow) examined: u64,
    /// Number of entries marked lost so far (tp->lost).
    pub(in crate::subflow) lost_total: u32,
    /// No lost segment before this byte waits for its retransmission (retransmit_skb_hint).
    pub(in crate::subflow) retransmit_hint: u64,
    /// Retransmissions in the order of transmission.
    pub(in crate::subflow) retransmissions: VecDeque<Retransmission>,
    /// Byte after the highest SACKed or acknowledged one (tcp_highest_sack_seq).
    pub(in crate::subflow) highest_sacked: u64,
    /// SACK blocks of the last ACK (recv_sack_cache).
    pub(in crate::subflow) last_sacks: SackBlocks,
    /// The next new segment carries CWR (ECN).
    pub(crate) reduced: bool,
    /// Timeouts since snd_una advanced.
    pub(crate) timeouts: u32,
}

impl Recovery {
    /// Updates RACK for a delivered segment (RFC 8985, 6.2, step 2; tcp_rack_advance).
    #[inline]
    pub(crate) fn rack_advance(&mut self, sent_at: u64, end: u64, rtt: u64) {
        self.rack.rtt = rtt;
        let is_latest =
            sent_at > self.rack.sent_at || sent_at == self.rack.sent_at && end > self.rack.end;
        if is_latest {
            (self.rack.sent_at, self.rack.end) = (sent_at, end);
        }
    }

    /// Number of SACKed segments that indicates a loss, with the reordering degree.
    pub(in crate::subflow) fn threshold(&self) -> u32 {
        self.reordering.max(THRESHOLD)
    }
}
