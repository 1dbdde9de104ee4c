//! Throughput of sockets: differences of their byte counters between two listings.

use super::{Found, Socket};
use std::collections::HashMap;
use std::net::SocketAddr;

/// Identifies a socket in two listings. The kernel reuses the address of a closed socket, but hardly for the same connection.
pub(super) type SocketId = (u64, u32, SocketAddr);

/// Counters of a socket at one time.
#[derive(Clone, Copy, Debug)]
struct Reading {
    /// ns, CLOCK_MONOTONIC.
    time: u64,
    acked: u64,
    received: u64,
}

/// Counters of all sockets of a listing.
#[derive(Debug, Default)]
pub(super) struct Readings(HashMap<SocketId, Reading>);

impl Readings {
    pub(super) fn of(found: &Found) -> Self {
        let sockets = found.holders.values().flat_map(|holders| &holders.sockets);
        Self(sockets.map(|s| (s.id(), s.reading())).collect())
    }
}

impl Found {
    /// Computes the throughput of each socket that an earlier listing has, too.
    pub(super) fn add_throughputs(&mut self, before: &Readings) {
        let all = self.holders.values_mut();
        for socket in all.flat_map(|holders| &mut holders.sockets) {
            if let Some(before) = before.0.get(&socket.id()) {
                socket.add_throughput(before);
            }
        }
    }
}

impl Socket {
    pub(super) fn id(&self) -> SocketId {
        (self.address, self.connection, self.remote)
    }

    fn reading(&self) -> Reading {
        Reading {
            time: self.read,
            acked: self.bytes_acked,
            received: self.bytes_received,
        }
    }

    fn add_throughput(&mut self, before: &Reading) {
        let elapsed_s = self.read.saturating_sub(before.time) as f64 / 1e9;
        let rate = |now: u64, then: u64| {
            let bytes = now.checked_sub(then)?;
            (elapsed_s > 0.0).then(|| bytes as f64 * 8.0 / elapsed_s)
        };
        self.sent_bps = rate(self.bytes_acked, before.acked);
        self.received_bps = rate(self.bytes_received, before.received);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::socket;
    use super::*;
    use crate::holders::Holders;

    fn listing(sockets: Vec<Socket>) -> Found {
        let mut found = Found::default();
        let holders = Holders {
            sockets,
            ..Holders::default()
        };
        found.holders.insert(1, holders);
        found
    }

    fn rates(found: &Found) -> Vec<(Option<f64>, Option<f64>)> {
        let sockets = found.holders[&1].sockets.iter();
        sockets.map(|s| (s.sent_bps, s.received_bps)).collect()
    }

    #[test]
    fn a_rate_is_the_difference_over_the_time() {
        let mut early = socket("10.0.0.1:5000", "10.0.0.2:80");
        (early.read, early.bytes_acked, early.bytes_received) = (1_000_000_000, 1000, 50);
        let before = Readings::of(&listing(vec![early.clone()]));
        let mut late = early.clone();
        (late.read, late.bytes_acked) = (1_500_000_000, 1_001_000);
        let mut found = listing(vec![late]);
        found.add_throughputs(&before);
        assert_eq!(rates(&found), [(Some(16e6), Some(0.0))]);
    }

    #[test]
    fn a_rate_needs_two_readings_of_one_socket() {
        let early = socket("10.0.0.1:5000", "10.0.0.2:80");
        let before = Readings::of(&listing(vec![early.clone()]));
        // The address of a closed socket, in another connection.
        let mut other = early.clone();
        (other.connection, other.read, other.bytes_acked) = (7, 9, 9);
        // Not read since.
        let same = early.clone();
        // The counter of a socket does not decrease.
        let mut smaller = early.clone();
        (smaller.read, smaller.bytes_acked) = (early.read + 1, early.bytes_acked - 1);
        let mut found = listing(vec![other, same, smaller]);
        found.add_throughputs(&before);
        assert_eq!(
            rates(&found),
            [(None, None), (None, None), (None, Some(0.0))]
        );
    }
}
