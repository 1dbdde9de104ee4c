//! Probes of the tail (TLP, RFC 8985, 7).

use super::*;

impl Sender {
    /// A probe was under way: it is answered, and perhaps it repaired a loss (RFC 8985, 7.4.2).
    pub(super) fn end_probe<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
        ack: u64,
        ack_info: &AckInfo,
    ) {
        let dsack = ack_info.dsack;
        // Both copies came: this one answers the second.
        let repeats = !ack_info.advanced && !ack_info.newly_sacked;
        let end = self.recovery.tlp_high_seq;
        if end == 0 || ack < end {
            return;
        }
        if !self.recovery.tlp_retrans || dsack || repeats {
            self.recovery.tlp_high_seq = 0;
        } else if ack > end {
            // The original was lost, for nobody has it twice.
            self.begin_reduction(coupled, env);
            self.enter(coupled, env.now, State::Cwr);
            self.end_reduction();
            self.recovery.undo = None;
            self.try_keep_open(coupled, env);
        }
    }

    /// A probe for the tail, where nothing new can be sent: the last segment once more.
    pub(crate) fn probe_with_last_segment<O: Observer>(&mut self, env: &mut Env<O>) {
        let last = self.scoreboard.len() - 1;
        self.scoreboard
            .split_after(last, self.scoreboard.at(last).count - 1);
        let last = self.scoreboard.len() - 1;
        if !self.scoreboard.at(last).is(flag::RETRANS | flag::SACKED) {
            let skb = self.resend(env, last, true);
            self.clean_from = skb.end + 1; // the ACK after its own tells whether it was needed
        }
        self.probe_is_out(env, true);
    }

    /// A probe is out; the timeout is next.
    pub(crate) fn probe_is_out<O: Observer>(&mut self, env: &mut Env<O>, again: bool) {
        self.recovery.tlp_high_seq = self.scoreboard.nxt();
        self.recovery.tlp_retrans = again;
        self.set_timeout(env);
    }
}
