//! Retransmission of lost segments, the timeout (RFC 6298) and RACK's timer.

use super::*;

impl Sender {
    /// Retransmits lost segments as far as the window allows (tcp_xmit_retransmit_queue).
    pub(crate) fn retransmit_lost<O: Observer>(&mut self, coupled: &mut Coupled, env: &mut Env<O>) {
        // Without SACK the first segment is sent regardless of the window: duplicate ACKs bring the flight below the
        // window only later.
        let at_once = self.profile.detection == Detection::DuplicateAcks;
        let mut index = self.scoreboard.find(self.recovery.retransmit_hint);
        while index < self.scoreboard.len()
            && self.scoreboard.lost_out() > 0
            && (self.flight() < self.tcp.cwnd || (at_once && index == 0))
        {
            let skb = self.scoreboard.at(index);
            if skb.is(flag::LOST) && !skb.is(flag::RETRANS | flag::SACKED) {
                let most = self.cwnd_quota().min(self.burst_size()).max(1);
                self.scoreboard.split_after(index, most);
                self.retransmit_skb(coupled, env, index);
            }
            index += 1;
        }
        let next = (index < self.scoreboard.len()).then(|| self.scoreboard.at(index).seq);
        self.recovery.retransmit_hint = next.unwrap_or(self.scoreboard.nxt());
    }

    /// Retransmits a lost entry (tcp_retransmit_skb).
    fn retransmit_skb<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
        index: usize,
    ) {
        if self.starts_sending() {
            self.start_sending(coupled, env);
        }
        let skb = self.send_retransmission(env, index, false);
        self.never_retransmitted_from = self.scoreboard.nxt();
        if self.recovery.retrans_stamp == 0 {
            self.recovery.retrans_stamp = skb.sent_at;
        }
        if let Some(undo) = &mut self.recovery.undo {
            undo.retransmissions = undo.retransmissions.max(0) + skb.count as i32;
        }
        if self.ca_state == State::Cwr || self.ca_state == State::Recovery {
            self.recovery.prr_out += skb.count;
        }
        if index == 0 && self.timer_purpose != TimerPurpose::Reordering {
            self.set_rto_timer(env);
        }
    }

    /// Transmits an entry again (__tcp_retransmit_skb).
    pub(super) fn send_retransmission<O: Observer>(
        &mut self,
        env: &mut Env<O>,
        index: usize,
        probe: bool,
    ) -> Skb {
        let skb = (self.scoreboard).retransmit(index, env.now.as_nanos(), probe);
        if self.profile.detection != Detection::DuplicateAcks {
            self.recovery.retransmissions.push_back(Retransmission {
                at: skb.sent_at,
                seq: skb.seq,
                end: skb.end,
                nxt: self.scoreboard.nxt(),
            });
        }
        self.counters.retransmits += skb.count;
        self.transmit(env, &skb);
        skb
    }

    /// The retransmission timer fires: marks all segments lost, with RACK only those that were not sent within the last
    /// round trip (tcp_enter_loss, tcp_retransmit_timer).
    pub(crate) fn on_timeout<O: Observer>(&mut self, coupled: &mut Coupled, env: &mut Env<O>) {
        let now = env.now.as_nanos();
        let rack = self.profile.detection == Detection::RackTlp;
        for index in 0..self.scoreboard.len() {
            let skb = self.scoreboard.at(index);
            let recent = rack && index > 0 && skb.sent_at + self.recovery.rack.rtt > now;
            if !skb.is(flag::SACKED) && !recent {
                self.mark_lost(index);
            }
        }
        if self.profile.detection == Detection::DuplicateAcks {
            self.scoreboard.sacked_out = 0;
        }
        let fresh = self.ca_state < State::Recovery;
        let first = self.ca_state <= State::Disorder
            || self.scoreboard.una() >= self.recovery.high_seq
            || (self.ca_state == State::Loss && self.recovery.timeouts == 0);
        if first {
            self.recovery.prior_cwnd = self.tcp.cwnd;
            self.recovery.prior_ssthresh = self.current_ssthresh();
            self.update_ssthresh(coupled, env);
            self.init_undo();
        }
        self.tcp.cwnd = self.flight() + 1;
        self.window_use.cwnd_stamp = env.now;
        self.set_ca_state(coupled, env.now, State::Loss);
        self.recovery.high_seq = self.scoreboard.nxt();
        self.recovery.tlp_high_seq = 0;
        self.recovery.frto = self.profile.undo && (fresh || self.recovery.timeouts > 0);
        self.recovery.timeouts += 1;
        self.counters.timeouts += 1;
        self.rtt.back_off();
        self.retransmit_lost(coupled, env);
        self.set_rto_timer(env);
        if O::ON {
            env.observer.window(env.now, self.id, &self.view(coupled));
        }
    }

    /// RACK's reordering timer fires (tcp_rack_reo_timeout).
    pub(crate) fn on_reordering_timer<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
    ) {
        let before = self.recovery.lost_total;
        self.timer_purpose = TimerPurpose::Timeout;
        let detected = self.detect_losses(env, false);
        if self.recovery.lost_total != before && self.ca_state < State::Recovery {
            self.enter_recovery(coupled, env, false);
            if self.profile.prr {
                self.cwnd_reduction(1, true, false);
            }
        }
        self.retransmit_lost(coupled, env);
        if !detected.reordering_timer_set
            && self.timer_purpose == TimerPurpose::Timeout
            && self.packets_out() > 0
        {
            self.set_rto_timer(env);
        }
    }
}
