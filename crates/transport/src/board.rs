//! What a subflow has sent and not yet seen acknowledged: a ring, a segment each.

/// A segment that was sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    /// When, the last time: nanoseconds.
    pub(crate) at: u64,
    /// Its first byte of the connection's stream, the low 32 bits.
    pub(crate) data: u32,
    /// Bytes of payload.
    pub(crate) len: u16,
    /// Bits of `mark`.
    pub(crate) marks: u8,
}

/// What is known of a segment. Linux: TCPCB_SACKED_ACKED and the like.
pub(crate) mod mark {
    /// The receiver has it, beyond a gap.
    pub(crate) const SACKED: u8 = 1;
    /// It is taken for lost.
    pub(crate) const LOST: u8 = 2;
    /// It was sent again and that copy is under way.
    pub(crate) const AGAIN: u8 = 4;
    /// It was sent more than once.
    pub(crate) const EVER_AGAIN: u8 = 8;
    /// The first of those that were sent in one buffer (struct sk_buff).
    pub(crate) const FIRST: u8 = 16;
    /// It carries the push flag.
    pub(crate) const PUSH: u8 = 32;
    /// The first of a mapping of the connection's stream (RFC 8684, 3.3.1).
    pub(crate) const MAPPING: u8 = 64;

    /// Of one that is sent for the first time.
    #[inline]
    pub(crate) fn of(first: bool, pushed: bool, maps: bool) -> u8 {
        (u8::from(first) * FIRST) | (u8::from(pushed) * PUSH) | (u8::from(maps) * MAPPING)
    }
}

impl Sent {
    #[inline]
    pub(crate) fn is(&self, marks: u8) -> bool {
        self.marks & marks != 0
    }
}

/// The ring. Segments are found by their number; which numbers are in it is the sender's business.
#[derive(Clone, Debug)]
pub(crate) struct Board {
    ring: Box<[Sent]>,
}

impl Board {
    pub(crate) fn new() -> Self {
        Self {
            ring: vec![Sent::default(); 16].into_boxed_slice(),
        }
    }

    /// Makes room for one more beyond `una..nxt`.
    #[inline]
    pub(crate) fn reserve(&mut self, una: u64, nxt: u64) {
        if nxt - una >= self.ring.len() as u64 {
            self.grow(una, nxt);
        }
    }

    #[cold]
    fn grow(&mut self, una: u64, nxt: u64) {
        let mut larger = vec![Sent::default(); 2 * self.ring.len()].into_boxed_slice();
        for seq in una..nxt {
            larger[seq as usize & (larger.len() - 1)] =
                self.ring[seq as usize & (self.ring.len() - 1)];
        }
        self.ring = larger;
    }

    #[inline]
    pub(crate) fn at(&self, seq: u64) -> &Sent {
        let mask = self.ring.len() - 1;
        &self.ring[seq as usize & mask]
    }

    #[inline]
    pub(crate) fn at_mut(&mut self, seq: u64) -> &mut Sent {
        let mask = self.ring.len() - 1;
        &mut self.ring[seq as usize & mask]
    }
}
