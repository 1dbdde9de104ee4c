//! The network: links, routes over them, and the order in which packets move.
//!
//! Routes are static: a list of links that ends at a port. One array holds all routes, so a packet carries only an index into that
//! array. Each link has one entry among the events, its next event. Simultaneous events are processed in the order of their link
//! numbers, so a run is a function of the injected packets and their times.

use crate::events::Tournament;
use crate::link::{BurstArrival, Link, LinkCounters, LinkSpec, Step};
use crate::packet::{Packet, Payload};
use crate::random::{Purpose, RandomStream};
use crate::time::{Span, Time};

/// Marks the end of a route: a port instead of a hop.
const PORT: u32 = 1 << 31;

/// Number of a link, in the order in which links were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(u32);

/// An exit of the network. The caller chooses the numbers, below 2^31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u32);

/// A route: a list of links that ends at a port. The number has the form of `Hop::next`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteId(u32);

/// A hop of a route. The same route may pass a link twice, so hops are numbered, not links.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    /// Number of the link.
    link: u32,
    /// Index of the next hop, or the port at the end of the route with the bit `PORT`. A packet carries it, so that the end of its
    /// last link leads to the port without another look-up.
    pub(crate) next: u32,
    /// Of the first hop: limit of jitter, ns (see [`Network::inject_burst`]).
    jitter_limit: u32,
}

/// How a packet leaves the network.
#[derive(Debug, PartialEq, Eq)]
pub enum Exit<P> {
    /// At the end of its route.
    Arrived {
        /// Time of arrival.
        at: Time,
        /// Port at the end of the route.
        port: PortId,
        /// Size of the packet.
        bytes: u32,
        /// The packet.
        payload: P,
    },
    /// Dropped by a queue, or lost by a link at random or during an outage.
    Lost {
        /// Time of the loss.
        at: Time,
        /// Link of the loss.
        link: LinkId,
        /// The packet.
        payload: P,
    },
}

/// Links, routes and the packets on them.
#[derive(Debug)]
pub struct Network<P> {
    links: Vec<Link<P>>,
    /// All routes, one after another.
    hops: Vec<Hop>,
    events: Tournament,
    seed: u64,
    #[cfg(any(debug_assertions, test))]
    balance: Balance,
}

/// Numbers of packets that entered and left. The others are in the links, where a debug build counts them, in a large network
/// not at each call.
#[cfg(any(debug_assertions, test))]
#[derive(Debug)]
struct Balance {
    entered: u64,
    departed: u64,
    calls: u64,
}

/// Jitter of a burst: delays of its packets before they reach the first link.
#[derive(Clone, Copy, Debug)]
pub struct BurstTiming {
    /// Delay of the first packet.
    pub delay: Span,
    /// Time between two packets.
    pub gap: Span,
}

impl<P: Payload> Default for Network<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl LinkId {
    /// Index of this link in [`Network::counters`].
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl<P: Payload> Network<P> {
    /// A network without links, with seed 0.
    #[must_use]
    pub const fn new() -> Self {
        Self::with_seed(0)
    }

    /// A network without links. Each random process of a link has its own stream of random numbers, from `seed` and the link's
    /// [stream](LinkSpec::stream). A network without random processes draws no number.
    #[must_use]
    pub const fn with_seed(seed: u64) -> Self {
        Self {
            links: Vec::new(),
            hops: Vec::new(),
            events: Tournament::new(),
            seed,
            #[cfg(any(debug_assertions, test))]
            balance: Balance {
                entered: 0,
                departed: 0,
                calls: 0,
            },
        }
    }

    /// Random stream of a host. The caller chooses the numbers of hosts.
    #[must_use]
    pub fn random_stream(&self, host: u32) -> RandomStream {
        RandomStream::new(self.seed, host.into(), Purpose::Hosts)
    }

    /// Adds a link.
    pub fn add_link(&mut self, spec: LinkSpec) -> LinkId {
        let number = self.links.len() as u32;
        self.links.push(Link::new(spec, self.seed, number.into()));
        self.events.add();
        LinkId(number)
    }

    /// Adds a route over `links` to `port`.
    ///
    /// # Panics
    /// If a link is not in this network, or the port's number is 2^31 or more.
    pub fn add_route(&mut self, links: &[LinkId], port: PortId) -> RouteId {
        assert!(port.0 < PORT, "a port's number is below 2^31");
        assert!(
            links.iter().all(|link| link.index() < self.links.len()),
            "no such link"
        );
        let first = self.hops.len() as u32;
        let jitter_limit = self.jitter_limit(links);
        let hops = links.iter().zip(first + 1..).map(|(link, next)| Hop {
            link: link.0,
            next,
            jitter_limit,
        });
        self.hops.extend(hops);
        if links.is_empty() {
            return RouteId(PORT | port.0);
        }
        if let Some(last) = self.hops.last_mut() {
            last.next = PORT | port.0;
        }
        RouteId(first)
    }

    /// Largest jitter of a packet on these links, ns: see [`Network::inject_burst`].
    fn jitter_limit(&self, links: &[LinkId]) -> u32 {
        let links = || links.iter().map(|link| &self.links[link.index()]);
        if !links()
            .next()
            .is_some_and(|link| matches!(link, Link::Fifo(_)))
        {
            return 0;
        }
        let slowest = links()
            .filter_map(|link| link.transmission_time(1500))
            .max();
        let quarter = slowest.unwrap_or(Span::ZERO).as_nanos() / 4;
        quarter.try_into().unwrap_or(u32::MAX)
    }

    /// Sends a packet of `bytes` along `route`. Returns the packet if the first link loses it.
    ///
    /// Other packets that the first link's queue drops instead (FQ-CoDel at its limit), or that the link loses because it goes down
    /// at `now`, are returned by [`Network::poll`] at the same `now`.
    ///
    /// All events before `now` must have been processed by [`Network::poll`], or packets would overtake each other; a debug build
    /// asserts this.
    #[inline]
    pub fn inject(&mut self, now: Time, route: RouteId, bytes: u32, payload: P) -> Option<Exit<P>> {
        debug_assert!(
            self.next_event().is_none_or(|next| next >= now),
            "poll before you inject"
        );
        let exit = self.forward(now, bytes, route.0, payload);
        #[cfg(any(debug_assertions, test))]
        self.assert_conserved(1, exit.is_some().into());
        exit
    }

    /// Sends a burst of packets, with sizes and payloads, of a host with jitter. `exit` receives the packets that the first link
    /// drops.
    ///
    /// The first packet reaches the first link `delay` after `now`, each following packet `gap` later. The delay is limited to a
    /// quarter of the time that the slowest link of the route takes for 1500 bytes. The jitter decides whether a packet enters a
    /// queue before or after another event of the same instant. If the first link has random losses, a trace or a queue other than
    /// drop-tail, the packets reach it at `now`.
    #[inline(always)]
    pub fn inject_burst(
        &mut self,
        now: Time,
        timing: BurstTiming,
        route: RouteId,
        packets: impl Iterator<Item = (u32, P)>,
        mut exit: impl FnMut(Exit<P>),
    ) {
        debug_assert!(
            self.next_event().is_none_or(|next| next >= now),
            "poll before you inject"
        );
        let BurstTiming { mut delay, gap } = timing;
        let hop = match self.hops.get(route.0 as usize) {
            Some(hop) => *hop,
            None => return self.inject_without_link(now, route, packets, exit),
        };
        let limit = Span::from_nanos(hop.jitter_limit.into());
        let id = hop.link as usize;
        #[cfg(any(debug_assertions, test))]
        let (mut entered, mut departed) = (0, 0);
        #[cfg(any(debug_assertions, test))]
        let packets = packets.inspect(|_| entered += 1);
        let mut lose = |packet| {
            #[cfg(any(debug_assertions, test))]
            {
                departed += 1;
            }
            exit(packet);
        };
        if let Link::Fifo(link) = &mut self.links[id] {
            let arrival = BurstArrival {
                at: now + delay,
                gap,
                latest: now + limit,
            };
            let lost = |at, payload| lose(lost(at, id, payload));
            let event = link.offer_burst(arrival, hop.next, packets, lost);
            if event.is_some() {
                self.events.set(id, event);
            }
        } else {
            for (bytes, payload) in packets {
                let at = now + delay.min(limit);
                delay = delay + gap;
                self.forward(at, bytes, route.0, payload).map(&mut lose);
            }
        }
        #[cfg(any(debug_assertions, test))]
        self.assert_conserved(entered, departed);
    }

    /// Sends packets along a route that is only a port.
    #[cold]
    fn inject_without_link(
        &mut self,
        now: Time,
        route: RouteId,
        packets: impl Iterator<Item = (u32, P)>,
        exit: impl FnMut(Exit<P>),
    ) {
        let exits =
            packets.filter_map(|(bytes, payload)| self.forward(now, bytes, route.0, payload));
        exits.for_each(exit);
    }

    /// Time of the next event: a packet moves or is dropped. `None` while the network is empty.
    #[inline]
    #[must_use]
    pub fn next_event(&self) -> Option<Time> {
        self.events.first().map(|(at, _)| at)
    }

    /// Moves packets up to and including `now`, until one leaves the network.
    ///
    /// Each packet moves at its own time, so a late call only delays the report of the exit. To be called until it returns `None`.
    ///
    /// A simulation may poll up to its next timer instead of instant by instant: each call returns the next exit, and the caller may
    /// [inject](Network::inject) at the time of that exit.
    #[inline(always)]
    pub fn poll(&mut self, now: Time) -> Option<Exit<P>> {
        let exit = self.next_exit(now);
        #[cfg(any(debug_assertions, test))]
        self.assert_conserved(0, exit.is_some().into());
        exit
    }

    #[inline(always)]
    fn next_exit(&mut self, now: Time) -> Option<Exit<P>> {
        loop {
            let (at, id) = self.events.first()?;
            if at > now {
                return None;
            }
            let packet = match &mut self.links[id] {
                Link::Fifo(link) => {
                    let (packet, next) = link.leave();
                    self.events.set_first(id, next);
                    packet
                }
                Link::General(link) => {
                    let step = link.advance(at);
                    self.events.set_first(id, link.next_event());
                    match step {
                        Step::Arrived(packet) => packet,
                        Step::Lost(packet) => return Some(lost(at, id, packet.payload)),
                        Step::Nothing => continue,
                    }
                }
            };
            let Packet {
                bytes,
                next,
                payload,
            } = packet;
            if let Some(exit) = self.forward(at, bytes, next, payload) {
                return Some(exit);
            }
        }
    }

    /// Asserts that each packet that entered has left or is inside.
    #[cfg(any(debug_assertions, test))]
    fn assert_conserved(&mut self, entered: u64, departed: u64) {
        let balance = &mut self.balance;
        balance.entered += entered;
        balance.departed += departed;
        balance.calls += 1;
        if balance.calls % (self.links.len() as u64 / 8 + 1) == 0 {
            let (entered, departed) = (balance.entered, balance.departed);
            let inside = self.inside();
            assert_eq!(
                entered,
                departed + inside,
                "{departed} packets left, {inside} are inside"
            );
        }
    }

    /// Number of packets in queues and on lines, and of dropped packets that [`Network::poll`] has not returned yet.
    #[must_use]
    pub fn inside(&self) -> u64 {
        self.links.iter().map(Link::held).sum()
    }

    /// Limit of the times of events: an event's time shares 64 bits with the number of its link. 146 years for four links, 208 days
    /// for 1024, 4.8 hours for a million.
    #[must_use]
    pub const fn horizon(&self) -> Time {
        self.events.horizon()
    }

    /// Counters of each link up to `now`, in the order in which links were added.
    #[must_use]
    pub fn counters(&self, now: Time) -> Vec<LinkCounters> {
        self.links.iter().map(|link| link.counters(now)).collect()
    }

    /// Moves a packet to its next hop ([`Hop::next`]). Returns an exit if that is a port or a full queue.
    #[inline(always)]
    fn forward(&mut self, at: Time, bytes: u32, next: u32, payload: P) -> Option<Exit<P>> {
        if next & PORT != 0 {
            return Some(Exit::Arrived {
                at,
                port: PortId(next & !PORT),
                bytes,
                payload,
            });
        }
        let Hop { link, next, .. } = self.hops[next as usize];
        let id = link as usize;
        match &mut self.links[id] {
            Link::Fifo(link) => match link.offer(at, bytes, next, payload) {
                Ok(None) => None,
                Ok(event) => {
                    self.events.set(id, event);
                    None
                }
                Err(payload) => Some(lost(at, id, payload)),
            },
            Link::General(link) => {
                let packet = Packet {
                    bytes,
                    next,
                    payload,
                };
                let result = link.enter(at, packet);
                self.events.set(id, link.next_event());
                result.err().map(|packet| lost(at, id, packet.payload))
            }
        }
    }
}

/// The exit of a packet that a link lost.
const fn lost<P>(at: Time, id: usize, payload: P) -> Exit<P> {
    let link = LinkId(id as u32);
    Exit::Lost { at, link, payload }
}

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;
