//! Spurious reductions and timeouts: detected by DSACK (RFC 3708), Eifel (RFC 3522) and F-RTO (RFC 5682), and undone.

use super::*;

/// `Undo::retransmissions` before the first retransmission.
const NONE_YET: i32 = -1;

impl Sender {
    /// Begins to record whether a reduction is spurious (tcp_init_undo).
    pub(super) fn init_undo(&mut self) {
        self.recovery.undo = Some(Undo {
            marker: self.scoreboard.una(),
            retransmissions: match self.scoreboard.retrans_out() {
                0 => NONE_YET,
                retransmissions => retransmissions as i32,
            },
        });
    }

    /// Whether the receiver has reported each retransmission since the reduction as a duplicate.
    fn all_retransmissions_were_duplicates(&self) -> bool {
        let undo = self.recovery.undo;
        undo.is_some_and(|undo| undo.retransmissions == 0)
    }

    /// Whether the reduction may be undone (tcp_may_undo): the receiver has reported each retransmission as a duplicate
    /// (DSACK), or the ACK of a retransmitted segment acknowledges the original (Eifel, RFC 3522).
    fn may_undo(&self, ack_info: &AckInfo) -> bool {
        let needless = self.all_retransmissions_were_duplicates();
        self.profile.undo && self.recovery.undo.is_some() && (needless || ack_info.is_spurious())
    }

    /// Restores window and threshold (tcp_undo_cwnd_reduction). `unmark`: clears all loss marks.
    fn undo_cwnd_reduction<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
        unmark: bool,
    ) {
        if unmark {
            self.scoreboard.unmark_lost();
            if self.profile.detection == Detection::Fack {
                self.recovery.examined = self.scoreboard.una(); // they may be lost nevertheless
            }
        }
        if self.recovery.prior_ssthresh != 0 {
            self.refresh(env.now);
            self.tcp.cwnd = coupled.undo(&mut self.cc, &self.tcp);
            self.tcp.ssthresh = self.tcp.ssthresh.max(self.recovery.prior_ssthresh);
        }
        self.recovery.undo = None;
        if O::ON {
            env.observer.window(env.now, self.id, &self.view(coupled));
        }
    }

    /// Ends Recovery, undoing the reduction if it was spurious (tcp_try_undo_recovery). Returns true.
    pub(super) fn try_undo_recovery<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
        ack_info: &AckInfo,
    ) -> bool {
        if self.may_undo(ack_info) {
            self.undo_cwnd_reduction(coupled, env, false);
        } else if self.recovery.reordering_persist > 0 {
            self.recovery.reordering_persist -= 1;
            if self.recovery.reordering_persist == 0 {
                self.recovery.reordering_steps = 0;
            }
        }
        if self.scoreboard.una() == self.recovery.high_seq
            && self.profile.detection == Detection::DuplicateAcks
        {
            // Duplicate ACKs of retransmissions may follow and must not start another recovery (RFC 6582, 4).
            self.end_cwnd_reduction();
            self.recovery.undo = None;
            return true;
        }
        self.end_cwnd_reduction();
        self.recovery.undo = None;
        self.set_ca_state(coupled, env.now, State::Open);
        true
    }

    /// Undoes a spurious reduction upon a partial ACK (tcp_try_undo_partial). Returns whether the reduction is
    /// spurious.
    pub(super) fn try_undo_partial<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
        ack_info: &AckInfo,
    ) -> bool {
        if self.recovery.undo.is_none() || !self.profile.undo || !ack_info.is_spurious() {
            return false;
        }
        // Segments were reordered. The ACKs of retransmissions are still to come.
        if self.scoreboard.retrans_out() > 0 {
            return true;
        }
        self.undo_cwnd_reduction(coupled, env, true);
        self.try_to_open(coupled, env, false);
        if self.ca_state == State::Recovery {
            self.set_ca_state(coupled, env.now, State::Open);
        }
        true
    }

    /// Undoes a spurious reduction upon a DSACK (tcp_try_undo_dsack). Returns whether it was undone.
    pub(super) fn try_undo_dsack<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
    ) -> bool {
        if self.profile.undo && self.all_retransmissions_were_duplicates() {
            self.undo_cwnd_reduction(coupled, env, false);
            return true;
        }
        false
    }

    /// Processes an ACK in Loss: F-RTO and the end of the episode (tcp_process_loss). `Some`: the transmission that
    /// replaces the one of lost segments.
    pub(super) fn process_loss<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
        ack_info: &AckInfo,
    ) -> Option<Rexmit> {
        let recovered = self.scoreboard.una() >= self.recovery.high_seq;
        if ack_info.advanced && self.may_undo(ack_info) {
            self.undo_cwnd_reduction(coupled, env, true);
            self.set_ca_state(coupled, env.now, State::Open);
            return Some(Rexmit::None);
        }
        if self.recovery.frto {
            // A segment that was sent before the timeout and not after it was delivered: the timeout was spurious.
            if ack_info.original_acked && self.profile.undo {
                self.undo_cwnd_reduction(coupled, env, true);
                self.set_ca_state(coupled, env.now, State::Open);
                return Some(Rexmit::None);
            }
            if self.scoreboard.nxt() > self.recovery.high_seq {
                if ack_info.newly_sacked || ack_info.duplicate {
                    self.recovery.frto = false;
                }
            } else if ack_info.advanced && !recovered {
                self.recovery.high_seq = self.scoreboard.nxt();
                self.events |= event::FRTO_SENDS_NEW;
                return Some(Rexmit::New);
            }
        }
        if recovered {
            self.recovery.undo = None;
            self.set_ca_state(coupled, env.now, State::Open);
            return Some(Rexmit::None);
        }
        None
    }

    /// Retransmits lost segments if F-RTO could not send new ones.
    pub(crate) fn retransmit_after_frto<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
    ) {
        if self.ca_state == State::Loss && self.scoreboard.nxt() == self.recovery.high_seq {
            self.recovery.frto = false;
            self.retransmit_lost(coupled, env);
        }
    }
}
