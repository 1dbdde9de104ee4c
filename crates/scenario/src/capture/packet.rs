//! Simulated packets as bytes: IPv4, and TCP with the options of MPTCP, or UDP.
//!
//! Some fields are not simulated:
//! - Timestamps are those of a clock of milliseconds, like Linux's. The server's is the time of sending. The client's is
//!   the time of arrival here, since the time of sending is not recorded.
//! - The server's own window, and the client's in a SYN, are the initial window.
//! - The payload is zeros.
//!
//! Older profiles also have the MPTCP of RFC 8684.

use std::net::SocketAddrV4;

use etherparse::{IpEcn, IpNumber, Ipv4Header, TcpHeader, UdpHeader};
use transport::{Content, Flow, Packet};

use super::addresses::{Endpoints, Pair};
use super::fields::{State, SubflowContext};
use super::packets::Captured;

/// Time to live (Linux: net.ipv4.ip_default_ttl).
const TTL: u8 = 64;
/// Largest payload, bytes.
const MAX_PAYLOAD: usize = 65_535;
/// Codepoint of an ECN-capable packet: ECT(0), as in Linux (RFC 3168, 5).
const ECT_0: IpEcn = IpEcn::Ect0;

/// The bytes of a packet without its payload of zeros.
pub(super) struct Encoded {
    /// Headers.
    pub(super) head: Vec<u8>,
    /// Length of the payload, bytes.
    pub(super) payload: usize,
}

/// Encodes the packets of a run in order of time.
pub(super) struct Encoder<'a> {
    endpoints: &'a Endpoints,
    /// State of each subflow.
    states: Vec<State>,
    /// Payload for checksums.
    zeros: Vec<u8>,
}

impl<'a> Encoder<'a> {
    pub(super) fn new(endpoints: &'a Endpoints) -> Self {
        Self {
            endpoints,
            states: vec![State::default(); endpoints.subflows.len()],
            zeros: vec![0; MAX_PAYLOAD],
        }
    }

    pub(super) fn encode(&mut self, captured: Captured<'_>) -> Encoded {
        let packet = captured.packet;
        let id = match packet.flow {
            Flow::Subflow(id) => id,
            Flow::Udp(source) => return self.datagram(packet, source),
        };
        let subflow = SubflowContext::new(self.endpoints, id);
        let connection = subflow.connection;
        let state = &mut self.states[subflow.number()];
        let fields = state.fields(&subflow, captured);
        let mut tcp = TcpHeader {
            sequence_number: fields.seq,
            acknowledgment_number: fields.ack,
            window_size: fields.window,
            ack: true,
            ..TcpHeader::default()
        };
        let mut ecn = IpEcn::default();
        match packet.content {
            Content::Syn { .. } => {
                (tcp.syn, tcp.ack) = (true, false);
                (tcp.ece, tcp.cwr) = (connection.ecn, connection.ecn);
            }
            Content::SynAck { .. } => (tcp.syn, tcp.ece) = (true, connection.ecn),
            Content::Data {
                pushed,
                ecn_capable,
                reduced,
                ..
            } => {
                tcp.psh = pushed;
                tcp.cwr = reduced;
                if ecn_capable {
                    ecn = ECT_0;
                }
            }
            Content::Ack { echo, .. } => tcp.ece = echo,
            Content::Reset => tcp.rst = true,
            _ => {}
        }
        tcp.set_options_raw(fields.options.bytes())
            .expect("options have 40 bytes at most");
        let Pair { server, client } = subflow.addresses();
        let (from, to) = if fields.is_outgoing {
            (server, client)
        } else {
            (client, server)
        };
        (tcp.source_port, tcp.destination_port) = (from.port(), to.port());
        let payload = &self.zeros[..fields.payload.into()];
        let length = tcp.header_len() + payload.len();
        let ip = header(from, to, IpNumber::TCP, ecn, length);
        tcp.checksum = tcp
            .calc_checksum_ipv4(&ip, payload)
            .expect("it fits into a packet");
        let head = [&ip.to_bytes()[..], &tcp.to_bytes()[..]].concat();
        debug_assert_eq!(
            head.len() + payload.len(),
            packet.bytes as usize,
            "{packet:?}"
        );
        Encoded {
            head,
            payload: payload.len(),
        }
    }

    fn datagram(&self, packet: &Packet, source: u32) -> Encoded {
        let Pair { server, client } = self.endpoints.udp[source as usize];
        let length = packet.bytes as usize - Ipv4Header::MIN_LEN;
        let payload = &self.zeros[..length - UdpHeader::LEN];
        let ip = header(server, client, IpNumber::UDP, IpEcn::default(), length);
        let udp = UdpHeader::with_ipv4_checksum(server.port(), client.port(), &ip, payload);
        let udp = udp.expect("it fits into a packet");
        let head = [&ip.to_bytes()[..], &udp.to_bytes()[..]].concat();
        Encoded {
            head,
            payload: payload.len(),
        }
    }
}

fn header(
    from: SocketAddrV4,
    to: SocketAddrV4,
    protocol: IpNumber,
    ecn: IpEcn,
    length: usize,
) -> Ipv4Header {
    let addresses = [from.ip().octets(), to.ip().octets()];
    let mut ip = Ipv4Header::new(0, TTL, protocol, addresses[0], addresses[1])
        .expect("it has no payload yet");
    ip.set_payload_len(length).expect("it fits into a packet");
    ip.ecn = ecn;
    ip.header_checksum = ip.calc_header_checksum();
    ip
}
