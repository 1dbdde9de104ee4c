//! An algorithm that is chosen in the middle of a connection.

use crate::support::stream::{PORT, connect, exchange, serve};
use crate::support::world::{SERVER, World, ip};
use crate::support::{Loaded, able, content, until};
use socket2::SockRef;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsRawFd;

/// `tcpi_ca_state` of the first subflow (linux/tcp.h: the second byte of `struct tcp_info`).
fn congestion_state(connection: &TcpStream) -> u8 {
    let mut info = [0u8; 256];
    let mut length = info.len() as libc::socklen_t;
    let (fd, to) = (connection.as_raw_fd(), info.as_mut_ptr().cast());
    // SAFETY: the kernel writes at most `length` bytes to `info`, which has as many.
    let result = unsafe { libc::getsockopt(fd, libc::SOL_TCP, libc::TCP_INFO, to, &mut length) };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
    info[1]
}

/// After an RTO the window is below the threshold, but not in slow start: no subflow may take a credit from it.
#[test]
fn in_the_middle_of_a_repair_it_is_in_recovery() {
    if !able() {
        return;
    }
    const LOSS: u8 = 4; // TCP_CA_Loss
    let (loaded, world) = (Loaded::lisa(), World::new(1));
    let listener = serve(&world, "reno");
    let to = SocketAddr::from((SERVER, PORT));
    let client = world.client.run(|| connect("reno", None, to));
    let client = client.expect("a connection");
    let server: TcpStream = listener.accept().expect("the other end").0.into();
    exchange(&client, &server, &content(100_000, 30));

    ip(&world.server, "link set s0 down");
    (&client).write_all(&content(20_000, 31)).expect("queued");
    until("a retransmission timeout", || {
        congestion_state(&client) == LOSS
    });
    SockRef::from(&client)
        .set_tcp_congestion(loaded.name().as_bytes())
        .expect("chosen");
    let status = loaded.status();
    let phases: Vec<_> = status.connections[0]
        .subflows
        .iter()
        .map(|s| s.phase)
        .collect();
    assert_eq!(phases, ["recovery"], "{status:?}");

    ip(&world.server, "link set s0 up");
    let mut got = vec![0; 20_000];
    (&server).read_exact(&mut got).expect("received");
    assert!(got == content(20_000, 31), "bytes arrive as they were sent");
    exchange(&client, &server, &content(100_000, 32));
    let status = loaded.status();
    let subflow = &status.connections[0].subflows[0];
    assert_ne!(subflow.phase, "recovery", "{subflow:?}");
    drop((client, server));
    loaded.settled();
}
