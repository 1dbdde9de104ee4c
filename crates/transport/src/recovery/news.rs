//! What an ACK tells: of segments that arrived, in order or beyond a gap, of duplicates, of the round trip.
//! Sources: RFC 2018 and RFC 2883 (SACK, DSACK), RFC 5681 (duplicate ACKs), RFC 6298, RFC 7323.

use super::*;

/// The most that RACK's patience grows to (Linux: reo_wnd_steps up to 255), and how many recoveries it lasts
/// (RFC 8985, 6.2, step 4: reo_wnd_persist).
const MOST_PATIENCE: u32 = 254;
const PATIENT_RECOVERIES: u32 = 16;

impl Sender {
    /// Whether an ACK answers a segment that was sent before anything was sent again (Eifel, RFC 3522).
    pub(super) fn answers_original(&self, segment: Ack) -> bool {
        let seq = widen16(self.una, segment.answers);
        if segment.flags & flag::RETRANS != 0 || seq >= self.nxt {
            return false;
        }
        // Of one that was sent again it is the first copy. One that is acknowledged already still stands in its place.
        let sent = self.board.at(seq);
        sent.is(mark::EVER_AGAIN) || sent.at < self.recovery.first_again
    }

    /// Marks what the blocks say has arrived.
    pub(super) fn take_sacks<O: Observer>(
        &mut self,
        env: &Env<O>,
        blocks: &Blocks,
        told: &mut Told,
    ) {
        if blocks.duplicate {
            told.dsack = true;
            if self.una >= self.recovery.patient_from {
                self.recovery.patience = (self.recovery.patience + 1).min(MOST_PATIENCE);
                self.recovery.patient_from = self.nxt;
                self.recovery.patient_for = PATIENT_RECOVERIES;
            }
            let seq = blocks.list[0].0;
            if let Some((from, count)) = &mut self.recovery.undo {
                *count -= i32::from(*count > 0 && seq >= *from);
            }
        }
        let known = self.recovery.known;
        for (start, end) in blocks.iter() {
            let (mut start, end) = (start.max(self.una), end.min(self.nxt));
            while start < end {
                // What the last ACK told need not be gone through again.
                if let Some(old) = known.iter().find(|old| old.0 <= start && start < old.1) {
                    start = old.1;
                    continue;
                }
                let from = start;
                while start < end && !known.iter().any(|old| old.0 == start) {
                    self.take_sack(env, start, told);
                    start += 1;
                }
                if self.profile.hands_out {
                    self.split_and_join(from, start);
                }
            }
        }
        self.recovery.known = *blocks;
    }

    fn take_sack<O: Observer>(&mut self, env: &Env<O>, seq: u64, told: &mut Told) {
        let sent = self.board.at_mut(seq);
        if sent.is(mark::SACKED) {
            return;
        }
        let (at, marks) = (sent.at, sent.marks);
        sent.marks |= mark::SACKED;
        if marks & mark::LOST != 0 {
            sent.marks &= !(mark::LOST | mark::AGAIN);
            self.lost -= 1;
            self.again -= u32::from(marks & mark::AGAIN != 0);
        }
        self.sacked += 1;
        told.newly_sacked = true;
        told.delivered += 1;
        let age = env.now.as_nanos() - at;
        if marks & mark::EVER_AGAIN == 0 {
            if seq < self.recovery.highest {
                told.overtaken = told.overtaken.min(seq);
            }
            told.original |= seq < self.recovery.high;
            told.ages = Some((told.ages.map_or(age, |ages| ages.0), age));
        }
        self.advance_rack(at, seq + 1, age, marks);
        self.recovery.highest = self.recovery.highest.max(seq + 1);
    }

    /// An ACK that comes back sooner than any round trip answers the first copy, and says nothing of the second.
    fn advance_rack(&mut self, at: u64, end: u64, age: u64, marks: u8) {
        if marks & mark::EVER_AGAIN == 0 || age / 1000 >= u64::from(self.rtt.least) {
            self.recovery.rack_advance(at, end, age);
        }
    }

    /// Takes off what is acknowledged in order.
    pub(super) fn take_cumulative<O: Observer>(
        &mut self,
        env: &Env<O>,
        ack: u64,
        told: &mut Told,
        sacks: bool,
        told_before: u64,
    ) {
        if ack <= self.una {
            return;
        }
        told.advanced = true;
        let mut ages: Option<(u64, u64)> = None;
        for seq in self.una..ack {
            let sent = *self.board.at(seq);
            let age = env.now.as_nanos() - sent.at;
            self.again -= u32::from(sent.is(mark::AGAIN));
            self.lost -= u32::from(sent.is(mark::LOST));
            if sent.is(mark::SACKED) {
                self.sacked -= 1;
                continue;
            }
            told.again |= sent.is(mark::EVER_AGAIN);
            if !sent.is(mark::EVER_AGAIN) {
                ages = Some((ages.map_or(age, |ages| ages.0), age));
                // A hole that is filled, and not by a copy: it was overtaken.
                if seq < told_before && sacks {
                    told.overtaken = told.overtaken.min(seq);
                }
                told.original |= seq < self.recovery.high;
            }
            if sacks {
                told.delivered += 1;
            }
            self.advance_rack(sent.at, seq + 1, age, sent.marks);
        }
        if !sacks {
            // One fills the gap; the others had been told of by duplicate ACKs.
            let acked = (ack - self.una) as u32;
            told.delivered += acked.saturating_sub(self.sacked).max(1);
            self.sacked = self.sacked.saturating_sub(acked - 1);
        }
        // A sample of what lies in order comes first.
        if !told.again {
            told.ages = ages.or(told.ages);
        }
        self.leave(ack);
        self.una = ack;
        if !sacks {
            self.sacked = self.sacked.min(self.most_duplicates());
        }
        self.recovery.judged = self.recovery.judged.max(ack);
        self.recovery.repair_from = self.recovery.repair_from.max(ack);
        self.recovery.highest = self.recovery.highest.max(ack);
    }

    /// Without SACK a duplicate ACK stands for a segment that has left the network (Linux: tcp_add_reno_sack).
    pub(super) fn count_duplicates(&mut self, told: &mut Told) {
        if told.advanced && !matches!(self.state, State::Recovery) {
            self.sacked = 0;
        }
        // After a timeout they may answer what was sent again needlessly, but for those of new segments (RFC 5682, 2.1).
        let counts = self.state != State::Loss || self.nxt > self.recovery.high;
        if told.duplicate && counts {
            let before = self.sacked;
            self.sacked = (before + 1).min(self.most_duplicates()).max(before);
            told.delivered += self.sacked - before;
        }
    }

    /// One segment at least is missing, or there would be no duplicate.
    fn most_duplicates(&self) -> u32 {
        self.out().saturating_sub(self.lost.max(1))
    }

    /// The RTT sample of an ACK, and with one the end of the timeout's back-off.
    pub(super) fn measure<O: Observer>(&mut self, env: &Env<O>, segment: Ack, told: &Told) {
        self.tcp.rtt_us = 0;
        if told.ages.is_none() && told.advanced && segment.flags & flag::RETRANS != 0 {
            // It answers a copy, the last one if it is not too young for that: what the timestamp option tells
            // (RFC 7323, 4). Where no round trip is known, it may answer any (Karn and Partridge 1987).
            let seq = widen16(self.una, segment.answers);
            let age = env.now.as_nanos().saturating_sub(self.board.at(seq).at) / 1000;
            if seq < self.nxt && age >= u64::from(self.rtt.least) {
                self.rtt.sample(age as u32, self.una, self.nxt);
            }
        }
        if let Some((first, last)) = told.ages {
            self.tcp.rtt_us = (last / 1000).max(1) as u32;
            self.rtt.sample((first / 1000) as u32, self.una, self.nxt);
            self.rtt.least = self.rtt.least.min((last / 1000).max(1) as u32);
        }
    }
}
