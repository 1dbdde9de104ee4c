//! MPTCP sockets with an algorithm, for tests that check each byte.

use super::PATIENCE;
use super::world::{SERVER, World};
use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, Type};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsRawFd;

/// Port on which tests listen.
pub const PORT: u16 = 7000;

/// An MPTCP socket with an algorithm, in the namespace of the calling thread.
pub fn socket(algorithm: &str) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::MPTCP))?;
    socket.tcp_congestion()?; // creates the subflow, without which the next line has no effect
    socket.set_tcp_congestion(algorithm.as_bytes())?;
    socket.set_tcp_nodelay(true)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    Ok(socket)
}

/// Name of a socket's congestion control.
pub fn algorithm<'s>(socket: impl Into<SockRef<'s>>) -> String {
    let name = socket.into().tcp_congestion().expect("an algorithm");
    let name = name.into_iter().take_while(|&c| c != 0).collect();
    String::from_utf8(name).expect("text")
}

/// A listener on all addresses.
pub fn listener(algorithm: &str, port: u16) -> io::Result<Socket> {
    let listener = socket(algorithm)?;
    listener.set_reuse_address(true)?;
    listener.bind(&SocketAddr::from(([0, 0, 0, 0], port)).into())?;
    listener.listen(4096)?;
    Ok(listener)
}

/// A connection to a server, from an address or from any.
pub fn connect(algorithm: &str, from: Option<IpAddr>, to: SocketAddr) -> io::Result<TcpStream> {
    let socket = socket(algorithm)?;
    if let Some(from) = from {
        socket.bind(&SockAddr::from(SocketAddr::from((from, 0))))?;
    }
    socket.connect_timeout(&to.into(), PATIENCE)?;
    Ok(socket.into())
}

/// A listener on the server of a world, for [`open`].
pub fn serve(world: &World, algorithm: &str) -> Socket {
    let listening = world.server.run(|| listener(algorithm, PORT));
    listening.expect("a listener")
}

/// A connection to the listener, from an address or from any: the client's end and the server's. No subflow can join without the
/// listener.
pub fn open(
    world: &World,
    listener: &Socket,
    algorithm: &str,
    from: Option<IpAddr>,
) -> (TcpStream, TcpStream) {
    let to = SocketAddr::from((SERVER, PORT));
    let client = world.client.run(|| connect(algorithm, from, to));
    let client = client.expect("a connection");
    (client, listener.accept().expect("the other end").0.into())
}

/// Sends `content` one way, and checks that it arrives unchanged.
pub fn carry(from: &TcpStream, to: &TcpStream, content: &[u8]) {
    let arrived = try_carry(from, to, content);
    arrives(&arrived.expect("sent and received"), content);
}

/// Sends `content` one way over a connection that may fail, and returns what arrived.
pub fn try_carry(mut from: &TcpStream, mut to: &TcpStream, content: &[u8]) -> io::Result<Vec<u8>> {
    let mut received = vec![0; content.len()];
    std::thread::scope(|scope| {
        let sent = scope.spawn(move || from.write_all(content));
        let got = to.read_exact(&mut received);
        if got.is_err() {
            let _ = to.shutdown(Shutdown::Both);
            let _ = from.shutdown(Shutdown::Both);
        }
        sent.join().expect("no panic").and(got)
    })?;
    Ok(received)
}

/// Sends `content` there and back, and checks that it arrives unchanged.
pub fn exchange(a: &TcpStream, b: &TcpStream, content: &[u8]) {
    carry(a, b, content);
    carry(b, a, content);
}

/// Checks that the received bytes are the sent ones. The failure names the range of wrong bytes, and the position in `sent` from which
/// the first of them come.
pub fn arrives(arrived: &[u8], sent: &[u8]) {
    let differ: Vec<usize> = (0..sent.len())
        .filter(|&at| arrived[at] != sent[at])
        .collect();
    let (Some(first), Some(last)) = (differ.first(), differ.last()) else {
        return;
    };
    let end = (first + 16).min(sent.len());
    let sample = &arrived[*first..end];
    let from = sent.windows(sample.len()).position(|part| part == sample);
    panic!(
        "{} of {} bytes are not those that were sent, from {first} to {last}; the first, {sample:02x?}, are those of {from:?}",
        differ.len(),
        sent.len()
    );
}

/// Number of joined subflows: `mptcpi_subflows`, the first byte of `struct mptcp_info` (linux/mptcp.h).
pub fn joined(connection: &TcpStream) -> u8 {
    const SOL_MPTCP: libc::c_int = 284;
    const MPTCP_INFO: libc::c_int = 1;
    let mut info = [0u8; 256];
    let mut length = info.len() as libc::socklen_t;
    let (fd, to) = (connection.as_raw_fd(), info.as_mut_ptr().cast());
    // SAFETY: the kernel writes at most `length` bytes to `info`, which has as many.
    let result = unsafe { libc::getsockopt(fd, SOL_MPTCP, MPTCP_INFO, to, &mut length) };
    if result == 0 { info[0] } else { 0 }
}
