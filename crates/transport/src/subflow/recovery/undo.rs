//! Reductions and timeouts that were mistakes: found by DSACK (RFC 3708), Eifel (RFC 3522) and F-RTO (RFC 5682), and undone.

use super::*;

/// No segment was sent again since the reduction that may be undone.
const NONE_YET: i32 = -1;

impl Sender {
    pub(super) fn begin_undo(&mut self) {
        let again = match self.scoreboard.retrans_out() {
            0 => NONE_YET,
            again => again as i32,
        };
        self.recovery.undo = Some((self.scoreboard.una(), again));
    }

    /// Whether all retransmissions were needless: the receiver had each twice (DSACK), or the segment that is
    /// acknowledged was sent again and yet its first copy is answered (Eifel, RFC 3522).
    fn may_undo(&self, told: &Told) -> bool {
        let needless = matches!(self.recovery.undo, Some((_, 0)));
        self.profile.undo && self.recovery.undo.is_some() && (needless || told.again_and_original())
    }

    fn undo<O: Observer>(&mut self, coupled: &mut Coupled, env: &mut Env<O>, unmark: bool) {
        if unmark {
            self.scoreboard.unmark_lost();
            if self.profile.detection == Detection::Fack {
                self.recovery.judged = self.scoreboard.una(); // they can be lost all the same
            }
        }
        if self.recovery.before.1 != 0 {
            self.refresh(env.now);
            self.tcp.cwnd = coupled.undo(&self.cc, &self.tcp);
            self.tcp.ssthresh = self.tcp.ssthresh.max(self.recovery.before.1);
        }
        self.recovery.undo = None;
        if O::ON {
            env.observer.window(env.now, self.id, &self.view());
        }
    }

    pub(super) fn try_undo_recovery<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
        told: &Told,
    ) -> bool {
        if self.may_undo(told) {
            self.undo(coupled, env, false);
        } else if self.recovery.patient_for > 0 {
            self.recovery.patient_for -= 1;
            if self.recovery.patient_for == 0 {
                self.recovery.patience = 0;
            }
        }
        if self.scoreboard.una() == self.recovery.high
            && self.profile.detection == Detection::DuplicateAcks
        {
            // Duplicates of what was sent again may follow and must not start another recovery (RFC 6582, 4).
            self.end_reduction();
            self.recovery.undo = None;
            return true;
        }
        self.end_reduction();
        self.recovery.undo = None;
        self.enter(coupled, env.now, State::Open);
        true
    }

    pub(super) fn try_undo_partial<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
        told: &Told,
    ) -> bool {
        if self.recovery.undo.is_none() || !self.profile.undo || !told.again_and_original() {
            return false;
        }
        // Segments overtook each other; those sent again are still to be heard of.
        if self.scoreboard.retrans_out() > 0 {
            return true;
        }
        self.undo(coupled, env, true);
        self.try_open(coupled, env, false);
        if self.state == State::Recovery {
            self.enter(coupled, env.now, State::Open);
        }
        true
    }

    pub(super) fn try_undo_dsack<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
    ) -> bool {
        if self.profile.undo && matches!(self.recovery.undo, Some((_, 0))) {
            self.undo(coupled, env, false);
            return true;
        }
        false
    }

    /// In Loss: F-RTO, and the end of it. `Some`: what to do instead of repairing.
    pub(super) fn process_loss<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
        told: &Told,
    ) -> Option<Then> {
        let recovered = self.scoreboard.una() >= self.recovery.high;
        if told.advanced && self.may_undo(told) {
            self.undo(coupled, env, true);
            self.enter(coupled, env.now, State::Open);
            return Some(Then::Nothing);
        }
        if self.recovery.frto {
            // A segment sent before the timeout and not since has arrived: the timeout was too early.
            if told.original && self.profile.undo {
                self.undo(coupled, env, true);
                self.enter(coupled, env.now, State::Open);
                return Some(Then::Nothing);
            }
            if self.scoreboard.nxt() > self.recovery.high {
                if told.newly_sacked || told.duplicate {
                    self.recovery.frto = false;
                }
            } else if told.advanced && !recovered {
                self.recovery.high = self.scoreboard.nxt();
                self.notices |= notice::WANTS_NEW;
                return Some(Then::SendNew);
            }
        }
        if recovered {
            self.recovery.undo = None;
            self.enter(coupled, env.now, State::Open);
            return Some(Then::Nothing);
        }
        None
    }

    /// There was nothing new to send, so F-RTO has nothing to wait for.
    pub(crate) fn retransmit_after_frto<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
    ) {
        if self.state == State::Loss && self.scoreboard.nxt() == self.recovery.high {
            self.recovery.frto = false;
            self.retransmit_lost(coupled, env);
        }
    }
}
