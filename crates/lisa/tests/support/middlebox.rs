//! A middlebox that disturbs MPTCP (RFC 8684): two TUN devices with the name `box`, one on each host, and a thread for each
//! direction.
//!
//! It removes the MPTCP options from all packets except SYNs, as some firewalls do; or it corrupts the checksum of one data
//! sequence mapping, as if it had changed the data: the receiver then requests a fallback in the middle of the connection.

use lab::Namespace;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering::Relaxed};
use std::thread::{self, JoinHandle};

const TCP: u8 = 6;
const SYN: u8 = 2;
const NOP: u8 = 1;
const MPTCP: u8 = 30;
/// Data sequence signal: a subtype of MPTCP's option.
const DSS: u8 = 2;

/// The action of the middlebox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Forwards all packets unchanged.
    Pass,
    /// Removes the MPTCP options.
    Strip,
    /// Corrupts one checksum, and then forwards all packets unchanged.
    Spoil,
}

struct State {
    mode: AtomicU8,
    spoilt: AtomicUsize,
    over: AtomicBool,
}

/// The middlebox, which ends when this is dropped.
pub struct Middlebox {
    state: Arc<State>,
    ways: Vec<JoinHandle<()>>,
}

/// A TUN device with the name `box`.
fn tun(host: &Namespace) -> File {
    host.run(|| {
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK);
        let file = options.open("/dev/net/tun").expect("/dev/net/tun");
        let mut request = [0u8; 40]; // struct ifreq: a name of 16 bytes, flags
        request[..3].copy_from_slice(b"box");
        let flags = (libc::IFF_TUN | libc::IFF_NO_PI) as u16;
        request[16..18].copy_from_slice(&flags.to_ne_bytes());
        // SAFETY: the kernel reads and writes a `struct ifreq`, which is 40 bytes.
        let done = unsafe { libc::ioctl(file.as_raw_fd(), 0x4004_54ca, request.as_mut_ptr()) };
        assert_eq!(done, 0, "TUNSETIFF: {}", std::io::Error::last_os_error());
        file
    })
}

impl Middlebox {
    /// Connects two hosts, and forwards all packets unchanged.
    pub fn between(a: &Namespace, b: &Namespace) -> Self {
        let state = State {
            mode: AtomicU8::new(Mode::Pass as u8),
            spoilt: AtomicUsize::new(0),
            over: AtomicBool::new(false),
        };
        let (state, a, b) = (Arc::new(state), tun(a), tun(b));
        let way = |from: &File, to: &File| {
            let (state, from, to) = (state.clone(), from.try_clone(), to.try_clone());
            let (from, to) = (from.expect("a descriptor"), to.expect("a descriptor"));
            thread::spawn(move || forward(&state, from, to))
        };
        let ways = vec![way(&a, &b), way(&b, &a)];
        Self { state, ways }
    }

    /// Sets the action for further packets.
    pub fn set(&self, mode: Mode) {
        self.state.mode.store(mode as u8, Relaxed);
    }

    /// Number of changed packets.
    pub fn spoilt(&self) -> usize {
        self.state.spoilt.load(Relaxed)
    }
}

impl Drop for Middlebox {
    fn drop(&mut self) {
        self.state.over.store(true, Relaxed);
        for way in self.ways.drain(..) {
            let _ = way.join();
        }
    }
}

fn forward(state: &State, mut from: File, mut to: File) {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    let mut packet = [0u8; 65_536];
    while !state.over.load(Relaxed) {
        let mut events = [PollFd::new(from.as_fd(), PollFlags::POLLIN)];
        let _ = poll(&mut events, PollTimeout::from(50u8));
        loop {
            match from.read(&mut packet) {
                Ok(length) => {
                    treat(state, &mut packet[..length]);
                    let _ = to.write_all(&packet[..length]); // a device that is down drops the packet
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => break, // the device is not up yet
            }
        }
    }
}

/// Changes a packet if the action requires it. Packets are complete and have checksums: the device has no offloads.
fn treat(state: &State, packet: &mut [u8]) {
    let mode = state.mode.load(Relaxed);
    if mode == Mode::Pass as u8 || packet.len() < 40 || packet[0] >> 4 != 4 || packet[9] != TCP {
        return;
    }
    let (addresses, tcp) = packet.split_at_mut(usize::from(packet[0] & 15) * 4);
    let header = usize::from(tcp[12] >> 4) * 4;
    if tcp[13] & SYN != 0 || header > tcp.len() {
        return;
    }
    let mut at = 20;
    let mut found = false;
    while at + 1 < header && tcp[at] != 0 {
        let length = if tcp[at] == NOP {
            1
        } else {
            usize::from(tcp[at + 1]).max(2)
        };
        let end = (at + length).min(header);
        if tcp[at] == MPTCP {
            let option = &mut tcp[at..end];
            if mode == Mode::Strip as u8 {
                option.fill(NOP);
                found = true;
            } else if let Some(checksum) = checksum_of(option) {
                option[checksum] ^= 0x55;
                found = true;
                state.mode.store(Mode::Pass as u8, Relaxed);
            }
        }
        at = end;
    }
    if !found {
        return;
    }
    state.spoilt.fetch_add(1, Relaxed);
    tcp[16..18].fill(0);
    let length = (tcp.len() as u32).to_be_bytes();
    let pseudo = [&addresses[12..20], &[0, TCP], &length[2..]].concat();
    let sum = !(fold(sum(&pseudo) + sum(tcp)));
    tcp[16..18].copy_from_slice(&sum.to_be_bytes());
}

/// Offset of the checksum in a data sequence mapping (RFC 8684, 3.3, figure 9).
fn checksum_of(option: &[u8]) -> Option<usize> {
    if option.len() < 4 || option[2] >> 4 != DSS {
        return None;
    }
    let has = |bit: u8| option[3] & bit != 0;
    let acknowledgement = if has(1) {
        if has(2) { 8 } else { 4 }
    } else {
        0
    };
    let mapping = if has(8) { 8 } else { 4 } + 4 + 2;
    let at = 4 + acknowledgement + mapping;
    (has(4) && option.len() == at + 2).then_some(at)
}

fn sum(bytes: &[u8]) -> u32 {
    bytes
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)))
        .sum()
}

fn fold(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}
