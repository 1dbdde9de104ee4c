//! Loss detection by time (RACK, RFC 8985), by SACKed segments (FACK, Mathis and Mahdavi 1996) or by duplicate ACKs
//! (NewReno, RFC 6582).
//!
//! Original transmissions are in the order of their sending, and retransmissions have a queue of their own: RACK
//! examines only the heads of the two (Linux: tsorted_sent_queue).

use super::*;

/// Result of loss detection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Detected {
    /// A retransmission was marked lost.
    pub(super) retransmission_lost: bool,
    /// RACK has set the reordering timer.
    pub(super) reordering_timer_set: bool,
}

/// Retransmissions that RACK has examined.
struct RackRetransmissions {
    /// A retransmission was marked lost.
    lost: bool,
    /// Time until the next one may be lost, ns.
    wait: u64,
}

/// A retransmission in flight.
struct InFlight {
    /// Index of its entry in the scoreboard.
    index: usize,
    /// snd_nxt when it was sent.
    nxt: u64,
}

impl Sender {
    /// Marks lost segments. `advanced`: an ACK has advanced snd_una.
    pub(super) fn detect_losses<O: Observer>(
        &mut self,
        env: &mut Env<O>,
        advanced: bool,
    ) -> Detected {
        let mut detected = Detected::default();
        if self.packets_out() == 0 {
            return detected;
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
            }
            Detection::Fack => {
                self.fack_detect_originals();
                detected.retransmission_lost = self.fack_detect_retransmissions();
            }
            Detection::RackTlp => {
                let reordering_window = self.reordering_window();
                let wait = self.rack_detect_originals(env, reordering_window);
                let retransmissions = self.rack_detect_retransmissions(env, reordering_window);
                let wait = wait.max(retransmissions.wait);
                if wait > 0 {
                    detected.reordering_timer_set = true;
                    self.timer_purpose = TimerPurpose::Reordering;
                    env.timers
                        .set(self.timer, env.now + Span::from_nanos(wait) + TIMEOUT_MIN);
                }
                detected.retransmission_lost = retransmissions.lost;
            }
        }
        detected
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
        let mut all_examined = true;
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
                    all_examined = false;
                }
            }
            if all_examined {
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
    ) -> RackRetransmissions {
        let rack = self.recovery.rack;
        let now = env.now.as_nanos();
        let mut result = RackRetransmissions {
            lost: false,
            wait: 0,
        };
        while let Some(InFlight { index, .. }) = self.oldest_retransmission() {
            let retransmission = self.scoreboard.at(index);
            if (retransmission.sent_at, retransmission.end) >= (rack.sent_at, rack.end) {
                break;
            }
            let due = retransmission.sent_at + rack.rtt + reordering_window;
            if due > now {
                result.wait = due - now;
                break;
            }
            self.mark_lost(index);
            result.lost = true;
        }
        result
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
        while let Some(InFlight { index, nxt }) = self.oldest_retransmission() {
            if self.recovery.highest_sacked <= nxt {
                break;
            }
            self.mark_lost(index);
            lost = true;
        }
        lost
    }

    /// The oldest retransmission in flight.
    fn oldest_retransmission(&mut self) -> Option<InFlight> {
        while let Some(&retransmission) = self.recovery.retransmissions.front() {
            // SACK blocks may have split the retransmitted entry since.
            for index in self.scoreboard.find(retransmission.seq)..self.scoreboard.len() {
                let skb = self.scoreboard.at(index);
                if skb.seq >= retransmission.end {
                    break;
                }
                // A loss probe has no flag.
                let flags = skb.flags & (flag::SACKED | flag::LOST | flag::RETRANS);
                let in_flight =
                    flags == 0 || flags & (flag::SACKED | flag::RETRANS) == flag::RETRANS;
                if in_flight && skb.sent_at == retransmission.at {
                    return Some(InFlight {
                        index,
                        nxt: retransmission.nxt,
                    });
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
