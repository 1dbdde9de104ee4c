//! The simulation: endpoints on a network, in virtual time.
//!
//! What happens next is the network's next packet at an endpoint or a timer, whichever comes first; a packet comes before
//! a timer of the same instant, packets of one instant in the order of their links, timers in the order of their numbers.

use crate::connection::{Connection, NONE};
use crate::endpoint::Env;
use crate::host::Host;
use crate::packet::sack_blocks::Sacks;
use crate::packet::{Ack, Data, Segment, Wire};
use crate::receive_window::{Buffer, Offer};
use crate::receiver::Receiver;
use crate::sender::{Life, Sender, Tally, Waits, notice};
use crate::timers::Timers;
use crate::trace::Observer;
use crate::udp::{Udp, UdpSpec};
use mpcc::Connection as Coupled;
use netsim::{Exit, Network, Span, Time};
use std::sync::Arc;

/// Who a timer belongs to.
#[derive(Clone, Copy, Debug)]
enum Owner {
    Sender(u32),
    Receiver(u32),
    Start(u32),
    Write(u32),
    Announce(u32),
    Retransmission(u32),
    Push(u32),
    Udp(u32),
}

/// A connection beside its stream: its life and its application.
#[derive(Debug)]
struct Running {
    spec: ConnectionSpec,
    write_timer: u32,
    /// The subflow whose address was announced last; how often it was, and when it is again.
    announced: usize,
    announcements: u32,
    announce_timer: u32,
    finite: bool,
    /// What was written last is not all acknowledged yet.
    writing: bool,
    completion: Option<Time>,
    cwnd_at_end: Vec<u32>,
    /// When a subflow left slow start the last time: Σ cwnd of all, and what they had sent again.
    exit: Option<(u32, u64)>,
}

/// Endpoints on a network.
pub struct Simulation<O> {
    env: Env<O>,
    owners: Vec<Owner>,
    connections: Vec<Connection>,
    running: Vec<Running>,
    senders: Vec<Sender>,
    receivers: Vec<Receiver>,
    udp: Vec<Udp>,
    unfinished: usize,
    /// Whether it ends at its stop and never before.
    to_stop: bool,
    events: u64,
}

/// A connection, the sending ends of its subflows, and what they act on.
macro_rules! sending {
    ($self:ident, $connection:expr) => {{
        let connection = &mut $self.connections[$connection as usize];
        let senders = &mut $self.senders[connection.range()];
        (connection, senders, &mut $self.env)
    }};
}

/// The same with the receiving ends.
macro_rules! parts {
    ($self:ident, $connection:expr) => {{
        let (connection, senders, env) = sending!($self, $connection);
        let receivers = &mut $self.receivers[connection.range()];
        (connection, senders, receivers, env)
    }};
}

mod application;
mod expiry;
mod handshake;
mod report;
mod spec;

pub use report::{Report, SubflowReport};
pub use spec::{Application, ConnectionSpec, PathManager};

impl<O: Observer> Simulation<O> {
    /// Nothing runs on this network yet.
    pub fn new(network: Network<Wire>, observer: O) -> Self {
        Self {
            env: Env {
                now: Time::ZERO,
                network,
                timers: Timers::default(),
                sacks: Sacks::default(),
                observer,
                late: Vec::new(),
                gap: false,
                hosts: Vec::new(),
            },
            owners: Vec::new(),
            connections: Vec::new(),
            running: Vec::new(),
            senders: Vec::new(),
            receivers: Vec::new(),
            udp: Vec::new(),
            unfinished: 0,
            to_stop: false,
            events: 0,
        }
    }

    fn timer(&mut self, owner: Owner) -> u32 {
        self.owners.push(owner);
        self.env.timers.add()
    }

    /// Adds a connection, which starts at its time. Returns its number, from 0.
    ///
    /// # Panics
    /// When it has no route.
    pub fn add_connection(&mut self, spec: ConnectionSpec) -> usize {
        assert!(!spec.routes.is_empty(), "a connection needs a route");
        let number = self.connections.len() as u32;
        self.env
            .hosts
            .push(Host::new(self.env.network.dice(number)));
        let first = self.senders.len() as u32;
        let count = if spec.mptcp { spec.routes.len() } else { 1 };
        let mss = spec.packet - spec.profile.data_header(spec.mptcp);
        let (packet, window) = (spec.packet, spec.receive_window);
        let buffer = Buffer::new(&spec.profile, packet, mss, spec.mptcp, window);
        let edge = Offer::new(&spec.profile, &buffer).bytes;
        let profile = Arc::new(spec.profile.clone());
        for (i, &(down, up)) in spec.routes[..count].iter().enumerate() {
            let me = first + i as u32;
            let timer = self.timer(Owner::Sender(me));
            let group = spec.groups.get(i).copied().unwrap_or(0);
            let mut sender = Sender::new(&spec, profile.clone(), down, timer, me, number, group);
            let backup = spec.backup.get(i).copied().unwrap_or(false);
            let announced = spec.path_manager == PathManager::Announced;
            sender.requests_backup = backup && announced;
            sender.tcp.backup = sender.requests_backup.into();
            self.senders.push(sender);
            let timer = self.timer(Owner::Receiver(me));
            let offer = Offer::new(&profile, &buffer);
            let mut receiver = Receiver::new(&spec, profile.clone(), up, timer, me, number, offer);
            receiver.requests_backup = backup && !announced;
            self.receivers.push(receiver);
        }
        let coupled = Coupled::with_settings(spec.algorithm, spec.settings);
        let hands_out = spec.mptcp && spec.profile.hands_out;
        let count = count as u32;
        let mut connection = Connection::new(coupled, first, count, mss, buffer, edge, hands_out);
        connection.phase = spec.phase;
        connection.joins_with_data = count > 1 && spec.path_manager == PathManager::Client;
        self.connections.push(connection);
        let start = self.timer(Owner::Start(number));
        self.env.timers.set(start, spec.start);
        let write_timer = self.timer(Owner::Write(number));
        let announce_timer = self.timer(Owner::Announce(number));
        if !spec.mptcp && spec.profile.hands_out {
            let timer = self.timer(Owner::Push(number));
            let connection = &mut self.connections[number as usize];
            connection.buffered = true;
            connection.push_timer = Some(timer);
        }
        if hands_out && count > 1 {
            let timer = self.timer(Owner::Retransmission(number));
            self.connections[number as usize].retransmission.timer = Some(timer);
            let timer = self.timer(Owner::Push(number));
            self.connections[number as usize].push_timer = Some(timer);
        }
        let finite = matches!(
            spec.application,
            Application::File(_) | Application::Requests { .. }
        );
        self.unfinished += usize::from(finite);
        self.running.push(Running {
            spec,
            write_timer,
            announced: 0,
            announcements: 0,
            announce_timer,
            finite,
            writing: false,
            completion: None,
            cwnd_at_end: Vec::new(),
            exit: None,
        });
        number as usize
    }

    /// Asks the subflows of a connection to be in these groups; those beyond the list stay. One that is established moves
    /// on its next ACK outside of a recovery.
    ///
    /// # Panics
    /// When there is no connection of this number.
    pub fn ask_groups(&mut self, connection: usize, groups: &[u8]) {
        let connection = &mut self.connections[connection];
        let senders = &mut self.senders[connection.range()];
        for (sender, group) in senders.iter_mut().zip(groups) {
            sender.ask_group(&mut connection.coupled, *group);
        }
    }

    /// Adds a UDP source. Returns its number, from 0.
    pub fn add_udp(&mut self, spec: UdpSpec) -> usize {
        let me = self.udp.len() as u32;
        let timer = self.timer(Owner::Udp(me));
        self.env.timers.set(timer, spec.start);
        self.udp.push(Udp::new(spec, timer, me));
        me as usize
    }

    /// From now on a run goes on until its stop, though every connection that has an end has come to it.
    pub fn run_to_stop(&mut self) {
        self.to_stop = true;
    }

    /// Runs until every connection that has an end has come to it, or until `stop`.
    pub fn run(&mut self, stop: Time) {
        self.run_for(stop, u64::MAX);
    }

    /// The same, but for so many [events](Self::events) at most. Returns whether it came to the end.
    pub fn run_for(&mut self, stop: Time, events: u64) -> bool {
        let last = self.events.saturating_add(events);
        let endless = self.to_stop || self.running.iter().all(|running| !running.finite);
        while endless || self.unfinished > 0 {
            if self.events >= last {
                return false;
            }
            let limit = self.env.timers.next().min(stop);
            match self.env.network.poll(limit) {
                Some(Exit::Arrived {
                    at, bytes, payload, ..
                }) => {
                    self.env.now = at;
                    if O::PACKETS {
                        self.env.show(bytes, payload, false);
                    }
                    self.deliver(payload);
                    #[cfg(any(debug_assertions, test))]
                    if let Some(subflow) = Segment::from(payload).subflow() {
                        self.check(self.parent(subflow));
                    }
                }
                Some(Exit::Lost { at, payload, .. }) => self.env.lost(at, payload),
                None if limit >= stop => {
                    self.env.now = stop;
                    return true;
                }
                None => {
                    while let Some(_owner) = self.fire(limit) {
                        #[cfg(any(debug_assertions, test))]
                        match _owner {
                            Owner::Sender(subflow) | Owner::Receiver(subflow) => {
                                self.check(self.parent(subflow));
                            }
                            Owner::Start(number)
                            | Owner::Write(number)
                            | Owner::Announce(number)
                            | Owner::Retransmission(number)
                            | Owner::Push(number) => self.check(number),
                            Owner::Udp(_) => {}
                        }
                    }
                }
            }
            self.events += 1;
        }
        true
    }

    /// See [`crate::invariants`]. Large windows are not recounted after each event, which would take most of the time.
    #[cfg(any(debug_assertions, test))]
    fn check(&self, number: u32) {
        let connection = &self.connections[number as usize];
        let senders = &self.senders[connection.range()];
        crate::invariants::connection(connection, senders);
        for sender in senders {
            if self.events % (u64::from(sender.out()) / 32 + 1) == 0 {
                let profile = &self.running[number as usize].spec.profile;
                crate::invariants::sender(sender, profile, &self.env.timers);
            }
        }
    }

    /// It is `now`: the next timer that has come due acts. Returns whose it was.
    fn fire(&mut self, now: Time) -> Option<Owner> {
        self.env.now = now;
        let owner = self.owners[self.env.timers.fire(now)? as usize];
        self.on_timer(owner);
        Some(owner)
    }

    /// A packet reaches its end. Data and ACKs are decoded first and by themselves: as an enum they would go through memory.
    #[inline(always)]
    fn deliver(&mut self, wire: Wire) {
        if let Some(data) = wire.data() {
            self.on_data(data);
        } else if let Some(ack) = wire.ack() {
            self.on_ack(ack);
        } else {
            self.on_other(wire);
        }
        self.env.flush();
    }

    #[inline(always)]
    fn on_data(&mut self, data: Data) {
        let receiver = &mut self.receivers[data.subflow as usize];
        let number = data.connection;
        let connection = &mut self.connections[number as usize];
        let before = connection.received();
        receiver.on_data(connection, &mut self.env, data);
        let reads = connection.received() > before;
        connection.read = connection.received();
        if reads && self.env.now >= connection.buffer.tune_at {
            self.tune(number);
        }
        if reads && self.connections[number as usize].withheld {
            self.was_read(number);
        }
        if self.connections[number as usize].joins_with_data {
            self.first_data(number);
        }
    }

    /// What has arrived was read, and a subflow's ACK waits for that.
    #[cold]
    fn was_read(&mut self, number: u32) {
        let (connection, _, receivers, env) = parts!(self, number);
        connection.withheld = false;
        for receiver in receivers.iter_mut().filter(|r| r.has_to_acknowledge()) {
            receiver.was_read(connection, env);
        }
    }

    /// What has arrived was read, and a round trip is over.
    #[cold]
    fn tune(&mut self, number: u32) {
        let (connection, _, receivers, env) = parts!(self, number);
        let round_trips = receivers.iter().map(|receiver| receiver.offer.round_trip());
        let round_trip = round_trips.max().unwrap_or(Span::ZERO);
        let found = receivers.iter().all(|r| !r.asked || r.offer.found);
        let next = connection.received();
        if let Some(clamp) = connection.buffer.tune(env.now, round_trip, next, found) {
            receivers.iter_mut().for_each(|r| r.offer.set_clamp(clamp));
        }
    }

    #[inline(always)]
    fn on_ack(&mut self, ack: Ack) {
        // By its own number, not by its place in the connection: what it holds is needed first, and is three loads nearer.
        let sender = &mut self.senders[ack.subflow as usize];
        let number = sender.parent;
        let connection = &mut self.connections[number as usize];
        let env = &mut self.env;
        if !matches!(sender.life, Life::Open | Life::Stalled) {
            env.sacks.take(ack.sack);
            return;
        }
        sender.heard = env.now;
        // It is stale no more (mptcp_subflow_active).
        if sender.life == Life::Stalled && connection.hands_out {
            sender.life = Life::Open;
        }
        if connection.on_ack(ack) {
            connection.progressed(env);
        }
        let before = sender.scoreboard.una();
        let set = sender.on_ack(&mut connection.coupled, env, ack);
        let more_than_two = sender.scoreboard.una() - before > 2 * u64::from(sender.mss);
        env.gap = ack.sack != 0 || more_than_two;
        let due = || &self.senders[connection.first as usize + connection.due];
        let mut sent = if connection.wants_all(&self.senders[ack.subflow as usize], due) {
            // The connection's own timer goes by this one (tcp_ack sets it before anything is pushed).
            if set {
                self.senders[ack.subflow as usize].set_timer(env);
            }
            let senders = &mut self.senders[connection.range()];
            connection.push_all(senders, env, (ack.subflow - connection.first) as usize)
        } else {
            connection.go_on(&mut self.senders[ack.subflow as usize], env)
        };
        if connection.writes_on(&self.senders[ack.subflow as usize]) {
            let senders = &mut self.senders[connection.range()];
            let index = (ack.subflow - connection.first) as usize;
            sent |= connection.wake(senders, env, index);
        }
        let sender = &mut self.senders[ack.subflow as usize];
        if set && !sent {
            sender.set_timer(env);
        }
        let done = connection.is_done();
        if sender.notices != 0 {
            let index = (ack.subflow - connection.first) as usize;
            self.noticed(number, index);
        }
        if done {
            self.written_is_done(number);
        }
    }

    fn parent(&self, subflow: u32) -> u32 {
        self.receivers[subflow as usize].parent
    }

    /// What a subflow tells.
    #[cold]
    fn noticed(&mut self, number: u32, index: usize) {
        let (connection, senders, _, env) = parts!(self, number);
        let notices = std::mem::take(&mut senders[index].notices);
        if notices & notice::WANTS_NEW != 0 {
            senders[index].repair_instead(&mut connection.coupled, env);
        }
        if notices & notice::LEFT != 0 {
            self.left_slow_start(number, index);
        }
    }

    /// A subflow left slow start for the first time. What it sent again for that loss, at once, is not before it.
    fn left_slow_start(&mut self, number: u32, index: usize) {
        let (_, senders, _, _) = parts!(self, number);
        let mut sums = (0, 0);
        for (i, sender) in senders.iter().enumerate() {
            let (tally, here) = (&sender.tally, i == index);
            if tally.established.is_some() {
                let exit = tally.exit.filter(|_| here);
                sums.0 += sender.effective_cwnd();
                sums.1 += u64::from(exit.map_or(tally.retransmits, |exit| exit.2));
            }
        }
        self.running[number as usize].exit = Some(sums);
    }

    #[cfg(test)]
    pub(crate) fn env(&mut self) -> &mut Env<O> {
        &mut self.env
    }

    /// The time that it has come to.
    pub fn now(&self) -> Time {
        self.env.now
    }

    /// The network.
    pub fn network(&self) -> &Network<Wire> {
        &self.env.network
    }

    /// Packets at endpoints and timers that there were.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// What watches it.
    pub fn observer(&self) -> &O {
        &self.env.observer
    }

    /// The observer.
    pub fn into_observer(self) -> O {
        self.env.observer
    }
}

#[cfg(test)]
#[path = "scripts/mod.rs"]
mod tests;

#[cfg(test)]
#[path = "random_tests.rs"]
mod random_tests;

#[cfg(test)]
#[path = "theory_tests.rs"]
mod theory_tests;

#[cfg(test)]
#[path = "outage_tests.rs"]
mod outage_tests;
