//! Path manager: announcements of the server's addresses (ADD_ADDR, RFC 8684, 3.4.1) and the joins that follow.

use super::Connection;
use crate::environment::Env;
use crate::environment::timers::TimerId;
use crate::packet::sizes::{ADD_ADDRESS, ADDRESS_ECHO};
use crate::packet::{Segment, SubflowId};
use crate::spec::PathManager;
use crate::subflow::sender::SubflowState;
use crate::trace::Observer;
use netsim::Span;

/// Maximum time from an ADD_ADDR to its repetition (net.mptcp.add_addr_timeout). Until Linux 6.17 the time was this
/// one; since then it is the longest retransmission timeout of a subflow if that is shorter, doubled for each
/// repetition (net/mptcp/pm.c: mptcp_adjust_add_addr_timeout, mptcp_pm_add_timer;
/// Documentation/networking/mptcp-sysctl.rst).
const MAX_ECHO_TIMEOUT: Span = Span::from_secs(120);

/// Maximum number of repetitions of an ADD_ADDR (ADD_ADDR_RETRANS_MAX).
const MAX_REPETITIONS: u32 = 3;

/// State of the announcements: the address announced last.
#[derive(Debug)]
pub(crate) struct Announcements {
    /// Subflow of that address.
    announced: usize,
    /// Number of times that it was announced.
    count: u32,
    /// Timer of its repetition.
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
    /// The server announces the address of a subflow, or all addresses from that one on: MPTCP 0.89 announces each with
    /// the next segment, once, and receives no echo (net/mptcp/mptcp_fullmesh.c: full_mesh_addr_signal).
    pub(super) fn announce<O: Observer>(&mut self, env: &mut Env<O>, from: usize) {
        let subflows = self.send.subflows.len();
        if self.spec.path_manager != PathManager::Announced || from >= subflows {
            return;
        }
        if self.spec.profile.announces_at_once {
            for index in from..subflows {
                self.send_address(env, 0, index);
            }
            return;
        }
        self.announcements.announced = from;
        self.announcements.count = 0;
        self.repeat_announcement(env);
    }

    /// Announces the last address on an open subflow if there is one. After the last repetition the next address
    /// follows.
    #[cold]
    pub(crate) fn repeat_announcement<O: Observer>(&mut self, env: &mut Env<O>) {
        let subflows = &self.send.subflows;
        let works = subflows
            .iter()
            .position(|s| s.subflow_state == SubflowState::Open);
        let established = subflows.iter().filter(|s| s.counters.established.is_some());
        let timeout = established.map(|s| s.rtt.rto()).max();
        let wait = timeout.map_or(MAX_ECHO_TIMEOUT, |timeout| timeout.min(MAX_ECHO_TIMEOUT));
        self.send_address(env, works.unwrap_or(0), self.announcements.announced);
        let announcements = &mut self.announcements;
        let wait = Span::from_nanos(wait.as_nanos() << announcements.count);
        announcements.count += 1;
        if announcements.count <= MAX_REPETITIONS {
            env.timers.set(announcements.timer, env.now + wait);
        } else {
            let next = announcements.announced + 1;
            self.announce(env, next);
        }
    }

    /// Sends the address of subflow `address` on subflow `on`.
    fn send_address<O: Observer>(&self, env: &mut Env<O>, on: usize, index: usize) {
        let sender = &self.send.subflows[on];
        let segment = Segment::AddAddr {
            subflow: sender.id,
            address: index as u8,
        };
        env.send(sender.route, ADD_ADDRESS, segment);
    }

    /// An ADD_ADDR arrives: the client joins.
    pub(super) fn on_address<O: Observer>(
        &mut self,
        env: &mut Env<O>,
        subflow: SubflowId,
        address: u8,
    ) {
        let receive = &mut self.receive;
        if !self.spec.profile.announces_at_once {
            let receiver = &mut receive.subflows[subflow.index()];
            // Linux sends a pending ACK separately from the echo, which has no room for it.
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

    /// The echo of an ADD_ADDR arrives: the server announces the next address.
    pub(super) fn on_address_echo<O: Observer>(&mut self, env: &mut Env<O>, address: u8) {
        if usize::from(address) == self.announcements.announced {
            env.timers.clear(self.announcements.timer);
            self.announce(env, usize::from(address) + 1);
        }
    }

    /// The first data has arrived: the client joins.
    #[cold]
    pub(crate) fn join_with_data<O: Observer>(&mut self, env: &mut Env<O>) {
        self.receive.stream.joins_with_data = false;
        for receiver in &mut self.receive.subflows[1..] {
            receiver.join(env, self.spec.join_delay);
        }
    }
}
