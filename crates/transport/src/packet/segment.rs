//! Segments of TCP and MPTCP, and UDP datagrams.
//!
//! Sequence numbers of a subflow, and data sequence numbers of the connection's stream (RFC 8684, 3.3), count bytes
//! from 0.

/// Identifier of a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubflowId {
    /// Number of the connection, from 0, 24 bits.
    pub connection: u32,
    /// Index in the connection, from 0: 0 is the subflow that opens the connection.
    pub subflow: u8,
}

impl SubflowId {
    /// Maximum number of connections in a simulation: packets have 24 bits for the number.
    pub const CONNECTIONS: usize = 1 << 24;

    /// Index of the subflow in its connection.
    #[inline(always)]
    pub(crate) fn index(self) -> usize {
        self.subflow.into()
    }
}

/// Contents of one packet.
///
/// Data, [`SynAck`](Self::SynAck), [`AddAddr`](Self::AddAddr), [`JoinAck`](Self::JoinAck) and datagrams go to the
/// client, the others to the server, which sends the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    /// Payload.
    Data(Data),
    /// Acknowledgement without payload.
    Ack(Ack),
    /// First packet of a subflow.
    Syn {
        subflow: SubflowId,
        /// Flag B of MP_JOIN: the client requests a backup subflow (RFC 8684, 3.2).
        backup: bool,
    },
    /// Second packet of a subflow.
    SynAck {
        subflow: SubflowId,
        /// Timestamp, µs (RFC 7323).
        sent_us: u32,
        /// Flag B of MP_JOIN: the server requests a backup subflow.
        backup: bool,
    },
    /// Third packet of a subflow.
    HandshakeAck {
        subflow: SubflowId,
        /// Timestamp of the SYN/ACK that it answers, µs.
        echo_us: u32,
    },
    /// Server's answer to the third packet of a join (RFC 8684, 3.2).
    JoinAck {
        subflow: SubflowId,
        /// Sequence number of the server's next byte.
        next: u32,
    },
    /// Announces the server's address of another subflow (ADD_ADDR, RFC 8684, 3.4.1).
    AddAddr {
        subflow: SubflowId,
        /// Subflow of the connection that the address allows.
        address: u8,
    },
    /// Echo of an ADD_ADDR.
    AddAddrEcho { subflow: SubflowId, address: u8 },
    /// The client resets the subflow (RST with MP_TCPRST, RFC 8684, 3.6).
    Reset { subflow: SubflowId },
    /// UDP datagram.
    Datagram {
        /// Number of the source.
        source: u32,
        number: u32,
        /// Bytes of the IP packet.
        len: u16,
    },
}

impl Segment {
    /// Subflow of the segment; none for a datagram.
    pub(crate) fn subflow(&self) -> Option<SubflowId> {
        match *self {
            Self::Data(Data { subflow, .. })
            | Self::Ack(Ack { subflow, .. })
            | Self::Syn { subflow, .. }
            | Self::SynAck { subflow, .. }
            | Self::HandshakeAck { subflow, .. }
            | Self::JoinAck { subflow, .. }
            | Self::AddAddr { subflow, .. }
            | Self::AddAddrEcho { subflow, .. }
            | Self::Reset { subflow } => Some(subflow),
            Self::Datagram { .. } => None,
        }
    }
}

/// Segment with payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Data {
    pub(crate) subflow: SubflowId,
    /// Sequence number in the subflow of the first byte.
    pub(crate) seq: u32,
    /// Data sequence number of the first byte.
    pub(crate) dsn: u32,
    /// Bytes of payload.
    pub(crate) len: u16,
    /// Timestamp, µs (RFC 7323).
    pub(crate) sent_us: u32,
    /// Bits of [`flag`].
    pub(crate) flags: u8,
}

/// Segment without payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ack {
    pub(crate) subflow: SubflowId,
    /// Next sequence number expected in the subflow.
    pub(crate) seq: u32,
    /// Next data sequence number expected (DATA_ACK, RFC 8684, 3.3.2).
    pub(crate) data_ack: u32,
    /// Receive window, bytes from `data_ack` on.
    pub(crate) window: u32,
    /// SACK blocks: index in [`super::sack_blocks::SackStore`], 24 bits; 0: none.
    pub(crate) sack: u32,
    /// Echoed timestamp (RFC 7323), the low [`ECHO_BITS`](super::sequence::ECHO_BITS).
    pub(crate) echo_us: u32,
    /// Bits of [`flag`].
    pub(crate) flags: u8,
}

/// Flags of data and ACKs, 6 bits.
pub(crate) mod flag {
    /// ECN-capable transport (RFC 3168).
    pub(crate) const ECT: u8 = 2;
    /// Congestion experienced (RFC 3168).
    pub(crate) const CE: u8 = 4;
    /// ACK: ECN echo (RFC 3168).
    pub(crate) const ECE: u8 = 8;
    /// Data: congestion window reduced (RFC 3168).
    pub(crate) const CWR: u8 = 16;
    /// Data: push (RFC 9293, 3.9.1).
    pub(crate) const PSH: u8 = 32;
}
