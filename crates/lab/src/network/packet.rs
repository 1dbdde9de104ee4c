//! IPv4 packets (RFC 791) as payload of the links: flow, ECN mark, destination.

use std::net::Ipv4Addr;

use netsim::Payload;

use crate::linux::tun::MTU;

/// The two ECN bits of the second byte of the header (RFC 3168 section 5).
const ECN: u8 = 0b11;

/// Protocols with ports in their first four bytes (IANA's numbers).
const TCP: u8 = 6;
const UDP: u8 = 17;

/// A buffer with a packet. The size of the packet is its size in the network.
#[derive(Debug)]
pub(crate) struct Packet(pub(crate) Box<[u8; MTU]>);

impl Default for Packet {
    fn default() -> Self {
        Self(Box::new([0; MTU]))
    }
}

impl Payload for Packet {
    /// Hash of protocol, addresses and, for TCP and UDP, ports.
    fn flow(&self) -> u64 {
        let header = &self.0;
        let protocol = header[9];
        // The header's length is in words of four bytes, in the last four bits of the first byte.
        let ports = 4 * usize::from(header[0] & 0xf);
        let words = [
            word(&header[12..16]),
            word(&header[16..20]),
            if matches!(protocol, TCP | UDP) {
                word(&header[ports..ports + 4])
            } else {
                0
            },
            u64::from(protocol),
        ];
        // FNV-1a by words; the queue mixes the result once more.
        words.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, word| {
            (hash ^ word).wrapping_mul(0x0100_0000_01b3)
        })
    }

    fn mark(&mut self) -> bool {
        let header = &mut self.0;
        if header[1] & ECN == 0 {
            return false;
        }
        // RFC 1624: the checksum is a ones' complement sum, so only the difference of the changed word is added.
        let added = u16::from(ECN - (header[1] & ECN));
        header[1] |= ECN;
        let checksum = u16::from_be_bytes([header[10], header[11]]);
        let (sum, carry) = (!checksum).overflowing_add(added);
        let checksum = !(sum + u16::from(carry));
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
        true
    }
}

fn word(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// Destination of an IPv4 packet; `None` for other packets.
pub(crate) fn destination(packet: &[u8]) -> Option<Ipv4Addr> {
    // RFC 791: the version in the first four bits, the destination in bytes 16 to 19.
    let address: [u8; 4] = packet.get(16..20)?.try_into().ok()?;
    (packet[0] >> 4 == 4).then(|| address.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A TCP packet of 40 bytes with ECN field `ecn` and a valid checksum.
    fn packet(ecn: u8, from_port: u8) -> Packet {
        let mut packet = Packet::default();
        let header = &mut packet.0;
        header[..10].copy_from_slice(&[0x45, 0xb8 | ecn, 0, 40, 0x12, 0x34, 0x40, 0, 64, TCP]);
        header[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 3, 1]);
        header[20..24].copy_from_slice(&[0x9c, from_port, 0x13, 0x89]);
        let checksum = !sum(&header[..20]);
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
        packet
    }

    /// The ones' complement sum of a header (RFC 1071): 0xffff with a valid checksum.
    fn sum(header: &[u8]) -> u16 {
        let words = header
            .chunks(2)
            .map(|word| u32::from(word[0]) << 8 | u32::from(word[1]));
        let sum: u32 = words.sum();
        ((sum & 0xffff) + (sum >> 16)) as u16
    }

    #[test]
    fn a_mark_keeps_the_checksum_right() {
        for ecn in 0..4 {
            let mut packet = packet(ecn, 0x40);
            assert_eq!(packet.mark(), ecn > 0);
            assert_eq!(packet.0[1], if ecn == 0 { 0xb8 } else { 0xbb });
            assert_eq!(sum(&packet.0[..20]), 0xffff, "ECN field {ecn}");
        }
    }

    #[test]
    fn a_flow_is_protocol_addresses_and_ports() {
        let flow = packet(0, 0x40).flow();
        assert_eq!(packet(3, 0x40).flow(), flow);
        assert_ne!(packet(0, 0x41).flow(), flow);
        let mut icmp = packet(0, 0x40);
        icmp.0[9] = 1;
        let ping = icmp.flow();
        icmp.0[21] = 0x41;
        assert_eq!(icmp.flow(), ping);
        assert_ne!(ping, flow);
        // Options move the ports.
        let mut options = packet(0, 0x40);
        options.0[0] = 0x46;
        assert_ne!(options.flow(), flow);
    }

    #[test]
    fn only_ipv4_has_a_destination() {
        let packet = packet(0, 0x40);
        let packet = &packet.0[..40];
        assert_eq!(destination(packet), Some(Ipv4Addr::new(10, 0, 3, 1)));
        assert_eq!(destination(&packet[..19]), None);
        assert_eq!(destination(&[0x60; 40]), None);
        assert_eq!(destination(&[]), None);
    }
}
