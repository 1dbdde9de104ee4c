//! Access of tests to the state of a simulation.

use super::*;
use crate::connection::Connection;
use crate::subflow::receiver::Receiver;

impl<O: Observer> Simulation<O> {
    pub(crate) fn env(&mut self) -> &mut Env<O> {
        &mut self.env
    }

    /// The first connection.
    pub(crate) fn connection(&self) -> &Connection {
        &self.connections[0]
    }

    pub(crate) fn connection_mut(&mut self) -> &mut Connection {
        &mut self.connections[0]
    }

    /// A sender of the first connection.
    pub(crate) fn sender(&self, place: usize) -> &Sender {
        &self.connections[0].send.subflows[place]
    }

    pub(crate) fn sender_mut(&mut self, place: usize) -> &mut Sender {
        &mut self.connections[0].send.subflows[place]
    }

    /// Sets the receive window of the first connection's first subflow to so many segments below its limit.
    pub(crate) fn set_missing_window(&mut self, segments: u64) {
        let receive = &mut self.connections[0].receive;
        let window = &mut receive.subflows[0].window;
        window.lacks(&mut receive.stream.buffer, segments);
    }

    /// A receiver of the first connection.
    pub(crate) fn receiver(&self, place: usize) -> &Receiver {
        &self.connections[0].receive.subflows[place]
    }

    /// A receiver of the first connection.
    pub(crate) fn receiver_mut(&mut self, place: usize) -> &mut Receiver {
        &mut self.connections[0].receive.subflows[place]
    }

    /// Bytes of the first connection's stream that have arrived in order.
    pub(crate) fn received(&self) -> u64 {
        self.connections[0].receive.stream.next()
    }

    /// The subflows of the first connection send as far as their windows allow. `trigger`: the subflow whose ACK is the
    /// reason.
    pub(crate) fn push_all(&mut self, trigger: Option<usize>) {
        let send = &mut self.connections[0].send;
        match trigger {
            Some(place) => send.push(&mut self.env, place),
            None => send.push_all(&mut self.env),
        }
    }

    /// Sets the interval of the first connection's retransmission timer, as when data is queued.
    pub(crate) fn follow_timers(&mut self) {
        let send = &mut self.connections[0].send;
        send.stream.retransmission.follow(&send.subflows, &self.env);
    }

    /// Restarts the first connection's retransmission timer, as when more of its stream is acknowledged.
    pub(crate) fn restart_retransmission_timer(&mut self) {
        self.connections[0].send.stream.on_progress(&mut self.env);
    }

    /// The first connection's first subflow retransmits lost segments as far as its window allows.
    pub(crate) fn retransmit_lost(&mut self) {
        let send = &mut self.connections[0].send;
        send.subflows[0].retransmit_lost(&mut send.stream.coupled, &mut self.env);
    }

    /// Runs as [`run`](Self::run). Packets for which `drops` returns true at their arrival are lost.
    pub(crate) fn run_dropping(
        &mut self,
        stop: Time,
        mut drops: impl FnMut(Time, &Segment) -> bool,
    ) {
        self.run_events(stop, u64::MAX, |at, wire| drops(at, &wire.into()));
    }

    /// All packets in the network arrive.
    pub(crate) fn drain(&mut self) {
        while let Some(exit) = self.env.network.poll(Time::from_nanos(u64::MAX / 2)) {
            match exit {
                Exit::Arrived { at, payload, .. } => {
                    self.env.now = at;
                    self.deliver(payload);
                }
                Exit::Lost { at, payload, .. } => self.env.lost(at, payload),
            }
        }
    }

    /// Number of ACKs with SACK blocks in the network.
    pub(crate) fn sacks_under_way(&self) -> usize {
        self.env.sacks.under_way()
    }
}
