//! TCP and MPTCP sockets with a given congestion control, and the state of their subflows in the kernel.

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::net::Ipv4Addr;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

use netsim::Span;
use scenario::Protocol;
use socket2::{Domain, Socket, Type};

use crate::error::Error;

/// Socket options of MPTCP (linux/mptcp.h).
const SOL_MPTCP: i32 = 284;
const MPTCP_TCPINFO: i32 = 2;
const MPTCP_SUBFLOW_ADDRS: i32 = 3;

/// Slow start threshold before the first loss: TCP_INFINITE_SSTHRESH (net/tcp.h).
const NO_THRESHOLD: u32 = i32::MAX as u32;

/// Opens a socket with a congestion control and with TCP_NODELAY.
pub(crate) fn open(protocol: Protocol, algorithm: &str) -> Result<Socket, Error> {
    let ip_protocol = match protocol {
        // `supported::check` has refused UDP.
        Protocol::Tcp | Protocol::Udp => socket2::Protocol::TCP,
        Protocol::Mptcp => socket2::Protocol::MPTCP,
    };
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(ip_protocol))
        .map_err(Error::kernel("opening a socket"))?;
    let actual = socket
        .set_tcp_congestion(algorithm.as_bytes())
        .and_then(|()| {
            // An MPTCP socket without a subflow accepts any name. Reading the option creates the first subflow.
            socket.tcp_congestion()
        });
    match actual {
        Ok(found) if found.split(|&c| c == 0).next() == Some(algorithm.as_bytes()) => {}
        Ok(_) => return Err(Error::UnknownAlgorithm(algorithm.into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Error::UnknownAlgorithm(algorithm.into()));
        }
        Err(error) => return Err(Error::kernel(format!("choosing `{algorithm}`"))(error)),
    }
    socket
        .set_tcp_nodelay(true)
        .map_err(Error::kernel("setting TCP_NODELAY"))?;
    Ok(socket)
}

/// Resets its connection when dropped, however the transfer ends. A namespace and a loaded algorithm remain as long as their sockets,
/// and a socket that closes in order waits for minutes for a peer that is gone.
pub(crate) struct Reset(pub(crate) Socket);

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

/// State of a subflow (struct tcp_info).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Subflow {
    /// Local address, which identifies the path; unspecified for TCP, which has one path.
    pub(crate) local: Ipv4Addr,
    /// Remote port, which distinguishes subflows of one local address.
    pub(crate) remote_port: u16,
    pub(crate) cwnd: u32,
    /// `None` before the first exit from slow start, except with an algorithm that sets an initial threshold (CSS).
    pub(crate) ssthresh: Option<u32>,
    pub(crate) srtt: Span,
    pub(crate) flight: u32,
    /// enum tcp_ca_state: from 2 (CWR) on the window is being reduced.
    pub(crate) state: u8,
    pub(crate) retransmits: u32,
}

impl Subflow {
    fn of(info: &libc::tcp_info, local: Ipv4Addr, remote_port: u16) -> Self {
        Self {
            local,
            remote_port,
            cwnd: info.tcpi_snd_cwnd,
            ssthresh: (info.tcpi_snd_ssthresh < NO_THRESHOLD).then_some(info.tcpi_snd_ssthresh),
            srtt: Span::from_micros(info.tcpi_rtt.into()),
            // As tcp_packets_in_flight: packets_out - (sacked_out + lost_out) + retrans_out.
            flight: (info.tcpi_unacked + info.tcpi_retrans)
                .saturating_sub(info.tcpi_sacked + info.tcpi_lost),
            state: info.tcpi_ca_state,
            retransmits: info.tcpi_total_retrans,
        }
    }

    /// Whether it has left slow start, by a loss or without, or is in a later slow start.
    pub(crate) fn is_past_slow_start(&self) -> bool {
        self.ssthresh
            .is_some_and(|threshold| self.is_reducing() || self.cwnd >= threshold)
    }

    /// Whether its window is being reduced.
    pub(crate) fn is_reducing(&self) -> bool {
        self.state >= 2
    }
}

/// Progress of a subflow (struct tcp_info).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    /// Number of data bytes acknowledged.
    pub(crate) acknowledged: u64,
    /// Number of bytes in its send buffer that were never sent.
    pub(crate) unsent: u32,
    /// Time that the receive window held it back (rwnd_limited).
    pub(crate) receive_window: Span,
}

impl Progress {
    fn of(info: &libc::tcp_info) -> Self {
        Self {
            acknowledged: info.tcpi_bytes_acked,
            unsent: info.tcpi_notsent_bytes,
            receive_window: Span::from_micros(info.tcpi_rwnd_limited),
        }
    }
}

/// The subflows of a connected socket, and the progress of each.
pub(crate) fn subflows(
    socket: &Socket,
    protocol: Protocol,
) -> Result<(Vec<Subflow>, Vec<Progress>), Error> {
    let fd = socket.as_raw_fd();
    match protocol {
        Protocol::Tcp | Protocol::Udp => {
            let mut info = [empty()];
            option(fd, libc::IPPROTO_TCP, libc::TCP_INFO, &mut info)
                .map_err(Error::kernel("reading TCP_INFO"))?;
            let [info] = &info;
            let subflow = Subflow::of(info, Ipv4Addr::UNSPECIFIED, 0);
            Ok((vec![subflow], vec![Progress::of(info)]))
        }
        Protocol::Mptcp => mptcp_subflows(fd).map_err(|error| match error.raw_os_error() {
            Some(libc::EOPNOTSUPP) => Error::FellBack,
            _ => Error::kernel("reading MPTCP_TCPINFO")(error),
        }),
    }
}

/// struct mptcp_subflow_data (linux/mptcp.h): size and number of the entries of an array option.
#[repr(C, align(8))]
struct Header {
    size_subflow_data: u32,
    num_subflows: u32,
    size_kernel: u32,
    size_user: u32,
}

/// Largest number of subflows that are read: more than the lab's path managers create.
const MAX_SUBFLOWS: usize = 16;

#[repr(C)]
struct Array<T> {
    header: Header,
    entries: [T; MAX_SUBFLOWS],
}

/// struct mptcp_subflow_addrs (linux/mptcp.h).
#[repr(C)]
#[derive(Clone, Copy)]
struct Addresses {
    local: libc::sockaddr_storage,
    remote: libc::sockaddr_storage,
}

fn mptcp_subflows(fd: RawFd) -> io::Result<(Vec<Subflow>, Vec<Progress>)> {
    // Both options iterate over the same list of subflows. A subflow that joins between the two calls is left out.
    let infos = array::<libc::tcp_info>(fd, MPTCP_TCPINFO)?;
    let addresses = array::<Addresses>(fd, MPTCP_SUBFLOW_ADDRS)?;
    let ends = addresses
        .iter()
        .map(|a| (ipv4(&a.local).0, ipv4(&a.remote).1));
    Ok(infos
        .iter()
        .zip(ends)
        .map(|(info, (local, port))| (Subflow::of(info, local, port), Progress::of(info)))
        .unzip())
}

fn array<T: Copy>(fd: RawFd, name: i32) -> io::Result<Vec<T>> {
    let mut array = [Array::<T> {
        header: Header {
            size_subflow_data: size_of::<Header>() as u32,
            num_subflows: 0,
            size_kernel: 0,
            size_user: size_of::<T>() as u32,
        },
        entries: [empty(); MAX_SUBFLOWS],
    }];
    option(fd, SOL_MPTCP, name, &mut array)?;
    let header = &array[0].header;
    let count = (header.num_subflows as usize).min(MAX_SUBFLOWS);
    Ok(entries(
        &array[0].entries,
        count,
        header.size_kernel as usize,
    ))
}

/// The first entries of an array that the kernel wrote. If the kernel's structure is shorter than `T`, its entries are closer
/// together, and the missing fields at the end of each are zero.
fn entries<T: Copy>(array: &[T; MAX_SUBFLOWS], count: usize, size_kernel: usize) -> Vec<T> {
    let size = size_kernel.min(size_of::<T>());
    let bytes = array.as_ptr().cast::<u8>();
    let entry = |number: usize| {
        let mut entry = empty::<T>();
        // SAFETY: `count` entries of `size`, each at most a T, are within the array; T is plain old data of the kernel.
        unsafe {
            let from = bytes.add(number * size);
            std::ptr::copy_nonoverlapping(from, (&raw mut entry).cast(), size);
        }
        entry
    };
    (0..count.min(MAX_SUBFLOWS)).map(entry).collect()
}

/// Plain old data of the kernel, all zero.
fn empty<T: Copy>() -> T {
    // SAFETY: used for tcp_info and sockaddr_storage, which are integers.
    unsafe { MaybeUninit::<T>::zeroed().assume_init() }
}

fn option<T>(fd: RawFd, level: i32, name: i32, value: &mut [T; 1]) -> io::Result<()> {
    let mut length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes of plain old data into `value`.
    let result =
        unsafe { libc::getsockopt(fd, level, name, value.as_mut_ptr().cast(), &mut length) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

fn ipv4(address: &libc::sockaddr_storage) -> (Ipv4Addr, u16) {
    // SAFETY: a sockaddr_storage is large enough and aligned for any address; the lab's addresses are IPv4.
    let address = unsafe { &*(&raw const *address).cast::<libc::sockaddr_in>() };
    (
        Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)),
        u16::from_be(address.sin_port),
    )
}

/// Free bytes of a send buffer that has reached its largest size; without limit before (sk_stream_memory_free).
pub(crate) fn room(socket: &Socket, largest: u32) -> Result<u64, Error> {
    /// SO_MEMINFO, and places in its array (linux/sock_diag.h, SK_MEMINFO_SNDBUF and SK_MEMINFO_WMEM_QUEUED).
    const SO_MEMINFO: i32 = 55;
    const SNDBUF: usize = 3;
    const WMEM_QUEUED: usize = 5;
    let mut memory = [[0_u32; 9]];
    option(
        socket.as_raw_fd(),
        libc::SOL_SOCKET,
        SO_MEMINFO,
        &mut memory,
    )
    .map_err(Error::kernel("reading SO_MEMINFO"))?;
    let [memory] = memory;
    Ok(match memory[SNDBUF] >= largest {
        true => memory[SNDBUF].saturating_sub(memory[WMEM_QUEUED]).into(),
        false => u64::MAX,
    })
}

/// Number of bytes that were written to the socket and not acknowledged, at the data level for MPTCP.
pub(crate) fn unacknowledged(socket: &Socket) -> Result<u64, Error> {
    queued(socket, libc::TIOCOUTQ, "reading SIOCOUTQ")
}

/// Number of bytes that were written to the socket and not sent, for MPTCP not given to a subflow.
pub(crate) fn unsent(socket: &Socket) -> Result<u64, Error> {
    /// linux/sockios.h
    const SIOCOUTQNSD: libc::Ioctl = 0x894B;
    queued(socket, SIOCOUTQNSD, "reading SIOCOUTQNSD")
}

fn queued(socket: &Socket, request: libc::Ioctl, action: &str) -> Result<u64, Error> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: these requests write one int.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), request, &mut bytes) };
    match result {
        0 => Ok(bytes as u64),
        _ => Err(Error::kernel(action)(io::Error::last_os_error())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_a_kernel_with_a_shorter_structure_are_closer_together() {
        // Two entries of three numbers, in an array for four each.
        let mut array = [[0_u32; 4]; MAX_SUBFLOWS];
        (array[0], array[1]) = ([1, 2, 3, 4], [5, 6, 0, 0]);
        assert_eq!(entries(&array, 2, 12), [[1, 2, 3, 0], [4, 5, 6, 0]]);
        // The kernel truncates longer entries.
        assert_eq!(entries(&array, 2, 20), [[1, 2, 3, 4], [5, 6, 0, 0]]);
    }
}
