//! Handshakes of subflows: SYN, SYN/ACK, ACK (RFC 9293, 3.5; RFC 8684, 3.1 and 3.2).

use super::Connection;
use crate::environment::Env;
use crate::packet::sequence::{in_milliseconds, micros};
use crate::packet::sizes::{CAPABLE, HandshakeSizes, JOIN, TCP};
use crate::packet::{Segment, SubflowId};
use crate::subflow::receiver::Join;
use crate::subflow::sender::SubflowState;
use crate::trace::Observer;
use netsim::Time;

impl Connection {
    /// Sizes of the handshake packets of a subflow.
    fn handshake_sizes(&self, index: usize) -> HandshakeSizes {
        match (self.spec.mptcp, index) {
            (false, _) => TCP,
            (true, 0) => CAPABLE,
            (true, _) => JOIN,
        }
    }

    /// The client opens a subflow.
    #[cold]
    pub(crate) fn send_syn<O: Observer>(&mut self, env: &mut Env<O>, index: usize) {
        let bytes = self.handshake_sizes(index).syn;
        self.receive.subflows[index].send_syn(env, bytes);
    }

    /// A segment arrives that is neither data nor an ACK.
    #[cold]
    pub(crate) fn on_other<O: Observer>(
        &mut self,
        env: &mut Env<O>,
        subflow: SubflowId,
        segment: Segment,
    ) {
        let index = subflow.index();
        let sizes = self.handshake_sizes(index);
        let sender = &mut self.send.subflows[index];
        let receiver = &mut self.receive.subflows[index];
        match segment {
            Segment::Syn { backup, .. } => {
                if matches!(
                    sender.subflow_state,
                    SubflowState::Idle | SubflowState::Opening
                ) {
                    sender.subflow_state = SubflowState::Opening;
                    // Either end may request a backup (subflow_req->backup, request_bkup).
                    sender.tcp.backup |= u8::from(backup);
                    sender.send_syn_ack(env, sizes.syn_ack);
                }
            }
            Segment::SynAck { sent_us, .. } => {
                let waits = index > 0 && self.spec.profile.answers_joins;
                receiver.on_syn_ack(env, sent_us, sizes.established, waits);
            }
            Segment::HandshakeAck { echo_us, .. } => self.on_handshake_ack(env, index, echo_us),
            Segment::JoinAck { next, .. } => {
                receiver.on_first_packet(env, next == 0);
            }
            Segment::AddAddr { address, .. } => self.on_address(env, subflow, address),
            Segment::AddAddrEcho { address, .. } => self.on_address_echo(env, address),
            Segment::Reset { .. } => self.send.on_reset(env, index),
            Segment::Data(_) | Segment::Ack(_) | Segment::Datagram { .. } => {}
        }
    }

    /// The third packet of a handshake arrives at the server.
    fn on_handshake_ack<O: Observer>(&mut self, env: &mut Env<O>, index: usize, echo_us: u32) {
        let profile = &self.spec.profile;
        let stream = &mut self.send.stream;
        let sender = &mut self.send.subflows[index];
        let answers = index > 0 && self.spec.mptcp && profile.answers_joins;
        if sender.subflow_state != SubflowState::Opening {
            if answers {
                sender.send_join_ack(env); // the ACK of the first one was lost
            }
            return;
        }
        let age = micros(env.now).wrapping_sub(echo_us);
        let round_trip = match index > 0 && profile.join_rtt_in_milliseconds {
            true => {
                let phase = micros(Time::ZERO + self.spec.phase);
                in_milliseconds(micros(env.now).wrapping_add(phase), age).max(1000)
            }
            false => age,
        };
        sender.finish_handshake(env, echo_us, round_trip);
        sender.open(&mut stream.coupled, env);
        let writes_at = profile.writes_at(env.now, self.spec.phase);
        if index == 0 {
            self.announce(env, 1);
            env.timers.set(self.application.write_timer, writes_at);
            return;
        }
        if answers {
            sender.send_join_ack(env);
        }
        match stream.wakeup_timer {
            Some(timer) => env.timers.set(timer, writes_at),
            None => self.send.push(env, index),
        }
    }

    /// The timer of a sender is due.
    pub(crate) fn on_sender_timer<O: Observer>(&mut self, env: &mut Env<O>, index: usize) {
        let answer = self.handshake_sizes(index).syn_ack;
        let sender = &mut self.send.subflows[index];
        if sender.subflow_state == SubflowState::Opening {
            sender.send_syn_ack(env, answer);
        } else {
            self.send.on_timer(env, index);
        }
    }

    /// The timer of a receiver is due.
    pub(crate) fn on_receiver_timer<O: Observer>(&mut self, env: &mut Env<O>, index: usize) {
        let bytes = self.handshake_sizes(index).established;
        let receiver = &mut self.receive.subflows[index];
        if receiver.join == Join::Waits {
            receiver.send_handshake_ack(env, bytes);
        } else if receiver.established {
            receiver.acknowledge(&mut self.receive.stream, env);
        } else {
            self.send_syn(env, index);
        }
    }
}
