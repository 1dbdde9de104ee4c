//! An entry of the scoreboard (struct sk_buff) with its flags (struct tcp_skb_cb).

/// Flags of an entry (TCPCB_SACKED_ACKED and the like).
pub(crate) mod flag {
    /// SACKed.
    pub(crate) const SACKED: u8 = 1;
    /// Marked lost.
    pub(crate) const LOST: u8 = 2;
    /// Retransmission in flight (TCPCB_SACKED_RETRANS).
    pub(crate) const RETRANS: u8 = 4;
    /// Retransmitted at least once (TCPCB_EVER_RETRANS).
    pub(crate) const EVER_RETRANS: u8 = 8;
    /// The last segment carries the push flag.
    pub(crate) const PUSH: u8 = 16;
    /// The first segment begins a mapping of the connection's stream (RFC 8684, 3.3.1).
    pub(crate) const MAPPING: u8 = 32;
}

/// An entry: segments that were sent at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Skb {
    /// Sequence number of the first byte.
    pub(crate) seq: u64,
    /// Sequence number of the byte after the last one.
    pub(crate) end: u64,
    /// Time of the last transmission, ns.
    pub(crate) sent_at: u64,
    /// Data sequence number of the first byte.
    pub(crate) dsn: u64,
    /// Number of segments (tcp_skb_pcount).
    pub(crate) count: u32,
    /// Size of a segment, bytes; the last one may be shorter (gso_size).
    pub(crate) segment: u16,
    /// Bits of [`flag`].
    pub(crate) flags: u8,
}

impl Skb {
    #[inline]
    pub(crate) fn is(&self, flags: u8) -> bool {
        self.flags & flags != 0
    }

    /// Bytes of payload.
    #[inline]
    pub(crate) fn len(&self) -> u64 {
        self.end - self.seq
    }

    /// Size of a segment, bytes; that of a single segment may be shorter (tcp_skb_seglen).
    pub(crate) fn segment_len(&self) -> u64 {
        match self.count {
            1 => self.len(),
            _ => self.segment.into(),
        }
    }

    /// Whether the entry is SACKed and neither lost nor retransmitted.
    pub(super) fn is_only_sacked(&self) -> bool {
        self.flags & (flag::SACKED | flag::LOST | flag::RETRANS) == flag::SACKED
    }

    /// Whether the entry may be joined to the one before: it does not begin a mapping of the stream
    /// (mptcp_skb_can_collapse), and no retransmission of it is in flight.
    pub(super) fn may_join(&self) -> bool {
        !self.is(flag::MAPPING | flag::RETRANS)
    }
}
