//! Simulated packets as bytes: IPv4, and TCP with the options of MPTCP, or UDP.
//!
//! What a simulated packet does not tell is filled in:
//! - Timestamps, of a clock of milliseconds as Linux's: a sender's of when it sends; a client's of when its packet comes in,
//!   for when it was sent is not known here.
//! - The server's own window, and the client's of a SYN.
//! - The payload, which is zeros.
//!
//! The MPTCP of an older profile is that of RFC 8684 as well.

use std::net::SocketAddrV4;

use etherparse::{IpEcn, IpNumber, Ipv4Header, TcpHeader, UdpHeader};
use netsim::Time;
use transport::{Content, Flow, Packet};

use super::ends::{Connection, Ends, Pair, Subflow};
use super::keys;
use super::options::Options;

/// Linux: net.ipv4.ip_default_ttl.
const HOPS: u8 = 64;
/// The largest payload there can be, bytes.
const LARGEST: usize = 65_535;
/// Not a congested packet, but one that may tell of congestion: ECT(0), which Linux uses (RFC 3168, 5).
const ECT_0: IpEcn = IpEcn::Ect0;

/// Makes packets, one after another.
pub(super) struct Writer<'a> {
    ends: &'a Ends,
    states: Vec<State>,
    /// What a checksum goes over.
    zeros: Vec<u8>,
}

/// What has been seen of a subflow.
#[derive(Clone, Debug, Default)]
struct State {
    /// When the latest SYN/ACK left, and the latest packet came in.
    answered: u32,
    came: u32,
    /// The server's next byte, the one that the client expects, both from 0, and the window that it offered.
    next: u32,
    expected: u32,
    window: u16,
    /// What was told last of the stream, in or out: bytes from its first.
    stream: u64,
}

/// A TCP header without what both directions have in their own way.
struct Fields {
    outgoing: bool,
    seq: u32,
    ack: u32,
    window: u16,
    options: Options,
    payload: u16,
}

impl<'a> Writer<'a> {
    pub(super) fn new(ends: &'a Ends) -> Self {
        Self {
            ends,
            states: vec![State::default(); ends.subflows.len()],
            zeros: vec![0; LARGEST],
        }
    }

    /// A packet's bytes, and how many zeros follow them.
    pub(super) fn packet(
        &mut self,
        at: Time,
        packet: &Packet,
        sack: &[(u64, u64)],
    ) -> (Vec<u8>, usize) {
        let id = match packet.flow {
            Flow::Subflow(id) => id,
            Flow::Udp(source) => return self.datagram(packet, source),
        };
        let connection = &self.ends.connections[id.connection as usize];
        let index = u32::from(id.subflow);
        let number = (connection.first + index) as usize;
        let subflow = &self.ends.subflows[number];
        let state = &mut self.states[number];
        let view = View {
            ends: self.ends,
            connection,
            subflow,
            index,
        };
        let fields = state.fields(&view, at, packet, sack);
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
        let Pair { server, client } = subflow.pair;
        let (from, to) = if fields.outgoing {
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
        (head, payload.len())
    }

    fn datagram(&self, packet: &Packet, source: u32) -> (Vec<u8>, usize) {
        let Pair { server, client } = self.ends.datagrams[source as usize];
        let length = packet.bytes as usize - Ipv4Header::MIN_LEN;
        let payload = &self.zeros[..length - UdpHeader::LEN];
        let ip = header(server, client, IpNumber::UDP, IpEcn::default(), length);
        let udp = UdpHeader::with_ipv4_checksum(server.port(), client.port(), &ip, payload);
        let udp = udp.expect("it fits into a packet");
        let head = [&ip.to_bytes()[..], &udp.to_bytes()[..]].concat();
        (head, payload.len())
    }
}

/// Where a packet belongs.
struct View<'a> {
    ends: &'a Ends,
    connection: &'a Connection,
    subflow: &'a Subflow,
    /// Its place in the connection.
    index: u32,
}

impl State {
    fn fields(
        &mut self,
        view: &View<'_>,
        at: Time,
        packet: &Packet,
        sack: &[(u64, u64)],
    ) -> Fields {
        let now = stamp(at);
        let (connection, subflow) = (view.connection, view.subflow);
        // What each end would send next.
        let client = subflow.client_first.wrapping_add(1);
        let server = |byte: u32| subflow.server_first.wrapping_add(1).wrapping_add(byte);
        let ago = |us: u32| {
            let earlier = at.as_nanos().saturating_sub(u64::from(us) * 1000);
            stamp(Time::from_nanos(earlier))
        };
        let mut options = Options::default();
        let mut payload = 0;
        let outgoing;
        let (mut seq, mut ack);
        match packet.content {
            Content::SynAck { .. }
            | Content::AddAddress(_)
            | Content::Joined
            | Content::Data { .. } => {
                outgoing = true;
                (seq, ack) = (server(self.next), client);
            }
            _ => {
                outgoing = false;
                self.came = now;
                (seq, ack) = (client, server(self.expected));
            }
        }
        let mut window = connection.window(None);
        match packet.content {
            Content::Syn { backup } => {
                (seq, ack) = (subflow.client_first, 0);
                window = connection.first_window();
                view.opening(&mut options, now, 0);
                view.mptcp_syn(&mut options, backup);
            }
            Content::SynAck { backup } => {
                seq = subflow.server_first;
                self.answered = now;
                window = connection.first_window();
                view.opening(&mut options, now, self.came);
                view.mptcp_syn_ack(&mut options, backup);
            }
            Content::Established { answers_us } => {
                self.window = window;
                // What it answers left this long ago, in a clock that goes round in 71 minutes.
                let age = ((at.as_nanos() / 1000) as u32).wrapping_sub(answers_us);
                options.stamped(now, ago(age));
                view.mptcp_established(&mut options);
            }
            Content::AddAddress(of) => {
                options.stamped(now, self.came);
                view.add_address(&mut options, of.into());
            }
            Content::Joined => {
                options.stamped(now, self.came);
                if let Some(keys) = connection.keys {
                    let ack = keys::first_data(keys.client).wrapping_add(1);
                    options.short_data_ack(ack as u32);
                }
            }
            Content::AddressEcho(of) => {
                window = self.window;
                options.stamped(now, self.answered);
                let other = view.other(of.into());
                options.address_echo(of, *other.pair.server.ip());
            }
            Content::Reset => {
                window = self.window;
                options.stamped(now, self.answered);
                options.reset();
            }
            Content::Data {
                seq: number,
                data,
                len,
                ..
            } => {
                self.tells(data);
                let end = number.wrapping_add(len.into());
                if end.wrapping_sub(self.next) as i32 > 0 {
                    self.next = end;
                }
                seq = server(number);
                payload = len;
                options.stamped(now, self.came);
                if let Some(keys) = connection.keys {
                    let ack = keys::first_data(keys.client).wrapping_add(1) as u32;
                    let at = view.data(self.stream);
                    options.mapping(ack, at, number.wrapping_add(1), len);
                }
            }
            Content::Ack {
                seq: number,
                data,
                window: offered,
                echo_age_us,
                ..
            } => {
                self.tells(data);
                if number.wrapping_sub(self.expected) as i32 > 0 {
                    self.expected = number;
                }
                ack = server(number);
                self.window = connection.window(Some(offered.into()));
                window = self.window;
                options.stamped(now, ago(echo_age_us));
                let edges = |&(start, end): &(u64, u64)| (server(start as u32), server(end as u32));
                options.sack(sack.iter().map(edges));
                if connection.keys.is_some() {
                    options.data_ack(view.data(self.stream));
                }
            }
            Content::Datagram => unreachable!("UDP has no such fields"),
        }
        Fields {
            outgoing,
            seq,
            ack,
            window,
            options,
            payload,
        }
    }

    /// A packet tells of a byte of the stream whose number ends in these bits.
    fn tells(&mut self, data: u32) {
        let ahead = data.wrapping_sub(self.stream as u32) as i32;
        self.stream = self.stream.wrapping_add_signed(ahead.into());
    }
}

impl View<'_> {
    fn opening(&self, options: &mut Options, now: u32, echo: u32) {
        let Connection {
            mss_option,
            sack,
            scale,
            ..
        } = *self.connection;
        options.opening(mss_option, sack, scale, now, echo);
    }

    fn mptcp_syn(&self, options: &mut Options, backup: bool) {
        match self.connection.keys {
            Some(_) if self.index == 0 => options.capable(&[]),
            // The client has one address, which is number 0.
            Some(keys) => {
                let token = keys::token(keys.server);
                options.join(backup, 0, token, self.subflow.client_nonce);
            }
            None => {}
        }
    }

    fn mptcp_syn_ack(&self, options: &mut Options, backup: bool) {
        let (client, server) = (self.subflow.client_nonce, self.subflow.server_nonce);
        match self.connection.keys {
            Some(keys) if self.index == 0 => options.capable(&[keys.server]),
            Some(keys) => {
                let code = keys.join_answer(client, server);
                options.join_answer(backup, self.address_id(), code, server);
            }
            None => {}
        }
    }

    fn mptcp_established(&self, options: &mut Options) {
        let (client, server) = (self.subflow.client_nonce, self.subflow.server_nonce);
        match self.connection.keys {
            Some(keys) if self.index == 0 => options.capable(&[keys.client, keys.server]),
            Some(keys) => options.join_proof(keys.join_proof(client, server)),
            None => {}
        }
    }

    fn add_address(&self, options: &mut Options, of: u32) {
        if let Some(keys) = self.connection.keys {
            let address = *self.other(of).pair.server.ip();
            options.address(of as u8, address, keys.address(of as u8, address));
        }
    }

    /// The number of the server's address here: the first has 0, others the numbers that they were announced with.
    fn address_id(&self) -> u8 {
        let first = self.other(0).pair.server.ip();
        if self.subflow.pair.server.ip() == first {
            0
        } else {
            self.index as u8
        }
    }

    fn other(&self, index: u32) -> &Subflow {
        &self.ends.subflows[(self.connection.first + index) as usize]
    }

    /// The data sequence number of this byte of the stream.
    fn data(&self, stream: u64) -> u64 {
        let key = self.connection.keys.map_or(0, |keys| keys.server);
        let first = keys::first_data(key).wrapping_add(1);
        first.wrapping_add(stream)
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
    let mut ip = Ipv4Header::new(0, HOPS, protocol, addresses[0], addresses[1])
        .expect("it has no payload yet");
    ip.set_payload_len(length).expect("it fits into a packet");
    ip.ecn = ecn;
    ip.header_checksum = ip.calc_header_checksum();
    ip
}

/// A timestamp of this time; none is 0, which means that there is none.
fn stamp(at: Time) -> u32 {
    (at.as_nanos() / 1_000_000) as u32 + 1
}
