//! The network: links, routes over them, and the order in which packets move.
//!
//! Routes are static: a list of links that ends at a port, kept in one array for all routes, so a
//! packet carries only its place in that array. Each link has one entry among the events, its next.
//! Events at the same instant happen in the
//! order of their link numbers, so a run is a function of what was injected and when.

use crate::dice::{Dice, Purpose};
use crate::events::Tournament;
use crate::link::{Link, LinkCounters, LinkSpec, Step};
use crate::packet::{Packet, Payload};
use crate::time::{Span, Time};

/// The bit of a route's last entry, which is a port; the others are links.
const PORT: u32 = 1 << 31;

/// A link, numbered in the order in which links were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(u32);

/// A place where packets leave the network; the numbers are the caller's, below 2^31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u32);

/// A list of links that ends at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteId(u32);

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
    /// A queue dropped it, a link lost it at random, or the link was down.
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
    links: Vec<Link<P>>,
    /// All routes, one after another: how late a packet of it may be, the numbers of its links, a port, with the bit `PORT`.
    hops: Vec<u32>,
    events: Tournament,
    seed: u64,
    #[cfg(any(debug_assertions, test))]
    balance: Balance,
}

/// Packets that came in and that came out. Those between are in the links: a debug build counts them
/// there, in a large network not each time.
#[cfg(any(debug_assertions, test))]
#[derive(Debug)]
struct Balance {
    came: u64,
    left: u64,
    calls: u64,
}

impl<P: Payload> Default for Network<P> {
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

impl<P: Payload> Network<P> {
    /// A network without links, whose random draws are those of seed 0.
    #[must_use]
    pub const fn new() -> Self {
        Self::with_seed(0)
    }

    /// A network without links. Each random part of a link draws from a stream of its own, made of
    /// `seed` and the link's [stream](LinkSpec::stream); a network without such parts draws nothing.
    #[must_use]
    pub const fn with_seed(seed: u64) -> Self {
        Self {
            links: Vec::new(),
            hops: Vec::new(),
            events: Tournament::new(),
            seed,
            #[cfg(any(debug_assertions, test))]
            balance: Balance {
                came: 0,
                left: 0,
                calls: 0,
            },
        }
    }

    /// What a host draws from; the numbers of hosts are the caller's.
    #[must_use]
    pub fn dice(&self, host: u32) -> Dice {
        Dice::new(self.seed, host.into(), Purpose::Hosts)
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
    /// When a link is none of this network's, or the port's number is 2^31 or more.
    pub fn add_route(&mut self, links: &[LinkId], port: PortId) -> RouteId {
        assert!(port.0 < PORT, "a port's number is below 2^31");
        assert!(
            links.iter().all(|link| link.index() < self.links.len()),
            "no such link"
        );
        self.hops.push(self.patience(links));
        let route = RouteId(self.hops.len() as u32);
        self.hops.extend(links.iter().map(|link| link.0));
        self.hops.push(PORT | port.0);
        route
    }

    /// How late a packet may be that takes these links, ns.
    fn patience(&self, links: &[LinkId]) -> u32 {
        let links = || links.iter().map(|link| &self.links[link.index()]);
        if !links()
            .next()
            .is_some_and(|link| matches!(link, Link::Fifo(_)))
        {
            return 0;
        }
        let slowest = links().filter_map(|link| link.takes(1500)).max();
        let quarter = slowest.unwrap_or(Span::ZERO).as_nanos() / 4;
        quarter.try_into().unwrap_or(u32::MAX)
    }

    /// Sends a packet of `bytes` along `route`. It returns at once when the first link loses it. If
    /// the first link's queue drops others in its place (FQ-CoDel, at its limit), or if that link
    /// goes down at this very instant, they come out of [`Network::poll`] at the same `now`.
    ///
    /// All that was due before `now` must have been taken out with [`Network::poll`], or packets
    /// would overtake each other; a debug build asserts it.
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

    /// Sends the packets of a host with jitter. The first packet reaches the first link `late` after `now`, each following packet `apart`
    /// later. The delay is limited to a quarter of the time that the slowest link of the route takes for 1500 bytes. The jitter decides
    /// whether a packet enters a queue before or after another event of the same instant. If the first link has random losses, a trace
    /// or a queue other than drop-tail, the packets reach it at `now`. `exit` receives the packets that the first link drops.
    #[inline(always)]
    pub fn inject_burst(
        &mut self,
        now: Time,
        (mut late, apart): (Span, Span),
        route: RouteId,
        (count, packet): (u32, impl Fn(u32) -> (u32, P)),
        mut exit: impl FnMut(Exit<P>),
    ) {
        debug_assert!(
            self.next_event().is_none_or(|next| next >= now),
            "poll before you inject"
        );
        let place = route.0 as usize;
        let most = Span::from_nanos(self.hops[place - 1].into());
        let id = self.hops[place] as usize;
        let mut left = 0;
        if let Some(Link::Fifo(link)) = self.links.get_mut(id) {
            for (bytes, payload) in (0..count).map(packet) {
                let at = now + late.min(most);
                late = late + apart;
                if !link.admits(at, bytes) {
                    left += 1;
                    exit(lost(at, id, payload));
                } else if let Some(next) = link.enter(at, bytes, route.0 + 1, payload) {
                    self.events.set(id, Some(next));
                }
            }
        } else {
            for (bytes, payload) in (0..count).map(packet) {
                let at = now + late.min(most);
                late = late + apart;
                if let Some(lost) = self.forward(at, bytes, route.0, payload) {
                    left += 1;
                    exit(lost);
                }
            }
        }
        #[cfg(any(debug_assertions, test))]
        self.assert_conserved(count.into(), left);
        let _ = left;
    }

    /// When something next happens: a packet moves or is dropped. `None` while the network is empty.
    #[inline]
    #[must_use]
    pub fn next_event(&self) -> Option<Time> {
        self.events.first().map(|(at, _)| at)
    }

    /// Moves packets up to and including `now`, until one leaves the network.
    ///
    /// Each packet moves at its own time, so a call that comes late changes nothing but the time
    /// at which the caller hears of it. Call it until it returns `None`.
    ///
    /// A simulation may ask for all up to its next timer, not for one instant after another: it
    /// comes to each exit in turn, and may [inject](Network::inject) at the time of that exit.
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
            let (bytes, hop, payload) = match &mut self.links[id] {
                Link::Fifo(link) => {
                    let (bytes, hop, payload, next) = link.leave();
                    self.events.set_first(id, next);
                    (bytes, hop, payload)
                }
                Link::Managed(link) => {
                    let step = link.advance(at);
                    self.events.set_first(id, link.next_event());
                    match step {
                        Step::Arrived(packet) => (packet.bytes, packet.next, packet.payload),
                        Step::Lost(packet) => return Some(lost(at, id, packet.payload)),
                        Step::Nothing => continue,
                    }
                }
            };
            if let Some(exit) = self.forward(at, bytes, hop, payload) {
                return Some(exit);
            }
        }
    }

    /// What came in came out or is still inside.
    #[cfg(any(debug_assertions, test))]
    fn assert_conserved(&mut self, came: u64, left: u64) {
        let balance = &mut self.balance;
        balance.came += came;
        balance.left += left;
        balance.calls += 1;
        if balance.calls % (self.links.len() as u64 / 8 + 1) == 0 {
            let (came, left) = (balance.came, balance.left);
            let inside = self.inside();
            assert_eq!(
                came,
                left + inside,
                "{left} packets left, {inside} are inside"
            );
        }
    }

    /// Packets in queues and on lines, and those dropped that [`Network::poll`] is yet to tell of.
    #[must_use]
    pub fn inside(&self) -> u64 {
        self.links.iter().map(Link::held).sum()
    }

    /// Before this, all that its links do must happen: an event's time shares 64 bits with the number
    /// of its link. 146 years for four links, 208 days for 1024, 4.8 hours for a million.
    #[must_use]
    pub const fn horizon(&self) -> Time {
        self.events.horizon()
    }

    /// What each link did up to `now`, in the order in which links were added.
    #[must_use]
    pub fn counters(&self, now: Time) -> Vec<LinkCounters> {
        self.links.iter().map(|link| link.counters(now)).collect()
    }

    /// Moves a packet to its next hop; it is an exit if that is a port or a full queue.
    #[inline(always)]
    fn forward(&mut self, at: Time, bytes: u32, next: u32, payload: P) -> Option<Exit<P>> {
        let hop = self.hops[next as usize];
        if hop & PORT != 0 {
            return Some(Exit::Arrived {
                at,
                port: PortId(hop & !PORT),
                bytes,
                payload,
            });
        }
        let id = hop as usize;
        match &mut self.links[id] {
            Link::Fifo(link) => {
                if !link.admits(at, bytes) {
                    return Some(lost(at, id, payload));
                }
                if let Some(next) = link.enter(at, bytes, next + 1, payload) {
                    self.events.set(id, Some(next));
                }
            }
            Link::Managed(link) => {
                let packet = Packet {
                    bytes,
                    next: next + 1,
                    payload,
                };
                let result = link.enter(at, packet);
                self.events.set(id, link.next_event());
                return result.err().map(|packet| lost(at, id, packet.payload));
            }
        }
        None
    }
}

/// A packet that a link lost.
const fn lost<P>(at: Time, id: usize, payload: P) -> Exit<P> {
    let link = LinkId(id as u32);
    Exit::Lost { at, link, payload }
}

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;
