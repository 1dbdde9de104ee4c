//! The simulation: endpoints on a network, in virtual time.
//!
//! The next event is the next packet at an endpoint or the next timer, whichever is earlier. A packet comes before
//! a timer of the same instant, packets of one instant come in the order of their links, timers in the order of their numbers.

#[cfg(any(debug_assertions, test))]
mod invariants;
mod report;

use crate::application::udp::{Udp, UdpSpec};
use crate::connection::Connection;
use crate::environment::jitter::Jitter;
use crate::environment::timers::{NEVER, Timers};
use crate::environment::{Env, TimerOwner};
use crate::packet::sack_blocks::SackStore;
use crate::packet::{Segment, SubflowId, Wire};
use crate::profile::Profile;
use crate::spec::ConnectionSpec;
use crate::trace::Observer;
use netsim::{Exit, Network, Time};
use std::sync::Arc;

pub use report::{Report, SubflowReport, SubflowState, UdpReport};

/// Connections and UDP sources on a network.
pub struct Simulation<O> {
    env: Env<O>,
    connections: Vec<Connection>,
    /// The profiles of the connections, each once.
    profiles: Vec<Arc<Profile>>,
    udp: Vec<Udp>,
    /// Number of connections of finite data that are not complete.
    unfinished: usize,
    /// A run ends at its stop, not when all connections are complete.
    ignores_completion: bool,
    events: u64,
}

impl<O: Observer> Simulation<O> {
    /// A simulation without connections.
    pub fn new(network: Network<Wire>, observer: O) -> Self {
        Self {
            env: Env {
                now: Time::ZERO,
                network,
                timers: Timers::default(),
                sacks: SackStore::default(),
                observer,
                bursts: Vec::new(),
                burst_segments: 0,
                #[cfg(test)]
                only_slow_paths: false,
                reports_gap: false,
                jitter: Vec::new(),
            },
            connections: Vec::new(),
            profiles: Vec::new(),
            udp: Vec::new(),
            unfinished: 0,
            ignores_completion: false,
            events: 0,
        }
    }

    /// Adds a connection, which starts at [`ConnectionSpec::start`]. Returns its number, from 0.
    ///
    /// # Panics
    /// If it has no route or more than 256, or there are more than [`SubflowId::CONNECTIONS`] connections.
    pub fn add_connection(&mut self, spec: ConnectionSpec) -> usize {
        assert!(
            (1..=256).contains(&spec.routes.len()),
            "a connection has 1 to 256 routes"
        );
        let number = self.connections.len();
        assert!(number < SubflowId::CONNECTIONS, "too many connections");
        let jitter = Jitter::new(self.env.network.random_stream(number as u32));
        self.env.jitter.push(jitter);
        let profile = self.profile(&spec.profile);
        let timers = &mut self.env.timers;
        let connection = Connection::new(spec, &profile, number as u32, timers);
        self.unfinished += usize::from(connection.application.is_finite);
        self.connections.push(connection);
        number
    }

    /// Shared copy of a profile.
    fn profile(&mut self, profile: &Profile) -> Arc<Profile> {
        if let Some(known) = self.profiles.iter().find(|known| ***known == *profile) {
            return known.clone();
        }
        self.profiles.push(Arc::new(profile.clone()));
        self.profiles[self.profiles.len() - 1].clone()
    }

    /// Requests groups for the subflows of a connection; subflows beyond the list keep theirs. An established subflow
    /// moves on its next ACK outside of a recovery.
    ///
    /// # Panics
    /// If there is no connection of this number.
    pub fn request_groups(&mut self, connection: usize, groups: &[u8]) {
        let send = &mut self.connections[connection].send;
        for (sender, group) in send.subflows.iter_mut().zip(groups) {
            sender.request_group(&mut send.stream.coupled, *group);
        }
    }

    /// Adds a UDP source. Returns its number, from 0.
    pub fn add_udp(&mut self, spec: UdpSpec) -> usize {
        let number = self.udp.len() as u32;
        let timer = self.env.timers.add(TimerOwner::Udp(number));
        self.env.timers.set(timer, spec.start);
        self.udp.push(Udp::new(spec, timer, number));
        number as usize
    }

    /// Makes runs end at their stop, also when all connections are complete.
    pub fn ignore_completion(&mut self) {
        self.ignores_completion = true;
    }

    /// Runs until all connections of finite data are complete, or until `stop`.
    pub fn run(&mut self, stop: Time) {
        self.run_for(stop, u64::MAX);
    }

    /// Runs as [`run`](Self::run), for at most `events` [events](Self::events). Returns whether the run has ended.
    pub fn run_for(&mut self, stop: Time, events: u64) -> bool {
        self.run_events(stop, events, |_, _| false)
    }

    /// Runs as [`run_for`](Self::run_for). Packets for which `drops` returns true at their arrival are lost.
    #[inline(always)]
    fn run_events(
        &mut self,
        stop: Time,
        events: u64,
        drops: impl FnMut(Time, Wire) -> bool,
    ) -> bool {
        let is_finite = |connection: &Connection| connection.application.is_finite;
        let endless = self.ignores_completion || !self.connections.iter().any(is_finite);
        // A run that ends at its stop has a transfer more, which is never complete.
        self.unfinished += usize::from(endless);
        self.env.timers.limit(stop);
        let mut left = events;
        let has_ended = self.process_events(stop, &mut left, drops);
        self.events += events - left;
        self.env.timers.limit(NEVER);
        self.unfinished -= usize::from(endless);
        has_ended
    }

    /// Processes at most `left` events. Returns whether the run has ended.
    #[inline(always)]
    fn process_events(
        &mut self,
        stop: Time,
        left: &mut u64,
        mut drops: impl FnMut(Time, Wire) -> bool,
    ) -> bool {
        let mut reaches_stop = false;
        while self.unfinished > 0 && *left > 0 {
            let limit = self.env.timers.next();
            match self.env.network.poll(limit) {
                Some(Exit::Arrived {
                    at, bytes, payload, ..
                }) => {
                    self.env.now = at;
                    if drops(at, payload) {
                        self.env.lost(at, payload);
                        continue;
                    }
                    if O::PACKETS {
                        self.env.report_packet(bytes, payload, false);
                    }
                    if O::ARRIVALS {
                        self.env.report_arrival(payload);
                    }
                    self.deliver(payload);
                    #[cfg(any(debug_assertions, test))]
                    if let Some(subflow) = Segment::from(payload).subflow() {
                        self.check(subflow.connection, *left);
                    }
                }
                Some(Exit::Lost { at, payload, .. }) => self.env.lost(at, payload),
                None if limit >= stop => {
                    self.env.now = stop;
                    reaches_stop = true;
                    break;
                }
                None => {
                    while let Some(_owner) = self.fire(limit) {
                        #[cfg(any(debug_assertions, test))]
                        if let Some(number) = _owner.connection() {
                            self.check(number, *left);
                        }
                    }
                }
            }
            *left -= 1;
        }
        reaches_stop || self.unfinished == 0
    }

    /// Fires the next timer that is due at `now`. Returns its owner.
    fn fire(&mut self, now: Time) -> Option<TimerOwner> {
        self.env.now = now;
        let owner = self.env.timers.fire(now)?;
        self.on_timer(owner);
        Some(owner)
    }

    fn on_timer(&mut self, owner: TimerOwner) {
        let env = &mut self.env;
        let connections = &mut self.connections;
        let of = |number: u32| number as usize;
        match owner {
            TimerOwner::Sender(id) => {
                connections[of(id.connection)].on_sender_timer(env, id.index());
            }
            TimerOwner::Receiver(id) => {
                connections[of(id.connection)].on_receiver_timer(env, id.index());
            }
            TimerOwner::Start(number) => connections[of(number)].send_syn(env, 0),
            TimerOwner::Write(number) => {
                let ends = connections[of(number)].write(env);
                self.unfinished -= usize::from(ends);
            }
            TimerOwner::Announcement(number) => connections[of(number)].repeat_announcement(env),
            TimerOwner::Wakeup(number) => connections[of(number)].send.write(env),
            TimerOwner::Retransmission(number) => {
                connections[of(number)].send.on_retransmission_timer(env);
            }
            TimerOwner::Udp(number) => self.udp[of(number)].on_timer(env),
        }
        self.env.flush();
    }

    /// A packet arrives at an endpoint. Data and ACKs are decoded separately: as an enum they would go through memory.
    #[inline(always)]
    fn deliver(&mut self, wire: Wire) {
        if wire.is_data() {
            // The client sends no bursts.
            return self.on_data(wire);
        }
        if wire.is_ack() {
            self.on_ack(wire);
        } else {
            self.on_other(wire);
        }
        self.env.flush();
    }

    #[inline(always)]
    fn on_data(&mut self, wire: Wire) {
        let connection = &mut self.connections[wire.subflow().connection as usize];
        connection.receive.on_data(&mut self.env, wire);
        if connection.receive.stream.joins_with_data {
            connection.join_with_data(&mut self.env);
        }
    }

    #[inline(always)]
    fn on_ack(&mut self, wire: Wire) {
        let connection = &mut self.connections[wire.subflow().connection as usize];
        connection.send.on_ack(&mut self.env, wire);
        if connection.send.stream.is_done() {
            let ends = connection.on_all_acknowledged(&mut self.env);
            self.unfinished -= usize::from(ends);
        }
    }

    #[cold]
    fn on_other(&mut self, wire: Wire) {
        let segment = Segment::from(wire);
        if let Segment::Datagram { source, .. } = segment {
            self.udp[source as usize].received += 1;
        } else if let Some(subflow) = segment.subflow() {
            let connection = &mut self.connections[subflow.connection as usize];
            connection.on_other(&mut self.env, subflow, segment);
        }
    }

    /// Checks the [`invariants`]. Large windows are not recounted after each `event`, which would take most of the time.
    #[cfg(any(debug_assertions, test))]
    fn check(&self, number: u32, event: u64) {
        let connection = &self.connections[number as usize];
        invariants::connection(connection);
        for sender in &connection.send.subflows {
            if event % (u64::from(sender.packets_out()) / 32 + 1) == 0 {
                invariants::sender(sender, &self.env.timers);
            }
        }
    }

    /// Current time.
    pub fn now(&self) -> Time {
        self.env.now
    }

    /// Network.
    pub fn network(&self) -> &Network<Wire> {
        &self.env.network
    }

    /// Number of packet arrivals and timer instants so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Observer.
    pub fn observer(&self) -> &O {
        &self.env.observer
    }

    /// Observer, at the end of the simulation.
    pub fn into_observer(self) -> O {
        self.env.observer
    }
}

#[cfg(test)]
mod tests;
