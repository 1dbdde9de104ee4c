//! The path manager: announcements of the server's addresses (ADD_ADDR, RFC 8684, 3.4.1) and the joins that follow from them.

use super::Connection;
use crate::environment::Env;
use crate::environment::timers::TimerId;
use crate::packet::opening::{ADD_ADDRESS, ADDRESS_ECHO};
use crate::packet::{Segment, SubflowId};
use crate::spec::PathManager;
use crate::subflow::sender::Life;
use crate::trace::Observer;
use netsim::Span;

/// How long an announced address waits for its echo at most, and how often it is announced again (Linux:
/// net.mptcp.add_addr_timeout, ADD_ADDR_RETRANS_MAX). Until 6.17 it waited so long; since then it waits for the longest
/// retransmission timeout of a subflow if that is shorter, and each time twice as long (net/mptcp/pm.c:
/// mptcp_adjust_add_addr_timeout, mptcp_pm_add_timer; Documentation/networking/mptcp-sysctl.rst).
const ECHO_WAIT: Span = Span::from_secs(120);
const ANNOUNCEMENTS_AGAIN: u32 = 3;

/// The address that was announced last.
#[derive(Debug)]
pub(crate) struct Announcements {
    /// Place of its subflow.
    announced: usize,
    /// How often it was announced.
    count: u32,
    /// Fires when it is announced again.
    timer: TimerId,
}

impl Announcements {
    pub(super) fn new(timer: TimerId) -> Self {
        Self {
            announced: 0,
            count: 0,
            timer,
        }
    }

    /// The connection ends.
    pub(crate) fn close<O>(&self, env: &mut Env<O>) {
        env.timers.clear(self.timer);
    }
}

impl Connection {
    /// The server announces the address of a subflow, or all from that one on: MPTCP 0.89 announces each with the next segment, once,
    /// and receives no echo (net/mptcp/mptcp_fullmesh.c: full_mesh_addr_signal).
    pub(super) fn announce<O: Observer>(&mut self, env: &mut Env<O>, from: usize) {
        let subflows = self.send.subflows.len();
        if self.spec.path_manager != PathManager::Announced || from >= subflows {
            return;
        }
        if self.spec.profile.announces_at_once {
            for place in from..subflows {
                self.send_address(env, 0, place);
            }
            return;
        }
        self.announcements.announced = from;
        self.announcements.count = 0;
        self.announce_again(env);
    }

    /// The address that was announced last, on a subflow that works, if there is one. After the last time, the next address.
    #[cold]
    pub(crate) fn announce_again<O: Observer>(&mut self, env: &mut Env<O>) {
        let subflows = &self.send.subflows;
        let works = subflows.iter().position(|s| s.life == Life::Open);
        let established = subflows.iter().filter(|s| s.tally.established.is_some());
        let timeout = established.map(|s| s.rtt.timeout()).max();
        let wait = timeout.map_or(ECHO_WAIT, |timeout| timeout.min(ECHO_WAIT));
        self.send_address(env, works.unwrap_or(0), self.announcements.announced);
        let announcements = &mut self.announcements;
        let wait = Span::from_nanos(wait.as_nanos() << announcements.count);
        announcements.count += 1;
        if announcements.count <= ANNOUNCEMENTS_AGAIN {
            env.timers.set(announcements.timer, env.now + wait);
        } else {
            let next = announcements.announced + 1;
            self.announce(env, next);
        }
    }

    /// Sends the address of the subflow at `place` on another one.
    fn send_address<O: Observer>(&self, env: &mut Env<O>, on: usize, place: usize) {
        let sender = &self.send.subflows[on];
        let segment = Segment::AddAddr {
            subflow: sender.id,
            address: place as u8,
        };
        env.send(sender.route, ADD_ADDRESS, segment);
    }

    /// The client receives an address: it joins.
    pub(super) fn on_address<O: Observer>(
        &mut self,
        env: &mut Env<O>,
        subflow: SubflowId,
        address: u8,
    ) {
        let receive = &mut self.receive;
        if !self.spec.profile.announces_at_once {
            let receiver = &mut receive.subflows[subflow.place()];
            // Linux sends the ACK that waits beside the echo, which has no room for it.
            if receiver.has_to_acknowledge() {
                receiver.acknowledge(&mut receive.stream, env);
            }
            let echo = Segment::AddAddrEcho { subflow, address };
            env.send(receiver.route, ADDRESS_ECHO, echo);
        }
        if self.application.completion.is_none() {
            receive.subflows[usize::from(address)].join(env, self.spec.join_delay);
        }
    }

    /// The server receives the echo of an address: it announces the next one.
    pub(super) fn on_address_echo<O: Observer>(&mut self, env: &mut Env<O>, address: u8) {
        if usize::from(address) == self.announcements.announced {
            env.timers.clear(self.announcements.timer);
            self.announce(env, usize::from(address) + 1);
        }
    }

    /// The first data has reached the client: it joins.
    #[cold]
    pub(crate) fn join_with_data<O: Observer>(&mut self, env: &mut Env<O>) {
        self.receive.stream.joins_with_data = false;
        for receiver in &mut self.receive.subflows[1..] {
            receiver.join(env, self.spec.join_delay);
        }
    }
}
