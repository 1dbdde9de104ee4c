//! The receiving end of a connection: its subflows and what they share.

pub(crate) mod buffer;
pub(crate) mod reassembly;

use crate::packet::Data;
use crate::packet::sequence::widen;
use crate::simulation::environment::Env;
use crate::spec::{ConnectionSpec, PathManager};
use crate::subflow::receiver::Receiver;
use crate::trace::Observer;
pub(crate) use buffer::ReceiveBuffer;
use netsim::Span;
use reassembly::StreamReassembly;

/// Receiving end of a connection.
pub(crate) struct ReceiveSide {
    pub(crate) subflows: Box<[Receiver]>,
    pub(crate) stream: ReceiveStream,
}

/// What the subflows share: the stream and its receive buffer. The application reads what is in order as soon as it arrives.
pub(crate) struct ReceiveStream {
    reassembly: StreamReassembly,
    /// Bytes of the stream that have arrived, in order or not.
    arrived: u64,
    /// Bytes that wait at a subflow for a missing segment of that subflow.
    pub(crate) out_of_order: u64,
    /// Byte after the last one that the application has read.
    read: u64,
    /// The ACK of a subflow waits until the application has read.
    pub(crate) ack_waits_for_read: bool,
    /// The client joins when the first data arrives.
    pub(crate) joins_with_data: bool,
    /// Payload of a full segment, bytes.
    pub(crate) mss: u16,
    /// See [`ConnectionSpec::phase`].
    pub(crate) phase: Span,
    pub(crate) buffer: ReceiveBuffer,
}

impl ReceiveSide {
    pub(crate) fn new(
        spec: &ConnectionSpec,
        mss: u16,
        buffer: ReceiveBuffer,
        subflows: Box<[Receiver]>,
    ) -> Self {
        let stream = ReceiveStream {
            reassembly: StreamReassembly::new(subflows.len()),
            arrived: 0,
            out_of_order: 0,
            read: 0,
            ack_waits_for_read: false,
            joins_with_data: subflows.len() > 1 && spec.path_manager == PathManager::Client,
            mss,
            phase: spec.phase,
            buffer,
        };
        Self { subflows, stream }
    }

    /// A data segment arrives, and the application reads what is in order.
    #[inline(always)]
    pub(crate) fn on_data<O: Observer>(&mut self, env: &mut Env<O>, data: Data) {
        let stream = &mut self.stream;
        let before = stream.next();
        self.subflows[data.subflow.place()].on_data(stream, env, data);
        stream.read = stream.next();
        if stream.read > before {
            if env.now >= stream.buffer.tune_at {
                self.tune(env);
            }
            if self.stream.ack_waits_for_read {
                self.acknowledge_what_was_read(env);
            }
        }
    }

    /// The application has read what arrived, and the ACK of a subflow waits for that.
    #[cold]
    fn acknowledge_what_was_read<O: Observer>(&mut self, env: &mut Env<O>) {
        let Self { subflows, stream } = self;
        stream.ack_waits_for_read = false;
        for receiver in subflows.iter_mut().filter(|r| r.has_to_acknowledge()) {
            receiver.on_read(stream, env);
        }
    }

    /// The application has read what arrived, and a round trip is over: the receive buffer may grow.
    #[cold]
    fn tune<O: Observer>(&mut self, env: &Env<O>) {
        let Self { subflows, stream } = self;
        let round_trips = subflows.iter().map(|receiver| receiver.window.round_trip());
        let round_trip = round_trips.max().unwrap_or(Span::ZERO);
        let all_have_data = subflows.iter().all(|r| !r.requested || r.window.has_data);
        let next = stream.next();
        if let Some(clamp) = (stream.buffer).tune(env.now, round_trip, next, all_have_data) {
            subflows.iter_mut().for_each(|r| r.window.set_clamp(clamp));
        }
    }

    /// The connection ends.
    pub(crate) fn close<O>(&mut self, env: &mut Env<O>) {
        for receiver in &self.subflows {
            env.timers.clear(receiver.timer);
        }
    }

    /// See [`crate::simulation::invariants`]. `end`: length of the stream.
    #[cfg(any(debug_assertions, test))]
    pub(crate) fn check(&self, end: u64) {
        if self.stream.next() == end {
            assert_eq!(self.stream.arrived, end, "each byte once");
        }
    }
}

impl ReceiveStream {
    /// Next byte of the stream that the receiver waits for.
    #[inline(always)]
    pub(crate) fn next(&self) -> u64 {
        self.reassembly.next()
    }

    /// A segment of the stream arrives on a subflow.
    #[inline(always)]
    pub(crate) fn insert(&mut self, place: usize, dsn: u32, len: u16) {
        let dsn = widen(self.reassembly.next(), dsn);
        self.arrived += self.reassembly.insert(place, dsn, len);
    }

    /// Bytes in the receive buffer, and bytes once the application has read what it can. MPTCP's buffer has what has left the
    /// receive queue of its subflow.
    #[inline(always)]
    pub(crate) fn held(&self) -> Held {
        let out_of_order = if self.buffer.mptcp {
            self.out_of_order
        } else {
            0
        };
        let now = (self.arrived - self.read).saturating_sub(out_of_order);
        Held {
            now,
            after_read: now.saturating_sub(self.next() - self.read),
        }
    }
}

/// Bytes in a receive buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) now: u64,
    /// Once the application has read what it can.
    pub(crate) after_read: u64,
}
