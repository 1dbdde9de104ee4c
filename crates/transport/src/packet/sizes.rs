//! Sizes of packets without payload, bytes: handshakes, ADD_ADDR, resets.

/// Sizes of the packets of a handshake, bytes: IPv4 and TCP (40), TCP options (20 in a SYN, 12 in the third packet),
/// and MPTCP's options as Linux sends them.
#[derive(Clone, Copy)]
pub(crate) struct HandshakeSizes {
    pub(crate) syn: u32,
    pub(crate) syn_ack: u32,
    pub(crate) established: u32,
}

pub(crate) const TCP: HandshakeSizes = HandshakeSizes {
    syn: 60,
    syn_ack: 60,
    established: 52,
};

/// MP_CAPABLE (RFC 8684, 3.1): without a key, with the server's key, with both keys.
pub(crate) const CAPABLE: HandshakeSizes = HandshakeSizes {
    syn: TCP.syn + 4,
    syn_ack: TCP.syn_ack + 12,
    established: TCP.established + 20,
};

/// MP_JOIN (RFC 8684, 3.2).
pub(crate) const JOIN: HandshakeSizes = HandshakeSizes {
    syn: TCP.syn + 12,
    syn_ack: TCP.syn_ack + 16,
    established: TCP.established + 24,
};

/// ADD_ADDR with an IPv4 address, bytes (RFC 8684, 3.4.1).
pub(crate) const ADD_ADDRESS: u32 = TCP.established + 16;
/// Echo of an ADD_ADDR, bytes (RFC 8684, 3.4.1).
pub(crate) const ADDRESS_ECHO: u32 = TCP.established + 8;
/// ACK of the third packet of a join with a DATA_ACK of 32 bits, bytes (RFC 8684, 3.2).
pub(crate) const JOIN_ACK: u32 = TCP.established + 8;
/// Reset with its reason (MP_TCPRST), bytes (RFC 8684, 3.6).
pub(crate) const RESET: u32 = TCP.established + 4;
