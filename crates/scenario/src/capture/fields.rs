//! Fields and options of the TCP headers of a simulated subflow.

use netsim::Time;
use transport::{ByteRange, Content, SubflowId};

use super::addresses::{Connection, Endpoints, Pair, Subflow};
use super::keys;
use super::options::{Options, SackBlock};
use super::packets::Captured;

/// State of a subflow that later packets depend on.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// Timestamp of the latest SYN/ACK.
    syn_ack_timestamp: u32,
    /// Timestamp of the latest packet of the client.
    client_timestamp: u32,
    /// `snd_nxt` of the server, from 0.
    snd_nxt: u32,
    /// `rcv_nxt` of the client, from 0.
    rcv_nxt: u32,
    /// Window field of the client's latest ACK.
    window: u16,
    /// Byte of the stream in the latest packet, from 0: extends the packets' 32 bits to 64.
    stream: u64,
}

/// Fields of a TCP header that depend on the direction and the content.
pub(super) struct Fields {
    /// Whether the server sends the packet.
    pub(super) is_outgoing: bool,
    pub(super) seq: u32,
    pub(super) ack: u32,
    pub(super) window: u16,
    pub(super) options: Options,
    /// Length of the payload, bytes.
    pub(super) payload: u16,
}

/// A subflow and its connection.
pub(super) struct SubflowContext<'a> {
    endpoints: &'a Endpoints,
    pub(super) connection: &'a Connection,
    subflow: &'a Subflow,
    /// Number in the connection, from 0.
    index: u32,
}

impl State {
    /// Fields of the next packet.
    pub(super) fn fields(
        &mut self,
        context: &SubflowContext<'_>,
        Captured { at, packet, sack }: Captured<'_>,
    ) -> Fields {
        let now = timestamp(at);
        let (connection, subflow) = (context.connection, context.subflow);
        // Sequence numbers of the next byte of the client, and of a byte of the server.
        let client = subflow.client_isn.wrapping_add(1);
        let server = |byte: u32| subflow.server_isn.wrapping_add(1).wrapping_add(byte);
        let before = |us: u32| {
            let earlier = at.as_nanos().saturating_sub(u64::from(us) * 1000);
            timestamp(Time::from_nanos(earlier))
        };
        let mut options = Options::default();
        let mut payload = 0;
        let is_outgoing;
        let (mut seq, mut ack);
        match packet.content {
            Content::SynAck { .. }
            | Content::AddAddress(_)
            | Content::Joined
            | Content::Data { .. } => {
                is_outgoing = true;
                (seq, ack) = (server(self.snd_nxt), client);
            }
            _ => {
                is_outgoing = false;
                self.client_timestamp = now;
                (seq, ack) = (client, server(self.rcv_nxt));
            }
        }
        let mut window = connection.window_field(None);
        match packet.content {
            Content::Syn { backup } => {
                (seq, ack) = (subflow.client_isn, 0);
                window = connection.syn_window_field();
                context.syn_options(&mut options, now, 0);
                context.mptcp_syn(&mut options, backup);
            }
            Content::SynAck { backup } => {
                seq = subflow.server_isn;
                self.syn_ack_timestamp = now;
                window = connection.syn_window_field();
                context.syn_options(&mut options, now, self.client_timestamp);
                context.mptcp_syn_ack(&mut options, backup);
            }
            Content::Established { answers_us } => {
                self.window = window;
                // Age of the SYN/ACK, by a clock of microseconds that wraps after 71 minutes.
                let age = ((at.as_nanos() / 1000) as u32).wrapping_sub(answers_us);
                options.timestamps(now, before(age));
                context.mptcp_established(&mut options);
            }
            Content::AddAddress(of) => {
                options.timestamps(now, self.client_timestamp);
                context.add_address(&mut options, of.into());
            }
            Content::Joined => {
                options.timestamps(now, self.client_timestamp);
                if let Some(keys) = connection.keys {
                    let ack = keys::initial_dsn(keys.client).wrapping_add(1);
                    options.dss_ack_32(ack as u32);
                }
            }
            Content::AddressEcho(of) => {
                window = self.window;
                options.timestamps(now, self.syn_ack_timestamp);
                let other = context.other(of.into());
                options.add_addr_echo(of, *other.pair.server.ip());
            }
            Content::Reset => {
                window = self.window;
                options.timestamps(now, self.syn_ack_timestamp);
                options.tcprst();
            }
            Content::Data {
                seq: number,
                data,
                len,
                ..
            } => {
                self.advance_stream(data);
                let end = number.wrapping_add(len.into());
                if end.wrapping_sub(self.snd_nxt) as i32 > 0 {
                    self.snd_nxt = end;
                }
                seq = server(number);
                payload = len;
                options.timestamps(now, self.client_timestamp);
                if let Some(keys) = connection.keys {
                    let ack = keys::initial_dsn(keys.client).wrapping_add(1) as u32;
                    let at = context.dsn(self.stream);
                    options.dss_mapping(ack, at, number.wrapping_add(1), len);
                }
            }
            Content::Ack {
                seq: number,
                data,
                window: advertised,
                echo_age_us,
                ..
            } => {
                self.advance_stream(data);
                if number.wrapping_sub(self.rcv_nxt) as i32 > 0 {
                    self.rcv_nxt = number;
                }
                ack = server(number);
                self.window = connection.window_field(Some(advertised.into()));
                window = self.window;
                options.timestamps(now, before(echo_age_us));
                let block = |range: &ByteRange| SackBlock {
                    start: server(range.start as u32),
                    end: server(range.end as u32),
                };
                options.sack(sack.iter().map(block));
                if connection.keys.is_some() {
                    options.dss_ack(context.dsn(self.stream));
                }
            }
            Content::Datagram => unreachable!("UDP has no such fields"),
        }
        Fields {
            is_outgoing,
            seq,
            ack,
            window,
            options,
            payload,
        }
    }

    /// Sets `stream` to the byte near its last value that has these low 32 bits.
    fn advance_stream(&mut self, data: u32) {
        let ahead = data.wrapping_sub(self.stream as u32) as i32;
        self.stream = self.stream.wrapping_add_signed(ahead.into());
    }
}

impl<'a> SubflowContext<'a> {
    pub(super) fn new(endpoints: &'a Endpoints, id: SubflowId) -> Self {
        let connection = &endpoints.connections[id.connection as usize];
        let index = u32::from(id.subflow);
        Self {
            endpoints,
            connection,
            subflow: &endpoints.subflows[(connection.first + index) as usize],
            index,
        }
    }

    /// Number among the subflows of all connections.
    pub(super) fn number(&self) -> usize {
        (self.connection.first + self.index) as usize
    }

    pub(super) fn addresses(&self) -> Pair {
        self.subflow.pair
    }

    fn syn_options(&self, options: &mut Options, now: u32, echo: u32) {
        let Connection {
            mss_option,
            sack,
            window_scale,
            ..
        } = *self.connection;
        options.syn(mss_option, sack, window_scale, now, echo);
    }

    fn mptcp_syn(&self, options: &mut Options, backup: bool) {
        match self.connection.keys {
            Some(_) if self.index == 0 => options.mp_capable(&[]),
            // The client has one address, with the ID 0.
            Some(keys) => {
                let token = keys::token(keys.server);
                options.mp_join(backup, 0, token, self.subflow.client_nonce);
            }
            None => {}
        }
    }

    fn mptcp_syn_ack(&self, options: &mut Options, backup: bool) {
        let (client, server) = (self.subflow.client_nonce, self.subflow.server_nonce);
        match self.connection.keys {
            Some(keys) if self.index == 0 => options.mp_capable(&[keys.server]),
            Some(keys) => {
                let code = keys.server_hmac(client, server);
                options.mp_join_syn_ack(backup, self.address_id(), code, server);
            }
            None => {}
        }
    }

    fn mptcp_established(&self, options: &mut Options) {
        let (client, server) = (self.subflow.client_nonce, self.subflow.server_nonce);
        match self.connection.keys {
            Some(keys) if self.index == 0 => options.mp_capable(&[keys.client, keys.server]),
            Some(keys) => options.mp_join_ack(keys.client_hmac(client, server)),
            None => {}
        }
    }

    fn add_address(&self, options: &mut Options, of: u32) {
        if let Some(keys) = self.connection.keys {
            let address = *self.other(of).pair.server.ip();
            options.add_addr(of as u8, address, keys.address_hmac(of as u8, address));
        }
    }

    /// ID of the server's address: 0 for the first, for others the ID of the announcement.
    fn address_id(&self) -> u8 {
        let first = self.other(0).pair.server.ip();
        if self.subflow.pair.server.ip() == first {
            0
        } else {
            self.index as u8
        }
    }

    fn other(&self, index: u32) -> &Subflow {
        &self.endpoints.subflows[(self.connection.first + index) as usize]
    }

    /// Data sequence number of a byte of the stream.
    fn dsn(&self, stream: u64) -> u64 {
        let key = self.connection.keys.map_or(0, |keys| keys.server);
        let first = keys::initial_dsn(key).wrapping_add(1);
        first.wrapping_add(stream)
    }
}

/// Timestamp of a time; never 0, the echo of no timestamp.
fn timestamp(at: Time) -> u32 {
    (at.as_nanos() / 1_000_000) as u32 + 1
}
