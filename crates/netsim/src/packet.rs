//! Packets, and the interface of a network to their payload.

/// Properties of a packet that a queue may use, beyond its size.
///
/// Every method has a default: by default all packets are of one flow, and not ECN-capable.
///
/// ```
/// struct Segment { connection: u64, ecn_capable: bool, congestion_experienced: bool }
///
/// impl netsim::Payload for Segment {
///     fn flow(&self) -> u64 {
///         self.connection
///     }
///
///     fn mark(&mut self) -> bool {
///         self.congestion_experienced |= self.ecn_capable;
///         self.ecn_capable
///     }
/// }
/// ```
pub trait Payload {
    /// Identifier of the flow and direction, which FQ-CoDel hashes (RFC 8290 section 4.1: protocol, addresses and ports). By default
    /// all packets are of one flow.
    fn flow(&self) -> u64 {
        0
    }

    /// Sets "congestion experienced" (RFC 3168 section 5). Returns whether it is set; `false`, the default, for a packet that is not
    /// ECN-capable, which the queue drops instead.
    fn mark(&mut self) -> bool {
        false
    }
}

/// A packet without a payload.
impl Payload for () {}

#[cfg(test)]
impl Payload for usize {}

/// A packet in the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet<P> {
    /// Size of the packet.
    pub(crate) bytes: u32,
    /// Next hop: see [`Hop::next`](crate::network::Hop::next).
    pub(crate) next: u32,
    /// Payload.
    pub(crate) payload: P,
}

/// Number of packets and of their bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

impl Count {
    #[inline]
    pub(crate) fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }
}
