//! Processing of an ACK: SACK blocks, cumulatively acknowledged segments, duplicate ACKs, RTT samples.
//! Sources: RFC 2018 and RFC 2883 (SACK, DSACK), RFC 5681 (duplicate ACKs), RFC 6298, RFC 7323.

use super::*;

/// Maximum of `reordering_steps` (Linux: reo_wnd_steps up to 255).
const MAX_REORDERING_STEPS: u32 = 254;
/// Number of recoveries after which `reordering_steps` is reset (RFC 8985, 6.2, step 4; TCP_RACK_RECOVERY_THRESH).
const REORDERING_PERSIST: u32 = 16;

impl Sender {
    /// Whether an ACK echoes a timestamp from before the first retransmission (Eifel, RFC 3522; tcp_packet_delayed).
    pub(super) fn is_from_before_retransmission(&self, segment: Ack) -> bool {
        let first_again = self.recovery.retrans_stamp;
        if first_again > 0 {
            return is_echo_before(segment.echo_us, micros(Time::from_nanos(first_again)));
        }
        // No segment was retransmitted in this recovery. NewReno clears retrans_stamp at the end of a recovery.
        self.profile.detection != Detection::DuplicateAcks
            || self.scoreboard.una() < self.recovery.high_seq
    }

    /// Marks segments SACKed (tcp_sacktag_write_queue).
    pub(super) fn sacktag_write_queue<O: Observer>(
        &mut self,
        env: &Env<O>,
        blocks: &SackBlocks,
        ack_info: &mut AckInfo,
    ) {
        if blocks.duplicate {
            ack_info.dsack = true;
            if self.scoreboard.una() >= self.recovery.dsack_round_end {
                self.recovery.reordering_steps =
                    (self.recovery.reordering_steps + 1).min(MAX_REORDERING_STEPS);
                self.recovery.dsack_round_end = self.scoreboard.nxt();
                self.recovery.reordering_persist = REORDERING_PERSIST;
            }
            let seq = blocks.list[0].start;
            if let Some(undo) = &mut self.recovery.undo {
                let counts = undo.retransmissions > 0 && seq >= undo.marker;
                undo.retransmissions -= i32::from(counts);
            }
        }
        let known = self.recovery.last_sacks;
        for block in blocks.iter() {
            let mut start = block.start.max(self.scoreboard.una());
            let end = block.end.min(self.scoreboard.nxt());
            while start < end {
                // Blocks of the last ACK are skipped (recv_sack_cache).
                if let Some(old) = known.iter().find(|old| old.contains(start)) {
                    start = old.end;
                    continue;
                }
                let later = known
                    .iter()
                    .map(|old| old.start)
                    .filter(|from| *from > start);
                let until = later.min().unwrap_or(end).min(end);
                self.sacktag_walk(env, start, until, ack_info);
                start = until;
            }
        }
        self.recovery.last_sacks = *blocks;
    }

    /// Marks the segments `from..until` SACKed (tcp_sacktag_walk).
    fn sacktag_walk<O: Observer>(
        &mut self,
        env: &Env<O>,
        from: u64,
        until: u64,
        ack_info: &mut AckInfo,
    ) {
        self.scoreboard.split(from);
        let mut index = self.scoreboard.find(from);
        while index < self.scoreboard.len() && self.scoreboard.at(index).seq < until {
            if self.scoreboard.at(index).end > until {
                self.scoreboard.split(until);
            }
            if !self.scoreboard.at(index).is(flag::SACKED) {
                self.sacktag_one(env, index, ack_info);
            }
            let (end, segment_len) = (
                self.scoreboard.at(index).end,
                self.scoreboard.at(index).segment_len(),
            );
            if self.joins_sacked && self.scoreboard.join(index) {
                index -= 1;
                if end == until {
                    self.scoreboard.join_next(index, segment_len);
                }
            }
            index += 1;
        }
    }

    /// Marks an entry SACKed (tcp_sacktag_one).
    fn sacktag_one<O: Observer>(&mut self, env: &Env<O>, index: usize, ack_info: &mut AckInfo) {
        let skb = self.scoreboard.sack(index);
        ack_info.newly_sacked = true;
        ack_info.delivered += skb.count;
        let age = env.now.as_nanos() - skb.sent_at;
        if !skb.is(flag::EVER_RETRANS) {
            if skb.seq < self.recovery.highest_sacked {
                ack_info.lowest_reordered = ack_info.lowest_reordered.min(skb.seq);
            }
            ack_info.original_acked |= skb.end <= self.recovery.high_seq;
            ack_info.ages = Some(Ages::add(ack_info.ages, age));
        }
        self.advance_rack(skb.sent_at, skb.end, age, skb.flags);
        self.recovery.highest_sacked = self.recovery.highest_sacked.max(skb.end);
    }

    /// Updates RACK, unless the ACK of a retransmitted segment arrives within less than the minimum RTT: it
    /// acknowledges the original (tcp_rack_advance).
    fn advance_rack(&mut self, at: u64, end: u64, age: u64, flags: u8) {
        if flags & flag::EVER_RETRANS == 0 || age / 1000 >= u64::from(self.rtt.min_rtt) {
            self.recovery.rack_advance(at, end, age);
        }
    }

    /// Removes cumulatively acknowledged segments (tcp_clean_rtx_queue).
    pub(super) fn clean_rtx_queue<O: Observer>(
        &mut self,
        env: &Env<O>,
        ack: u64,
        ack_info: &mut AckInfo,
        has_sack: bool,
        prior_highest_sacked: u64,
    ) {
        if ack <= self.scoreboard.una() {
            return;
        }
        ack_info.advanced = true;
        let mut ages = None;
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
                ack_info.retransmission_acked = true;
            } else {
                ages = Some(Ages::add(ages, age));
                // An original fills a hole below a SACKed segment: it was reordered.
                if piece.seq < prior_highest_sacked && has_sack {
                    ack_info.lowest_reordered = ack_info.lowest_reordered.min(piece.seq);
                }
                ack_info.original_acked |= piece.end <= self.recovery.high_seq;
            }
            if has_sack {
                ack_info.delivered += piece.count;
            }
            self.advance_rack(piece.sent_at, piece.end, age, piece.flags);
        }
        if !has_sack {
            // One segment fills the gap; the others had sent duplicate ACKs (tcp_remove_reno_sacks).
            let duplicates = self.scoreboard.sacked_out;
            ack_info.delivered += acked.saturating_sub(duplicates).max(1);
            self.scoreboard.sacked_out = duplicates.saturating_sub(acked - 1);
        }
        // The sample is of cumulatively acknowledged segments if there are any.
        if !ack_info.retransmission_acked {
            ack_info.ages = ages.or(ack_info.ages);
        }
        if !has_sack {
            self.scoreboard.sacked_out = self.scoreboard.sacked_out.min(self.max_reno_sacks());
        }
        self.recovery.examined = self.recovery.examined.max(ack);
        self.recovery.retransmit_hint = self.recovery.retransmit_hint.max(ack);
        self.recovery.highest_sacked = self.recovery.highest_sacked.max(ack);
    }

    /// Without SACK: counts a duplicate ACK as a segment that has left the network (tcp_add_reno_sack).
    pub(super) fn update_reno_sacks(&mut self, ack_info: &mut AckInfo) {
        if ack_info.advanced && !matches!(self.ca_state, State::Recovery) {
            self.scoreboard.sacked_out = 0;
        }
        // After a timeout duplicate ACKs may answer needless retransmissions. They count only if new segments were sent
        // (RFC 5682, 2.1).
        let counts = self.ca_state != State::Loss || self.scoreboard.nxt() > self.recovery.high_seq;
        if ack_info.duplicate && counts {
            let before = self.scoreboard.sacked_out;
            let after = (before + 1).min(self.max_reno_sacks()).max(before);
            self.scoreboard.sacked_out = after;
            ack_info.delivered += after - before;
        }
    }

    /// Maximum number of duplicate ACKs to count: at least one segment is missing (tcp_limit_reno_sacked).
    fn max_reno_sacks(&self) -> u32 {
        self.packets_out()
            .saturating_sub(self.scoreboard.lost_out().max(1))
    }

    /// Takes the RTT sample of an ACK, which also ends the back-off of the timeout (tcp_ack_update_rtt).
    pub(super) fn update_rtt<O: Observer>(
        &mut self,
        env: &Env<O>,
        segment: Ack,
        ack_info: &AckInfo,
    ) {
        self.tcp.rtt_us = 0;
        let (una, nxt) = (self.scoreboard.una(), self.scoreboard.nxt());
        if ack_info.ages.is_none() && ack_info.advanced {
            // All acknowledged segments were retransmitted. The echoed timestamp shows which transmission arrived (RFC
            // 7323, 4.3).
            let age = since_echo(micros(env.now), segment.echo_us);
            if age >= self.rtt.min_rtt {
                self.rtt.sample(age, una, nxt);
            }
        }
        if let Some(Ages { first, last }) = ack_info.ages {
            self.tcp.rtt_us = (last / 1000).max(1) as u32;
            self.rtt.sample((first / 1000) as u32, una, nxt);
            self.rtt.min_rtt = self.rtt.min_rtt.min((last / 1000).max(1) as u32);
        }
    }
}
