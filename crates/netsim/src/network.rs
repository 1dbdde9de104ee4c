//! The network: links, routes over them, and the order in which packets move.
//!
//! Routes are static: a list of links that ends at a port, kept in one array for all routes, so a
//! packet carries only its place in that array. Each link that holds a packet has one entry in the
//! event queue, the arrival of the packet at its head. Events at the same instant happen in the
//! order of their link numbers, so a run is a function of what was injected and when.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::link::{Link, LinkCounters, LinkSpec};
use crate::time::Time;

/// A link, numbered in the order in which links were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(u32);

/// A place where packets leave the network; the numbers are the caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u32);

/// A list of links that ends at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteId(u32);

/// One step of a route.
#[derive(Clone, Copy, Debug)]
enum Hop {
    Link(LinkId),
    Port(PortId),
}

/// A packet on its way.
#[derive(Debug)]
struct Packet<P> {
    /// The index of its next hop in `Network::hops`.
    next: u32,
    payload: P,
}

/// How a packet leaves the network.
#[derive(Debug, PartialEq, Eq)]
pub enum Exit<P> {
    /// It reached the end of its route.
    Arrived {
        /// When.
        at: Time,
        /// Where.
        port: PortId,
        /// Its size.
        bytes: u32,
        /// The packet.
        payload: P,
    },
    /// A full queue lost it.
    Lost {
        /// When.
        at: Time,
        /// At which link.
        link: LinkId,
        /// The packet.
        payload: P,
    },
}

/// Links, routes and the packets on them.
#[derive(Debug)]
pub struct Network<P> {
    links: Vec<Link<Packet<P>>>,
    hops: Vec<Hop>,
    events: BinaryHeap<Reverse<(Time, LinkId)>>,
}

impl<P> Default for Network<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl LinkId {
    /// The place of this link in [`Network::counters`].
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl<P> Network<P> {
    /// A network without links.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            links: Vec::new(),
            hops: Vec::new(),
            events: BinaryHeap::new(),
        }
    }

    /// Adds a link.
    pub fn add_link(&mut self, spec: LinkSpec) -> LinkId {
        self.links.push(Link::new(spec));
        LinkId(self.links.len() as u32 - 1)
    }

    /// Adds a route over `links` to `port`.
    ///
    /// # Panics
    /// When a link is none of this network's.
    pub fn add_route(&mut self, links: &[LinkId], port: PortId) -> RouteId {
        assert!(
            links.iter().all(|link| link.index() < self.links.len()),
            "no such link"
        );
        let route = RouteId(self.hops.len() as u32);
        self.hops.extend(links.iter().map(|&link| Hop::Link(link)));
        self.hops.push(Hop::Port(port));
        route
    }

    /// Sends a packet of `bytes` along `route`. It returns at once when the first link's queue is
    /// full.
    ///
    /// All that was due before `now` must have been taken out with [`Network::poll`], or packets
    /// would overtake each other; a debug build asserts it.
    pub fn inject(&mut self, now: Time, route: RouteId, bytes: u32, payload: P) -> Option<Exit<P>> {
        debug_assert!(
            self.next_event().is_none_or(|next| next >= now),
            "poll before you inject"
        );
        self.forward(
            now,
            bytes,
            Packet {
                next: route.0,
                payload,
            },
        )
    }

    /// When the next packet moves; `None` while the network is empty.
    #[must_use]
    pub fn next_event(&self) -> Option<Time> {
        self.events.peek().map(|Reverse((at, _))| *at)
    }

    /// Moves packets up to and including `now`, until one leaves the network.
    ///
    /// Each packet moves at its own time, so a call that comes late changes nothing but the time
    /// at which the caller hears of it. Call it until it returns `None`.
    pub fn poll(&mut self, now: Time) -> Option<Exit<P>> {
        loop {
            let (at, bytes, packet) = self.next_packet(now)?;
            if let Some(exit) = self.forward(at, bytes, packet) {
                return Some(exit);
            }
        }
    }

    /// What each link did up to `now`, in the order in which links were added.
    #[must_use]
    pub fn counters(&self, now: Time) -> Vec<LinkCounters> {
        self.links.iter().map(|link| link.counters(now)).collect()
    }

    /// Takes the next packet that is due off its link.
    fn next_packet(&mut self, now: Time) -> Option<(Time, u32, Packet<P>)> {
        let mut event = self.events.peek_mut()?;
        let Reverse((at, id)) = *event;
        if at > now {
            return None;
        }
        let link = &mut self.links[id.index()];
        let (bytes, packet) = link.leave()?;
        match link.next_arrival() {
            Some(next) => *event = Reverse((next, id)),
            None => {
                PeekMut::pop(event);
            }
        }
        Some((at, bytes, packet))
    }

    /// Moves a packet to its next hop; it is an exit if that is a port or a full queue.
    fn forward(&mut self, at: Time, bytes: u32, mut packet: Packet<P>) -> Option<Exit<P>> {
        let hop = self.hops[packet.next as usize];
        packet.next += 1;
        let id = match hop {
            Hop::Port(port) => {
                return Some(Exit::Arrived {
                    at,
                    port,
                    bytes,
                    payload: packet.payload,
                });
            }
            Hop::Link(id) => id,
        };
        let link = &mut self.links[id.index()];
        let was_empty = link.next_arrival().is_none();
        if let Err(packet) = link.enter(at, bytes, packet) {
            return Some(Exit::Lost {
                at,
                link: id,
                payload: packet.payload,
            });
        }
        if was_empty {
            // Behind a head the order of the line keeps; only a new head is a new event.
            self.events
                .extend(link.next_arrival().map(|at| Reverse((at, id))));
        }
        None
    }
}

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;
