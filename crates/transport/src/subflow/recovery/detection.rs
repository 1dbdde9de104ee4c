//! Loss detection by time (RACK, RFC 8985), by SACKed segments (FACK, Mathis and Mahdavi 1996) or by duplicate ACKs
//! (NewReno, RFC 6582).
//!
//! Original transmissions are in the order of their sending, and retransmissions have a queue of their own: RACK
//! examines only the heads of the two (Linux: tsorted_sent_queue).

use super::*;

impl Sender {
    /// Marks lost segments (tcp_identify_packet_loss). Sets `waits` if it has set the reordering timer. Returns whether
    /// a retransmission was marked lost.
    pub(super) fn detect_losses<O: Observer>(
        &mut self,
        env: &mut Env<O>,
        advanced: bool,
        waits: &mut bool,
    ) -> bool {
        if self.packets_out() == 0 {
            return false;
        }
        match self.profile.detection {
            // tcp_newreno_mark_lost
            Detection::DuplicateAcks => {
                let recovering = self.ca_state == State::Recovery;
                let threshold =
                    self.ca_state < State::Recovery && self.scoreboard.sacked_out >= THRESHOLD;
                if threshold || (recovering && advanced) {
                    self.scoreboard.split_after(0, 1);
                    if !self.scoreboard.at(0).is(flag::LOST) {
                        self.mark_lost(0);
                    }
                }
                false
            }
            Detection::Fack => {
                self.fack_detect_originals();
                self.fack_detect_retransmissions()
            }
            Detection::RackTlp => {
                let reordering_window = self.reordering_window();
                let wait = self.rack_detect_originals(env, reordering_window);
                let (lost, wait_again) = self.rack_detect_retransmissions(env, reordering_window);
                let wait = wait.max(wait_again);
                if wait > 0 {
                    *waits = true;
                    self.timer_purpose = TimerPurpose::Reordering;
                    env.timers
                        .set(self.timer, env.now + Span::from_nanos(wait) + TIMEOUT_MIN);
                }
                lost
            }
        }
    }

    /// RACK's reordering window, ns (RFC 8985, 6.2, step 4; tcp_rack_reo_wnd): a quarter of the minimum RTT, another
    /// quarter for each round trip with a DSACK, at most the smoothed RTT.
    pub(crate) fn reordering_window(&self) -> u64 {
        let r = &self.recovery;
        if !r.reordering_seen
            && (self.ca_state >= State::Recovery || self.scoreboard.sacked_out >= THRESHOLD)
        {
            return 0;
        }
        let quarters = u64::from(r.reordering_steps + 1);
        (u64::from(self.rtt.min_rtt) / 4 * quarters).min(u64::from(self.rtt.srtt())) * 1000
    }

    /// Marks lost original transmissions (tcp_rack_detect_loss). Returns the time until the rest may be lost, ns.
    fn rack_detect_originals<O: Observer>(&mut self, env: &Env<O>, reordering_window: u64) -> u64 {
        let rack = self.recovery.rack;
        let now = env.now.as_nanos();
        let mut wait = 0;
        let mut all = true;
        for index in self.scoreboard.find(self.recovery.examined)..self.scoreboard.len() {
            let skb = *self.scoreboard.at(index);
            if !skb.is(flag::SACKED | flag::LOST | flag::EVER_RETRANS) {
                if (skb.sent_at, skb.end) >= (rack.sent_at, rack.end) {
                    break;
                }
                let due = skb.sent_at + rack.rtt + reordering_window;
                if due <= now {
                    self.mark_lost(index);
                } else {
                    wait = wait.max(due - now);
                    all = false;
                }
            }
            if all {
                self.recovery.examined = skb.end;
            }
        }
        wait
    }

    /// Marks lost retransmissions (tcp_rack_detect_loss).
    fn rack_detect_retransmissions<O: Observer>(
        &mut self,
        env: &Env<O>,
        reordering_window: u64,
    ) -> (bool, u64) {
        let rack = self.recovery.rack;
        let now = env.now.as_nanos();
        let mut lost = false;
        while let Some((index, _)) = self.oldest_retransmission() {
            let copy = self.scoreboard.at(index);
            if (copy.sent_at, copy.end) >= (rack.sent_at, rack.end) {
                break;
            }
            let due = copy.sent_at + rack.rtt + reordering_window;
            if due > now {
                return (lost, due - now);
            }
            self.mark_lost(index);
            lost = true;
        }
        (lost, 0)
    }

    /// Marks original transmissions below [`fack_limit`](Self::fack_limit) lost (Linux until 4.x: tcp_mark_head_lost).
    fn fack_detect_originals(&mut self) {
        let Some(below) = self.fack_limit() else {
            return;
        };
        self.scoreboard.split(below);
        for index in self.scoreboard.find(self.recovery.examined)..self.scoreboard.find(below) {
            let skb = self.scoreboard.at(index);
            self.recovery.examined = skb.end;
            if !skb.is(flag::SACKED | flag::LOST | flag::EVER_RETRANS) {
                self.mark_lost(index);
            }
        }
    }

    /// Byte from which the highest SACKed byte is as many segments away as the reordering threshold.
    fn fack_limit(&self) -> Option<u64> {
        let mut left = self.recovery.threshold();
        let behind = self.scoreboard.find(self.recovery.highest_sacked);
        for skb in (0..behind).rev().map(|index| self.scoreboard.at(index)) {
            if left <= skb.count {
                let whole = u64::from(skb.count - left) * u64::from(skb.segment);
                return Some(skb.seq + whole);
            }
            left -= skb.count;
        }
        None
    }

    /// Marks retransmissions lost when a segment is acknowledged that was new after them. Without new data only a
    /// timeout detects their loss (Linux until 4.10: tcp_mark_lost_retrans).
    fn fack_detect_retransmissions(&mut self) -> bool {
        let mut lost = false;
        while let Some((index, nxt)) = self.oldest_retransmission() {
            if self.recovery.highest_sacked <= nxt {
                break;
            }
            self.mark_lost(index);
            lost = true;
        }
        lost
    }

    /// The oldest retransmission in flight.
    fn oldest_retransmission(&mut self) -> Option<(usize, u64)> {
        while let Some(&copy) = self.recovery.retransmissions.front() {
            // SACK blocks may have split the retransmitted entry since.
            for index in self.scoreboard.find(copy.seq)..self.scoreboard.len() {
                let skb = self.scoreboard.at(index);
                if skb.seq >= copy.end {
                    break;
                }
                // A loss probe has no flag.
                let known = skb.flags & (flag::SACKED | flag::LOST | flag::RETRANS);
                let in_flight =
                    known == 0 || known & (flag::SACKED | flag::RETRANS) == flag::RETRANS;
                if in_flight && skb.sent_at == copy.at {
                    return Some((index, copy.nxt));
                }
            }
            self.recovery.retransmissions.pop_front();
        }
        None
    }

    /// Marks an entry lost.
    pub(super) fn mark_lost(&mut self, index: usize) {
        self.recovery.lost_total = self.recovery.lost_total.wrapping_add(1);
        self.scoreboard.mark_lost(index);
        let seq = self.scoreboard.at(index).seq;
        self.recovery.retransmit_hint = self.recovery.retransmit_hint.min(seq);
    }
}
