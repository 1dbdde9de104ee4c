//! Packets of a simulation in memory, as the simulator reports them.

use netsim::Time;
use transport::{ByteRange, Packet};

/// Packets in order of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packets {
    packets: Vec<Recorded>,
    /// SACK blocks of all packets, one after another.
    sack: Vec<ByteRange>,
}

/// A packet with its SACK blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Captured<'a> {
    pub(super) at: Time,
    pub(super) packet: &'a Packet,
    pub(super) sack: &'a [ByteRange],
}

#[derive(Clone, Debug)]
struct Recorded {
    at: Time,
    packet: Packet,
    /// Number of SACK blocks.
    sack_blocks: u8,
}

impl Packets {
    /// Adds a packet with its SACK blocks.
    pub(crate) fn push(&mut self, at: Time, packet: &Packet, sack: &[ByteRange]) {
        self.packets.push(Recorded {
            at,
            packet: *packet,
            sack_blocks: sack.len() as u8,
        });
        self.sack.extend(sack);
    }

    /// Number of packets.
    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Captured<'_>> {
        let mut sack = &self.sack[..];
        self.packets.iter().map(move |recorded| {
            let (own, rest) = sack.split_at(recorded.sack_blocks.into());
            sack = rest;
            Captured {
                at: recorded.at,
                packet: &recorded.packet,
                sack: own,
            }
        })
    }
}
