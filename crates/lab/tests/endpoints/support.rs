//! Networks for the tests, and sockets with a pinned congestion control.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use lisa_lab::{Error, Network, NetworkSpec};
use netsim::{Rate, Span};
use socket2::{Domain, Protocol, Socket, Type};
use topology::{NonSharedBottleneck, PathSpec, Properties, Queue, SharedBottleneck, Spec};

/// Port of the server.
pub(crate) const PORT: u16 = 5001;

/// Longest duration of a read or a connect.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A bottleneck with a rate and a queue in packets.
pub(crate) fn shaping(bits_per_second: u64, queue: u32) -> Properties {
    let rate = Rate::from_bits_per_second(bits_per_second);
    Properties::shaped(rate, Queue::DropTailPackets(queue), Span::ZERO)
}

/// Paths with these round-trip times over one bottleneck.
pub(crate) fn shared(bottleneck: Properties, rtts_ms: &[u64]) -> Spec {
    Spec::SharedBottleneck(SharedBottleneck {
        bottleneck,
        rtts: rtts_ms.iter().map(|ms| Span::from_millis(*ms)).collect(),
        access: None,
    })
}

/// Paths with these round-trip times, each with its own bottleneck.
pub(crate) fn separate(bottleneck: Properties, rtts_ms: &[u64]) -> Spec {
    let path = |ms: &u64| PathSpec {
        bottleneck: bottleneck.clone(),
        rtt: Span::from_millis(*ms),
    };
    Spec::NonSharedBottleneck(NonSharedBottleneck {
        paths: rtts_ms.iter().map(path).collect(),
        access: None,
    })
}

/// A running network; `None` if the test cannot run on this host.
pub(crate) fn network(topology: Spec) -> Option<Network> {
    let mut spec = NetworkSpec::client_server(&topology).unwrap();
    spec.hosts[0].receive_window = Some(4 << 20);
    match Network::build(&spec) {
        Ok(mut network) => {
            network.start().unwrap();
            Some(network)
        }
        Err(error @ Error::Privilege) => {
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Opens a TCP or MPTCP socket in the namespace of the calling thread.
fn socket(protocol: Protocol) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(protocol))?;
    // Independent of the host's default.
    socket.set_tcp_congestion(b"reno")?;
    socket.set_tcp_nodelay(true)?;
    socket.set_read_timeout(Some(TIMEOUT))?;
    socket.set_write_timeout(Some(TIMEOUT))?;
    Ok(socket)
}

/// Bytes in which a missing or misplaced byte is detected.
pub(crate) fn content(bytes: usize) -> Vec<u8> {
    (0..bytes)
        .map(|i| (i ^ (i >> 8) ^ (i >> 16)) as u8)
        .collect()
}

/// Result of a download.
pub(crate) struct Download {
    /// Received bytes.
    pub(crate) received: Vec<u8>,
    /// Time from the request to the last byte.
    pub(crate) took: Duration,
}

/// The client downloads `content` from the server, after a subflow has joined on each other path.
///
/// A short transfer could end before the last join: the server announces one address in each round trip, and an announcement that a
/// full queue loses is repeated only after `net.mptcp.add_addr_timeout`, 120 s.
pub(crate) fn download(network: &Network, protocol: Protocol, content: Vec<u8>) -> Download {
    let expected = content.len();
    let server = serve(network, protocol, content);
    let addresses = network.hosts()[0].server_addresses();
    let joins = if protocol == Protocol::MPTCP {
        addresses.len() - 1
    } else {
        0
    };
    let download = network.hosts()[0]
        .client
        .run(|| fetch(protocol, addresses[0], joins, expected))
        .unwrap();
    server.join().unwrap().unwrap();
    download
}

/// A server that sends `content` to its first client on request, and waits until the client has closed.
fn serve(network: &Network, protocol: Protocol, content: Vec<u8>) -> JoinHandle<io::Result<()>> {
    let listener = network.hosts()[0].server.run(|| -> io::Result<Socket> {
        let listener = socket(protocol)?;
        listener.bind(&SocketAddr::from(([0, 0, 0, 0], PORT)).into())?;
        listener.listen(1)?;
        Ok(listener)
    });
    let listener = listener.unwrap();
    let serve = move || {
        let mut connection = TcpStream::from(listener.accept()?.0);
        // A greeting and its ACK: subflows may join from then on.
        connection.write_all(b"!")?;
        connection.read_exact(&mut [0])?;
        connection.write_all(&content)?;
        connection.read(&mut [0]).map(drop)
    };
    network.hosts()[0]
        .server
        .spawn("test-server", serve)
        .unwrap()
}

fn fetch(
    protocol: Protocol,
    server: IpAddr,
    expected_joins: usize,
    expected_bytes: usize,
) -> io::Result<Download> {
    let socket = socket(protocol)?;
    socket.connect_timeout(&SocketAddr::from((server, PORT)).into(), TIMEOUT)?;
    let mut connection = TcpStream::from(socket);
    connection.read_exact(&mut [0])?;
    let start = Instant::now();
    while expected_joins > 0 && joins(&connection)? < expected_joins {
        assert!(start.elapsed() < TIMEOUT, "{} joins", joins(&connection)?);
        sleep(Duration::from_millis(5));
    }
    let start = Instant::now();
    connection.write_all(b"?")?;
    let mut received = vec![0; expected_bytes];
    connection.read_exact(&mut received)?;
    Ok(Download {
        received,
        took: start.elapsed(),
    })
}

/// Number of subflows that have joined: `mptcpi_subflows`, the first byte of `struct mptcp_info` (linux/mptcp.h).
fn joins(connection: &TcpStream) -> io::Result<usize> {
    const SOL_MPTCP: libc::c_int = 284;
    const MPTCP_INFO: libc::c_int = 1;
    let mut info = [0u8; 256];
    let mut length = info.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `info`, which has as many.
    let result = unsafe {
        libc::getsockopt(
            connection.as_raw_fd(),
            SOL_MPTCP,
            MPTCP_INFO,
            info.as_mut_ptr().cast(),
            &mut length,
        )
    };
    if result == 0 {
        Ok(info[0].into())
    } else {
        Err(io::Error::last_os_error())
    }
}
