//! The client of a transfer: connects, and reads and checks the data.

use std::io::{ErrorKind, Read};
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::time::Duration;

use netsim::{Clock, RealClock, Time};

use super::socket::{self, Reset};
use super::stream::rest;
use super::transfer::{CHECK_INTERVAL, Transfer, wait};
use crate::error::Error;

/// Connects at the start of the transfer, which `started` receives, and reads `total` bytes, or until `finish` is disconnected.
pub(super) fn receive(
    transfer: &Transfer<'_>,
    total: Option<u64>,
    clock: RealClock,
    server: SocketAddr,
    started: Sender<Time>,
    finish: Receiver<()>,
) -> Result<(), Error> {
    let what = || format!("connecting to {server}");
    let mut socket = Reset(socket::open(transfer.protocol, transfer.algorithm)?);
    wait(transfer, clock)?;
    let timeout = Duration::from_nanos(transfer.stop.as_nanos()) + Duration::from_secs(1);
    let _ = started.send(clock.now());
    match socket.connect_timeout(&server.into(), timeout) {
        Ok(()) => {}
        // As in the simulator, the transfer did not finish. The server has closed, so that a late SYN is refused.
        Err(_) if transfer.is_over(clock.now()) => return Ok(()),
        Err(error) => return Err(Error::kernel(what())(error)),
    }
    socket
        .set_read_timeout(Some(CHECK_INTERVAL))
        .map_err(Error::kernel(what()))?;
    let (mut received, mut buffer) = (0, vec![0; 64 * 1024]);
    while total != Some(received) && finish.try_recv() == Err(TryRecvError::Empty) {
        match socket.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => {
                let expected = &rest(transfer.data, received)[..read];
                if buffer[..read] != *expected {
                    let pairs = buffer.iter().zip(expected);
                    let same = pairs.take_while(|(byte, sent)| byte == sent).count();
                    let wrong = format!("byte {} arrived changed", received + same as u64);
                    return Err(Error::kernel(wrong)(std::io::Error::from(
                        ErrorKind::InvalidData,
                    )));
                }
                received += read as u64;
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(Error::kernel("receiving")(error)),
        }
    }
    let _ = finish.recv(); // disconnected: the sender has finished
    Ok(())
}
