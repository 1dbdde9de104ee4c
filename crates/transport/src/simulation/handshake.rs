//! The opening of subflows: SYN, SYN/ACK, ACK (RFC 9293, 3.5; RFC 8684, 3.1 and 3.2), and the announcements that lead to
//! further ones (ADD_ADDR, RFC 8684, 3.4.1).

use super::*;
use crate::packet::sequence::{in_milliseconds, micros};
use crate::receiver::Join;
use crate::wheel;

/// The packets that open a subflow, bytes: IPv4 and TCP (40), the options of a SYN (20) or of any other packet (12), and
/// MPTCP's, as Linux sends them.
#[derive(Clone, Copy)]
pub(super) struct Opening {
    pub(super) syn: u32,
    pub(super) syn_ack: u32,
    pub(super) established: u32,
}

const TCP: Opening = Opening {
    syn: 60,
    syn_ack: 60,
    established: 52,
};

/// MP_CAPABLE (RFC 8684, 3.1): without a key, with the server's, with both.
const CAPABLE: Opening = Opening {
    syn: TCP.syn + 4,
    syn_ack: TCP.syn_ack + 12,
    established: TCP.established + 20,
};

/// MP_JOIN (3.2).
const JOIN: Opening = Opening {
    syn: TCP.syn + 12,
    syn_ack: TCP.syn_ack + 16,
    established: TCP.established + 24,
};

/// ADD_ADDR with an address of IPv4, and its echo (3.4.1).
const ADD_ADDRESS: u32 = TCP.established + 16;
const ADDRESS_ECHO: u32 = TCP.established + 8;

/// The answer to the last packet of a join (3.2), with a DATA_ACK of 32 bits.
const JOINED: u32 = TCP.established + 8;

/// A reset with its reason (3.6).
const RESET: u32 = TCP.established + 4;

/// How long an announced address waits for its echo at most, and how often it is announced again (Linux:
/// net.mptcp.add_addr_timeout, ADD_ADDR_RETRANS_MAX). Until 6.17 it waited so long; since then it waits for the longest
/// retransmission timeout of a subflow if that is shorter, and each time twice as long (net/mptcp/pm.c:
/// mptcp_adjust_add_addr_timeout, mptcp_pm_add_timer; Documentation/networking/mptcp-sysctl.rst).
const ECHO_WAIT: Span = Span::from_secs(120);
const ANNOUNCEMENTS_AGAIN: u32 = 3;

impl<O: Observer> Simulation<O> {
    /// Any packet but data and ACKs.
    #[cold]
    pub(super) fn on_other(&mut self, wire: Wire) {
        let segment = Segment::from(wire);
        let Some(subflow) = segment.subflow() else {
            return self.on_datagram(segment);
        };
        let number = self.parent(subflow);
        let index = (subflow - self.connections[number as usize].first) as usize;
        let opening = self.opening(number, index);
        let (connection, senders, receivers, env) = parts!(self, number);
        match segment {
            Segment::Syn { backup, .. } => {
                let sender = &mut senders[index];
                if matches!(sender.life, Life::Idle | Life::Opening) {
                    sender.life = Life::Opening;
                    // subflow_req->backup and request_bkup: either end may ask for it.
                    sender.tcp.backup |= u16::from(backup);
                    sender.answer_syn(env, opening.syn_ack);
                }
            }
            Segment::SynAck { sent_us, .. } => {
                let joins = index > 0 && receivers[index].profile.hands_out;
                receivers[index].on_syn_ack(env, sent_us, opening.established, joins);
            }
            Segment::HandshakeAck { echo_us, .. } => self.on_handshake_ack(number, index, echo_us),
            Segment::JoinAck { next, .. } => {
                receivers[index].joined(env, next == 0);
            }
            Segment::AddAddr { address, .. } => {
                if !receivers[index].profile.announces_at_once {
                    // What waits is acknowledged beside it, as Linux does: its echo has no room for that.
                    if receivers[index].has_to_acknowledge() {
                        receivers[index].acknowledge(connection, env);
                    }
                    receivers[index].echo(env, address);
                }
                let running = &self.running[number as usize];
                if running.completion.is_none() {
                    receivers[address as usize].join(env, running.spec.join_delay);
                }
            }
            Segment::AddAddrEcho { address, .. } => {
                let running = &mut self.running[number as usize];
                if address as usize == running.announced {
                    self.env.timers.clear(running.announce_timer);
                    self.announce(number, address as usize + 1);
                }
            }
            Segment::Reset { .. } => self.reset(number, index),
            Segment::Data(_) | Segment::Ack(_) | Segment::Datagram { .. } => {}
        }
    }

    fn on_datagram(&mut self, segment: Segment) {
        if let Segment::Datagram { source, .. } = segment {
            self.udp[source as usize].received += 1;
        }
    }

    /// The third packet of a subflow reaches the server.
    fn on_handshake_ack(&mut self, number: u32, index: usize, echo_us: u32) {
        let (connection, senders, _, env) = parts!(self, number);
        let sender = &mut senders[index];
        if sender.life != Life::Opening {
            if index > 0 && connection.hands_out {
                // The answer was lost.
                sender.answer_join(env);
            }
            return;
        }
        let asked = micros(env.now).wrapping_sub(echo_us);
        // For a join that is completed without a request socket, Linux derives the RTT from timestamps in milliseconds (tcp_check_req:
        // drop_req).
        let shortcut = index > 0 && connection.hands_out;
        let round_trip = match shortcut {
            true => {
                let phase = micros(Time::ZERO + connection.phase);
                in_milliseconds(micros(env.now).wrapping_add(phase), asked).max(1000)
            }
            false => asked,
        };
        sender.finish_handshake(env, echo_us, round_trip);
        sender.open(&mut connection.coupled, env);
        if index == 0 {
            self.announce(number, 1);
            let running = &self.running[number as usize];
            let spec = &running.spec;
            let writes_at = spec.profile.writes_at(self.env.now, spec.phase);
            self.env.timers.set(running.write_timer, writes_at);
        } else if let Some(timer) = connection.push_timer {
            senders[index].answer_join(env);
            let profile = &senders[index].profile;
            env.timers
                .set(timer, profile.writes_at(env.now, connection.phase));
        } else {
            connection.push(senders, env, index);
        }
    }

    /// The client has reset a subflow: what was handed out and is not acknowledged is handed out again (Linux:
    /// __mptcp_close_ssk, __mptcp_retransmit_pending_data).
    fn reset(&mut self, number: u32, index: usize) {
        let (connection, senders, _, env) = parts!(self, number);
        let sender = &mut senders[index];
        if matches!(sender.life, Life::Open | Life::Stalled) {
            connection.coupled.close(std::mem::take(&mut sender.cc));
            sender.life = Life::Closed;
            env.timers.clear(sender.timer);
            connection.close_buffer(sender);
            connection.hand_out_again();
            connection.push_all(senders, env, index);
        }
    }

    /// The packets that open this subflow.
    pub(super) fn opening(&self, number: u32, index: usize) -> Opening {
        match (self.running[number as usize].spec.mptcp, index) {
            (false, _) => TCP,
            (true, 0) => CAPABLE,
            (true, _) => JOIN,
        }
    }

    /// The server tells of its next address, or of all: MPTCP 0.89 tells of each with the next segment, once, and hears no
    /// echo (net/mptcp/mptcp_fullmesh.c: full_mesh_addr_signal).
    fn announce(&mut self, number: u32, from: usize) {
        let (connection, senders, _, env) = parts!(self, number);
        let subflows = connection.subflows as usize;
        let spec = &self.running[number as usize].spec;
        if spec.path_manager != PathManager::Announced || from >= subflows {
            return;
        }
        if spec.profile.announces_at_once {
            for path in from..subflows {
                senders[0].announce(env, path as u32);
            }
            return;
        }
        let running = &mut self.running[number as usize];
        running.announced = from;
        running.announcements = 0;
        self.announce_again(number);
    }

    /// What was announced last, on a subflow that works, if there is one. When that was often enough, the next.
    #[cold]
    pub(super) fn announce_again(&mut self, number: u32) {
        let (_, senders, _, env) = parts!(self, number);
        let works = senders.iter().find(|s| s.life == Life::Open);
        let path = self.running[number as usize].announced as u32;
        works.unwrap_or(&senders[0]).announce(env, path);
        let established = senders.iter().filter(|s| s.tally.established.is_some());
        let timeout = established.map(|s| s.rtt.timeout()).max();
        let wait = timeout.map_or(ECHO_WAIT, |timeout| timeout.min(ECHO_WAIT));
        let running = &mut self.running[number as usize];
        let wait = Span::from_nanos(wait.as_nanos() << running.announcements);
        running.announcements += 1;
        if running.announcements <= ANNOUNCEMENTS_AGAIN {
            self.env
                .timers
                .set(running.announce_timer, self.env.now + wait);
        } else {
            let next = running.announced + 1;
            self.announce(number, next);
        }
    }

    /// The first data has reached the client: it joins.
    #[cold]
    pub(super) fn first_data(&mut self, number: u32) {
        let delay = self.running[number as usize].spec.join_delay;
        let (connection, _, receivers, env) = parts!(self, number);
        connection.joins_with_data = false;
        for receiver in &mut receivers[1..] {
            receiver.join(env, delay);
        }
    }
}

impl Receiver {
    /// Opens a subflow, once, after a while.
    pub(super) fn join<O: Observer>(&mut self, env: &mut Env<O>, delay: Span) {
        if !std::mem::replace(&mut self.asked, true) {
            env.timers.set(self.timer, env.now + delay);
        }
    }

    pub(super) fn send_syn<O: Observer>(&mut self, env: &mut Env<O>, bytes: u32) {
        self.syn_last = env.now;
        let segment = Segment::Syn {
            subflow: self.me,
            backup: self.requests_backup,
        };
        env.send(self.route, bytes, segment);
        let wait = self.profile.rto_initial.as_nanos() << self.syns.min(6);
        self.syns += 1;
        env.timers.set(self.timer, env.now + Span::from_nanos(wait));
    }

    /// Has heard of an address (RFC 8684, 3.4.1).
    fn echo<O: Observer>(&self, env: &mut Env<O>, path: u32) {
        let segment = Segment::AddAddrEcho {
            subflow: self.me,
            address: path,
        };
        env.send(self.route, ADDRESS_ECHO, segment);
    }

    fn on_syn_ack<O: Observer>(&mut self, env: &mut Env<O>, sent_us: u32, bytes: u32, joins: bool) {
        self.syn_ack = sent_us;
        if !std::mem::replace(&mut self.established, true) {
            env.timers.clear(self.timer);
            let way = sent_us.wrapping_sub(micros(self.syn_last));
            self.offer.opened(way);
            self.handshake = env.now.since(self.syn_last);
            if joins {
                self.join = Join::Waits;
            }
        }
        self.finish_handshake(env, bytes);
    }

    /// Sends the handshake's last packet, that of a join again after two round trips without an answer (Linux:
    /// schedule_3rdack_retransmission).
    pub(super) fn finish_handshake<O: Observer>(&mut self, env: &mut Env<O>, bytes: u32) {
        let segment = Segment::HandshakeAck {
            subflow: self.me,
            echo_us: self.syn_ack,
        };
        env.send(self.route, bytes, segment);
        if self.join == Join::Waits {
            let wait = self.handshake + self.handshake;
            let again = wheel::fires_at(self.profile.tick, env.now, wait);
            env.timers.set(self.timer, again);
        }
    }

    /// A packet comes on a subflow that has joined. Returns whether it is taken: the first has to be the next one, or the
    /// client resets the subflow, since the server is not to send data before its answer has come (Linux:
    /// check_fully_established). That is so where the answer is lost, in a full queue before the initial window.
    #[cold]
    pub(crate) fn joined<O: Observer>(&mut self, env: &mut Env<O>, is_next: bool) -> bool {
        if self.join == Join::Waits {
            env.timers.clear(self.timer);
            self.join = if is_next { Join::Done } else { Join::Reset };
            if !is_next {
                let reset = Segment::Reset { subflow: self.me };
                env.send(self.route, RESET, reset);
            }
        }
        self.join == Join::Done
    }
}

impl Sender {
    /// Answers a SYN, again when its timer fires.
    pub(super) fn answer_syn<O: Observer>(&mut self, env: &mut Env<O>, bytes: u32) {
        let segment = Segment::SynAck {
            subflow: self.me,
            sent_us: micros(env.now),
            backup: self.requests_backup,
        };
        env.send(self.route, bytes, segment);
        if self.recovery.timeouts == 0 {
            self.last_sent = env.now;
        }
        // The wait doubles, as the client's does.
        let wait = self.profile.rto_initial.as_nanos() << self.recovery.timeouts.min(6);
        self.recovery.timeouts += 1;
        env.timers.set(self.timer, env.now + Span::from_nanos(wait));
    }

    /// Answers the last packet of a join (RFC 8684, 3.2).
    fn answer_join<O: Observer>(&self, env: &mut Env<O>) {
        let segment = Segment::JoinAck {
            subflow: self.me,
            next: self.scoreboard.nxt() as u32,
        };
        env.send(self.route, JOINED, segment);
    }

    /// The handshake's last packet, which answers one of the SYN/ACKs: the first RTT sample, and a window of one
    /// segment where more than one SYN/ACK was sent again (RFC 5681, 3.1; Linux: tcp_init_transfer) and not because
    /// the path is long.
    fn finish_handshake<O: Observer>(&mut self, env: &mut Env<O>, echo_us: u32, round_trip: u32) {
        self.rtt.sample(round_trip, 0, 0);
        if self.recovery.timeouts > 2 && echo_us != micros(self.last_sent) {
            self.tcp.cwnd = 1;
        }
        self.recovery.timeouts = 0;
        env.timers.clear(self.timer);
    }

    /// Tells the client of an address.
    fn announce<O: Observer>(&self, env: &mut Env<O>, path: u32) {
        let segment = Segment::AddAddr {
            subflow: self.me,
            address: path,
        };
        env.send(self.route, ADD_ADDRESS, segment);
    }
}
