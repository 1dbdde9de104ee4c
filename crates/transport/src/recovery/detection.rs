//! Which segments are lost: by time (RACK, RFC 8985), by what lies beyond them (FACK, Mathis and Mahdavi 1996), or by
//! duplicate ACKs (NewReno, RFC 6582).
//!
//! Segments that were sent once are in order of their sending, and so are those sent again, in a queue of their own: what
//! RACK has to look at is at the head of the two.

use super::*;

impl Sender {
    /// Decides which segments are lost. Returns whether one was lost that had been sent again.
    pub(super) fn judge<O: Observer>(
        &mut self,
        env: &mut Env<O>,
        advanced: bool,
        waits: &mut bool,
    ) -> bool {
        if self.out() == 0 {
            return false;
        }
        match self.profile.detection {
            Detection::DuplicateAcks => {
                let recovering = self.state == State::Recovery;
                let threshold = self.state < State::Recovery && self.sacked >= THRESHOLD;
                if threshold || (recovering && advanced) {
                    self.lose(self.una);
                }
                false
            }
            Detection::Fack => {
                let below = self
                    .recovery
                    .highest
                    .saturating_sub(u64::from(self.recovery.threshold()));
                // ACKs while nothing was missing have not moved it.
                self.recovery.judged = self.recovery.judged.max(self.una);
                while self.recovery.judged < below.min(self.nxt) {
                    let seq = self.recovery.judged;
                    if !self
                        .board
                        .at(seq)
                        .is(mark::SACKED | mark::LOST | mark::EVER_AGAIN)
                    {
                        self.lose(seq);
                    }
                    self.recovery.judged += 1;
                }
                self.fack_again()
            }
            Detection::RackTlp => {
                let patience = self.patience();
                let wait = self.rack_first(env, patience);
                let (lost, wait_again) = self.rack_again(env, patience);
                let wait = wait.max(wait_again);
                if wait > 0 {
                    *waits = true;
                    self.waits = Waits::Reordering;
                    env.timers
                        .set(self.timer, env.now + Span::from_nanos(wait) + TIMER_LEAST);
                }
                lost
            }
        }
    }

    /// How long RACK waits beyond a round trip, ns (RFC 8985, step 4).
    fn patience(&self) -> u64 {
        let r = &self.recovery;
        if !r.reordered && (self.state >= State::Recovery || self.sacked >= THRESHOLD) {
            return 0;
        }
        let quarters = u64::from(r.patience + 1);
        (u64::from(self.rtt.least) / 4 * quarters).min(u64::from(self.rtt.srtt8 >> 6)) * 1000
    }

    /// Those that were sent once. Returns how long to wait for the rest, ns.
    fn rack_first<O: Observer>(&mut self, env: &Env<O>, patience: u64) -> u64 {
        let (at, end, rtt) = self.recovery.rack;
        let now = env.now.as_nanos();
        let mut wait = 0;
        let mut seq = self.recovery.judged.max(self.una);
        let mut all = true;
        while seq < self.nxt {
            let sent = *self.board.at(seq);
            if !sent.is(mark::SACKED | mark::LOST | mark::EVER_AGAIN) {
                if (sent.at, seq + 1) >= (at, end) {
                    break;
                }
                let due = sent.at + rtt + patience;
                if due <= now {
                    self.lose(seq);
                } else {
                    wait = wait.max(due - now);
                    all = false;
                }
            }
            seq += 1;
            if all {
                self.recovery.judged = seq;
            }
        }
        wait
    }

    /// Those that were sent again.
    fn rack_again<O: Observer>(&mut self, env: &Env<O>, patience: u64) -> (bool, u64) {
        let (at, end, rtt) = self.recovery.rack;
        let now = env.now.as_nanos();
        let mut lost = false;
        while let Some(copy) = self.first_copy() {
            if (copy.at, copy.seq + 1) >= (at, end) {
                break;
            }
            let due = copy.at + rtt + patience;
            if due > now {
                return (lost, due - now);
            }
            self.lose_copy(copy);
            lost = true;
        }
        (lost, 0)
    }

    /// Without RACK a copy is lost when something is acknowledged that was new after it was sent: with nothing new to send
    /// only a timeout finds it (Linux: tcp_mark_lost_retrans, until 4.10).
    fn fack_again(&mut self) -> bool {
        let mut lost = false;
        while let Some(copy) = self.first_copy() {
            if self.recovery.highest <= copy.nxt {
                break;
            }
            self.lose_copy(copy);
            lost = true;
        }
        lost
    }

    /// The copy that was sent first and is still under way.
    fn first_copy(&mut self) -> Option<Resent> {
        while let Some(&copy) = self.recovery.again.front() {
            let entry = self.board.at(copy.seq);
            let under_way = entry.is(mark::AGAIN) && !entry.is(mark::SACKED) && entry.at == copy.at;
            if copy.seq >= self.una && under_way {
                return Some(copy);
            }
            self.recovery.again.pop_front();
        }
        None
    }

    fn lose_copy(&mut self, copy: Resent) {
        self.recovery.again.pop_front();
        self.board.at_mut(copy.seq).marks &= !mark::AGAIN;
        self.again -= 1;
        self.lose(copy.seq);
    }

    /// Takes a segment for lost.
    pub(super) fn lose(&mut self, seq: u64) {
        self.recovery.found = self.recovery.found.wrapping_add(1);
        let sent = self.board.at_mut(seq);
        if !sent.is(mark::LOST) {
            sent.marks |= mark::LOST;
            self.lost += 1;
        }
        self.recovery.repair_from = self.recovery.repair_from.min(seq);
    }
}
