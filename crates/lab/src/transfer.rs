//! A transfer of N bytes from the server to the client, and a look at the sender's subflows every millisecond.

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

use crate::Network;
use crate::error::Error;
use crate::socket::{self, Subflow};

/// Between two looks at the sender.
const TICK: Duration = Duration::from_millis(1);

/// After which somebody who waits looks whether it was interrupted.
const PATIENCE: Duration = Duration::from_millis(100);

/// Where the first connection's server listens; the next ones follow.
pub(crate) const FIRST_PORT: u16 = 5001;

/// What is to be moved, and how.
pub(crate) struct Transfer<'a> {
    pub(crate) protocol: Protocol,
    /// The congestion control, by the name that the kernel knows it by.
    pub(crate) algorithm: &'a str,
    pub(crate) bytes: u64,
    pub(crate) port: u16,
    /// When it begins, and how long it may take.
    pub(crate) begin: Time,
    pub(crate) stop: Span,
    pub(crate) cancelled: &'a AtomicBool,
}

/// The sender's subflows at one time.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) time: Time,
    pub(crate) subflows: Vec<Subflow>,
}

/// What the transfer was seen to do.
#[derive(Debug)]
pub(crate) struct Seen {
    /// The first SYN.
    pub(crate) start: Time,
    /// The acknowledgement of the last byte, if it came before the stop time.
    pub(crate) end: Option<Time>,
    /// Bytes acknowledged.
    pub(crate) acknowledged: u64,
    /// Samples in which something differs from the one before, and the last one.
    pub(crate) samples: Vec<Sample>,
    /// Bytes acknowledged on each subflow, by its local address and remote port.
    pub(crate) bytes: BTreeMap<(Ipv4Addr, u16), u64>,
}

/// Moves the bytes. Both sockets are reset in the end, so that nothing of them lingers in the kernel.
pub(crate) fn run(
    network: &Network,
    clock: RealClock,
    transfer: &Transfer<'_>,
) -> Result<Seen, Error> {
    let server_address = SocketAddr::new(network.server_addresses()[0], transfer.port);
    let listener = network.server.run(|| listen(transfer))?;
    let (started, start) = mpsc::channel();
    let (finished, finish) = mpsc::channel::<()>();
    thread::scope(|scope| {
        // The receiver keeps its socket until the sender has seen the last acknowledgement.
        let client = scope.spawn(move || {
            network
                .client
                .run(|| receive(transfer, clock, server_address, started, finish))
        });
        let seen = network
            .server
            .run(|| send(transfer, clock, listener, start));
        drop(finished);
        let received = client
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match (seen, received) {
            (Ok(seen), Ok(())) => Ok(seen),
            // The side that failed first says why; the other only saw the connection go.
            (Err(error), Ok(())) | (Ok(_), Err(error)) | (Err(error), Err(_)) => Err(error),
        }
    })
}

fn listen(transfer: &Transfer<'_>) -> Result<Socket, Error> {
    // At every address: the SYN of a join goes to another than the first.
    let address = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), transfer.port);
    let socket = socket::open(transfer.protocol, transfer.algorithm)?;
    socket
        .bind(&address.into())
        .map_err(Error::kernel(format!("binding to {address}")))?;
    socket
        .listen(1)
        .map_err(Error::kernel(format!("listening at {address}")))?;
    // So that a client that never comes does not hold the run.
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
    let patience = Duration::from_nanos(transfer.stop.as_nanos()) + Duration::from_secs(1);
    let _ = started.send(clock.now());
    socket
        .connect_timeout(&server.into(), patience)
        .map_err(Error::kernel(what()))?;
    socket
        .set_read_timeout(Some(PATIENCE))
        .map_err(Error::kernel(what()))?;
    let (mut left, mut buffer) = (transfer.bytes, vec![0; 64 * 1024]);
    while left > 0 && finish.try_recv() == Err(mpsc::TryRecvError::Empty) {
        match socket.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => {
                let offset = transfer.bytes - left;
                if let Some(at) = buffer[..read]
                    .iter()
                    .zip(offset..)
                    .position(|(&b, i)| b != pattern(i))
                {
                    let wrong = format!("byte {} arrived changed", offset + at as u64);
                    return Err(Error::kernel(wrong)(std::io::Error::from(
                        ErrorKind::InvalidData,
                    )));
                }
                left -= (read as u64).min(left);
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(Error::kernel("receiving")(error)),
        }
    }
    let _ = finish.recv(); // disconnected: the sender is done
    Ok(())
}

/// The first connection of a kernel takes milliseconds longer than those after it: one that is refused takes them. It goes over
/// the loopback, where nobody listens.
pub(crate) fn warm_up() {
    let nobody = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), FIRST_PORT);
    let _ = TcpStream::connect(nobody);
}

/// Until it is to begin.
fn wait(transfer: &Transfer<'_>, clock: RealClock) -> Result<(), Error> {
    loop {
        let left = transfer.begin.since(clock.now());
        if left == Span::ZERO {
            return Ok(());
        }
        if transfer.cancelled.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        thread::sleep(Duration::from_nanos(left.as_nanos()).min(PATIENCE));
    }
}

/// The byte at this place in the stream.
fn pattern(offset: u64) -> u8 {
    (offset % 251) as u8
}

fn send(
    transfer: &Transfer<'_>,
    clock: RealClock,
    listener: Socket,
    start: Receiver<Time>,
) -> Result<Seen, Error> {
    let mut seen = Seen {
        start: Time::ZERO,
        end: None,
        acknowledged: 0,
        samples: Vec::new(),
        bytes: BTreeMap::new(),
    };
    let mut connection: Option<Reset> = None;
    let mut written = 0;
    // More than a send buffer holds: where a write ends before that is full, MPTCP begins another piece (struct
    // mptcp_data_frag), and the next one is short.
    let data = (0..251).map(pattern).collect::<Vec<u8>>().repeat(32 * 1024);
    let begun = start.recv();
    // The client says why it has not.
    seen.start = begun.map_err(|_| match transfer.cancelled.load(Ordering::Relaxed) {
        true => Error::Interrupted,
        false => Error::kernel("the client")(std::io::Error::from(ErrorKind::NotConnected)),
    })?;
    loop {
        let now = clock.now();
        if transfer.cancelled.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        if now.since(seen.start) > transfer.stop {
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
                let waiting = socket::unacknowledged(socket)?;
                seen.acknowledged = written - waiting.min(written);
                let (subflows, bytes) = socket::subflows(socket, transfer.protocol)?;
                let ends = subflows.iter().map(|s| (s.local, s.remote_port));
                seen.bytes.extend(ends.zip(bytes));
                let last = seen.samples.last();
                if last.is_none_or(|last| last.subflows != subflows) {
                    seen.samples.push(Sample {
                        time: now,
                        subflows,
                    });
                }
                if seen.acknowledged == transfer.bytes {
                    seen.end = Some(now);
                    break;
                }
            }
        }
        thread::sleep(TICK);
    }
    Ok(seen)
}

fn write_more(socket: &mut Socket, data: &[u8], written: &mut u64, all: u64) -> Result<(), Error> {
    while *written < all {
        let from = (*written % 251) as usize;
        let length = (data.len() - from).min((all - *written) as usize);
        match socket.write(&data[from..from + length]) {
            Ok(bytes) => *written += bytes as u64,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => return Err(Error::kernel("sending")(error)),
        }
    }
    Ok(())
}

/// Resets its connection when dropped, however the transfer ends: a namespace, and the algorithm that was loaded for it,
/// live as long as their sockets, and one that closes in order waits for minutes for a peer that is gone.
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
