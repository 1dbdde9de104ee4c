//! Parameters of a transfer over real sockets, and what is observed of it.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use netsim::{RealClock, Span, Time};
use scenario::Protocol;

use super::limits::Limits;
use super::socket::Subflow;
use crate::error::Error;

/// Time between two samples of an endless connection that has left slow start, in a run without rows. In the VM a sample each
/// millisecond takes a third of a run's time.
const SPARSE_INTERVAL: Span = Span::from_millis(10);

/// Time between two checks for an interruption during a wait.
pub(super) const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Server's port of the first flow; the next flows have the following ports.
pub(crate) const FIRST_PORT: u16 = 5001;

/// Parameters of a transfer.
pub(crate) struct Transfer<'a> {
    pub(crate) protocol: Protocol,
    /// Name of the congestion control in the kernel.
    pub(crate) algorithm: &'a str,
    /// Bytes of a write at a pace: the payload of a segment; for UDP a packet with its headers.
    pub(crate) unit: u32,
    /// Maximum size of TCP's send buffer, bytes, beyond which nothing is written. MPTCP keeps its own (mptcp_send_limit).
    pub(crate) send_buffer: Option<u32>,
    /// Whether the data has an end.
    pub(crate) is_finite: bool,
    /// Bytes from which the stream is written and with which it is compared ([`stream`](super::stream)).
    pub(crate) data: &'a [u8],
    pub(crate) port: u16,
    /// Start of the transfer.
    pub(crate) begin: Time,
    /// End of the warm-up.
    pub(crate) warm: Time,
    /// Longest duration.
    pub(crate) stop: Span,
    /// Number of transfers that have not ended, if the run ends with the last one.
    pub(crate) unfinished: Option<&'a AtomicUsize>,
    /// Interval of time series, if the run has them.
    pub(crate) series: Option<Span>,
    /// Whether the run has rows, for which each change of a state is sampled.
    pub(crate) has_rows: bool,
    pub(crate) cancelled: &'a AtomicBool,
}

impl Transfer<'_> {
    /// Whether the transfer has reached its end, or the run has ended with the last transfer.
    pub(super) fn is_over(&self, now: Time) -> bool {
        now > self.begin + self.stop || self.is_run_over()
    }

    fn is_run_over(&self) -> bool {
        let left = self.unfinished.map(|left| left.load(Ordering::Acquire));
        left == Some(0)
    }

    /// Whether a sample is due: each millisecond, or less often if nothing but the bytes of an endless connection counts.
    pub(super) fn samples_at(&self, now: Time, observed: &Observation) -> bool {
        let is_past = |sample: &Sample| sample.subflows.iter().all(Subflow::is_past_slow_start);
        let is_sparse = !self.is_finite && self.series.is_none() && !self.has_rows;
        !(is_sparse && observed.samples.last().is_some_and(is_past))
            || now.since(observed.delivered.time) >= SPARSE_INTERVAL
    }

    /// Whether an interval of the time series has ended since its last tick.
    pub(super) fn ticks_at(&self, now: Time, observed: &Observation) -> bool {
        self.series.is_some_and(|interval| {
            let ended = |time: Time| time.as_nanos() / interval.as_nanos().max(1);
            ended(now) > ended(observed.last_tick)
        })
    }
}

/// States of the subflows at a tick, with the bytes that are acknowledged on each.
#[derive(Clone, Debug)]
pub(crate) struct Tick {
    pub(crate) time: Time,
    pub(crate) subflows: Vec<(Subflow, u64)>,
}

/// A sample of the sender's subflows.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) time: Time,
    pub(crate) subflows: Vec<Subflow>,
}

/// What was delivered at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delivered {
    pub(crate) time: Time,
    /// Bytes acknowledged.
    pub(crate) acknowledged: u64,
    /// Bytes acknowledged on each subflow, by its local address and remote port.
    pub(crate) bytes: BTreeMap<(Ipv4Addr, u16), u64>,
    /// What held the subflows back.
    pub(crate) limits: Limits,
}

/// Measurements of a transfer.
#[derive(Debug, Default)]
pub(crate) struct Observation {
    /// Time of the first SYN.
    pub(crate) start: Time,
    /// Time of the ACK of the last byte, if it arrived before the stop time.
    pub(crate) end: Option<Time>,
    /// What was delivered at the last sample.
    pub(crate) delivered: Delivered,
    /// What was delivered when the warm-up ended; nothing at the start of a later transfer.
    pub(crate) before: Delivered,
    /// Samples that differ from the previous sample.
    pub(crate) samples: Vec<Sample>,
    /// States at the first sample after each tick of the time series, and at the end.
    pub(crate) ticks: Vec<Tick>,
    /// Time of the last of them.
    pub(super) last_tick: Time,
}

/// Waits for the start of the transfer.
pub(super) fn wait(transfer: &Transfer<'_>, clock: RealClock) -> Result<(), Error> {
    loop {
        let remaining = clock.until(transfer.begin);
        if remaining == Span::ZERO {
            return Ok(());
        }
        if transfer.cancelled.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        thread::sleep(Duration::from_nanos(remaining.as_nanos()).min(CHECK_INTERVAL));
    }
}
