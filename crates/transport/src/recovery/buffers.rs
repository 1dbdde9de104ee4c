//! Buffers of what is out (struct sk_buff), each of which takes memory beside its payload: SACK blocks and repairs split and join
//! them, so that what is known of one segment of a buffer (SACKED, LOST, AGAIN) is known of all of them.
//! Source: Linux 6.12, net/ipv4/tcp_input.c (tcp_shift_skb_data, tcp_match_skb_to_sack), tcp_output.c (__tcp_retransmit_skb).

use super::*;

impl Sender {
    /// A segment begins a buffer.
    pub(super) fn split(&mut self, seq: u64) {
        if seq < self.nxt && !self.begins_buffer(seq) {
            self.board.at_mut(seq).marks |= mark::FIRST;
            self.buffers += 1;
        }
    }

    /// A segment is in the buffer of the one before it.
    fn join(&mut self, seq: u64) {
        self.board.at_mut(seq).marks &= !mark::FIRST;
        self.buffers -= 1;
    }

    /// Whether a segment is the first of its buffer that is out.
    fn begins_buffer(&self, seq: u64) -> bool {
        seq == self.una || self.board.at(seq).is(mark::FIRST)
    }

    /// What a SACK block has just told of: all from a segment up to another, where the block ends or goes on with what was known.
    /// A buffer that begins with some of it gives that to the one before, if all of that was told of, too.
    pub(super) fn split_and_join(&mut self, from: u64, until: u64) {
        self.split(from);
        let mut first = from;
        while first < until {
            let end = self.buffer_end(first);
            let whole = end <= until;
            let len = self.len_in(first);
            if first > self.una && self.may_join(first) && self.ends_with(first, len) {
                self.join(first);
                // The gap is closed, and what lies behind it may follow.
                let behind = end == until && end < self.nxt && self.may_join(end);
                if behind && self.is_told(end) && self.len_in(end) == len {
                    self.join(end);
                }
            }
            if !whole {
                self.split(until);
            }
            first = end;
        }
    }

    /// The segment after the last one of the buffer that this one begins.
    fn buffer_end(&self, first: u64) -> u64 {
        let mut rest = first + 1..self.nxt;
        rest.find(|seq| self.begins_buffer(*seq))
            .unwrap_or(self.nxt)
    }

    /// Whether what was told of is all that is known of a segment.
    fn is_told(&self, seq: u64) -> bool {
        let sent = self.board.at(seq);
        sent.is(mark::SACKED) && !sent.is(mark::LOST | mark::AGAIN)
    }

    /// Bytes of a segment in the buffer that this one begins: of its own where there is no other (tcp_skb_seglen).
    fn len_in(&self, first: u64) -> u16 {
        let alone = first + 1 == self.nxt || self.begins_buffer(first + 1);
        if alone {
            self.board.at(first).len
        } else {
            self.mss
        }
    }

    /// Whether the buffer before this segment was told of and has segments of so many bytes.
    fn ends_with(&self, seq: u64, len: u16) -> bool {
        let before = seq - 1;
        let theirs = if self.begins_buffer(before) {
            self.board.at(before).len
        } else {
            self.mss
        };
        self.is_told(before) && theirs == len
    }

    /// Whether the buffer of a segment may be joined to the one before: it is of the same mapping of the stream
    /// (mptcp_skb_can_collapse), and no copy of it is under way that nobody takes for lost. (Linux joins that of a probe, too.)
    fn may_join(&self, seq: u64) -> bool {
        !self.board.at(seq).is(mark::MAPPING | mark::AGAIN)
    }
}
