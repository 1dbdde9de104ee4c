//! The thread that carries packets between the TUN ports and the links, in real time.

use std::io;
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use netsim::{Arrival, Clock, Exit, LinkCounters, PortId, Ports, RealClock, Span, Time, drive};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::prctl::set_timerslack;
use nix::sys::time::TimeSpec;

use crate::error::Error;
use crate::packet::{Packet, destination};
use crate::tun::Tun;
use crate::wiring::{CLIENT_PORT, MAX_PATHS, NetworkSpec, Wiring};

/// The client's port and the server's.
const MAX_PORTS: usize = 1 + MAX_PATHS;

/// How much later than computed packets were handed over: what the machine added.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lateness {
    /// Packets handed over.
    pub packets: u64,
    /// On average.
    pub mean: Span,
    /// At worst.
    pub max: Span,
}

/// Packets, and when each was at the server.
pub(crate) type Packets = Vec<(Time, Box<[u8]>)>;

/// What the emulator saw from its start to its stop.
#[derive(Debug)]
pub(crate) struct Report {
    /// What it captured.
    pub(crate) packets: Option<Packets>,
    pub(crate) duration: Span,
    pub(crate) links: Vec<(String, LinkCounters)>,
    pub(crate) lateness: Lateness,
    pub(crate) unrouted: u64,
    pub(crate) undelivered: u64,
}

/// The running thread; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Emulator {
    stop: Arc<EventFd>,
    clock: RealClock,
    thread: Option<JoinHandle<io::Result<Report>>>,
}

impl Emulator {
    /// Starts the clock and the thread. The client's port is the first of `ports`. `captures`: whether it keeps what comes
    /// from the others and goes to them, in memory, since writing files would make packets late.
    pub(crate) fn start(
        spec: &NetworkSpec,
        ports: Arc<[Tun]>,
        captures: bool,
    ) -> Result<Self, Error> {
        let what = "starting the emulator's thread";
        let stop = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)
            .map_err(Error::kernel(what))?;
        let stop = Arc::new(stop);
        let clock = RealClock::start();
        let wiring = Wiring::new(spec)?;
        let stopped = Arc::clone(&stop);
        let thread = thread::Builder::new()
            .name("lisa-emulator".into())
            .spawn(move || Pump::new(clock, wiring, ports, stopped, captures).run())
            .map_err(Error::kernel(what))?;
        Ok(Self {
            stop,
            clock,
            thread: Some(thread),
        })
    }

    pub(crate) fn clock(&self) -> RealClock {
        self.clock
    }

    /// Stops the thread: what it saw.
    pub(crate) fn stop(mut self) -> Result<Report, Error> {
        self.join().map_or_else(
            || Err(Error::State("does not run")),
            |report| report.map_err(Error::kernel("carrying packets")),
        )
    }

    fn join(&mut self) -> Option<io::Result<Report>> {
        let thread = self.thread.take()?;
        // Fails only when the counter is about to overflow: then it is set.
        let _ = self.stop.write(1);
        Some(
            thread
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("the emulator panicked"))),
        )
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.join();
    }
}

/// Everything the thread has but the network itself.
struct Pump {
    clock: RealClock,
    wiring: Wiring<Packet>,
    ports: Arc<[Tun]>,
    stop: Arc<EventFd>,
    /// Whether each port may have a packet to read.
    readable: Vec<bool>,
    /// Buffers that no packet uses.
    spare: Vec<Packet>,
    lateness: Lateness,
    /// Sum of all lateness, in ns.
    late: u64,
    unrouted: u64,
    undelivered: u64,
    failure: Option<io::Error>,
    packets: Option<Packets>,
}

impl Pump {
    fn new(
        clock: RealClock,
        wiring: Wiring<Packet>,
        ports: Arc<[Tun]>,
        stop: Arc<EventFd>,
        captures: bool,
    ) -> Self {
        let readable = vec![true; ports.len()];
        Self {
            clock,
            wiring,
            ports,
            stop,
            readable,
            spare: Vec::new(),
            lateness: Lateness::default(),
            late: 0,
            unrouted: 0,
            undelivered: 0,
            failure: None,
            packets: captures.then(Packets::new),
        }
    }

    fn run(mut self) -> io::Result<Report> {
        hurry();
        let mut network = std::mem::take(&mut self.wiring.network);
        drive(&mut network, &mut self);
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let now = self.clock.now();
        let mean = self
            .late
            .checked_div(self.lateness.packets)
            .unwrap_or_default();
        self.lateness.mean = Span::from_nanos(mean);
        Ok(Report {
            packets: self.packets,
            duration: now.since(Time::ZERO),
            links: self
                .wiring
                .names
                .into_iter()
                .zip(network.counters(now))
                .collect(),
            lateness: self.lateness,
            unrouted: self.unrouted,
            undelivered: self.undelivered,
        })
    }

    /// Reads `port` until it has a packet with a route, or none.
    fn receive_at(&mut self, port: usize) -> io::Result<Option<Arrival<Packet>>> {
        let mut buffer = self.spare.pop().unwrap_or_default();
        while let Some(bytes) = self.ports[port].read(&mut buffer.0)? {
            let destination = destination(&buffer.0[..bytes]);
            let port = PortId(port as u32);
            if let Some(route) = destination.and_then(|to| self.wiring.route(port, to)) {
                self.capture(port, &buffer.0[..bytes]);
                return Ok(Some(Arrival {
                    route,
                    bytes: bytes as u32,
                    payload: buffer,
                }));
            }
            self.unrouted += 1;
        }
        self.spare.push(buffer);
        Ok(None)
    }

    /// Keeps a packet that has come from this port or is to go there.
    fn capture(&mut self, port: PortId, packet: &[u8]) {
        if let Some(packets) = &mut self.packets {
            if port != CLIENT_PORT {
                packets.push((self.clock.now(), packet.into()));
            }
        }
    }
}

impl Clock for Pump {
    fn now(&self) -> Time {
        self.clock.now()
    }
}

impl Ports<Packet> for Pump {
    fn receive(&mut self) -> Option<Arrival<Packet>> {
        while let Some(port) = self.readable.iter().position(|readable| *readable) {
            match self.receive_at(port) {
                Ok(Some(arrival)) => return Some(arrival),
                Ok(None) => {}
                Err(error) => self.failure = Some(error),
            }
            self.readable[port] = false;
        }
        None
    }

    fn exit(&mut self, exit: Exit<Packet>) {
        let buffer = match exit {
            Exit::Lost { payload, .. } => payload,
            Exit::Arrived {
                at,
                port,
                bytes,
                payload,
            } => {
                let late = self.clock.now().since(at);
                self.lateness.packets += 1;
                self.lateness.max = self.lateness.max.max(late);
                self.late += late.as_nanos();
                let packet = &payload.0[..bytes as usize];
                self.capture(port, packet);
                if self.ports[port.0 as usize].write(packet).is_err() {
                    self.undelivered += 1;
                }
                payload
            }
        };
        self.spare.push(buffer);
    }

    fn wait(&mut self, next: Option<Time>) -> ControlFlow<()> {
        if self.failure.is_some() {
            return ControlFlow::Break(());
        }
        let timeout = next.map(|next| TimeSpec::from_duration(next.since(self.now()).into()));
        // The stop first, then each port; places that are left over repeat the stop.
        let mut fds: [_; 1 + MAX_PORTS] = std::array::from_fn(|i| {
            let port = i.checked_sub(1).and_then(|port| self.ports.get(port));
            let fd = port.map_or(self.stop.as_fd(), |port| port.as_fd());
            PollFd::new(fd, PollFlags::POLLIN)
        });
        match ppoll(&mut fds[..=self.ports.len()], timeout, None) {
            Ok(_) => {}
            Err(Errno::EINTR) => return ControlFlow::Continue(()),
            Err(error) => {
                self.failure = Some(error.into());
                return ControlFlow::Break(());
            }
        }
        for (readable, fd) in self.readable.iter_mut().zip(&fds[1..]) {
            *readable = fd.any().unwrap_or(true);
        }
        if fds[0].any().unwrap_or(true) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Puts the calling thread before all ordinary ones, where that is allowed: a packet that waits for
/// the processor is a late packet. Where it is not, `lateness` shows it.
fn hurry() {
    // Wake at the time asked for, not up to 50 µs later: see PR_SET_TIMERSLACK in prctl(2).
    let _ = set_timerslack(1);
    // The least real-time priority comes before every ordinary thread.
    let least = libc::sched_param { sched_priority: 1 };
    // SAFETY: the call reads one sched_param, which `least` is; 0 is the calling thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &least) };
}
