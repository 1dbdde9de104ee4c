//! Who watches a simulation. Watching is a type parameter: with [`Quiet`] it costs nothing.

use crate::packet::SubflowId;
use mpcc::{Note, Subflow};
use netsim::Time;

/// What shows of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Slow start threshold, segments; none before the first loss.
    pub ssthresh: Option<u32>,
    /// Smoothed RTT in eighths of a microsecond.
    pub srtt8: u32,
    /// Segments in flight.
    pub flight: u32,
    /// Whether its window is being reduced.
    pub reducing: bool,
}

/// A packet at the end of a path that data is sent from: as it leaves, or as it comes in. Sequence numbers count bytes from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Where it belongs.
    pub flow: Flow,
    /// The whole IP packet, bytes.
    pub bytes: u32,
    /// What it is.
    pub content: Content,
}

/// What a packet belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// A subflow.
    Subflow(SubflowId),
    /// A source of UDP datagrams, by its number.
    Udp(u32),
}

/// What a packet tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Comes in: opens a subflow.
    Syn {
        /// The client asks for a backup subflow (RFC 8684, 3.2: B).
        backup: bool,
    },
    /// Leaves: answers it.
    SynAck {
        /// The server asks for a backup subflow.
        backup: bool,
    },
    /// Comes in: the third packet of the handshake.
    Established {
        /// When the SYN/ACK that it answers left, µs.
        answers_us: u32,
    },
    /// Leaves: announces the server's address of this subflow of the connection (ADD_ADDR).
    AddAddress(u8),
    /// Comes in: the echo of that.
    AddressEcho(u8),
    /// Leaves: the ACK of the last packet of a join (RFC 8684, 3.2).
    Joined,
    /// The client resets a subflow (RFC 8684, 3.6).
    Reset,
    /// Leaves: payload.
    Data {
        /// Its first byte of the subflow, the low 32 bits.
        seq: u32,
        /// Its first byte of the connection's stream, the low 32 bits.
        data: u32,
        /// Bytes of payload.
        len: u16,
        /// It carries the push flag (PSH).
        pushed: bool,
        /// The network may mark it (ECT).
        ecn_capable: bool,
        /// The window was reduced since an echoed mark (CWR).
        reduced: bool,
    },
    /// Comes in: an acknowledgement.
    Ack {
        /// The next byte expected in the subflow, the low 32 bits.
        seq: u32,
        /// The next byte expected in the stream, the low 32 bits.
        data: u32,
        /// How many bytes from `data` on the receiver takes.
        window: u32,
        /// How long ago the segment left whose timestamp it echoes, µs.
        echo_age_us: u32,
        /// A mark was seen (ECE).
        echo: bool,
    },
    /// Leaves: a UDP datagram.
    Datagram,
}

/// Hears what happens at the senders.
pub trait Observer {
    /// Whether it listens at all.
    const ON: bool;
    /// Whether it listens to packets.
    const PACKETS: bool = false;
    /// A packet leaves, or comes in. `sack`: the blocks of an ACK, first byte and the one after the last, in their order.
    fn packet(&mut self, _at: Time, _packet: &Packet, _sack: &[(u64, u64)]) {}
    /// A sender's state after something changed it.
    fn window(&mut self, at: Time, subflow: SubflowId, view: &View);
    /// A subflow is established: what it took for its initial window, and from which slot of its connection.
    fn opened(&mut self, at: Time, subflow: SubflowId, cc: &Subflow, taken: Option<(u8, u32)>);
    /// What the congestion control told of credits.
    fn credit(&mut self, at: Time, subflow: SubflowId, cc: &Subflow, note: &Note);
    /// The network lost a segment of a subflow's data: a queue dropped it, or a link lost it.
    fn lost(&mut self, at: Time, subflow: SubflowId);
}

/// Does not listen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Observer for Quiet {
    const ON: bool = false;
    fn window(&mut self, _: Time, _: SubflowId, _: &View) {}
    fn opened(&mut self, _: Time, _: SubflowId, _: &Subflow, _: Option<(u8, u32)>) {}
    fn credit(&mut self, _: Time, _: SubflowId, _: &Subflow, _: &Note) {}
    fn lost(&mut self, _: Time, _: SubflowId) {}
}
