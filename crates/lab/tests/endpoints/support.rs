//! Networks for the tests, and sockets with a pinned congestion control.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use lisa_lab::{Network, NetworkSpec, Path, Shaping, Topology};
use netsim::{Rate, Span};
use socket2::{Domain, Protocol, Socket, Type};

/// Where the server listens.
pub(crate) const PORT: u16 = 5001;

/// How long a read or a connect may take before a test fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// A bottleneck.
pub(crate) fn shaping(bits_per_second: u64, queue: usize) -> Shaping {
    Shaping {
        rate: Rate::from_bits_per_second(bits_per_second),
        queue,
    }
}

/// Paths of these round-trip times over one bottleneck.
pub(crate) fn shared(bottleneck: Shaping, rtts_ms: &[u64]) -> Topology {
    let rtts = rtts_ms.iter().map(|ms| Span::from_millis(*ms)).collect();
    Topology::SharedBottleneck { bottleneck, rtts }
}

/// Paths of these round-trip times, each with a bottleneck of its own.
pub(crate) fn separate(bottleneck: Shaping, rtts_ms: &[u64]) -> Topology {
    let path = |ms: &u64| Path {
        bottleneck,
        rtt: Span::from_millis(*ms),
    };
    Topology::NonSharedBottleneck {
        paths: rtts_ms.iter().map(path).collect(),
    }
}

/// A running network, unless the test cannot run here.
pub(crate) fn network(topology: Topology) -> Option<Network> {
    // SAFETY: the call takes nothing and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("skipped: needs root");
        return None;
    }
    let spec = NetworkSpec {
        topology,
        receive_window: Some(4 << 20),
    };
    let mut network = Network::build(&spec).unwrap_or_else(|error| panic!("{error}"));
    network.start().unwrap();
    Some(network)
}

/// A TCP or MPTCP socket; to be called inside a namespace.
fn socket(protocol: Protocol) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(protocol))?;
    // The host's default may be anything.
    socket.set_tcp_congestion(b"reno")?;
    socket.set_tcp_nodelay(true)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    Ok(socket)
}

/// Bytes that show when one is missing or misplaced.
pub(crate) fn content(bytes: usize) -> Vec<u8> {
    (0..bytes)
        .map(|i| (i ^ (i >> 8) ^ (i >> 16)) as u8)
        .collect()
}

/// What the client saw of a download.
pub(crate) struct Download {
    /// What came.
    pub(crate) received: Vec<u8>,
    /// From the first SYN to the last byte.
    pub(crate) took: Duration,
    /// Subflows beyond the first when the last byte had come; `None` for TCP.
    pub(crate) joins: Option<u8>,
}

/// The client downloads `content` from the server.
pub(crate) fn download(network: &Network, protocol: Protocol, content: Vec<u8>) -> Download {
    let server = serve(network, protocol, content);
    let address = network.server_addresses()[0];
    let download = network.client.run(|| fetch(protocol, address)).unwrap();
    server.join().unwrap().unwrap();
    download
}

/// A server that sends `content` to the first who connects, and waits until he has closed.
fn serve(network: &Network, protocol: Protocol, content: Vec<u8>) -> JoinHandle<io::Result<()>> {
    let listener = network.server.run(|| -> io::Result<Socket> {
        let listener = socket(protocol)?;
        listener.bind(&SocketAddr::from(([0, 0, 0, 0], PORT)).into())?;
        listener.listen(1)?;
        Ok(listener)
    });
    let listener = listener.unwrap();
    let serve = move || {
        let mut connection = TcpStream::from(listener.accept()?.0);
        connection.write_all(&content)?;
        // Shutting down early would make the kernel refuse joins that are under way.
        connection.read(&mut [0]).map(drop)
    };
    network.server.spawn("test-server", serve).unwrap()
}

fn fetch(protocol: Protocol, server: IpAddr) -> io::Result<Download> {
    let start = Instant::now();
    let socket = socket(protocol)?;
    socket.connect_timeout(&SocketAddr::from((server, PORT)).into(), PATIENCE)?;
    let mut connection = TcpStream::from(socket);
    let mut received = Vec::new();
    let mut piece = vec![0; 1 << 16];
    // The content is known: read until its length has come, while all subflows are still there.
    let mut header = [0; 8];
    connection.read_exact(&mut header)?;
    let length = u64::from_be_bytes(header) as usize;
    while received.len() < length {
        match connection.read(&mut piece)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            bytes => received.extend_from_slice(&piece[..bytes]),
        }
    }
    let joins = (protocol == Protocol::MPTCP)
        .then(|| joins(&connection))
        .transpose()?;
    Ok(Download {
        received,
        took: start.elapsed(),
        joins,
    })
}

/// `mptcpi_subflows`, the first byte of `struct mptcp_info` (linux/mptcp.h).
fn joins(connection: &TcpStream) -> io::Result<u8> {
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
        Ok(info[0])
    } else {
        Err(io::Error::last_os_error())
    }
}
