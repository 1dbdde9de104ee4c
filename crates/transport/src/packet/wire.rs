//! Form of a packet on simulated links: 24 bytes.

pub(crate) mod burst;

use super::sequence::ECHO_BITS;
use super::{Ack, Data, Segment, SubflowId, flag};

/// A segment on simulated links: three words, which stay in registers. (Fields of several sizes are copied through
/// memory in pieces that do not match, and the processor stalls: a fifth of all time.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire(pub(crate) u64, pub(crate) u64, pub(crate) u64);

/// Kind of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    Data,
    Ack,
    Syn,
    SynAck,
    HandshakeAck,
    JoinAck,
    AddAddr,
    AddAddrEcho,
    Reset,
    Datagram,
}

/// Flag B of MP_JOIN, in SYN and SYN/ACK.
const BACKUP: u8 = 1;

/// Fields of a packet of any kind, with the names that data and ACKs have for them.
#[derive(Clone, Copy, Default)]
struct Fields {
    /// Connection (24 bits) and subflow (8 bits), or number of the UDP source.
    to: u32,
    seq: u32,
    /// Data sequence number or DATA_ACK.
    dsn: u32,
    /// Receive window, or the timestamp of a handshake.
    window: u32,
    /// 54 bits. Data: timestamp (32 bits) and length above it (16). ACK: echoed timestamp (30) and SACK index above it
    /// (24). Datagram: length.
    extra: u64,
    /// 6 bits.
    flags: u8,
}

/// Number of bits of [`Fields::extra`].
const EXTRA_BITS: u32 = 54;
/// Mask of an echoed timestamp in [`Fields::extra`].
const ECHO: u64 = (1 << ECHO_BITS) - 1;
/// First bit of the length of a data segment in [`Fields::extra`].
const LEN_SHIFT: u32 = 32;
/// Number of bits of [`Fields::flags`].
const FLAG_BITS: u32 = 6;

/// Number of bits of [`Fields::to`] for the index of the subflow.
const SUBFLOW_BITS: u32 = 8;

impl SubflowId {
    #[inline(always)]
    fn bits(self) -> u32 {
        debug_assert!((self.connection as usize) < Self::CONNECTIONS);
        self.connection << SUBFLOW_BITS | u32::from(self.subflow)
    }

    #[inline(always)]
    fn from_bits(bits: u32) -> Self {
        Self {
            connection: bits >> SUBFLOW_BITS,
            subflow: bits as u8,
        }
    }
}

impl Wire {
    #[inline(always)]
    fn new(kind: Kind, fields: Fields) -> Self {
        let two = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        debug_assert!(fields.extra >> EXTRA_BITS == 0 && fields.flags >> FLAG_BITS == 0);
        let last = u64::from(fields.flags) | (kind as u64) << FLAG_BITS;
        Self(
            two(fields.to, fields.seq),
            two(fields.dsn, fields.window),
            fields.extra | last << EXTRA_BITS,
        )
    }

    #[inline(always)]
    fn fields(self) -> Fields {
        let Self(a, b, c) = self;
        Fields {
            to: a as u32,
            seq: (a >> 32) as u32,
            dsn: b as u32,
            window: (b >> 32) as u32,
            extra: c & ((1 << EXTRA_BITS) - 1),
            flags: (c >> EXTRA_BITS) as u8 & ((1 << FLAG_BITS) - 1),
        }
    }

    #[inline(always)]
    fn kind(self) -> u8 {
        (self.2 >> (EXTRA_BITS + FLAG_BITS)) as u8
    }

    /// Whether the packet goes to the client.
    pub(crate) fn goes_to_client(self) -> bool {
        const TO_CLIENT: [Kind; 5] = [
            Kind::Data,
            Kind::SynAck,
            Kind::JoinAck,
            Kind::AddAddr,
            Kind::Datagram,
        ];
        TO_CLIENT.iter().any(|kind| *kind as u8 == self.kind())
    }
}

impl From<Segment> for Wire {
    #[inline(always)]
    fn from(segment: Segment) -> Self {
        let to = |to: SubflowId| Fields {
            to: to.bits(),
            ..Fields::default()
        };
        let backup = |backup: bool| u8::from(backup) * BACKUP;
        match segment {
            Segment::Data(data) => Self::new(
                Kind::Data,
                Fields {
                    to: data.subflow.bits(),
                    seq: data.seq,
                    dsn: data.dsn,
                    window: 0,
                    extra: u64::from(data.sent_us) | u64::from(data.len) << LEN_SHIFT,
                    flags: data.flags,
                },
            ),
            Segment::Ack(ack) => Self::new(
                Kind::Ack,
                Fields {
                    to: ack.subflow.bits(),
                    seq: ack.seq,
                    dsn: ack.data_ack,
                    window: ack.window,
                    extra: u64::from(ack.echo_us) & ECHO | u64::from(ack.sack) << ECHO_BITS,
                    flags: ack.flags,
                },
            ),
            Segment::Syn { subflow, backup: b } => Self::new(
                Kind::Syn,
                Fields {
                    flags: backup(b),
                    ..to(subflow)
                },
            ),
            Segment::SynAck {
                subflow,
                sent_us: window,
                backup: b,
            } => Self::new(
                Kind::SynAck,
                Fields {
                    window,
                    flags: backup(b),
                    ..to(subflow)
                },
            ),
            Segment::HandshakeAck {
                subflow,
                echo_us: window,
            } => Self::new(
                Kind::HandshakeAck,
                Fields {
                    window,
                    ..to(subflow)
                },
            ),
            Segment::JoinAck { subflow, next: seq } => {
                Self::new(Kind::JoinAck, Fields { seq, ..to(subflow) })
            }
            Segment::AddAddr { subflow, address } => Self::new(
                Kind::AddAddr,
                Fields {
                    seq: address.into(),
                    ..to(subflow)
                },
            ),
            Segment::AddAddrEcho { subflow, address } => Self::new(
                Kind::AddAddrEcho,
                Fields {
                    seq: address.into(),
                    ..to(subflow)
                },
            ),
            Segment::Reset { subflow } => Self::new(Kind::Reset, to(subflow)),
            Segment::Datagram {
                source,
                number: seq,
                len,
            } => Self::new(
                Kind::Datagram,
                Fields {
                    seq,
                    extra: len.into(),
                    to: source,
                    ..Fields::default()
                },
            ),
        }
    }
}

impl From<Wire> for Segment {
    fn from(wire: Wire) -> Self {
        let data = wire.data().map(Self::Data);
        let ack = || wire.ack().map(Self::Ack);
        data.or_else(ack).unwrap_or_else(|| wire.control())
    }
}

impl Wire {
    /// Whether the segment has payload.
    #[inline(always)]
    pub(crate) fn is_data(self) -> bool {
        self.kind() == Kind::Data as u8
    }

    /// Whether the segment is an ACK without payload.
    #[inline(always)]
    pub(crate) fn is_ack(self) -> bool {
        self.kind() == Kind::Ack as u8
    }

    /// Subflow of a segment that is no datagram.
    #[inline(always)]
    pub(crate) fn subflow(self) -> SubflowId {
        SubflowId::from_bits(self.0 as u32)
    }

    /// The segment, if it has payload.
    #[inline(always)]
    pub(crate) fn data(self) -> Option<Data> {
        self.is_data().then(|| self.to_data())
    }

    /// The segment, which has payload.
    #[inline(always)]
    pub(crate) fn to_data(self) -> Data {
        debug_assert!(self.is_data());
        let fields = self.fields();
        Data {
            subflow: self.subflow(),
            seq: fields.seq,
            dsn: fields.dsn,
            len: (fields.extra >> LEN_SHIFT) as u16,
            sent_us: fields.extra as u32,
            flags: fields.flags,
        }
    }

    /// The segment, if it is an ACK without payload.
    #[inline(always)]
    pub(crate) fn ack(self) -> Option<Ack> {
        self.is_ack().then(|| self.to_ack())
    }

    /// The segment, which is an ACK without payload.
    #[inline(always)]
    pub(crate) fn to_ack(self) -> Ack {
        debug_assert!(self.is_ack());
        let fields = self.fields();
        Ack {
            subflow: self.subflow(),
            seq: fields.seq,
            data_ack: fields.dsn,
            window: fields.window,
            sack: (fields.extra >> ECHO_BITS) as u32,
            echo_us: (fields.extra & ECHO) as u32,
            flags: fields.flags,
        }
    }
}

impl Wire {
    /// The segment, if it is neither data nor an ACK.
    #[inline(never)]
    fn control(self) -> Segment {
        const SYN: u8 = Kind::Syn as u8;
        const SYN_ACK: u8 = Kind::SynAck as u8;
        const HANDSHAKE_ACK: u8 = Kind::HandshakeAck as u8;
        const JOIN_ACK: u8 = Kind::JoinAck as u8;
        const ADD_ADDR: u8 = Kind::AddAddr as u8;
        const ADD_ADDR_ECHO: u8 = Kind::AddAddrEcho as u8;
        const RESET: u8 = Kind::Reset as u8;
        let fields = self.fields();
        let (subflow, backup) = (SubflowId::from_bits(fields.to), fields.flags & BACKUP != 0);
        match self.kind() {
            SYN => Segment::Syn { subflow, backup },
            SYN_ACK => Segment::SynAck {
                subflow,
                sent_us: fields.window,
                backup,
            },
            HANDSHAKE_ACK => Segment::HandshakeAck {
                subflow,
                echo_us: fields.window,
            },
            JOIN_ACK => Segment::JoinAck {
                subflow,
                next: fields.seq,
            },
            ADD_ADDR => Segment::AddAddr {
                subflow,
                address: fields.seq as u8,
            },
            ADD_ADDR_ECHO => Segment::AddAddrEcho {
                subflow,
                address: fields.seq as u8,
            },
            RESET => Segment::Reset { subflow },
            _ => Segment::Datagram {
                source: fields.to,
                number: fields.seq,
                len: fields.extra as u16,
            },
        }
    }
}

impl netsim::Payload for Wire {
    fn flow(&self) -> u64 {
        let is_datagram = self.kind() == Kind::Datagram as u8;
        u64::from(self.fields().to) << 2
            | u64::from(is_datagram) << 1
            | u64::from(self.goes_to_client())
    }

    fn mark(&mut self) -> bool {
        let Some(mut data) = self.data() else {
            return false;
        };
        let capable = data.flags & flag::ECT != 0;
        data.flags |= u8::from(capable) * flag::CE;
        *self = Segment::Data(data).into();
        capable
    }
}

#[cfg(test)]
mod tests;
