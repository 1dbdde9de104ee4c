//! Both ends of a transfer: its server and its client run in their namespaces.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::thread;

use netsim::RealClock;
use scenario::Protocol;
use socket2::Socket;
use transport::Application;

use super::transfer::{FIRST_PORT, Observation, Transfer};
use super::{receiver, sender, socket, source, udp};
use crate::error::Error;
use crate::network::Hosts;

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
