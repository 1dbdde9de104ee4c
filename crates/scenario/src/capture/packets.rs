//! Packets of a simulation in memory, as the simulator reports them.

use netsim::Time;
use transport::Packet;

/// Packets in order of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packets {
    packets: Vec<Recorded>,
    /// SACK blocks of all packets, one after another.
    sack: Vec<(u64, u64)>,
}

#[derive(Clone, Debug)]
struct Recorded {
    at: Time,
    packet: Packet,
    /// Number of SACK blocks.
    sack_blocks: u8,
}

impl Packets {
    /// Adds a packet with its SACK blocks: first byte, and first byte after the block.
    pub(crate) fn push(&mut self, at: Time, packet: &Packet, sack: &[(u64, u64)]) {
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

    /// Each packet with its SACK blocks.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Time, &Packet, &[(u64, u64)])> {
        let mut sack = &self.sack[..];
        self.packets.iter().map(move |recorded| {
            let (own, rest) = sack.split_at(recorded.sack_blocks.into());
            sack = rest;
            (recorded.at, &recorded.packet, own)
        })
    }
}
