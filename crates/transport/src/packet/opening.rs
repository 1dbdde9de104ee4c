//! Sizes of packets without payload that open subflows, announce addresses and reset.

/// Sizes of the packets that open a subflow, bytes: IPv4 and TCP (40), the options of a SYN (20) or of any other packet (12), and
/// MPTCP's, as Linux sends them.
#[derive(Clone, Copy)]
pub(crate) struct Opening {
    pub(crate) syn: u32,
    pub(crate) syn_ack: u32,
    pub(crate) established: u32,
}

pub(crate) const TCP: Opening = Opening {
    syn: 60,
    syn_ack: 60,
    established: 52,
};

/// MP_CAPABLE (RFC 8684, 3.1): without a key, with the server's, with both.
pub(crate) const CAPABLE: Opening = Opening {
    syn: TCP.syn + 4,
    syn_ack: TCP.syn_ack + 12,
    established: TCP.established + 20,
};

/// MP_JOIN (3.2).
pub(crate) const JOIN: Opening = Opening {
    syn: TCP.syn + 12,
    syn_ack: TCP.syn_ack + 16,
    established: TCP.established + 24,
};

/// ADD_ADDR with an address of IPv4, bytes (3.4.1).
pub(crate) const ADD_ADDRESS: u32 = TCP.established + 16;
/// Echo of an ADD_ADDR, bytes (3.4.1).
pub(crate) const ADDRESS_ECHO: u32 = TCP.established + 8;
/// Answer to the last packet of a join, bytes (3.2), with a DATA_ACK of 32 bits.
pub(crate) const JOIN_ACK: u32 = TCP.established + 8;
/// Reset with its reason, bytes (3.6).
pub(crate) const RESET: u32 = TCP.established + 4;
