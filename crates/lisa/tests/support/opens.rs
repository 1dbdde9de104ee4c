//! Connections that open, carry a byte there and back, and close, many at a time.

use super::PATIENCE;
use super::stream::{connect, joined};
use lab::Namespace;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use socket2::{SockRef, Socket};
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// Number of threads that open and close connections.
const THREADS: u64 = 4;

/// The endpoints of the connections.
pub struct Clients<'a> {
    pub algorithm: &'a str,
    pub host: &'a Namespace,
    /// The client's addresses, which take turns: a closed connection keeps its port for a minute, and an address has 28 000.
    pub from: Vec<IpAddr>,
    pub to: SocketAddr,
}

impl Clients<'_> {
    /// Opens and closes this number of connections to the listener. Calls `look` now and then with the number so far.
    pub fn open_and_close(&self, opens: u64, listener: &Socket, mut look: impl FnMut(u64)) {
        listener.set_nonblocking(true).expect("a socket");
        let (over, done) = (AtomicBool::new(false), AtomicU64::new(0));
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| answer(listener, &over));
            }
            let clients: Vec<_> = (0..THREADS)
                .map(|thread| {
                    let done = &done;
                    scope.spawn(move || {
                        let mine = opens / THREADS + u64::from(thread < opens % THREADS);
                        self.host
                            .run(|| self.one_after_the_other(thread, mine, done));
                    })
                })
                .collect();
            while !clients.iter().all(thread::ScopedJoinHandle::is_finished) {
                look(done.load(Relaxed));
                thread::sleep(Duration::from_millis(20));
            }
            over.store(true, Relaxed);
            for client in clients {
                client.join().unwrap_or_else(|panic| resume_unwind(panic));
            }
        });
    }

    /// Every second connection ends with a reset (SO_LINGER 0), and every fourth waits until a second subflow had
    /// time to join.
    fn one_after_the_other(&self, thread: u64, opens: u64, done: &AtomicU64) {
        for open in 0..opens {
            let from = (open * THREADS + thread) as usize % self.from.len();
            let connection = connect(self.algorithm, Some(self.from[from]), self.to);
            let mut connection = connection.expect("a connection");
            let mut byte = [open as u8];
            connection.write_all(&byte).expect("sent");
            connection.read_exact(&mut byte).expect("answered");
            assert_eq!(byte, [open as u8], "bytes arrive as they were sent");
            if open % 4 == 0 {
                let deadline = Instant::now() + Duration::from_millis(20);
                while joined(&connection) == 0 && Instant::now() < deadline {
                    thread::yield_now();
                }
            }
            if open % 2 == 0 {
                SockRef::from(&connection)
                    .set_linger(Some(Duration::ZERO))
                    .expect("a socket");
            }
            drop(connection);
            done.fetch_add(1, Relaxed);
        }
    }
}

/// Answers each connection's byte with one, and closes after the client.
fn answer(listener: &Socket, over: &AtomicBool) {
    while !over.load(Relaxed) {
        // Not with SO_RCVTIMEO, which MPTCP's accept ignores.
        let mut events = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
        let _ = poll(&mut events, PollTimeout::from(100u8));
        let Ok((connection, _)) = listener.accept() else {
            continue;
        };
        connection.set_nonblocking(false).expect("a socket");
        connection
            .set_read_timeout(Some(PATIENCE))
            .expect("a socket");
        let mut connection = TcpStream::from(connection);
        let mut byte = [0];
        // A reset by the client is no error here.
        if connection.read_exact(&mut byte).is_ok() && connection.write_all(&byte).is_ok() {
            let _ = connection.read(&mut byte);
        }
    }
}
