//! The window at which a paced sender leaves slow start, on the guest's kernel: convoy's beside that of Linux's CUBIC.

use crate::support::stream::{PORT, listener, socket};
use crate::support::until;
use kernel::load::{Options, load};
use lab::{Network, NetworkSpec};
use scenario::Scenario;
use socket2::{SockRef, Socket};
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::AsRawFd;

/// What makes the sender pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Paced {
    /// Nothing.
    No,
    /// BBR, under which the connection was opened: Linux does not take its request back.
    Bbr,
    /// SO_MAX_PACING_RATE. MPTCP sockets lack the option, so that this is a socket of TCP.
    MaxRate,
    /// The queueing discipline of the interface.
    Fq,
}

/// Linux's initial threshold: slow start has not ended (TCP_INFINITE_SSTHRESH).
const INFINITE: u32 = 0x7fff_ffff;

/// ssthresh after slow start, in segments: the connection of this algorithm over a path of 20 Mbit/s, 100 ms and a long queue has sent
/// until there is one.
fn exit(algorithm: &str, paced: Paced) -> u32 {
    let scenario = "title = \"pacing\"\nstop = \"60s\"\n[topology]\nkind = \"non-shared-bottleneck\"\nrate = \"20Mbit\"\n\
                    rtt = \"100ms\"\nqueue = 2000\npaths = 1\n[[connection]]\nprotocol = \"mptcp\"\nsubflows = 1\n\
                    algorithm = \"reno\"\nbytes = 1\n";
    let scenario = Scenario::parse(scenario, "pacing.toml").expect("a scenario");
    let discipline = if paced == Paced::Fq {
        "fq"
    } else {
        "pfifo_fast"
    };
    fs::write("/proc/sys/net/core/default_qdisc", discipline).expect("a queueing discipline");
    let spec = NetworkSpec::client_server(&scenario.topology).expect("a network");
    let mut network = Network::build(&spec).expect("its hosts");
    network.start().expect("it runs");
    let hosts = &network.hosts()[0];
    let listening = hosts.server.run(|| listener("reno", PORT));
    let listening = listening.expect("a listener");
    let to = SocketAddr::from((hosts.server_addresses()[0], PORT));
    let first = if paced == Paced::Bbr {
        "bbr"
    } else {
        algorithm
    };
    let client = hosts.client.run(|| match paced {
        Paced::MaxRate => tcp(first),
        _ => socket(first),
    });
    let client = client.expect("a socket");
    client.connect(&to.into()).expect("a connection");
    let server = listening.accept().expect("the other end").0;
    client
        .set_tcp_congestion(algorithm.as_bytes())
        .expect("an algorithm");
    client.set_nonblocking(true).expect("not blocking");
    let mut threshold = INFINITE;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut bytes = vec![0; 1 << 16];
            while (&server).read(&mut bytes).is_ok_and(|read| read > 0) {}
        });
        until("the end of slow start", || {
            let _ = (&client).write(&[0; 1 << 16]);
            threshold = ssthresh(&client);
            threshold < INFINITE
        });
        client.shutdown(Shutdown::Both).expect("closed");
        drop(client);
    });
    network.stop().expect("it ran");
    threshold
}

/// A socket of TCP that paces by SO_MAX_PACING_RATE, far above the path's rate.
fn tcp(algorithm: &str) -> std::io::Result<Socket> {
    let socket = Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None)?;
    socket.set_tcp_congestion(algorithm.as_bytes())?;
    let rate: u32 = 1_000_000_000; // bytes/s
    // SAFETY: the option is read from the 4 bytes of `rate`.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MAX_PACING_RATE,
            (&raw const rate).cast(),
            size_of_val(&rate) as libc::socklen_t,
        )
    };
    assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
    Ok(socket)
}

/// `tcpi_snd_ssthresh`, in segments.
fn ssthresh(socket: &Socket) -> u32 {
    // SAFETY: a tcp_info of zeros is valid, and the kernel writes at most `length` bytes to it.
    unsafe {
        let mut info: libc::tcp_info = std::mem::zeroed();
        let mut length = size_of_val(&info) as libc::socklen_t;
        let (fd, to) = (SockRef::from(socket).as_raw_fd(), (&raw mut info).cast());
        let done = libc::getsockopt(fd, libc::SOL_TCP, libc::TCP_INFO, to, &mut length);
        assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
        info.tcpi_snd_ssthresh
    }
}

/// HyStart expects a train of ACKs of twice the length of a sender that paces. Without that, convoy leaves at a tenth of the window.
pub fn a_paced_sender_leaves_slow_start_as_cubic_does() {
    for module in ["tcp_bbr", "sch_fq"] {
        lab::vm::load_module(module).expect(module);
    }
    let options = Options {
        keeps_plain: true,
        ..Options::default()
    };
    let convoy = load("convoy", &options).expect("it loads");
    let exits = [Paced::No, Paced::Bbr, Paced::MaxRate, Paced::Fq]
        .map(|paced| (paced, exit(convoy.name(), paced), exit("cubic", paced)));
    let alike =
        |&(_, ours, cubics): &(_, u32, u32)| 3 * ours >= 2 * cubics && 2 * ours <= 3 * cubics;
    assert!(
        exits.iter().all(alike),
        "convoy's segments and CUBIC's: {exits:?}"
    );
    // A whole RTT of ACKs in place of a half: twice the window. So the sender paces in each of these cases.
    let unpaced = exits[0].1;
    assert!(
        exits[1..].iter().all(|(_, ours, _)| 2 * ours > 3 * unpaced),
        "{exits:?}"
    );
    convoy.unregister().expect("unloaded");
}
