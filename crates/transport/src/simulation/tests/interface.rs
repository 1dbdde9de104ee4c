//! Access of tests to the state of a simulation.

use super::*;
use crate::connection::Connection;
use crate::subflow::receiver::Receiver;

impl<O: Observer> Simulation<O> {
    pub(crate) fn env(&mut self) -> &mut Env<O> {
        &mut self.env
    }

    /// Takes no fast path: header prediction of the receiver, the fast path of ACKs at the sender.
    pub(crate) fn take_only_slow_paths(&mut self) {
        self.env.only_slow_paths = true;
    }

    /// The first connection.
    pub(crate) fn connection(&self) -> &Connection {
        &self.connections[0]
    }

    pub(crate) fn connection_mut(&mut self) -> &mut Connection {
        &mut self.connections[0]
    }

    /// A sender of the first connection.
    pub(crate) fn sender(&self, index: usize) -> &Sender {
        &self.connections[0].send.subflows[index]
    }

    pub(crate) fn sender_mut(&mut self, index: usize) -> &mut Sender {
        &mut self.connections[0].send.subflows[index]
    }

    /// Sets the receive window of the first connection's first subflow to its limit less this number of segments.
    pub(crate) fn set_window_below_limit(&mut self, segments: u64) {
        let receive = &mut self.connections[0].receive;
        receive.subflows[0].set_window_below_limit(&mut receive.stream.buffer, segments);
    }

    /// A receiver of the first connection.
    pub(crate) fn receiver(&self, index: usize) -> &Receiver {
        &self.connections[0].receive.subflows[index]
    }

    /// A receiver of the first connection.
    pub(crate) fn receiver_mut(&mut self, index: usize) -> &mut Receiver {
        &mut self.connections[0].receive.subflows[index]
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
            Some(index) => send.push(&mut self.env, index),
            None => send.push_all(&mut self.env),
        }
    }

    /// Sets the interval of the first connection's retransmission timer, as when data is queued.
    pub(crate) fn update_retransmission_interval(&mut self) {
        let send = &mut self.connections[0].send;
        send.stream
            .retransmission
            .update_interval(&send.subflows, &self.env);
    }

    /// Restarts the first connection's retransmission timer, as when more of its stream is acknowledged.
    pub(crate) fn restart_retransmission_timer(&mut self) {
        self.connections[0]
            .send
            .stream
            .restart_retransmission_timer(&mut self.env);
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
    pub(crate) fn sacks_in_flight(&self) -> usize {
        self.env.sacks.in_flight()
    }
}
