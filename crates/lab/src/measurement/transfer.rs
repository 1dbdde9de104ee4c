//! A transfer from the server to the client over real sockets, and what is observed of it.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use netsim::{Clock, RealClock, Span, Time};
use scenario::Protocol;
use socket2::Socket;
use transport::Application;

use super::socket::{self, Subflow};
use super::{receiver, sender, source, udp};
use crate::error::Error;
use crate::network::Hosts;

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
    /// Whether the data has an end.
    pub(crate) is_finite: bool,
    pub(crate) port: u16,
    /// Start of the transfer.
    pub(crate) begin: Time,
    /// End of the warm-up.
    pub(crate) warm: Time,
    /// Longest duration.
    pub(crate) stop: Span,
    /// Number of transfers that have not ended, if the run ends with the last one.
    pub(crate) unfinished: Option<&'a AtomicUsize>,
    /// Time series, if the run has them.
    pub(crate) series: Option<Ticks>,
    /// Whether the run has rows, for which each change of a state is sampled.
    pub(crate) has_rows: bool,
    pub(crate) cancelled: &'a AtomicBool,
}

/// Times of a time series.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    /// Start of the run.
    pub(crate) from: Time,
    pub(crate) interval: Span,
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
}

impl Ticks {
    /// Number of intervals that have ended.
    pub(super) fn ended(self, now: Time) -> u64 {
        now.since(self.from).as_nanos() / self.interval.as_nanos().max(1)
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

/// Transfers the data of a flow between these hosts. Both sockets are reset at the end, so that no closing socket remains in the kernel.
pub(crate) fn run(
    hosts: &Hosts,
    clock: RealClock,
    transfer: &Transfer<'_>,
    application: Application,
) -> Result<Observation, Error> {
    let observed = match transfer.protocol {
        Protocol::Udp => udp::run(hosts, clock, transfer, application),
        Protocol::Tcp | Protocol::Mptcp => run_stream(hosts, clock, transfer, application),
    };
    if let Some(unfinished) = transfer.unfinished.filter(|_| transfer.is_finite) {
        unfinished.fetch_sub(1, Ordering::AcqRel);
    }
    observed
}

fn run_stream(
    hosts: &Hosts,
    clock: RealClock,
    transfer: &Transfer<'_>,
    application: Application,
) -> Result<Observation, Error> {
    let server_address = SocketAddr::new(hosts.server_addresses()[0], transfer.port);
    let listener = hosts.server.run(|| listen(transfer))?;
    let (started, start) = mpsc::channel();
    let (finished, finish) = mpsc::channel::<()>();
    let total = source::total(&application);
    thread::scope(|scope| {
        // The receiver keeps its socket until the sender has received the last ACK, and the sender its socket until the receiver has
        // stopped to read.
        let client = scope.spawn(move || {
            hosts
                .client
                .run(|| receiver::receive(transfer, total, clock, server_address, started, finish))
        });
        let observed = hosts
            .server
            .run(|| sender::send(transfer, application, clock, listener, start));
        drop(finished);
        let received = client
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match (observed, received) {
            (Ok((observed, _)), Ok(())) => Ok(observed),
            // The sender's error has precedence: the receiver's may be a consequence of it.
            (Err(error), Ok(())) | (Ok(_), Err(error)) | (Err(error), Err(_)) => Err(error),
        }
    })
}

fn listen(transfer: &Transfer<'_>) -> Result<Socket, Error> {
    // At every address, because joins connect to other addresses than the first.
    let address = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), transfer.port);
    let socket = socket::open(transfer.protocol, transfer.algorithm)?;
    socket
        .bind(&address.into())
        .map_err(Error::kernel(format!("binding to {address}")))?;
    socket
        .listen(1)
        .map_err(Error::kernel(format!("listening at {address}")))?;
    // So that a client that does not connect does not block the run.
    socket
        .set_nonblocking(true)
        .map_err(Error::kernel("O_NONBLOCK"))?;
    Ok(socket)
}

/// Makes a connection that the loopback refuses. The first connection of a kernel takes some milliseconds more than later ones,
/// even if it is refused.
pub(crate) fn warm_up() {
    let closed = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), FIRST_PORT);
    let _ = TcpStream::connect(closed);
}

/// Waits for the start of the transfer.
pub(super) fn wait(transfer: &Transfer<'_>, clock: RealClock) -> Result<(), Error> {
    loop {
        let remaining = transfer.begin.since(clock.now());
        if remaining == Span::ZERO {
            return Ok(());
        }
        if transfer.cancelled.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        thread::sleep(Duration::from_nanos(remaining.as_nanos()).min(CHECK_INTERVAL));
    }
}
