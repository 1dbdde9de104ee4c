//! The server of a transfer: accepts, writes the data, and samples the subflows.

use std::io::{ErrorKind, Write};
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Duration;

use netsim::{Clock, RealClock, Span, Time};
use socket2::Socket;
use transport::Application;

use super::limits::State;
use super::socket::{self, Reset};
use super::source::{Source, until};
use super::stream::rest;
use super::transfer::{Observation, Sample, Tick, Transfer};
use crate::error::Error;

/// Time between two samples of the sender.
const SAMPLE_INTERVAL: Span = Span::from_millis(1);

/// Serves the first client of `listener`, which has started to connect at the time that `start` receives, until all data is acknowledged
/// or the transfer is over. Returns the socket, too: the receiver is to stop before it is closed.
pub(super) fn send(
    transfer: &Transfer<'_>,
    application: Application,
    clock: RealClock,
    listener: Socket,
    start: Receiver<Time>,
) -> Result<(Observation, Option<Reset>), Error> {
    let begun = start.recv();
    // The client returns the cause if it has not connected.
    let begun = begun.map_err(|_| match transfer.cancelled.load(Ordering::Relaxed) {
        true => Error::Interrupted,
        false => Error::kernel("the client")(std::io::Error::from(ErrorKind::NotConnected)),
    })?;
    let mut observed = Observation {
        start: begun,
        ..Observation::default()
    };
    let mut application = Some(application);
    let mut connection: Option<(Reset, Source)> = None;
    let mut writer = Writer::new(transfer.data);
    loop {
        let now = clock.now();
        if transfer.cancelled.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        if transfer.is_over(now) {
            break;
        }
        let mut due = None;
        match &mut connection {
            None => match listener.accept() {
                Ok((socket, _)) => {
                    let socket = Reset(socket);
                    socket
                        .set_nonblocking(true)
                        .map_err(Error::kernel("O_NONBLOCK"))?;
                    socket
                        .set_tcp_nodelay(true)
                        .map_err(Error::kernel("TCP_NODELAY"))?;
                    let source = application
                        .take()
                        .map(|data| Source::new(data, transfer.unit, now));
                    connection = source.map(|source| (socket, source));
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(Error::kernel("accepting")(error)),
            },
            Some((socket, source)) => {
                let available = source.advance(now, observed.delivered.acknowledged);
                writer.write(socket, available, transfer.send_buffer)?;
                if transfer.samples_at(now, &observed) {
                    let is_blocked = writer.written < available;
                    sample(
                        transfer,
                        socket,
                        source,
                        &writer,
                        is_blocked,
                        now,
                        &mut observed,
                    )?;
                }
                if source.is_done() {
                    observed.end = Some(now);
                    break;
                }
                due = source.next();
            }
        }
        let pause = until(due, clock.now(), SAMPLE_INTERVAL);
        thread::sleep(Duration::from_nanos(pause.as_nanos()));
    }
    Ok((observed, connection.map(|(socket, _)| socket)))
}

/// Samples the subflows of a sender. `is_blocked`: its socket has not taken all data.
fn sample(
    transfer: &Transfer<'_>,
    socket: &Socket,
    source: &mut Source,
    writer: &Writer,
    is_blocked: bool,
    now: Time,
    observed: &mut Observation,
) -> Result<(), Error> {
    let waiting = socket::unacknowledged(socket)?;
    let (subflows, progress) = socket::subflows(socket, transfer.protocol)?;
    let state = State {
        protocol: transfer.protocol,
        subflows: &subflows,
        progress: &progress,
        is_blocked,
        unassigned: socket::unsent(socket)?,
    };
    let bytes: Vec<u64> = progress
        .iter()
        .map(|progress| progress.acknowledged)
        .collect();
    let ends = subflows.iter().map(|s| (s.local, s.remote_port));
    let delivered = &mut observed.delivered;
    let elapsed = now.since(delivered.time.max(observed.start));
    delivered.limits.add(&state, elapsed);
    delivered.time = now;
    delivered.acknowledged = writer.written - waiting.min(writer.written);
    delivered.bytes.extend(ends.zip(bytes.iter().copied()));
    source.advance(now, delivered.acknowledged);
    if now <= transfer.warm {
        observed.before = delivered.clone();
    }
    if transfer.ticks_at(now, observed) || transfer.series.is_some() && source.is_done() {
        observed.last_tick = now;
        observed.ticks.push(Tick {
            time: now,
            subflows: subflows.iter().copied().zip(bytes).collect(),
        });
    }
    let last = observed.samples.last();
    if last.is_none_or(|last| last.subflows != subflows) {
        observed.samples.push(Sample {
            time: now,
            subflows,
        });
    }
    Ok(())
}

/// Writes the stream.
struct Writer<'a> {
    data: &'a [u8],
    /// Bytes that the socket has taken.
    written: u64,
}

impl<'a> Writer<'a> {
    fn new(data: &'a [u8]) -> Self {
        Self { data, written: 0 }
    }

    /// Writes until the socket takes no more, or has `available` bytes in all, or its send buffer has its `largest` size and is full.
    ///
    /// A write fills up the last sk_buff regardless of memory, again and again while the congestion window lets a part of it leave
    /// (tcp_sendmsg_locked): writes of more than the free memory would exceed the buffer by the free part of that window.
    fn write(
        &mut self,
        socket: &mut Socket,
        available: u64,
        largest: Option<u32>,
    ) -> Result<(), Error> {
        while self.written < available {
            let rest = rest(self.data, self.written);
            let room = largest.map_or(Ok(u64::MAX), |largest| socket::room(socket, largest))?;
            let length = (available - self.written).min(rest.len() as u64);
            let length = length.min(room) as usize;
            if length == 0 {
                break;
            }
            match socket.write(&rest[..length]) {
                Ok(bytes) => self.written += bytes as u64,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(Error::kernel("sending")(error)),
            }
        }
        Ok(())
    }
}
