//! Sending again what is lost, and the timers that find it out: the timeout (RFC 6298) and RACK's.

use super::*;

impl Sender {
    /// Sends lost segments again, as far as the window goes.
    pub(crate) fn repair<O: Observer>(&mut self, coupled: &mut Coupled, env: &mut Env<O>) {
        let mut seq = self.recovery.repair_from.max(self.una);
        // Without SACK the first one goes at once: duplicate ACKs bring the flight down below the window only later.
        let at_once = self.profile.detection == Detection::DuplicateAcks;
        // How many more of a buffer go together, and where those end.
        let (mut together, mut end) = (0, self.nxt);
        while seq < self.nxt
            && self.lost > 0
            && (self.flight() < self.tcp.cwnd || (at_once && seq == self.una))
        {
            let sent = self.board.at(seq);
            if sent.is(mark::LOST) && !sent.is(mark::AGAIN | mark::SACKED) {
                if sent.is(mark::FIRST) || together == 0 {
                    self.split(seq);
                    together = self.space().min(self.burst_size()).max(1);
                }
                self.send_again(coupled, env, seq);
                together -= 1;
                end = seq + 1;
            }
            seq += 1;
        }
        if end == seq {
            self.split(seq);
        }
        self.recovery.repair_from = seq;
    }

    fn send_again<O: Observer>(&mut self, coupled: &mut Coupled, env: &mut Env<O>, seq: u64) {
        if self.starts_sending() {
            self.start_sending(coupled, env);
        }
        let now = env.now.as_nanos();
        let sent = self.board.at_mut(seq);
        sent.marks |= mark::AGAIN | mark::EVER_AGAIN;
        sent.at = now;
        self.again += 1;
        self.clean_from = self.nxt;
        if self.profile.detection != Detection::DuplicateAcks {
            self.recovery.again.push_back(Resent {
                at: now,
                seq,
                nxt: self.nxt,
            });
        }
        if self.recovery.first_again == 0 {
            self.recovery.first_again = now;
        }
        if let Some((_, count)) = &mut self.recovery.undo {
            *count = (*count).max(0) + 1;
        }
        if self.state == State::Cwr || self.state == State::Recovery {
            self.recovery.prr_out += 1;
        }
        self.tally.retransmits += 1;
        let sent = *self.board.at(seq);
        self.transmit(env, seq, &sent);
        if seq == self.una && self.waits != Waits::Reordering {
            self.set_timeout(env);
        }
    }

    /// The retransmission timer fires: everything is taken for lost but what was sent within a round trip.
    pub(crate) fn on_timeout<O: Observer>(&mut self, coupled: &mut Coupled, env: &mut Env<O>) {
        let now = env.now.as_nanos();
        let rack = self.profile.detection == Detection::RackTlp;
        for seq in self.una..self.nxt {
            let sent = *self.board.at(seq);
            let recent = rack && seq != self.una && sent.at + self.recovery.rack.2 > now;
            if sent.is(mark::SACKED) || recent {
                continue;
            }
            if sent.is(mark::AGAIN) {
                self.board.at_mut(seq).marks &= !mark::AGAIN;
                self.again -= 1;
            }
            self.lose(seq);
        }
        if self.profile.detection == Detection::DuplicateAcks {
            self.sacked = 0;
        }
        let fresh = self.state < State::Recovery;
        let first = self.state <= State::Disorder
            || self.una >= self.recovery.high
            || (self.state == State::Loss && self.recovery.timeouts == 0);
        if first {
            self.recovery.before = (self.tcp.cwnd, self.current_ssthresh());
            self.take_threshold(coupled, env);
            self.begin_undo();
        }
        self.tcp.cwnd = self.flight() + 1;
        self.full_at = env.now;
        self.enter(coupled, env.now, State::Loss);
        self.recovery.high = self.nxt;
        self.recovery.probe = 0;
        self.recovery.frto = self.profile.undo && (fresh || self.recovery.timeouts > 0);
        self.recovery.timeouts += 1;
        self.tally.timeouts += 1;
        self.rtt.back_off();
        self.repair(coupled, env);
        self.set_timeout(env);
        if O::ON {
            env.observer.window(env.now, self.who(), &self.view());
        }
    }

    /// Time has shown what overtook what: RACK judges again.
    pub(crate) fn on_reordering<O: Observer>(&mut self, coupled: &mut Coupled, env: &mut Env<O>) {
        let before = self.recovery.found;
        self.waits = Waits::Timeout;
        let mut waits = false;
        self.judge(env, false, &mut waits);
        if self.recovery.found != before && self.state < State::Recovery {
            self.enter_recovery(coupled, env, false);
            if self.profile.prr {
                self.reduce(1, true, false);
            }
        }
        self.repair(coupled, env);
        if !waits && self.waits == Waits::Timeout && self.out() > 0 {
            self.set_timeout(env);
        }
    }
}
