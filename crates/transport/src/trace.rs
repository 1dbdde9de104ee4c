//! Observers of a simulation. The observer is a type parameter: [`Quiet`] costs nothing.

use crate::packet::{ByteRange, SubflowId};
use mpcc::{Note, Subflow};
use netsim::Time;

/// State of a sender, for traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Slow start threshold, segments; none before the first loss.
    pub ssthresh: Option<u32>,
    /// Smoothed RTT in eighths of a microsecond.
    pub srtt8: u32,
    /// RTT sample of the latest ACK, microseconds; none if the ACK had no sample.
    pub rtt_us: Option<u32>,
    /// Words that the congestion avoidance publishes for the other subflows.
    pub published: [u32; 2],
    /// Segments in flight.
    pub flight: u32,
    /// Whether the window is in a reduction (CWR, Recovery, Loss).
    pub reducing: bool,
}

/// A packet at the server's end of a path, as it leaves or arrives. Sequence numbers count bytes from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Flow of the packet.
    pub flow: Flow,
    /// Size of the IP packet, bytes.
    pub bytes: u32,
    /// Content of the packet.
    pub content: Content,
}

/// Flow of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// A subflow.
    Subflow(SubflowId),
    /// UDP source, by its number.
    Udp(u32),
}

/// Content of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// SYN, arriving.
    Syn {
        /// Flag B: the client requests a backup subflow (RFC 8684, 3.2).
        backup: bool,
    },
    /// SYN/ACK, leaving.
    SynAck {
        /// Flag B: the server requests a backup subflow.
        backup: bool,
    },
    /// Third packet of the handshake, arriving.
    Established {
        /// Timestamp of the SYN/ACK that it answers, µs.
        answers_us: u32,
    },
    /// ADD_ADDR of the server's address of this subflow, leaving.
    AddAddress(u8),
    /// Echo of an ADD_ADDR, arriving.
    AddressEcho(u8),
    /// ACK of the third packet of a join, leaving (RFC 8684, 3.2).
    Joined,
    /// Reset of a subflow by the client, arriving (RFC 8684, 3.6).
    Reset,
    /// Segment with payload, leaving.
    Data {
        /// Sequence number in the subflow, the low 32 bits.
        seq: u32,
        /// Data sequence number, the low 32 bits.
        data: u32,
        /// Bytes of payload.
        len: u16,
        /// Push flag (PSH).
        pushed: bool,
        /// ECN-capable transport (ECT).
        ecn_capable: bool,
        /// Congestion window reduced (CWR).
        reduced: bool,
    },
    /// ACK without payload, arriving.
    Ack {
        /// Next sequence number expected in the subflow, the low 32 bits.
        seq: u32,
        /// Next data sequence number expected (DATA_ACK), the low 32 bits.
        data: u32,
        /// Receive window, bytes from `data` on.
        window: u32,
        /// Age of the echoed timestamp, µs.
        echo_age_us: u32,
        /// ECN echo (ECE).
        echo: bool,
    },
    /// UDP datagram, leaving.
    Datagram,
}

/// Credit that a joining subflow took for its initial window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit {
    /// Slot of the subflow that it was taken from.
    pub lender: u8,
    /// Segments.
    pub segments: u32,
}

/// Observer of the senders.
pub trait Observer {
    /// Whether the observer is called at all.
    const ON: bool;
    /// Whether [`packet`](Self::packet) is called.
    const PACKETS: bool = false;
    /// Whether [`arrived`](Self::arrived) is called.
    const ARRIVALS: bool = false;
    /// A packet leaves or arrives. `sack`: SACK blocks of an ACK in their order.
    fn packet(&mut self, _at: Time, _packet: &Packet, _sack: &[ByteRange]) {}
    /// The state of a sender has changed.
    fn window(&mut self, at: Time, subflow: SubflowId, view: &View);
    /// A subflow is established. `taken`: the credit that its initial window took from another subflow.
    fn opened(&mut self, at: Time, subflow: SubflowId, cc: &Subflow, taken: Option<Credit>);
    /// The congestion control reports the end of credits.
    fn credit(&mut self, at: Time, subflow: SubflowId, cc: &Subflow, note: &Note);
    /// The network lost a data segment: a queue dropped it, or a link lost it. `seq`: sequence number in the subflow, the low 32 bits.
    fn lost(&mut self, at: Time, subflow: SubflowId, seq: u32);
    /// A data segment arrives at the client.
    fn arrived(&mut self, _at: Time, _subflow: SubflowId, _seq: u32) {}
}

/// Observer that is never called.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Observer for Quiet {
    const ON: bool = false;
    fn window(&mut self, _: Time, _: SubflowId, _: &View) {}
    fn opened(&mut self, _: Time, _: SubflowId, _: &Subflow, _: Option<Credit>) {}
    fn credit(&mut self, _: Time, _: SubflowId, _: &Subflow, _: &Note) {}
    fn lost(&mut self, _: Time, _: SubflowId, _: u32) {}
}
