//! State of loss detection and recovery (fields of struct tcp_sock). `subflow/recovery` has what acts on it.

use crate::packet::sack_blocks::Blocks;
use std::collections::VecDeque;

/// Duplicate ACKs, or segments beyond a gap, that tell of a loss (RFC 5681, 3.2).
pub(in crate::subflow) const THRESHOLD: u32 = 3;

/// Segments that were sent again at once.
#[derive(Clone, Copy, Debug)]
pub(in crate::subflow) struct Resent {
    /// When, nanoseconds.
    pub(in crate::subflow) at: u64,
    /// First byte of the subflow, and the one after the last.
    pub(in crate::subflow) seq: u64,
    pub(in crate::subflow) end: u64,
    /// The next byte then that had never been sent.
    pub(in crate::subflow) nxt: u64,
}

/// The most recently sent segment that has arrived (RFC 8985, 6.2, step 2).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rack {
    /// When it was sent, ns.
    pub(in crate::subflow) sent_at: u64,
    /// Byte after its last one.
    pub(in crate::subflow) end: u64,
    /// Its round trip, ns.
    pub(in crate::subflow) rtt: u64,
}

/// A reduction of the window that may turn out to be a mistake.
#[derive(Clone, Copy, Debug)]
pub(in crate::subflow) struct Undo {
    /// First unacknowledged byte at its begin (undo_marker).
    pub(in crate::subflow) marker: u64,
    /// Retransmissions since then that the receiver has not reported as duplicates; -1: none was sent (undo_retrans).
    pub(in crate::subflow) retransmissions: i32,
}

/// State of loss detection and recovery.
#[derive(Debug, Default)]
pub(crate) struct Recovery {
    /// Recovery ends when all before this byte is acknowledged.
    pub(in crate::subflow) high_seq: u64,
    /// Window before the reduction, segments.
    pub(in crate::subflow) prior_cwnd: u32,
    /// Slow start threshold before the reduction, segments; 0: there is nothing to return to.
    pub(in crate::subflow) prior_ssthresh: u32,
    /// Segments delivered since the begin of the reduction.
    pub(in crate::subflow) prr_delivered: u32,
    /// Segments sent since then.
    pub(crate) prr_out: u32,
    pub(in crate::subflow) undo: Option<Undo>,
    /// When the first retransmission was sent, ns.
    pub(in crate::subflow) retrans_stamp: u64,
    /// F-RTO is in progress (RFC 5682).
    pub(in crate::subflow) frto: bool,
    /// Byte after the probe of the tail; 0: no probe is in flight.
    pub(crate) tlp_high_seq: u64,
    /// The probe is a retransmission.
    pub(in crate::subflow) tlp_retrans: bool,
    pub(in crate::subflow) rack: Rack,
    /// Reordering was observed.
    pub(in crate::subflow) reordering_seen: bool,
    /// Reordering degree, segments.
    pub(in crate::subflow) reordering: u32,
    /// RACK's reordering window beyond the first quarter of the least RTT, quarters (reo_wnd_steps - 1).
    pub(in crate::subflow) reordering_steps: u32,
    /// The window grows again when this byte is acknowledged: once a round trip.
    pub(in crate::subflow) dsack_round_end: u64,
    /// Recoveries after which the window shrinks again (reo_wnd_persist).
    pub(in crate::subflow) reordering_persist: u32,
    /// Segments before this byte that were sent once are marked, or need not be examined any more.
    pub(in crate::subflow) examined: u64,
    /// Number of segments marked lost so far (tp->lost).
    pub(in crate::subflow) lost_total: u32,
    /// No lost segment before this byte waits for its retransmission (retransmit_skb_hint).
    pub(in crate::subflow) retransmit_hint: u64,
    /// Retransmissions in the order of their sending.
    pub(in crate::subflow) retransmissions: VecDeque<Resent>,
    /// Byte after the highest one that was SACKed.
    pub(in crate::subflow) highest_sacked: u64,
    /// SACK blocks of the last ACK (recv_sack_cache).
    pub(in crate::subflow) last_sacks: Blocks,
    /// The window was reduced, and the next new segment carries CWR (ECN).
    pub(crate) reduced: bool,
    /// Timeouts since snd_una advanced.
    pub(crate) timeouts: u32,
}

impl Recovery {
    /// A segment has arrived (RFC 8985, 6.2, step 2).
    #[inline]
    pub(crate) fn rack_advance(&mut self, sent_at: u64, end: u64, rtt: u64) {
        self.rack.rtt = rtt;
        if (sent_at, end) > (self.rack.sent_at, self.rack.end) {
            (self.rack.sent_at, self.rack.end) = (sent_at, end);
        }
    }

    pub(in crate::subflow) fn threshold(&self) -> u32 {
        self.reordering.max(THRESHOLD)
    }
}
