//! The thread that carries packets between the TUN ports and the links, in real time.

use std::io;
use std::iter;
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use netsim::{Arrival, Clock, Exit, LinkCounters, PortId, Ports, RealClock, Span, Time, drive};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::prctl::set_timerslack;
use nix::sys::time::TimeSpec;

use super::hosts::NetworkSpec;
use super::packet::{Packet, destination};
use super::wiring::Wiring;
use crate::error::Error;
use crate::linux::tun::Tun;

/// Lateness of packets: delay beyond the computed one, added by the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lateness {
    /// Number of delivered packets.
    pub packets: u64,
    /// Mean lateness.
    pub mean: Span,
    /// Largest lateness.
    pub max: Span,
}

/// Captured packets, each with its time at a server's port.
pub(crate) type Packets = Vec<(Time, Box<[u8]>)>;

/// Results of the emulator from its start to its stop.
#[derive(Debug)]
pub(crate) struct Report {
    /// The captured packets.
    pub(crate) packets: Option<Packets>,
    pub(crate) duration: Span,
    pub(crate) links: Vec<(String, LinkCounters)>,
    pub(crate) lateness: Lateness,
    pub(crate) unrouted: u64,
    pub(crate) undelivered: u64,
}

/// Time from which links are counted, ns; 0: from the start.
type CountFrom = Arc<AtomicU64>;

/// The running thread. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Emulator {
    stop: Arc<EventFd>,
    count_from: CountFrom,
    thread: Option<JoinHandle<io::Result<Report>>>,
}

impl Emulator {
    /// Starts the thread. The links' times are those of `clock`. `ports` are in the order of the wiring's. `captures`: whether it stores the packets from and to
    /// the servers' ports, in memory, because writing a file would delay packets.
    pub(crate) fn start(
        spec: &NetworkSpec,
        ports: Arc<[Tun]>,
        clock: RealClock,
        captures: bool,
    ) -> Result<Self, Error> {
        let what = "starting the emulator's thread";
        let stop = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)
            .map_err(Error::kernel(what))?;
        let stop = Arc::new(stop);
        let wiring = Wiring::new(spec);
        let stopped = Arc::clone(&stop);
        let count_from = CountFrom::default();
        let counts = Arc::clone(&count_from);
        let thread = thread::Builder::new()
            .name("lisa-emulator".into())
            .spawn(move || Pump::new(clock, wiring, &ports, &stopped, counts, captures).run())
            .map_err(Error::kernel(what))?;
        Ok(Self {
            stop,
            count_from,
            thread: Some(thread),
        })
    }

    /// Counts the packets of the links from this time on.
    pub(crate) fn count_from(&self, time: Time) {
        self.count_from.store(time.as_nanos(), Ordering::Relaxed);
    }

    /// Stops the thread and returns its results.
    pub(crate) fn stop(mut self) -> Result<Report, Error> {
        self.join().map_or_else(
            || Err(Error::State("does not run")),
            |report| report.map_err(Error::kernel("carrying packets")),
        )
    }

    fn join(&mut self) -> Option<io::Result<Report>> {
        let thread = self.thread.take()?;
        // Fails only if the counter would overflow, in which case it is set.
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

/// State of the thread, without the network itself.
struct Pump<'a> {
    clock: RealClock,
    wiring: Wiring<Packet>,
    ports: &'a [Tun],
    /// The event that stops the thread, then each port.
    fds: Vec<PollFd<'a>>,
    count_from: CountFrom,
    /// Whether that time has come.
    counts: bool,
    /// For each port, whether it may have a packet to read.
    readable: Vec<bool>,
    /// Unused buffers.
    spare: Vec<Packet>,
    lateness: Lateness,
    /// Sum of the lateness of all packets, ns.
    total_lateness: u64,
    unrouted: u64,
    undelivered: u64,
    failure: Option<io::Error>,
    packets: Option<Packets>,
}

impl<'a> Pump<'a> {
    fn new(
        clock: RealClock,
        wiring: Wiring<Packet>,
        ports: &'a [Tun],
        stop: &'a EventFd,
        count_from: CountFrom,
        captures: bool,
    ) -> Self {
        let readable = vec![true; ports.len()];
        let fds = iter::once(stop.as_fd()).chain(ports.iter().map(AsFd::as_fd));
        Self {
            clock,
            wiring,
            ports,
            fds: fds.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect(),
            count_from,
            counts: false,
            readable,
            spare: Vec::new(),
            lateness: Lateness::default(),
            total_lateness: 0,
            unrouted: 0,
            undelivered: 0,
            failure: None,
            packets: captures.then(Packets::new),
        }
    }

    fn run(mut self) -> io::Result<Report> {
        raise_priority();
        let mut network = std::mem::take(&mut self.wiring.network);
        drive(&mut network, &mut self);
        let mut before = None;
        if self.counts {
            let now = self.clock.now();
            before = Some((now, network.counters(now)));
            drive(&mut network, &mut self);
        }
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let now = self.clock.now();
        let mean = self
            .total_lateness
            .checked_div(self.lateness.packets)
            .unwrap_or_default();
        self.lateness.mean = Span::from_nanos(mean);
        let mut counters = network.counters(now);
        if let Some((from, before)) = before {
            for (link, earlier) in counters.iter_mut().zip(&before) {
                *link = link.since(earlier, from, now);
            }
        }
        Ok(Report {
            packets: self.packets,
            duration: now.since(Time::ZERO),
            links: self.wiring.names.into_iter().zip(counters).collect(),
            lateness: self.lateness,
            unrouted: self.unrouted,
            undelivered: self.undelivered,
        })
    }

    /// Reads `port` up to the next packet with a route; `None` if there is none.
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

    /// Whether links are counted from now on.
    fn is_time_to_count(&self) -> bool {
        let from = self.count_from.load(Ordering::Relaxed);
        from > 0 && self.clock.now().as_nanos() >= from
    }

    /// Stores a packet from or to this port, if it is one of a server.
    fn capture(&mut self, port: PortId, packet: &[u8]) {
        if let Some(packets) = &mut self.packets {
            if self.wiring.is_server(port) {
                packets.push((self.clock.now(), packet.into()));
            }
        }
    }
}

impl Clock for Pump<'_> {
    fn now(&self) -> Time {
        self.clock.now()
    }
}

impl Ports<Packet> for Pump<'_> {
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
                self.total_lateness += late.as_nanos();
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
        if !self.counts && self.is_time_to_count() {
            self.counts = true;
            return ControlFlow::Break(());
        }
        let timeout = next.map(|next| TimeSpec::from_duration(self.clock.until(next).into()));
        match ppoll(&mut self.fds, timeout, None) {
            Ok(_) => {}
            Err(Errno::EINTR) => return ControlFlow::Continue(()),
            Err(error) => {
                self.failure = Some(error.into());
                return ControlFlow::Break(());
            }
        }
        for (readable, fd) in self.readable.iter_mut().zip(&self.fds[1..]) {
            *readable = fd.any().unwrap_or(true);
        }
        if self.fds[0].any().unwrap_or(true) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Gives the calling thread real-time priority, if that is permitted: a packet that waits for the processor is late. Otherwise the
/// result is visible in [`Lateness`].
fn raise_priority() {
    // Wake at the requested time, not up to 50 µs later: see PR_SET_TIMERSLACK in prctl(2).
    let _ = set_timerslack(1);
    // The lowest real-time priority precedes every ordinary thread.
    let lowest = libc::sched_param { sched_priority: 1 };
    // SAFETY: the call reads one sched_param, the type of `lowest`; 0 is the calling thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &lowest) };
}
