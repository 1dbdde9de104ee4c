//! The scoreboard: Linux's retransmit queue (tcp_rtx_queue) with its counters.
//!
//! An entry is a struct sk_buff: segments that were sent at once and have the same state. SACK blocks, losses and
//! retransmissions split entries; SACK blocks join them again.
//! Source: Linux 6.12, net/ipv4/tcp_input.c (tcp_shift_skb_data, tcp_match_skb_to_sack), tcp_output.c
//! (__tcp_retransmit_skb, tcp_fragment).

mod entry;
mod queue;

pub(crate) use entry::{Skb, flag};
use queue::Queue;

/// Memory of an entry without its payload, bytes: struct sk_buff and struct skb_shared_info.
pub(crate) const OVERHEAD: u64 = 896;

/// Segments that a cumulative ACK removed from the queue: an entry, or the first segments of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acked {
    pub(crate) seq: u64,
    pub(crate) end: u64,
    pub(crate) sent_at: u64,
    pub(crate) count: u32,
    pub(crate) flags: u8,
}

/// The retransmit queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    queue: Queue,
    /// First unacknowledged byte (snd_una).
    una: u64,
    /// First byte that was never sent (snd_nxt).
    nxt: u64,
    /// Number of segments sent and not acknowledged cumulatively.
    packets_out: u32,
    /// Number of SACKed segments; without SACK, of duplicate ACKs.
    pub(crate) sacked_out: u32,
    /// Number of segments marked lost.
    lost_out: u32,
    /// Number of retransmissions in flight.
    retrans_out: u32,
}

impl Scoreboard {
    #[inline]
    pub(crate) fn una(&self) -> u64 {
        self.una
    }

    #[inline]
    pub(crate) fn nxt(&self) -> u64 {
        self.nxt
    }

    #[inline]
    pub(crate) fn packets_out(&self) -> u32 {
        self.packets_out
    }

    #[inline]
    pub(crate) fn lost_out(&self) -> u32 {
        self.lost_out
    }

    #[inline]
    pub(crate) fn retrans_out(&self) -> u32 {
        self.retrans_out
    }

    /// Whether no segment is SACKed or lost and no retransmission is in flight.
    #[inline]
    pub(crate) fn is_clean(&self) -> bool {
        self.sacked_out | self.lost_out | self.retrans_out == 0
    }

    /// Number of segments in flight (tcp_packets_in_flight).
    #[inline]
    pub(crate) fn in_flight(&self) -> u32 {
        // Without SACK each duplicate ACK stands for a segment that has left the network, and there may be one ACK too
        // many.
        (self.packets_out + self.retrans_out).saturating_sub(self.sacked_out + self.lost_out)
    }

    /// Memory of the queue, bytes.
    #[inline]
    pub(crate) fn memory(&self) -> u64 {
        self.nxt - self.una + self.queue.len() as u64 * OVERHEAD
    }

    /// First entry.
    #[inline]
    pub(crate) fn front(&self) -> Option<&Skb> {
        self.queue.get(0)
    }

    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    #[inline]
    pub(crate) fn at(&self, index: usize) -> &Skb {
        &self.queue[index]
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Skb> + ExactSizeIterator {
        self.queue.iter()
    }

    /// Index of the entry with this byte, or of the first one after it; [`len`](Self::len) if there is none.
    pub(crate) fn find(&self, seq: u64) -> usize {
        self.queue.partition_point(|skb| skb.end <= seq)
    }

    /// Adds new segments.
    #[inline]
    pub(crate) fn push(&mut self, skb: Skb) {
        debug_assert!(skb.seq == self.nxt && skb.count > 0);
        self.nxt = skb.end;
        self.packets_out += skb.count;
        self.queue.push_back(skb);
    }

    /// Removes acknowledged segments, an entry or a part of one per call; none: no whole segment before `ack` is left.
    #[inline]
    pub(crate) fn acknowledge(&mut self, ack: u64) -> Option<Acked> {
        let skb = self.queue.get_mut(0)?;
        if ack < skb.end {
            return self.trim_front(ack);
        }
        let acked = Acked {
            seq: skb.seq,
            end: skb.end,
            sent_at: skb.sent_at,
            count: skb.count,
            flags: skb.flags,
        };
        self.queue.pop_front();
        self.una = acked.end;
        self.subtract(&acked);
        Some(acked)
    }

    /// Removes the first segments of the first entry (tcp_tso_acked).
    fn trim_front(&mut self, ack: u64) -> Option<Acked> {
        let skb = self.queue.get_mut(0)?;
        let count = (ack.saturating_sub(skb.seq) / u64::from(skb.segment)) as u32;
        if count == 0 {
            return None;
        }
        debug_assert!(
            count < skb.count,
            "{ack} is within the last segment of {skb:?}"
        );
        let end = skb.seq + u64::from(count) * u64::from(skb.segment);
        let acked = Acked {
            seq: skb.seq,
            end,
            sent_at: skb.sent_at,
            count,
            flags: skb.flags,
        };
        skb.dsn += end - skb.seq;
        skb.seq = end;
        skb.count -= count;
        skb.flags &= !flag::MAPPING;
        self.una = end;
        self.subtract(&acked);
        Some(acked)
    }

    /// Subtracts removed segments from the counters.
    #[inline]
    fn subtract(&mut self, acked: &Acked) {
        let (count, flags) = (acked.count, acked.flags);
        self.packets_out -= count;
        if flags & (flag::SACKED | flag::LOST | flag::RETRANS) != 0 {
            let counts = |bit| if flags & bit != 0 { count } else { 0 };
            self.sacked_out -= counts(flag::SACKED);
            self.lost_out -= counts(flag::LOST);
            self.retrans_out -= counts(flag::RETRANS);
        }
    }

    /// Splits an entry at this byte (tcp_fragment). Returns whether an entry begins there.
    pub(crate) fn split(&mut self, seq: u64) -> bool {
        let index = self.find(seq);
        let Some(skb) = self.queue.get_mut(index) else {
            return false;
        };
        if seq <= skb.seq {
            return seq == skb.seq;
        }
        if skb.count < 2 {
            return false;
        }
        // The parts of a merged entry have an approximate number of segments, as in Linux. Only SACKed entries are
        // merged.
        let count = (seq - skb.seq).div_ceil(u64::from(skb.segment)) as u32;
        let count = count.min(skb.count - 1);
        debug_assert!(
            skb.is(flag::SACKED) || skb.seq + u64::from(count) * u64::from(skb.segment) == seq,
            "{seq} is within a segment of {skb:?}"
        );
        let behind = Skb {
            seq,
            dsn: skb.dsn + (seq - skb.seq),
            count: skb.count - count,
            flags: skb.flags & !flag::MAPPING,
            ..*skb
        };
        skb.end = seq;
        skb.count = count;
        skb.flags &= !flag::PUSH;
        self.queue.insert(index + 1, behind);
        true
    }

    /// Splits an entry after its first `count` segments (tcp_fragment).
    pub(crate) fn split_after(&mut self, index: usize, count: u32) {
        let skb = &self.queue[index];
        if count < skb.count {
            self.split(skb.seq + u64::from(count) * u64::from(skb.segment));
        }
    }

    /// Marks an entry as retransmitted. `probe`: a loss probe, which is not counted in flight (tcp_send_loss_probe).
    pub(crate) fn retransmit(&mut self, index: usize, now: u64, probe: bool) -> Skb {
        let skb = &mut self.queue[index];
        skb.flags |= flag::EVER_RETRANS;
        skb.sent_at = now;
        if !probe {
            skb.flags |= flag::RETRANS;
            self.retrans_out += skb.count;
        }
        *skb
    }

    /// Marks an entry lost, together with its retransmission (tcp_mark_skb_lost).
    pub(crate) fn mark_lost(&mut self, index: usize) {
        let skb = &mut self.queue[index];
        if skb.is(flag::RETRANS) {
            skb.flags &= !flag::RETRANS;
            self.retrans_out -= skb.count;
        }
        if !skb.is(flag::LOST) {
            skb.flags |= flag::LOST;
            self.lost_out += skb.count;
        }
    }

    /// Clears all loss marks (tcp_undo_cwnd_reduction with unmark_loss).
    pub(crate) fn unmark_lost(&mut self) {
        for index in 0..self.queue.len() {
            self.queue[index].flags &= !flag::LOST;
        }
        self.lost_out = 0;
    }

    /// Marks an entry SACKed. Returns its state before (tcp_sacktag_one).
    pub(crate) fn sack(&mut self, index: usize) -> Skb {
        let skb = &mut self.queue[index];
        let before = *skb;
        skb.flags |= flag::SACKED;
        // Linux leaves the retransmission of an entry that is not marked lost in retrans_out.
        if before.is(flag::LOST) {
            skb.flags &= !(flag::LOST | flag::RETRANS);
            self.lost_out -= before.count;
            if before.is(flag::RETRANS) {
                self.retrans_out -= before.count;
            }
        }
        self.sacked_out += before.count;
        before
    }

    /// Joins a newly SACKed entry to the one before if that is SACKed, too, and has segments of the same size. Returns
    /// whether they were joined (tcp_shift_skb_data).
    pub(crate) fn join(&mut self, index: usize) -> bool {
        let Some(before) = index.checked_sub(1).map(|before| self.queue[before]) else {
            return false;
        };
        let skb = self.queue[index];
        let joins =
            before.is_only_sacked() && before.segment_len() == skb.segment_len() && skb.may_join();
        if joins {
            self.merge(index);
        }
        joins
    }

    /// Joins the next entry, which was SACKed before, to this one if the gap between them is closed and its segments
    /// have size `segment_len`.
    pub(crate) fn join_next(&mut self, index: usize, segment_len: u64) {
        let Some(next) = self.queue.get(index + 1) else {
            return;
        };
        if next.may_join() && next.is_only_sacked() && next.segment_len() == segment_len {
            self.merge(index + 1);
        }
    }

    /// Merges an entry into the one before.
    fn merge(&mut self, index: usize) {
        if let Some(skb) = self.queue.remove(index) {
            let before = &mut self.queue[index - 1];
            debug_assert_eq!(before.dsn + before.len(), skb.dsn, "another mapping");
            before.segment = before.segment_len() as u16;
            before.end = skb.end;
            before.count += skb.count;
            before.flags |= skb.flags & (flag::PUSH | flag::EVER_RETRANS);
        }
    }
}

#[cfg(any(debug_assertions, test))]
impl Scoreboard {
    /// Recounts the counters.
    ///
    /// # Panics
    /// If a counter is wrong, or the entries are not consecutive.
    pub(crate) fn check(&self, has_sack: bool) {
        let count = |flags: u8| -> u32 {
            let known = self.queue.iter().filter(|skb| skb.is(flags));
            known.map(|skb| skb.count).sum()
        };
        assert_eq!(self.lost_out, count(flag::LOST), "lost_out");
        assert_eq!(self.retrans_out, count(flag::RETRANS), "retrans_out");
        let out: u32 = self.queue.iter().map(|skb| skb.count).sum();
        assert_eq!(self.packets_out, out, "packets_out");
        let mut next = self.una;
        for skb in self.queue.iter() {
            assert_eq!(skb.seq, next, "{skb:?}");
            assert!(skb.count > 0 && skb.len() > 0, "{skb:?}");
            let lost_and_there = flag::SACKED | flag::LOST;
            assert!(skb.flags & lost_and_there != lost_and_there, "{skb:?}");
            next = skb.end;
        }
        assert_eq!(self.nxt, next, "snd_nxt");
        if has_sack {
            assert_eq!(self.sacked_out, count(flag::SACKED), "sacked_out");
            assert!(out + self.retrans_out >= self.sacked_out + self.lost_out);
        } else {
            assert!(
                self.sacked_out + self.lost_out <= out,
                "more duplicate ACKs than segments"
            );
        }
    }
}

#[cfg(test)]
mod tests;
