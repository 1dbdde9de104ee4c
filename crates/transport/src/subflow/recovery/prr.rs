//! Reductions of the window. The algorithm sets the threshold, and PRR spreads the reduction over a round trip (RFC
//! 6937).

use super::*;

impl Sender {
    /// Enters CWR for an ECN mark: a reduction without a loss (RFC 3168, 6.1.2; tcp_enter_cwr).
    pub(super) fn enter_cwr<O: Observer>(&mut self, coupled: &mut Coupled, env: &mut Env<O>) {
        if self.ca_state < State::Cwr {
            self.recovery.prior_ssthresh = 0;
            self.recovery.undo = None;
            self.init_cwnd_reduction(coupled, env);
            self.set_ca_state(coupled, env.now, State::Cwr);
        }
    }

    /// Enters Recovery (tcp_enter_recovery).
    pub(super) fn enter_recovery<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
        ece: bool,
    ) {
        self.recovery.prior_ssthresh = 0;
        self.init_undo();
        if self.ca_state != State::Cwr && self.ca_state != State::Recovery {
            if !ece {
                self.recovery.prior_ssthresh = self.current_ssthresh();
            }
            self.init_cwnd_reduction(coupled, env);
        }
        self.set_ca_state(coupled, env.now, State::Recovery);
    }

    /// Starts a reduction (tcp_init_cwnd_reduction).
    pub(super) fn init_cwnd_reduction<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
    ) {
        self.recovery.high_seq = self.scoreboard.nxt();
        self.recovery.tlp_high_seq = 0;
        self.recovery.prior_cwnd = self.tcp.cwnd;
        self.recovery.prr_delivered = 0;
        self.recovery.prr_out = 0;
        self.update_ssthresh(coupled, env);
        if !self.profile.prr {
            self.tcp.cwnd = self.tcp.ssthresh;
        }
    }

    /// Sets the slow start threshold to that of the algorithm, for a reduction (tcp_congestion_ops.ssthresh).
    pub(super) fn update_ssthresh<O: Observer>(&mut self, coupled: &mut Coupled, env: &mut Env<O>) {
        self.refresh(env.now);
        let was_slow = self.counters.slow_start_exit.is_none();
        let (ssthresh, note) = coupled.ssthresh(&mut self.cc, &mut self.tcp);
        self.tcp.ssthresh = ssthresh;
        self.recovery.reduced = true; // also for a loss (RFC 3168, 6.1.2)
        self.counters.losses += 1;
        self.counters.first_loss.get_or_insert(env.now);
        self.record_note(coupled, env, &note);
        if let (true, Some(exit)) = (was_slow, &mut self.counters.slow_start_exit) {
            exit.cwnd = ssthresh; // initial window of congestion avoidance
        }
    }

    /// Proportional rate reduction (RFC 6937 with the slow start reduction bound; tcp_cwnd_reduction).
    pub(super) fn cwnd_reduction(&mut self, delivered: u32, newly_lost: bool, advanced: bool) {
        if delivered == 0 || self.recovery.prior_cwnd == 0 || !self.profile.prr {
            return;
        }
        let (flight, ssthresh) = (self.flight(), self.tcp.ssthresh);
        let r = &mut self.recovery;
        r.prr_delivered += delivered;
        let send = if flight > ssthresh {
            let due = u64::from(ssthresh) * u64::from(r.prr_delivered);
            due.div_ceil(u64::from(r.prior_cwnd)) as u32
        } else {
            0
        };
        let mut send = i64::from(send) - i64::from(r.prr_out);
        if flight <= ssthresh {
            send = (i64::from(r.prr_delivered) - i64::from(r.prr_out)).max(delivered.into());
            send += i64::from(advanced && !newly_lost);
            send = send.min(i64::from(ssthresh - flight));
        }
        // The first retransmission is sent at once.
        let send = send.max(i64::from(r.prr_out == 0)) as u32;
        self.tcp.cwnd = flight + send;
    }

    /// Ends a reduction: the window is the threshold (tcp_end_cwnd_reduction).
    pub(super) fn end_cwnd_reduction(&mut self) {
        if self.ca_state == State::Cwr || self.recovery.undo.is_some() {
            self.tcp.cwnd = self.tcp.ssthresh;
        }
    }
}
