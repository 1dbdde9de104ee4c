//! Set-up of the hosts: ports, addresses, routes, sysctls and MPTCP's path manager in their namespaces.

use std::fs;

use super::hosts::{HostsSpec, client, server};
use crate::error::Error;
use crate::linux::addressing::{Addressing, MAIN};
use crate::linux::tun::Tun;
use crate::linux::{path_manager, sysctl};

/// Interface of the client. The interfaces of the server are this name and the number of the path.
const PORT: &str = "port";

/// First routing table of the server: packets from its address on a path are routed by this table plus the path's number (from 0).
/// Tables below 253 are unused.
const FIRST_TABLE: u8 = 100;

/// Sizes of a socket's buffer, bytes.
#[derive(Clone, Copy)]
struct BufferSizes {
    min: u32,
    default: u32,
    max: u32,
}

/// The kernel's default of tcp_rmem (Documentation/networking/ip-sysctl.rst) on a machine with enough memory. A machine of some
/// 100 MB has less, and from Linux 6.16 on every machine has more.
const RECEIVE: BufferSizes = BufferSizes {
    min: 4096,
    default: 131_072,
    max: 6 << 20,
};

/// The kernel's default of tcp_wmem on a machine with enough memory.
const SEND: BufferSizes = BufferSizes {
    min: 4096,
    default: 16_384,
    max: 4 << 20,
};

/// Sets up the client of this pair of hosts (from 0), in its namespace.
pub(super) fn set_up_client(spec: &HostsSpec, pair: usize) -> Result<Tun, Error> {
    let mut addressing = set_up_host(spec)?;
    let (port, address) = (Tun::new(PORT)?, client(pair));
    addressing.up(PORT)?;
    addressing.address(PORT, address)?;
    for path in 0..spec.paths.len() {
        addressing.route(MAIN, server(pair, path), PORT, address)?;
    }
    path_manager::limits(spec.paths.len() as u32 - 1, true)?;
    Ok(port)
}

/// Sets up the server of this pair of hosts (from 0), in its namespace.
pub(super) fn set_up_server(spec: &HostsSpec, pair: usize) -> Result<Vec<Tun>, Error> {
    let mut addressing = set_up_host(spec)?;
    let (mut ports, client) = (Vec::new(), client(pair));
    for path in 0..spec.paths.len() {
        let (name, address) = (format!("{PORT}{}", path + 1), server(pair, path));
        ports.push(Tun::new(&name)?);
        addressing.up(&name)?;
        addressing.address(&name, address)?;
        // Packets leave by the path of their source address.
        let table = FIRST_TABLE + path as u8;
        addressing.route(table, client, &name, address)?;
        addressing.rule(address, table)?;
        if path == 0 {
            addressing.route(MAIN, client, &name, address)?;
        } else {
            let backup = spec.backup.get(path).copied().unwrap_or(false);
            path_manager::announce(address, backup)?;
        }
    }
    path_manager::limits(spec.paths.len() as u32 - 1, false)?;
    Ok(ports)
}

/// Settings of both hosts. To be called before the ports are created, which inherit the settings.
fn set_up_host(spec: &HostsSpec) -> Result<Addressing, Error> {
    path_manager::enable()?;
    // No metrics of an earlier connection.
    sysctl::set("net.ipv4.tcp_no_metrics_save", 1)?;
    // No packets but those of the scenario: no router solicitations, no MLD.
    sysctl::set_if_exists("net.ipv6.conf.default.disable_ipv6", 1)?;
    // Packets may arrive at another interface than the one to their source in the main table.
    sysctl::set("net.ipv4.conf.all.rp_filter", 0)?;
    sysctl::set("net.ipv4.conf.default.rp_filter", 0)?;
    set_buffers(spec.receive_window, spec.send_buffer)?;
    if spec.ecn {
        sysctl::set("net.ipv4.tcp_ecn", 1)?; // request it, and accept it
    }
    let mut addressing = Addressing::new();
    addressing.up("lo")?;
    Ok(addressing)
}

/// Sets both buffers, by default to the kernel's own sizes: the receive buffer to a fixed size, the send buffer to a maximum.
///
/// The first size of the send buffer remains the kernel's: MPTCP fills the send buffer of a subflow, so with a large one the first
/// subflow would take a whole short transfer before the second has joined.
fn set_buffers(receive: Option<u32>, send: Option<u32>) -> Result<(), Error> {
    let set = |name, BufferSizes { min, default, max }| {
        sysctl::set(name, format!("{min} {default} {max}"))
    };
    let receive = receive.map_or(RECEIVE, |bytes| BufferSizes {
        default: bytes,
        max: bytes,
        ..RECEIVE
    });
    set("net.ipv4.tcp_rmem", receive)?;
    let max = send.unwrap_or(SEND.max);
    let send = BufferSizes {
        min: SEND.min.min(max),
        default: SEND.default.min(max),
        max,
    };
    set("net.ipv4.tcp_wmem", send)
}

/// Number of packets that the ports of the calling thread's namespace lost before the emulator.
pub(super) fn overrun() -> Result<u64, Error> {
    let file = "/proc/thread-self/net/dev";
    let text = fs::read_to_string(file).map_err(Error::kernel(format!("reading {file}")))?;
    // "name:" and 16 numbers; the twelfth is transmit drops. See proc_net(5).
    let drops = text.lines().filter_map(|line| {
        let (name, numbers) = line.split_once(':')?;
        let drops = numbers.split_whitespace().nth(11)?;
        name.trim()
            .starts_with(PORT)
            .then(|| drops.parse::<u64>().ok())?
    });
    Ok(drops.sum())
}
