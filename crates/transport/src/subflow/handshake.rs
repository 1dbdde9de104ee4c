//! Handshake of a subflow.

use crate::environment::Env;
use crate::environment::jiffies;
use crate::packet::Segment;
use crate::packet::sequence::micros;
use crate::packet::sizes::{JOIN_ACK, RESET};
use crate::subflow::receiver::{Join, Receiver};
use crate::subflow::sender::Sender;
use crate::trace::Observer;
use netsim::Span;

impl Receiver {
    /// Opens the subflow after `delay`, unless it was opened before.
    pub(crate) fn join<O: Observer>(&mut self, env: &mut Env<O>, delay: Span) {
        if !std::mem::replace(&mut self.requested, true) {
            env.timers.set(self.timer, env.now + delay);
        }
    }

    pub(crate) fn send_syn<O: Observer>(&mut self, env: &mut Env<O>, bytes: u32) {
        self.last_syn_at = env.now;
        let segment = Segment::Syn {
            subflow: self.id,
            backup: self.requests_backup,
        };
        env.send(self.route, bytes, segment);
        let wait = self.profile.rto_initial.as_nanos() << self.syns.min(6);
        self.syns += 1;
        env.timers.set(self.timer, env.now + Span::from_nanos(wait));
    }

    /// The SYN/ACK arrives. `waits_for_ack`: the server acknowledges the third packet of the join.
    pub(crate) fn on_syn_ack<O: Observer>(
        &mut self,
        env: &mut Env<O>,
        sent_us: u32,
        bytes: u32,
        waits_for_ack: bool,
    ) {
        self.syn_ack = sent_us;
        if !std::mem::replace(&mut self.established, true) {
            env.timers.clear(self.timer);
            let delay = sent_us.wrapping_sub(micros(self.last_syn_at));
            self.window.set_syn_delay(delay);
            self.handshake = env.now.since(self.last_syn_at);
            if waits_for_ack {
                self.join = Join::Waits;
            }
        }
        self.send_handshake_ack(env, bytes);
    }

    /// Sends the third packet of the handshake, that of a join again after two round trips without an ACK (Linux:
    /// schedule_3rdack_retransmission).
    pub(crate) fn send_handshake_ack<O: Observer>(&mut self, env: &mut Env<O>, bytes: u32) {
        let segment = Segment::HandshakeAck {
            subflow: self.id,
            echo_us: self.syn_ack,
        };
        env.send(self.route, bytes, segment);
        if self.join == Join::Waits {
            let wait = self.handshake + self.handshake;
            let again = jiffies::fires_at(self.profile.jiffy, env.now, wait);
            env.timers.set(self.timer, again);
        }
    }

    /// The first packet arrives after the third packet of a join. Returns whether it is accepted. The client resets the
    /// subflow unless the packet is the next one in sequence, because the server may send data only after its ACK
    /// (Linux: check_fully_established). The reset happens if that ACK is dropped by a full queue before the initial
    /// window.
    #[cold]
    pub(crate) fn on_first_packet<O: Observer>(&mut self, env: &mut Env<O>, is_next: bool) -> bool {
        if self.join == Join::Waits {
            env.timers.clear(self.timer);
            self.join = if is_next { Join::Done } else { Join::Reset };
            if !is_next {
                let reset = Segment::Reset { subflow: self.id };
                env.send(self.route, RESET, reset);
            }
        }
        self.join == Join::Done
    }
}

impl Sender {
    /// Sends a SYN/ACK, for a SYN or when the timer fires.
    pub(crate) fn send_syn_ack<O: Observer>(&mut self, env: &mut Env<O>, bytes: u32) {
        let segment = Segment::SynAck {
            subflow: self.id,
            sent_us: micros(env.now),
            backup: self.requests_backup,
        };
        env.send(self.route, bytes, segment);
        if self.recovery.timeouts == 0 {
            self.last_sent = env.now;
        }
        // The timeout doubles, as that of the SYN.
        let wait = self.profile.rto_initial.as_nanos() << self.recovery.timeouts.min(6);
        self.recovery.timeouts += 1;
        env.timers.set(self.timer, env.now + Span::from_nanos(wait));
    }

    /// Acknowledges the third packet of a join (RFC 8684, 3.2).
    pub(crate) fn send_join_ack<O: Observer>(&self, env: &mut Env<O>) {
        let segment = Segment::JoinAck {
            subflow: self.id,
            next: self.scoreboard.nxt() as u32,
        };
        env.send(self.route, JOIN_ACK, segment);
    }

    /// The third packet of the handshake arrives: takes the first RTT sample. The window is one segment if the SYN/ACK
    /// was retransmitted more than once (RFC 5681, 3.1; Linux: tcp_init_transfer), unless the first SYN/ACK is
    /// acknowledged, which shows a long path.
    pub(crate) fn finish_handshake<O: Observer>(
        &mut self,
        env: &mut Env<O>,
        echo_us: u32,
        round_trip: u32,
    ) {
        self.rtt.sample(round_trip, 0, 0);
        if self.recovery.timeouts > 2 && echo_us != micros(self.last_sent) {
            self.tcp.cwnd = 1;
        }
        self.recovery.timeouts = 0;
        env.timers.clear(self.timer);
    }
}
