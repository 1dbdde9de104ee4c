//! The simulation: endpoints on a network, in virtual time.
//!
//! What happens next is the network's next packet at an endpoint or a timer, whichever comes first; a packet comes before
//! a timer of the same instant, packets of one instant in the order of their links, timers in the order of their numbers.

use crate::connection::Connection;
use crate::endpoint::Env;
use crate::pace::Pace;
use crate::profile::Profile;
use crate::receiver::Receiver;
use crate::sack::Sacks;
use crate::segment::{Kind, Segment};
use crate::sender::{Life, Sender, Tally, Waits, notice};
use crate::timers::Timers;
use crate::trace::Observer;
use crate::udp::{Udp, UdpSpec};
use mpcc::{Algorithm, Connection as Coupled};
use netsim::{Exit, Network, RouteId, Span, Time};
use std::collections::VecDeque;

/// What a connection's server has to send.
#[derive(Debug)]
pub enum Application {
    /// For ever.
    Endless,
    /// So many bytes.
    File(u64),
    /// Replies of `bytes` each; the next is written that long after the last byte of the one before was acknowledged.
    Requests {
        /// Bytes of each reply.
        bytes: u64,
        /// The pauses between replies: one fewer than replies.
        gaps: VecDeque<Span>,
    },
    /// Segment by segment at a pace, for ever.
    Paced(Pace),
}

/// Who opens further subflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathManager {
    /// The server tells of its addresses, and the client joins them (Linux: `signal` endpoints; `fullmesh`).
    Announced,
    /// The client joins at once when the first data arrives (Linux: `subflow` endpoints; `ndiffports`).
    Client,
}

/// A connection to be simulated: the client opens it, the server sends.
#[derive(Debug)]
pub struct ConnectionSpec {
    /// The endpoints' behaviour.
    pub profile: Profile,
    /// Congestion control.
    pub algorithm: Algorithm,
    /// Whether it speaks MPTCP; without, there is one subflow.
    pub mptcp: bool,
    /// Each subflow's routes: data's, and that of what the client sends.
    pub routes: Vec<(RouteId, RouteId)>,
    /// When the first SYN is sent.
    pub start: Time,
    /// What is sent.
    pub application: Application,
    /// Bytes of a full IP packet.
    pub packet: u16,
    /// The receive buffer, bytes; none: the profile's, which grows.
    pub receive_window: Option<u32>,
    /// Who opens further subflows.
    pub path_manager: PathManager,
    /// How long the client waits with a join that it could make.
    pub join_delay: Span,
    /// Whether the endpoints use ECN (RFC 3168).
    pub ecn: bool,
    /// The initial slow start threshold, segments; none: no bound.
    pub ssthresh: Option<u32>,
}

/// Who a timer belongs to.
#[derive(Clone, Copy, Debug)]
enum Owner {
    Sender(u32),
    Receiver(u32),
    Start(u32),
    Write(u32),
    Announce(u32),
    Udp(u32),
}

/// A connection beside its stream: its life and its application.
#[derive(Debug)]
struct Running {
    spec: ConnectionSpec,
    write_timer: u32,
    /// Addresses that were announced, up to this subflow's; how often the last was, and when it is again.
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

/// What a connection came to.
#[derive(Clone, Debug)]
pub struct Report {
    /// When the first SYN was sent.
    pub start: Time,
    /// When the last byte was acknowledged; none where that did not happen.
    pub completion: Option<Time>,
    /// Bytes acknowledged in order.
    pub bytes: u64,
    /// When the last subflow left slow start, where all have: Σ of the windows with which avoidance begins, segments, and
    /// the segments sent again until then.
    pub exit: Option<(u32, u64)>,
    /// Each subflow.
    pub subflows: Vec<SubflowReport>,
}

/// What a subflow came to.
#[derive(Clone, Copy, Debug)]
pub struct SubflowReport {
    /// Its counts.
    pub tally: Tally,
    /// Window at the end, segments.
    pub cwnd: u32,
    /// Smoothed RTT at the end, µs.
    pub srtt_us: u32,
}

/// Endpoints on a network.
pub struct Simulation<O> {
    network: Network<Segment>,
    timers: Timers,
    owners: Vec<Owner>,
    sacks: Sacks,
    connections: Vec<Connection>,
    running: Vec<Running>,
    senders: Vec<Sender>,
    receivers: Vec<Receiver>,
    udp: Vec<Udp>,
    observer: O,
    now: Time,
    unfinished: usize,
    events: u64,
}

/// Bytes of a SYN and of the packets that open a subflow: IPv4, TCP and its options with MPTCP's (RFC 8684, 3.1, 3.2).
const SYN: u32 = 72;

/// How long an announced address waits for an answer before it is announced again, and how often that is done (Linux:
/// net.mptcp.add_addr_timeout, ADD_ADDR_RETRANS_MAX).
const ANNOUNCE_AGAIN: Span = Span::from_secs(120);
const ANNOUNCEMENTS_AGAIN: u32 = 3;

/// What the endpoints of a connection act on.
macro_rules! env {
    ($self:ident, $connection:expr) => {
        Env {
            now: $self.now,
            network: &mut $self.network,
            timers: &mut $self.timers,
            sacks: &mut $self.sacks,
            profile: &$self.running[$connection as usize].spec.profile,
            observer: &mut $self.observer,
        }
    };
}

/// The endpoints of one connection, and what they act on.
macro_rules! parts {
    ($self:ident, $connection:expr) => {{
        let connection = &mut $self.connections[$connection as usize];
        let range = connection.first as usize..(connection.first + connection.subflows) as usize;
        let senders = &mut $self.senders[range.clone()];
        let receivers = &mut $self.receivers[range];
        let env = env!($self, $connection);
        (connection, senders, receivers, env)
    }};
}

impl<O: Observer> Simulation<O> {
    /// Nothing runs on this network yet.
    pub fn new(network: Network<Segment>, observer: O) -> Self {
        Self {
            network,
            timers: Timers::default(),
            owners: Vec::new(),
            sacks: Sacks::default(),
            connections: Vec::new(),
            running: Vec::new(),
            senders: Vec::new(),
            receivers: Vec::new(),
            udp: Vec::new(),
            observer,
            now: Time::ZERO,
            unfinished: 0,
            events: 0,
        }
    }

    fn timer(&mut self, owner: Owner) -> u32 {
        self.owners.push(owner);
        self.timers.add()
    }

    /// Adds a connection, which starts at its time. Returns its number, from 0.
    ///
    /// # Panics
    /// When it has no route.
    pub fn add_connection(&mut self, spec: ConnectionSpec) -> usize {
        assert!(!spec.routes.is_empty(), "a connection needs a route");
        let number = self.connections.len() as u32;
        let first = self.senders.len() as u32;
        let count = if spec.mptcp { spec.routes.len() } else { 1 };
        for (i, &(down, up)) in spec.routes[..count].iter().enumerate() {
            let me = first + i as u32;
            let timer = self.timer(Owner::Sender(me));
            self.senders
                .push(Sender::new(&spec, down, timer, me, number));
            let timer = self.timer(Owner::Receiver(me));
            self.receivers
                .push(Receiver::new(&spec, up, timer, me, number));
        }
        let header = self.senders[first as usize].header;
        let coupled = Coupled::new(spec.algorithm);
        let mss = spec.packet - header;
        let window = spec.receive_window;
        let mut connection =
            Connection::new(coupled, first, count as u32, mss, &spec.profile, window);
        connection.joins_with_data = count > 1 && spec.path_manager == PathManager::Client;
        self.connections.push(connection);
        let start = self.timer(Owner::Start(number));
        self.timers.set(start, spec.start);
        let write_timer = self.timer(Owner::Write(number));
        let announce_timer = self.timer(Owner::Announce(number));
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

    /// Adds a UDP source. Returns its number, from 0.
    pub fn add_udp(&mut self, spec: UdpSpec) -> usize {
        let me = self.udp.len() as u32;
        let timer = self.timer(Owner::Udp(me));
        self.timers.set(timer, spec.start);
        self.udp.push(Udp::new(spec, timer, me));
        me as usize
    }

    /// Runs until every connection that has an end has come to it, or until `stop`.
    pub fn run(&mut self, stop: Time) {
        let endless = self.running.iter().all(|running| !running.finite);
        while endless || self.unfinished > 0 {
            let limit = self.timers.next().min(stop);
            match self.network.poll(limit) {
                Some(Exit::Arrived { at, payload, .. }) => {
                    self.now = at;
                    self.deliver(&payload);
                    #[cfg(debug_assertions)]
                    if payload.kind != Kind::Datagram {
                        self.check(self.parent(payload.to));
                    }
                }
                Some(Exit::Lost { payload, .. }) => {
                    self.sacks.take(payload.sack);
                }
                None if limit >= stop => {
                    self.now = stop;
                    return;
                }
                None => {
                    self.now = limit;
                    while let Some(timer) = self.timers.fire(limit) {
                        let owner = self.owners[timer as usize];
                        self.on_timer(owner);
                        #[cfg(debug_assertions)]
                        match owner {
                            Owner::Sender(subflow) | Owner::Receiver(subflow) => {
                                self.check(self.parent(subflow));
                            }
                            Owner::Start(number)
                            | Owner::Write(number)
                            | Owner::Announce(number) => self.check(number),
                            Owner::Udp(_) => {}
                        }
                    }
                }
            }
            self.events += 1;
        }
    }

    /// See [`crate::invariants`]. Large windows are not recounted after each event, which would take most of the time.
    #[cfg(debug_assertions)]
    fn check(&self, number: u32) {
        let connection = &self.connections[number as usize];
        let range = connection.first as usize..(connection.first + connection.subflows) as usize;
        let senders = &self.senders[range];
        crate::invariants::connection(connection, senders);
        for sender in senders {
            if self.events % (u64::from(sender.out()) / 32 + 1) == 0 {
                let profile = &self.running[number as usize].spec.profile;
                crate::invariants::sender(sender, profile, &self.timers);
            }
        }
    }

    /// A packet reaches its end.
    #[inline]
    fn deliver(&mut self, segment: &Segment) {
        match segment.kind {
            Kind::Data => {
                let receiver = &mut self.receivers[segment.to as usize];
                let number = receiver.parent;
                let connection = &mut self.connections[number as usize];
                receiver.on_data(connection, &mut env!(self, number), segment);
                if connection.joins_with_data {
                    self.first_data(number);
                }
            }
            Kind::Ack => self.on_ack(segment),
            Kind::Datagram => self.udp[segment.to as usize].received += 1,
            _ => {
                let number = self.parent(segment.to);
                let index = segment.to - self.connections[number as usize].first;
                self.handshake(number, index as usize, segment);
            }
        }
    }

    #[inline]
    fn on_ack(&mut self, segment: &Segment) {
        let number = self.parent(segment.to);
        let (connection, senders, _, mut env) = parts!(self, number);
        let index = (segment.to - connection.first) as usize;
        let blocks = env.sacks.take(segment.sack);
        let sender = &mut senders[index];
        if !matches!(sender.life, Life::Open | Life::Stalled) {
            return;
        }
        connection.on_ack(segment);
        let set = sender.on_ack(&mut connection.coupled, &mut env, segment, blocks);
        let sent = connection.push(senders, &mut env, index);
        let sender = &mut senders[index];
        if set && !sent {
            sender.set_timer(&mut env);
        }
        let done = connection.is_done();
        if sender.notices != 0 {
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
        let (_, senders, _, mut env) = parts!(self, number);
        let notices = std::mem::take(&mut senders[index].notices);
        if notices & notice::WANTS_NEW != 0 {
            senders[index].repair_instead(&mut env);
        }
        if notices & notice::LEFT != 0 {
            self.left_slow_start(number);
        }
    }

    /// A subflow left slow start for the first time.
    fn left_slow_start(&mut self, number: u32) {
        let (_, senders, _, _) = parts!(self, number);
        let open = senders.iter().filter(|s| s.tally.established.is_some());
        let sums = open.fold((0, 0), |(cwnd, again), s| {
            (
                cwnd + s.effective_cwnd(),
                again + u64::from(s.tally.retransmits),
            )
        });
        self.running[number as usize].exit = Some(sums);
    }

    /// SYN, SYN/ACK, ACK, ADD_ADDR.
    #[cold]
    fn handshake(&mut self, number: u32, index: usize, segment: &Segment) {
        let (connection, senders, receivers, mut env) = parts!(self, number);
        match segment.kind {
            Kind::Syn => {
                let sender = &mut senders[index];
                if matches!(sender.life, Life::Idle | Life::Opening) {
                    sender.life = Life::Opening;
                    sender.answer_syn(&mut env);
                    self.announce(number, index + 1);
                }
            }
            Kind::SynAck => {
                if receivers[index].on_syn_ack(&mut env, segment) && index == 0 {
                    connection.round_trip = receivers[0].round_trip(env.now);
                }
            }
            Kind::Established => {
                let sender = &mut senders[index];
                if sender.life == Life::Opening {
                    sender.finish_handshake(&mut env, segment);
                    sender.open(&mut connection.coupled, &mut env);
                    if index == 0 {
                        self.announce(number, 1);
                        self.write(number);
                    } else {
                        connection.push(senders, &mut env, index);
                    }
                }
            }
            Kind::AddAddress => {
                let path = segment.seq as usize;
                let running = &self.running[number as usize];
                if running.completion.is_none() {
                    receivers[path].join(&mut env, running.spec.join_delay);
                }
            }
            Kind::Data | Kind::Ack | Kind::Datagram => {}
        }
    }

    /// The server tells of its next address, or of all.
    fn announce(&mut self, number: u32, from: usize) {
        let (connection, senders, _, mut env) = parts!(self, number);
        let at_once = env.profile.announces_at_once;
        let spec = &self.running[number as usize].spec;
        if spec.path_manager != PathManager::Announced || (at_once && from != 1) {
            return;
        }
        let last = if at_once {
            connection.subflows as usize
        } else {
            from + 1
        };
        // The first SYN is no address taken up.
        if senders[0].tally.established.is_none() {
            return;
        }
        let last = last.min(connection.subflows as usize);
        if from >= last || from <= self.running[number as usize].announced {
            return;
        }
        for path in from..last {
            senders[0].announce(&mut env, path as u32);
        }
        let running = &mut self.running[number as usize];
        running.announced = last - 1;
        running.announcements = 1;
        self.timers
            .set(running.announce_timer, self.now + ANNOUNCE_AGAIN);
    }

    /// What was announced and not taken up is announced again.
    #[cold]
    fn announce_again(&mut self, number: u32) {
        let (_, senders, _, mut env) = parts!(self, number);
        let running = &self.running[number as usize];
        let idle = (1..=running.announced).filter(|path| senders[*path].life == Life::Idle);
        let idle: Vec<usize> = idle.collect();
        if idle.is_empty() || running.announcements > ANNOUNCEMENTS_AGAIN {
            return;
        }
        // On a subflow that works, if there is one.
        let on = senders
            .iter()
            .position(|s| s.life == Life::Open)
            .unwrap_or(0);
        for path in idle {
            senders[on].announce(&mut env, path as u32);
        }
        let running = &mut self.running[number as usize];
        running.announcements += 1;
        self.timers
            .set(running.announce_timer, self.now + ANNOUNCE_AGAIN);
    }

    /// The first data has reached the client: it joins.
    #[cold]
    fn first_data(&mut self, number: u32) {
        let delay = self.running[number as usize].spec.join_delay;
        let (connection, _, receivers, mut env) = parts!(self, number);
        connection.joins_with_data = false;
        for receiver in &mut receivers[1..] {
            receiver.join(&mut env, delay);
        }
    }

    /// The application writes.
    fn write(&mut self, number: u32) {
        let running = &mut self.running[number as usize];
        let mss = self.connections[number as usize].mss;
        let bytes = match &mut running.spec.application {
            Application::Endless => None,
            Application::File(bytes) | Application::Requests { bytes, .. } => Some(*bytes),
            Application::Paced(pace) => {
                let (writes, wait) = pace.tick(self.now, mss.into());
                self.timers.set(running.write_timer, self.now + wait);
                if !writes {
                    return;
                }
                Some(mss.into())
            }
        };
        running.writing = true;
        let (connection, senders, _, mut env) = parts!(self, number);
        connection.write(bytes);
        if connection.is_done() {
            self.written_is_done(number);
        } else {
            connection.push(senders, &mut env, 0);
        }
    }

    /// All that was written is acknowledged: the next reply, or the end.
    #[cold]
    fn written_is_done(&mut self, number: u32) {
        let running = &mut self.running[number as usize];
        // ACKs of other subflows may still come when the reply has ended.
        if !running.finite || !std::mem::take(&mut running.writing) {
            return;
        }
        if let Application::Requests { gaps, .. } = &mut running.spec.application {
            if let Some(gap) = gaps.pop_front() {
                self.timers.set(running.write_timer, self.now + gap);
                return;
            }
        }
        running.completion = Some(self.now);
        self.unfinished -= 1;
        let (connection, senders, receivers, env) = parts!(self, number);
        let windows = senders
            .iter()
            .map(|s| if s.life == Life::Idle { 0 } else { s.tcp.cwnd });
        let windows = windows.collect();
        for (sender, receiver) in senders.iter_mut().zip(receivers) {
            if matches!(sender.life, Life::Open | Life::Stalled) {
                connection.coupled.close(std::mem::take(&mut sender.cc));
            }
            sender.life = Life::Closed;
            env.timers.clear(sender.timer);
            env.timers.clear(receiver.timer);
        }
        let running = &mut self.running[number as usize];
        self.timers.clear(running.announce_timer);
        running.cwnd_at_end = windows;
    }

    fn on_timer(&mut self, owner: Owner) {
        match owner {
            Owner::Sender(subflow) => self.on_sender_timer(subflow),
            Owner::Receiver(subflow) => {
                let number = self.parent(subflow);
                let (connection, _, receivers, mut env) = parts!(self, number);
                let receiver = &mut receivers[(subflow - connection.first) as usize];
                if receiver.established {
                    receiver.acknowledge(connection, &mut env);
                } else {
                    receiver.send_syn(&mut env);
                }
            }
            Owner::Start(number) => {
                let (_, _, receivers, mut env) = parts!(self, number);
                receivers[0].send_syn(&mut env);
            }
            Owner::Write(number) => self.write(number),
            Owner::Announce(number) => self.announce_again(number),
            Owner::Udp(number) => {
                static PROFILE: Profile = Profile::linux();
                let mut env = Env {
                    now: self.now,
                    network: &mut self.network,
                    timers: &mut self.timers,
                    sacks: &mut self.sacks,
                    profile: &PROFILE,
                    observer: &mut self.observer,
                };
                self.udp[number as usize].on_timer(&mut env);
            }
        }
    }

    #[cold]
    fn on_sender_timer(&mut self, subflow: u32) {
        let number = self.parent(subflow);
        let (connection, senders, _, mut env) = parts!(self, number);
        let index = (subflow - connection.first) as usize;
        let sender = &mut senders[index];
        match (sender.life, sender.waits) {
            (Life::Opening, _) => sender.answer_syn(&mut env),
            (Life::Idle | Life::Closed, _) => {}
            (_, Waits::Probe) => {
                if connection.has_new() {
                    let (data, len) = connection.take_new();
                    sender.send_new(&mut connection.coupled, &mut env, data, len);
                    sender.probed(&mut env, false);
                } else {
                    sender.probe_again(&mut env);
                }
            }
            (_, Waits::Reordering) => {
                sender.on_reordering(&mut connection.coupled, &mut env);
                connection.push(senders, &mut env, index);
                if senders[index].notices != 0 {
                    self.noticed(number, index);
                }
            }
            (_, Waits::Timeout) => {
                sender.on_timeout(&mut connection.coupled, &mut env);
                sender.life = Life::Stalled;
                connection.reinject(&senders[index], index as u32);
                connection.push(senders, &mut env, index);
                if senders[index].notices != 0 {
                    self.noticed(number, index);
                }
            }
        }
    }

    /// The time that it has come to.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The network.
    pub fn network(&self) -> &Network<Segment> {
        &self.network
    }

    /// Packets at endpoints and timers that there were.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The observer.
    pub fn into_observer(self) -> O {
        self.observer
    }

    /// What a connection has come to.
    pub fn report(&self, number: usize) -> Report {
        let (connection, running) = (&self.connections[number], &self.running[number]);
        let range = connection.first as usize..(connection.first + connection.subflows) as usize;
        let senders = &self.senders[range];
        let open = senders.iter().filter(|s| s.tally.established.is_some());
        let all_left = open.clone().all(|sender| sender.tally.exit.is_some());
        let subflows = senders.iter().enumerate();
        let subflows = subflows
            .map(|(i, sender)| SubflowReport {
                tally: Tally {
                    bytes: sender.acknowledged(),
                    ..sender.tally
                },
                cwnd: running
                    .cwnd_at_end
                    .get(i)
                    .copied()
                    .unwrap_or(sender.tcp.cwnd),
                srtt_us: sender.rtt.srtt(),
            })
            .collect();
        Report {
            start: running.spec.start,
            completion: running.completion,
            bytes: connection.acknowledged(),
            exit: running.exit.filter(|_| all_left),
            subflows,
        }
    }

    /// Datagrams that a UDP source sent, and that arrived.
    pub fn udp_report(&self, number: usize) -> (u64, u64) {
        let udp = &self.udp[number];
        (udp.sent, udp.received)
    }
}

/// The opening of a subflow.
mod opening {
    use super::*;

    fn packet(me: u32, kind: Kind, seq: u32) -> Segment {
        Segment {
            to: me,
            seq,
            data: 0,
            window: 0,
            sack: 0,
            kind,
            flags: 0,
            len: 0,
        }
    }

    /// What a timestamp tells (RFC 7323), µs: it stands in the field that is the window in an ACK.
    fn stamp(now: Time) -> u32 {
        (now.as_nanos() / 1000) as u32
    }

    impl Receiver {
        /// Opens a subflow, once, after a while.
        pub(super) fn join<O: Observer>(&mut self, env: &mut Env<'_, O>, delay: Span) {
            if !std::mem::replace(&mut self.asked, true) {
                env.timers.set(self.timer, env.now + delay);
            }
        }

        pub(super) fn send_syn<O: Observer>(&mut self, env: &mut Env<'_, O>) {
            self.syn_first.get_or_insert(env.now);
            env.send(self.route, SYN, packet(self.me, Kind::Syn, 0));
            let wait = env.profile.rto_initial.as_nanos() << self.syns.min(6);
            self.syns += 1;
            env.timers.set(self.timer, env.now + Span::from_nanos(wait));
        }

        /// Returns whether it is the first.
        pub(super) fn on_syn_ack<O: Observer>(
            &mut self,
            env: &mut Env<'_, O>,
            syn_ack: &Segment,
        ) -> bool {
            let first = !self.established;
            self.established = true;
            if first {
                env.timers.clear(self.timer);
            }
            let mut segment = packet(self.me, Kind::Established, 0);
            segment.window = syn_ack.window;
            env.send(self.route, SYN, segment);
            first
        }

        /// Since the SYN.
        pub(super) fn round_trip(&self, now: Time) -> Span {
            self.syn_first.map_or(Span::ZERO, |then| now.since(then))
        }
    }

    impl Sender {
        /// Answers a SYN, again when its timer fires.
        pub(super) fn answer_syn<O: Observer>(&mut self, env: &mut Env<'_, O>) {
            let mut segment = packet(self.me, Kind::SynAck, 0);
            segment.window = stamp(env.now);
            env.send(self.route, SYN, segment);
            if self.recovery.timeouts == 0 {
                self.last_sent = env.now;
            }
            // The wait doubles, as the client's does.
            let wait = env.profile.rto_initial.as_nanos() << self.recovery.timeouts.min(6);
            self.recovery.timeouts += 1;
            env.timers.set(self.timer, env.now + Span::from_nanos(wait));
        }

        /// The handshake's last packet, which answers one of the SYN/ACKs: the first RTT sample, and a window of one
        /// segment where more than one SYN/ACK was sent again (RFC 5681, 3.1; Linux: tcp_init_transfer) and not because
        /// the path is long.
        pub(super) fn finish_handshake<O: Observer>(
            &mut self,
            env: &mut Env<'_, O>,
            last: &Segment,
        ) {
            self.rtt
                .sample(stamp(env.now).wrapping_sub(last.window), 0, 0);
            if self.recovery.timeouts > 2 && last.window != stamp(self.last_sent) {
                self.tcp.cwnd = 1;
            }
            self.recovery.timeouts = 0;
            env.timers.clear(self.timer);
        }

        /// Tells the client of an address.
        pub(super) fn announce<O: Observer>(&mut self, env: &mut Env<'_, O>, path: u32) {
            env.send(self.route, SYN, packet(self.me, Kind::AddAddress, path));
        }
    }
}

#[cfg(test)]
#[path = "script_tests.rs"]
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
