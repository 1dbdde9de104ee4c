//! Loss probes of the tail (TLP, RFC 8985, 7).

use super::*;

impl Sender {
    /// Ends the episode of a loss probe that this ACK covers, with a reduction if the probe repaired a loss (RFC 8985,
    /// 7.4.2; tcp_process_tlp_ack).
    pub(super) fn process_tlp_ack<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
        ack: u64,
        ack_info: &AckInfo,
    ) {
        let dsack = ack_info.dsack;
        // A duplicate ACK of the end: both the original and the probe have arrived.
        let repeats = !ack_info.advanced && !ack_info.newly_sacked;
        let end = self.recovery.tlp_high_seq;
        if end == 0 || ack < end {
            return;
        }
        if !self.recovery.tlp_retrans || dsack || repeats {
            self.recovery.tlp_high_seq = 0;
        } else if ack > end {
            // The original was lost: the receiver does not report a duplicate.
            self.init_cwnd_reduction(coupled, env);
            self.set_ca_state(coupled, env.now, State::Cwr);
            self.end_cwnd_reduction();
            self.recovery.undo = None;
            self.try_keep_open(coupled, env);
        }
    }

    /// Sends the last segment again as a loss probe, if no new segment can be sent.
    pub(crate) fn probe_with_last_segment<O: Observer>(&mut self, env: &mut Env<O>) {
        let last = self.scoreboard.len() - 1;
        self.scoreboard
            .split_after(last, self.scoreboard.at(last).count - 1);
        let last = self.scoreboard.len() - 1;
        if !self.scoreboard.at(last).is(flag::RETRANS | flag::SACKED) {
            let skb = self.send_retransmission(env, last, true);
            self.never_retransmitted_from = skb.end + 1; // the ACK after that of the probe shows whether the probe was needed
        }
        self.on_probe_sent(env, true);
    }

    /// A loss probe was sent: starts its episode, and sets the retransmission timeout.
    pub(crate) fn on_probe_sent<O: Observer>(&mut self, env: &mut Env<O>, again: bool) {
        self.recovery.tlp_high_seq = self.scoreboard.nxt();
        self.recovery.tlp_retrans = again;
        self.set_rto_timer(env);
    }
}
