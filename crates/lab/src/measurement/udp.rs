//! UDP: datagrams of one size at a pace, from the server to the client, and their count at the client.

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use netsim::{Clock, RealClock, Span};
use transport::Application;

use super::source::{Source, until};
use super::transfer::{CHECK_INTERVAL, Delivered, Observation, Transfer, wait};
use crate::error::Error;
use crate::network::Hosts;

/// Headers of IPv4 and UDP, bytes.
const HEADERS: u32 = 28;

/// Sends datagrams until the end of the run.
pub(super) fn run(
    hosts: &Hosts,
    clock: RealClock,
    transfer: &Transfer<'_>,
    application: Application,
) -> Result<Observation, Error> {
    let done = AtomicBool::new(false);
    let bind = |address| {
        let socket = UdpSocket::bind(SocketAddr::new(address, transfer.port));
        socket.map_err(Error::kernel(format!("binding to {address}")))
    };
    let client = hosts.client.run(|| bind(hosts.client_address()))?;
    let server = hosts.server.run(|| bind(hosts.server_addresses()[0]))?;
    let (client, server) = (&client, &server);
    let to = SocketAddr::new(hosts.client_address(), transfer.port);
    // Sockets keep their namespace: the threads need not enter it.
    thread::scope(|scope| {
        let received = scope.spawn(|| count(client, clock, transfer, &done));
        let sent = send(server, to, clock, transfer, application);
        done.store(true, Ordering::Release);
        let received = received
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        sent.and(received)
    })
}

fn send(
    socket: &UdpSocket,
    to: SocketAddr,
    clock: RealClock,
    transfer: &Transfer<'_>,
    application: Application,
) -> Result<(), Error> {
    wait(transfer, clock)?;
    let datagram = vec![0; transfer.unit.saturating_sub(HEADERS) as usize];
    let mut source = Source::new(application, transfer.unit, transfer.begin);
    let mut sent = 0;
    let longest = Span::from_nanos(CHECK_INTERVAL.as_nanos() as u64);
    loop {
        let now = clock.now();
        if transfer.cancelled.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        if transfer.is_over(now) {
            return Ok(());
        }
        let due = source.advance(now, 0);
        while sent < due {
            socket
                .send_to(&datagram, to)
                .map_err(Error::kernel(format!("sending to {to}")))?;
            sent += u64::from(transfer.unit);
        }
        let pause = until(source.next(), clock.now(), longest);
        thread::sleep(Duration::from_nanos(pause.as_nanos()));
    }
}

/// Counts the datagrams that arrive until `done`.
fn count(
    socket: &UdpSocket,
    clock: RealClock,
    transfer: &Transfer<'_>,
    done: &AtomicBool,
) -> Result<Observation, Error> {
    socket
        .set_read_timeout(Some(CHECK_INTERVAL))
        .map_err(Error::kernel("SO_RCVTIMEO"))?;
    let mut observed = Observation {
        start: transfer.begin,
        ..Observation::default()
    };
    let mut buffer = [0; 1 << 16];
    let end = transfer.begin + transfer.stop;
    while !done.load(Ordering::Acquire) {
        let received = match socket.recv(&mut buffer) {
            Ok(_) => u64::from(transfer.unit),
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                0
            }
            Err(error) => return Err(Error::kernel("receiving")(error)),
        };
        let now = clock.now();
        if now > end {
            observed.delivered.time = end;
            break;
        }
        observed.delivered = Delivered {
            time: now,
            acknowledged: observed.delivered.acknowledged + received,
            ..Delivered::default()
        };
        if now <= transfer.warm {
            observed.before = observed.delivered.clone();
        }
    }
    Ok(observed)
}
