//! What an ACK tells: of segments that arrived, in order or beyond a gap, of duplicates, of the round trip.
//! Sources: RFC 2018 and RFC 2883 (SACK, DSACK), RFC 5681 (duplicate ACKs), RFC 6298, RFC 7323.

use super::*;

/// The most that RACK's patience grows to (Linux: reo_wnd_steps up to 255), and how many recoveries it lasts
/// (RFC 8985, 6.2, step 4: reo_wnd_persist).
const MOST_PATIENCE: u32 = 254;
const PATIENT_RECOVERIES: u32 = 16;

impl Sender {
    /// Whether an ACK answers a segment that was sent before anything was sent again (Eifel, RFC 3522; tcp_packet_delayed).
    pub(super) fn answers_original(&self, segment: Ack) -> bool {
        let first_again = self.recovery.first_again;
        if first_again > 0 {
            return is_echo_before(segment.echo_us, micros(Time::from_nanos(first_again)));
        }
        // Nothing was sent again in this recovery. NewReno forgets when it was, at the end of one.
        self.profile.detection != Detection::DuplicateAcks
            || self.scoreboard.una() < self.recovery.high
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
            if self.scoreboard.una() >= self.recovery.patient_from {
                self.recovery.patience = (self.recovery.patience + 1).min(MOST_PATIENCE);
                self.recovery.patient_from = self.scoreboard.nxt();
                self.recovery.patient_for = PATIENT_RECOVERIES;
            }
            let seq = blocks.list[0].0;
            if let Some((from, count)) = &mut self.recovery.undo {
                *count -= i32::from(*count > 0 && seq >= *from);
            }
        }
        let known = self.recovery.known;
        for (start, end) in blocks.iter() {
            let mut start = start.max(self.scoreboard.una());
            let end = end.min(self.scoreboard.nxt());
            while start < end {
                // What the last ACK told need not be gone through again.
                if let Some(old) = known.iter().find(|old| old.0 <= start && start < old.1) {
                    start = old.1;
                    continue;
                }
                let later = known.iter().map(|old| old.0).filter(|from| *from > start);
                let until = later.min().unwrap_or(end).min(end);
                self.take_sack(env, start, until, told);
                start = until;
            }
        }
        self.recovery.known = *blocks;
    }

    /// Segments from this byte up to another one have arrived (tcp_sacktag_walk).
    fn take_sack<O: Observer>(&mut self, env: &Env<O>, from: u64, until: u64, told: &mut Told) {
        self.scoreboard.split(from);
        let mut index = self.scoreboard.find(from);
        while index < self.scoreboard.len() && self.scoreboard.at(index).seq < until {
            if self.scoreboard.at(index).end > until {
                self.scoreboard.split(until);
            }
            if !self.scoreboard.at(index).is(flag::SACKED) {
                self.take_sacked(env, index, told);
            }
            let (end, segment_len) = (
                self.scoreboard.at(index).end,
                self.scoreboard.at(index).segment_len(),
            );
            if self.scoreboard.join(index) {
                index -= 1;
                if end == until {
                    self.scoreboard.join_next(index, segment_len);
                }
            }
            index += 1;
        }
    }

    fn take_sacked<O: Observer>(&mut self, env: &Env<O>, index: usize, told: &mut Told) {
        let skb = self.scoreboard.sack(index);
        told.newly_sacked = true;
        told.delivered += skb.count;
        let age = env.now.as_nanos() - skb.sent_at;
        if !skb.is(flag::EVER_RETRANS) {
            if skb.seq < self.recovery.highest {
                told.overtaken = told.overtaken.min(skb.seq);
            }
            told.original |= skb.end <= self.recovery.high;
            told.ages = Some((told.ages.map_or(age, |ages| ages.0), age));
        }
        self.advance_rack(skb.sent_at, skb.end, age, skb.flags);
        self.recovery.highest = self.recovery.highest.max(skb.end);
    }

    /// An ACK that comes back sooner than any round trip answers the first copy, and says nothing of the second.
    fn advance_rack(&mut self, at: u64, end: u64, age: u64, flags: u8) {
        if flags & flag::EVER_RETRANS == 0 || age / 1000 >= u64::from(self.rtt.least) {
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
        if ack <= self.scoreboard.una() {
            return;
        }
        told.advanced = true;
        let mut ages: Option<(u64, u64)> = None;
        let mut acked = 0;
        while self.scoreboard.una() < ack {
            let Some(piece) = self.scoreboard.acknowledge(ack) else {
                break;
            };
            acked += piece.count;
            if piece.flags & flag::SACKED != 0 {
                continue;
            }
            let age = env.now.as_nanos() - piece.sent_at;
            if piece.flags & flag::EVER_RETRANS != 0 {
                told.again = true;
            } else {
                ages = Some((ages.map_or(age, |ages| ages.0), age));
                // A hole that is filled, and not by a copy: it was overtaken.
                if piece.seq < told_before && sacks {
                    told.overtaken = told.overtaken.min(piece.seq);
                }
                told.original |= piece.end <= self.recovery.high;
            }
            if sacks {
                told.delivered += piece.count;
            }
            self.advance_rack(piece.sent_at, piece.end, age, piece.flags);
        }
        if !sacks {
            // One fills the gap; the others had been told of by duplicate ACKs.
            let duplicates = self.scoreboard.sacked_out;
            told.delivered += acked.saturating_sub(duplicates).max(1);
            self.scoreboard.sacked_out = duplicates.saturating_sub(acked - 1);
        }
        // A sample of what lies in order comes first.
        if !told.again {
            told.ages = ages.or(told.ages);
        }
        if !sacks {
            self.scoreboard.sacked_out = self.scoreboard.sacked_out.min(self.most_duplicates());
        }
        self.recovery.judged = self.recovery.judged.max(ack);
        self.recovery.repair_from = self.recovery.repair_from.max(ack);
        self.recovery.highest = self.recovery.highest.max(ack);
    }

    /// Without SACK a duplicate ACK stands for a segment that has left the network (Linux: tcp_add_reno_sack).
    pub(super) fn count_duplicates(&mut self, told: &mut Told) {
        if told.advanced && !matches!(self.state, State::Recovery) {
            self.scoreboard.sacked_out = 0;
        }
        // After a timeout they may answer what was sent again needlessly, but for those of new segments (RFC 5682, 2.1).
        let counts = self.state != State::Loss || self.scoreboard.nxt() > self.recovery.high;
        if told.duplicate && counts {
            let before = self.scoreboard.sacked_out;
            let after = (before + 1).min(self.most_duplicates()).max(before);
            self.scoreboard.sacked_out = after;
            told.delivered += after - before;
        }
    }

    /// One segment at least is missing, or there would be no duplicate.
    fn most_duplicates(&self) -> u32 {
        self.out().saturating_sub(self.scoreboard.lost_out().max(1))
    }

    /// The RTT sample of an ACK, and with one the end of the timeout's back-off.
    pub(super) fn measure<O: Observer>(&mut self, env: &Env<O>, segment: Ack, told: &Told) {
        self.tcp.rtt_us = 0;
        let (una, nxt) = (self.scoreboard.una(), self.scoreboard.nxt());
        if told.ages.is_none() && told.advanced {
            // All acknowledged segments were retransmitted. The echoed timestamp shows which copy arrived (RFC 7323, 4.3;
            // tcp_ack_update_rtt).
            let age = since_echo(micros(env.now), segment.echo_us);
            if age >= self.rtt.least {
                self.rtt.sample(age, una, nxt);
            }
        }
        if let Some((first, last)) = told.ages {
            self.tcp.rtt_us = (last / 1000).max(1) as u32;
            self.rtt.sample((first / 1000) as u32, una, nxt);
            self.rtt.least = self.rtt.least.min((last / 1000).max(1) as u32);
        }
    }
}
