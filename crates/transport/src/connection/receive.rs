//! Receiving end of a connection: its subflows and their shared state.

use crate::environment::Env;
use crate::packet::Wire;
use crate::receive_stream::ReceiveStream;
use crate::subflow::receiver::Receiver;
use crate::trace::Observer;
use netsim::Span;

/// Receiving end of a connection.
pub(crate) struct ReceiveSide {
    pub(crate) subflows: Box<[Receiver]>,
    pub(crate) stream: ReceiveStream,
}

impl ReceiveSide {
    /// A data segment arrives, and the application reads all data in order.
    #[inline(always)]
    pub(crate) fn on_data<O: Observer>(&mut self, env: &mut Env<O>, wire: Wire) {
        let stream = &mut self.stream;
        let before = stream.next();
        self.subflows[wire.subflow().index()].on_data(stream, env, wire);
        stream.read = stream.next();
        if stream.read > before {
            if env.now >= stream.buffer.tune_at {
                self.tune(env);
            }
            if self.stream.ack_waits_for_read {
                self.acknowledge_after_read(env);
            }
        }
    }

    /// The application has read data for which the ACK of a subflow waits.
    #[cold]
    fn acknowledge_after_read<O: Observer>(&mut self, env: &mut Env<O>) {
        let Self { subflows, stream } = self;
        stream.ack_waits_for_read = false;
        for receiver in subflows.iter_mut().filter(|r| r.has_to_acknowledge()) {
            receiver.on_read(stream, env);
        }
    }

    /// The application has read data, and a round trip is over: the receive buffer may grow.
    #[cold]
    fn tune<O: Observer>(&mut self, env: &Env<O>) {
        let Self { subflows, stream } = self;
        let round_trips = subflows.iter().map(|receiver| receiver.window.round_trip());
        let round_trip = round_trips.max().unwrap_or(Span::ZERO);
        let all_have_data = subflows.iter().all(|r| !r.requested || r.window.has_data);
        let next = stream.next();
        if let Some(clamp) = (stream.buffer).tune(env.now, round_trip, next, all_have_data) {
            subflows.iter_mut().for_each(|r| r.set_clamp(clamp));
        }
    }

    /// The connection ends.
    pub(crate) fn close<O>(&mut self, env: &mut Env<O>) {
        for receiver in &self.subflows {
            env.timers.clear(receiver.timer);
        }
    }

    /// Checks an [invariant](crate::simulation::invariants). `end`: length of the stream.
    #[cfg(any(debug_assertions, test))]
    pub(crate) fn check(&self, end: u64) {
        if self.stream.next() == end {
            assert_eq!(self.stream.arrived, end, "each byte counts once");
        }
    }
}
