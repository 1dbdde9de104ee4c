//! SACK blocks (RFC 2018). They are stored beside the segments that carry them: few ACKs have any.

use super::ByteRange;

/// Maximum number of blocks in an ACK.
pub(crate) const MAX_BLOCKS: usize = 4;

/// SACK blocks of one ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SackBlocks {
    /// Ranges of bytes, the latest first.
    pub(crate) list: [ByteRange; MAX_BLOCKS],
    /// Number of blocks.
    pub(crate) count: u8,
    /// The first block reports a duplicate segment (DSACK, RFC 2883).
    pub(crate) duplicate: bool,
}

impl SackBlocks {
    pub(crate) fn iter(&self) -> impl Iterator<Item = ByteRange> {
        let skip = usize::from(self.duplicate);
        self.list[..self.count as usize].iter().copied().skip(skip)
    }
}

/// SACK blocks of all ACKs in the network. Index 0 stands for an ACK without blocks.
#[derive(Debug, Default)]
pub(crate) struct SackStore {
    all: Vec<SackBlocks>,
    free: Vec<u32>,
}

impl SackStore {
    /// Stores the blocks of an ACK. Returns their index.
    ///
    /// # Panics
    /// If 2^24 ACKs with blocks are in the network.
    pub(crate) fn insert(&mut self, blocks: SackBlocks) -> u32 {
        if let Some(index) = self.free.pop() {
            self.all[index as usize - 1] = blocks;
            return index;
        }
        assert!(
            self.all.len() + 1 < 1 << 24,
            "an ACK has 24 bits for the index of its SACK blocks"
        );
        self.all.push(blocks);
        self.all.len() as u32
    }

    /// Blocks of an ACK that stays in the network.
    pub(crate) fn get(&self, index: u32) -> &[ByteRange] {
        index.checked_sub(1).map_or(&[], |index| {
            let blocks = &self.all[index as usize];
            &blocks.list[..blocks.count.into()]
        })
    }

    /// Removes the blocks of an ACK that has arrived or was lost.
    pub(crate) fn take(&mut self, index: u32) -> Option<SackBlocks> {
        if index == 0 {
            return None;
        }
        self.free.push(index);
        Some(self.all[index as usize - 1])
    }
}

#[cfg(test)]
impl SackStore {
    /// Number of ACKs with blocks in the network.
    pub(crate) fn in_flight(&self) -> usize {
        self.all.len() - self.free.len()
    }
}

/// Out-of-order ranges that a receiver reports (tcp_sock.selective_acks): up to four blocks, that of the latest arrival
/// first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SelectiveAcks {
    list: [ByteRange; MAX_BLOCKS],
    count: usize,
}

impl SelectiveAcks {
    /// Adds an out-of-order segment (tcp_sack_new_ofo_skb).
    pub(crate) fn insert(&mut self, mut block: ByteRange) {
        let mut kept = [ByteRange::default(); MAX_BLOCKS];
        let mut count = 0;
        for &other in &self.list[..self.count] {
            // Adjacent blocks are merged, too.
            if other.start <= block.end && block.start <= other.end {
                block.start = block.start.min(other.start);
                block.end = block.end.max(other.end);
            } else {
                kept[count] = other;
                count += 1;
            }
        }
        self.list[0] = block;
        self.count = 1;
        for &other in &kept[..count.min(MAX_BLOCKS - 1)] {
            self.list[self.count] = other;
            self.count += 1;
        }
    }

    /// Removes the blocks before `next`, which are in order now (tcp_sack_remove).
    pub(crate) fn advance(&mut self, next: u64) {
        let mut count = 0;
        for i in 0..self.count {
            if self.list[i].end > next {
                self.list[count] = self.list[i];
                count += 1;
            }
        }
        self.count = count;
    }

    /// Blocks of an ACK: the DSACK block, then the others; at most `room`.
    pub(crate) fn blocks(&self, duplicate: Option<ByteRange>, room: usize) -> Option<SackBlocks> {
        let mut blocks = SackBlocks {
            duplicate: duplicate.is_some(),
            ..SackBlocks::default()
        };
        let all = duplicate
            .into_iter()
            .chain(self.list[..self.count].iter().copied());
        for block in all.take(room.min(MAX_BLOCKS)) {
            blocks.list[blocks.count as usize] = block;
            blocks.count += 1;
        }
        (blocks.count > 0).then_some(blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of an ACK with this room.
    fn list(acks: &SelectiveAcks, room: usize) -> Vec<ByteRange> {
        let blocks = acks.blocks(None, room);
        blocks.map_or(vec![], |blocks| blocks.iter().collect())
    }

    /// Ranges of these bytes.
    fn ranges<const N: usize>(ends: [[u64; 2]; N]) -> [ByteRange; N] {
        ends.map(|[start, end]| ByteRange { start, end })
    }

    #[test]
    fn the_latest_block_is_first_and_adjacent_blocks_are_merged() {
        let mut acks = SelectiveAcks::default();
        [5, 9, 6]
            .into_iter()
            .for_each(|seq| acks.insert(ByteRange::new(seq, seq + 1)));
        assert_eq!(list(&acks, 3), ranges([[5, 7], [9, 10]]));
        assert_eq!(list(&acks, 1), ranges([[5, 7]]));
        [7, 8]
            .into_iter()
            .for_each(|seq| acks.insert(ByteRange::new(seq, seq + 1)));
        assert_eq!(list(&acks, 3), ranges([[5, 10]]));
        acks.insert(ByteRange::new(20, 21));
        acks.advance(10);
        assert_eq!(list(&acks, 3), ranges([[20, 21]]));
    }

    #[test]
    fn a_fifth_block_is_dropped_and_the_dsack_block_is_first() {
        let mut acks = SelectiveAcks::default();
        (0..5).for_each(|i| acks.insert(ByteRange::new(10 + 2 * i, 11 + 2 * i)));
        assert_eq!(
            list(&acks, 9),
            ranges([[18, 19], [16, 17], [14, 15], [12, 13]])
        );
        let blocks = acks.blocks(Some(ByteRange::new(3, 4)), 2).unwrap();
        assert!(blocks.duplicate);
        assert_eq!(blocks.list[0], ByteRange::new(3, 4));
        assert_eq!(blocks.iter().collect::<Vec<_>>(), ranges([[18, 19]]));
    }

    #[test]
    fn indices_are_reused() {
        let mut sacks = SackStore::default();
        let first = sacks.insert(SackBlocks::default());
        assert_ne!(first, 0);
        assert!(sacks.take(first).is_some());
        assert_eq!(sacks.insert(SackBlocks::default()), first);
        assert_eq!(sacks.take(0), None);
    }
}
