//! The receive queue of a connection, which its subflows share: reassembly of the stream and the receive buffer.

pub(crate) mod buffer;
pub(crate) mod reassembly;

use crate::packet::sequence::{micros, widen};
use crate::spec::{ConnectionSpec, PathManager};
pub(crate) use buffer::ReceiveBuffer;
use netsim::Time;
use reassembly::StreamReassembly;

/// Shared state of the receiving subflows: the stream and its receive buffer. The application reads data in order as
/// soon as it arrives.
pub(crate) struct ReceiveStream {
    reassembly: StreamReassembly,
    /// Number of bytes of the stream that have arrived, in order or not.
    pub(crate) arrived: u64,
    /// Number of bytes in out-of-order queues of subflows.
    pub(crate) out_of_order: u64,
    /// Number of bytes that the application has read.
    pub(crate) read: u64,
    /// The ACK of a subflow waits for a read of the application.
    pub(crate) ack_waits_for_read: bool,
    /// The client joins when the first data arrives.
    pub(crate) joins_with_data: bool,
    /// Payload of a full segment, bytes.
    pub(crate) mss: u16,
    /// See [`ConnectionSpec::phase`], µs.
    pub(crate) phase_us: u32,
    pub(crate) buffer: ReceiveBuffer,
}

impl ReceiveStream {
    pub(crate) fn new(
        spec: &ConnectionSpec,
        mss: u16,
        subflows: usize,
        buffer: ReceiveBuffer,
    ) -> Self {
        Self {
            reassembly: StreamReassembly::new(subflows),
            arrived: 0,
            out_of_order: 0,
            read: 0,
            ack_waits_for_read: false,
            joins_with_data: subflows > 1 && spec.path_manager == PathManager::Client,
            mss,
            phase_us: micros(Time::ZERO + spec.phase),
            buffer,
        }
    }

    /// First missing byte of the stream.
    #[inline(always)]
    pub(crate) fn next(&self) -> u64 {
        self.reassembly.next()
    }

    /// A segment of the stream arrives on a subflow.
    #[inline(always)]
    pub(crate) fn insert(&mut self, index: usize, dsn: u32, len: u16) {
        let dsn = widen(self.reassembly.next(), dsn);
        self.arrived += self.reassembly.insert(index, dsn, len);
    }

    /// Number of bytes in the receive buffer. MPTCP's buffer excludes out-of-order queues of subflows.
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

/// Number of bytes in a receive buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) now: u64,
    /// After the application has read all data in order.
    pub(crate) after_read: u64,
}
