//! Packets, and what a network asks of them.

/// What a queue may want to know of a packet or do to it, beyond its size.
///
/// Every method has a default: a type that says nothing is a packet that all queues treat alike.
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
    /// What FQ-CoDel hashes: equal for packets of one flow and direction (RFC 8290 section 4.1
    /// takes protocol, addresses and ports). By default all packets are of one flow.
    fn flow(&self) -> u64 {
        0
    }

    /// Sets "congestion experienced" (RFC 3168 section 5) and says whether it now is set. `false`,
    /// the default, is a packet that is not ECN-capable: the queue drops it instead.
    fn mark(&mut self) -> bool {
        false
    }
}

/// A packet that is only its size.
impl Payload for () {}

#[cfg(test)]
impl Payload for usize {}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet<P> {
    /// Its size.
    pub(crate) bytes: u32,
    /// The place of its next hop in the network's routes.
    pub(crate) next: u32,
    /// What it carries.
    pub(crate) payload: P,
}
