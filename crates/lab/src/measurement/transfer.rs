//! A transfer of N bytes, or an endless one, from the server to the client, and a sample of the sender's subflows every millisecond.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use netsim::{Clock, RealClock, Span, Time};
use scenario::Protocol;
use socket2::Socket;

use super::socket::{self, Subflow};
use crate::error::Error;
use crate::network::Network;

/// Time between two samples of the sender.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(1);

/// Time between two samples of an endless connection that has left slow start, in a run without rows. In the VM a sample each
/// millisecond takes a third of a run's time.
const SPARSE_INTERVAL: Span = Span::from_millis(10);

/// Time between two checks for an interruption during a wait.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Server's port of the first connection; the next connections have the following ports.
pub(crate) const FIRST_PORT: u16 = 5001;

/// Parameters of a transfer.
pub(crate) struct Transfer<'a> {
    pub(crate) protocol: Protocol,
    /// Name of the congestion control in the kernel.
    pub(crate) algorithm: &'a str,
    /// Size; none: endless.
    pub(crate) bytes: Option<u64>,
    pub(crate) port: u16,
    /// Start of the transfer.
    pub(crate) begin: Time,
    /// End of the warm-up.
    pub(crate) warm: Time,
    /// Longest duration.
    pub(crate) stop: Span,
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
    /// Whether a sample is due: each millisecond, or less often if nothing but the bytes of an endless connection counts.
    fn samples_at(&self, now: Time, last: Option<&Sample>, last_time: Time) -> bool {
        let is_past = |sample: &Sample| sample.subflows.iter().all(Subflow::is_past_slow_start);
        let is_sparse = self.bytes.is_none() && self.series.is_none() && !self.has_rows;
        !(is_sparse && last.is_some_and(is_past)) || now.since(last_time) >= SPARSE_INTERVAL
    }
}

impl Ticks {
    /// Number of intervals that have ended.
    fn ended(self, now: Time) -> u64 {
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
}

/// Transfers the bytes. Both sockets are reset at the end, so that no closing socket remains in the kernel.
pub(crate) fn run(
    network: &Network,
    clock: RealClock,
    transfer: &Transfer<'_>,
) -> Result<Observation, Error> {
    let server_address = SocketAddr::new(network.server_addresses()[0], transfer.port);
    let listener = network.server.run(|| listen(transfer))?;
    let (started, start) = mpsc::channel();
    let (finished, finish) = mpsc::channel::<()>();
    thread::scope(|scope| {
        // The receiver keeps its socket until the sender has received the last ACK, and the sender its socket until the receiver has
        // stopped to read.
        let client = scope.spawn(move || {
            network
                .client
                .run(|| receive(transfer, clock, server_address, started, finish))
        });
        let observed = network
            .server
            .run(|| send(transfer, clock, listener, start));
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

fn receive(
    transfer: &Transfer<'_>,
    clock: RealClock,
    server: SocketAddr,
    started: Sender<Time>,
    finish: Receiver<()>,
) -> Result<(), Error> {
    let what = || format!("connecting to {server}");
    let mut socket = Reset(socket::open(transfer.protocol, transfer.algorithm)?);
    wait(transfer, clock)?;
    let timeout = Duration::from_nanos(transfer.stop.as_nanos()) + Duration::from_secs(1);
    let _ = started.send(clock.now());
    socket
        .connect_timeout(&server.into(), timeout)
        .map_err(Error::kernel(what()))?;
    socket
        .set_read_timeout(Some(CHECK_INTERVAL))
        .map_err(Error::kernel(what()))?;
    let (mut received, mut buffer) = (0, vec![0; 64 * 1024]);
    let sent: Vec<u8> = (0..PERIOD + buffer.len() as u64).map(pattern).collect();
    while transfer.bytes != Some(received) && finish.try_recv() == Err(mpsc::TryRecvError::Empty) {
        match socket.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => {
                let expected = &sent[(received % PERIOD) as usize..][..read];
                if buffer[..read] != *expected {
                    let pairs = buffer.iter().zip(expected);
                    let same = pairs.take_while(|(byte, sent)| byte == sent).count();
                    let wrong = format!("byte {} arrived changed", received + same as u64);
                    return Err(Error::kernel(wrong)(std::io::Error::from(
                        ErrorKind::InvalidData,
                    )));
                }
                received += read as u64;
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(Error::kernel("receiving")(error)),
        }
    }
    let _ = finish.recv(); // disconnected: the sender has finished
    Ok(())
}

/// Makes a connection that the loopback refuses. The first connection of a kernel takes some milliseconds more than later ones,
/// even if it is refused.
pub(crate) fn warm_up() {
    let closed = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), FIRST_PORT);
    let _ = TcpStream::connect(closed);
}

/// Waits for the start of the transfer.
fn wait(transfer: &Transfer<'_>, clock: RealClock) -> Result<(), Error> {
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

/// Number of bytes after which the stream repeats: prime, so that no displaced segment has the bytes of another one.
const PERIOD: u64 = 251;

/// The byte at this offset of the stream.
fn pattern(offset: u64) -> u8 {
    (offset % PERIOD) as u8
}

fn send(
    transfer: &Transfer<'_>,
    clock: RealClock,
    listener: Socket,
    start: Receiver<Time>,
) -> Result<(Observation, Option<Reset>), Error> {
    let mut observed = Observation::default();
    let mut ended = 0;
    let mut connection: Option<Reset> = None;
    let mut written = 0;
    // More than a send buffer holds: if a write ends before the buffer is full, MPTCP begins another fragment (struct
    // mptcp_data_frag), and the next fragment is short.
    let data = (0..PERIOD)
        .map(pattern)
        .collect::<Vec<u8>>()
        .repeat(32 * 1024);
    let begun = start.recv();
    // The client returns the cause if it has not connected.
    observed.start = begun.map_err(|_| match transfer.cancelled.load(Ordering::Relaxed) {
        true => Error::Interrupted,
        false => Error::kernel("the client")(std::io::Error::from(ErrorKind::NotConnected)),
    })?;
    loop {
        let now = clock.now();
        if transfer.cancelled.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        if now.since(observed.start) > transfer.stop {
            break;
        }
        match &mut connection {
            None => match listener.accept() {
                Ok((socket, _)) => {
                    let socket = Reset(socket);
                    socket
                        .set_nonblocking(true)
                        .map_err(Error::kernel("O_NONBLOCK"))?;
                    socket
                        .set_tcp_nodelay(true)
                        .map_err(Error::kernel("TCP_NODELAY"))?;
                    connection = Some(socket);
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(Error::kernel("accepting")(error)),
            },
            Some(socket) => {
                write_more(socket, &data, &mut written, transfer.bytes)?;
                let (last, before) = (observed.samples.last(), observed.delivered.time);
                if !transfer.samples_at(now, last, before) {
                    thread::sleep(SAMPLE_INTERVAL);
                    continue;
                }
                let waiting = socket::unacknowledged(socket)?;
                let delivered = &mut observed.delivered;
                delivered.time = now;
                delivered.acknowledged = written - waiting.min(written);
                let (subflows, bytes) = socket::subflows(socket, transfer.protocol)?;
                let ends = subflows.iter().map(|s| (s.local, s.remote_port));
                let ends_and_bytes: Vec<_> = ends.zip(bytes).collect();
                delivered.bytes.extend(ends_and_bytes.iter().copied());
                if now <= transfer.warm {
                    observed.before = delivered.clone();
                }
                let is_done = transfer.bytes == Some(delivered.acknowledged);
                if let Some(series) = transfer.series {
                    let intervals = series.ended(now);
                    if intervals > ended || is_done {
                        let bytes = ends_and_bytes.iter().map(|(_, bytes)| *bytes);
                        observed.ticks.push(Tick {
                            time: now,
                            subflows: subflows.iter().copied().zip(bytes).collect(),
                        });
                        ended = intervals;
                    }
                }
                let last = observed.samples.last();
                if last.is_none_or(|last| last.subflows != subflows) {
                    observed.samples.push(Sample {
                        time: now,
                        subflows,
                    });
                }
                if is_done {
                    observed.end = Some(now);
                    break;
                }
            }
        }
        thread::sleep(SAMPLE_INTERVAL);
    }
    Ok((observed, connection))
}

fn write_more(
    socket: &mut Socket,
    data: &[u8],
    written: &mut u64,
    all: Option<u64>,
) -> Result<(), Error> {
    let all = all.unwrap_or(u64::MAX);
    while *written < all {
        let from = (*written % PERIOD) as usize;
        let length = (all - *written).min((data.len() - from) as u64) as usize;
        match socket.write(&data[from..from + length]) {
            Ok(bytes) => *written += bytes as u64,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => return Err(Error::kernel("sending")(error)),
        }
    }
    Ok(())
}

/// Resets its connection when dropped, however the transfer ends. A namespace and a loaded algorithm remain as long as their sockets,
/// and a socket that closes in order waits for minutes for a peer that is gone.
struct Reset(Socket);

impl Drop for Reset {
    fn drop(&mut self) {
        let _ = self.0.set_linger(Some(Duration::ZERO));
    }
}

impl Deref for Reset {
    type Target = Socket;

    fn deref(&self) -> &Socket {
        &self.0
    }
}

impl DerefMut for Reset {
    fn deref_mut(&mut self) -> &mut Socket {
        &mut self.0
    }
}
