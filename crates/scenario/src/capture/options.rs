//! TCP's options (RFC 9293, 3.2; RFC 7323; RFC 2018) and MPTCP's (RFC 8684, 3), in the order and with the padding that
//! Linux gives them (net/ipv4/tcp_output.c: tcp_options_write; net/mptcp/options.c: mptcp_write_options).

use std::net::Ipv4Addr;

/// The options of one segment.
#[derive(Debug, Default)]
pub(super) struct Options(Vec<u8>);

/// What fills a word up.
const NOP: u8 = 1;
/// MPTCP's kind of option; its subtypes are in the high bits of the byte after the length.
const MPTCP: u8 = 30;
const MP_CAPABLE: u8 = 0 << 4;
const MP_JOIN: u8 = 1 << 4;
/// MP_JOIN: the subflow is to be a backup (flag B).
const BACKUP: u8 = 1;
const DSS: u8 = 2 << 4;
const ADD_ADDR: u8 = 3 << 4;
const TCPRST: u8 = 8 << 4;
/// MP_CAPABLE: version 1, with HMAC-SHA256 (flag H).
const VERSION: u8 = 1;
const SHA256: u8 = 1;
/// DSS: what it has (flags A and M), and of that what has 64 bits (a and m).
const DATA_ACK: u8 = 1;
const DATA_ACK_64: u8 = 2;
const MAPPING: u8 = 4;
const MAPPING_64: u8 = 8;
/// ADD_ADDR: this is the echo (flag E).
const ECHO: u8 = 1;

impl Options {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn add(&mut self, parts: &[&[u8]]) {
        self.0.extend(parts.concat());
    }

    /// What a SYN or SYN/ACK tells: 20 bytes with its timestamp.
    pub(super) fn opening(&mut self, mss: u16, sack: bool, scale: u8, stamp: u32, echo: u32) {
        self.add(&[&[2, 4], &mss.to_be_bytes()]);
        // SACK-permitted takes the place of what pads the timestamp.
        self.add(&[if sack { &[4, 2] } else { &[NOP, NOP] }]);
        self.stamp(stamp, echo);
        self.add(&[&[NOP, 3, 3, scale]]);
    }

    /// What any other segment begins with: 12 bytes.
    pub(super) fn stamped(&mut self, stamp: u32, echo: u32) {
        self.add(&[&[NOP, NOP]]);
        self.stamp(stamp, echo);
    }

    fn stamp(&mut self, stamp: u32, echo: u32) {
        self.add(&[&[8, 10], &stamp.to_be_bytes(), &echo.to_be_bytes()]);
    }

    /// SACK blocks: four bytes and eight for each.
    pub(super) fn sack(&mut self, blocks: impl ExactSizeIterator<Item = (u32, u32)>) {
        if blocks.len() > 0 {
            self.add(&[&[NOP, NOP, 5, 2 + 8 * blocks.len() as u8]]);
            for (start, end) in blocks {
                self.add(&[&start.to_be_bytes(), &end.to_be_bytes()]);
            }
        }
    }

    /// The SYN of a connection has no key, the SYN/ACK the server's, the third packet both.
    pub(super) fn capable(&mut self, keys: &[u64]) {
        let length = 4 + 8 * keys.len() as u8;
        self.add(&[&[MPTCP, length, MP_CAPABLE | VERSION, SHA256]]);
        for key in keys {
            self.add(&[&key.to_be_bytes()]);
        }
    }

    /// The SYN of a further subflow.
    pub(super) fn join(&mut self, backup: bool, id: u8, token: u32, nonce: u32) {
        let head = [MPTCP, 12, MP_JOIN | (u8::from(backup) * BACKUP), id];
        self.add(&[&head, &token.to_be_bytes(), &nonce.to_be_bytes()]);
    }

    /// Its SYN/ACK.
    pub(super) fn join_answer(&mut self, backup: bool, id: u8, code: [u8; 8], nonce: u32) {
        let head = [MPTCP, 16, MP_JOIN | (u8::from(backup) * BACKUP), id];
        self.add(&[&head, &code, &nonce.to_be_bytes()]);
    }

    /// Its third packet.
    pub(super) fn join_proof(&mut self, code: [u8; 20]) {
        self.add(&[&[MPTCP, 24, MP_JOIN, 0], &code]);
    }

    /// Where the data of this segment belong in the stream, and what of the other direction has come.
    pub(super) fn mapping(&mut self, ack: u32, data: u64, subflow: u32, length: u16) {
        // Linux acknowledges in 64 bits whoever sends in as many, and a client sends nothing.
        let has = DATA_ACK | MAPPING | MAPPING_64;
        self.add(&[&[MPTCP, 22, DSS, has], &ack.to_be_bytes()]);
        self.add(&[&data.to_be_bytes(), &subflow.to_be_bytes()]);
        self.add(&[&length.to_be_bytes(), &[NOP, NOP]]);
    }

    /// What of the stream has come, in 32 bits.
    pub(super) fn short_data_ack(&mut self, ack: u32) {
        self.add(&[&[MPTCP, 8, DSS, DATA_ACK], &ack.to_be_bytes()]);
    }

    /// What of the stream has come.
    pub(super) fn data_ack(&mut self, ack: u64) {
        let head = [MPTCP, 12, DSS, DATA_ACK | DATA_ACK_64];
        self.add(&[&head, &ack.to_be_bytes()]);
    }

    /// Announces an address.
    pub(super) fn address(&mut self, id: u8, address: Ipv4Addr, code: [u8; 8]) {
        self.add(&[&[MPTCP, 16, ADD_ADDR, id], &address.octets(), &code]);
    }

    /// Has heard of it.
    pub(super) fn address_echo(&mut self, id: u8, address: Ipv4Addr) {
        self.add(&[&[MPTCP, 8, ADD_ADDR | ECHO, id], &address.octets()]);
    }

    /// A reset whose reason is not told (RFC 8684, 3.6).
    pub(super) fn reset(&mut self) {
        self.add(&[&[MPTCP, 4, TCPRST, 0]]);
    }
}
