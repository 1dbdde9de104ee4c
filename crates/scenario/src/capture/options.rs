//! Options of TCP (RFC 9293, 3.2; RFC 7323; RFC 2018) and MPTCP (RFC 8684, 3), in the order and with the padding of Linux
//! (net/ipv4/tcp_output.c: tcp_options_write; net/mptcp/options.c: mptcp_write_options).

use std::net::Ipv4Addr;

/// Options of a segment.
#[derive(Debug, Default)]
pub(super) struct Options(Vec<u8>);

/// Edges of a SACK block (RFC 2018, 3).
pub(super) struct SackBlock {
    /// Left edge: sequence number of its first byte.
    pub(super) start: u32,
    /// Right edge: sequence number of the byte after its last one.
    pub(super) end: u32,
}

/// Padding to a multiple of four bytes.
const NOP: u8 = 1;
/// Kind of MPTCP's options; the subtype is in the high bits of the byte after the length.
const MPTCP: u8 = 30;
const MP_CAPABLE: u8 = 0 << 4;
const MP_JOIN: u8 = 1 << 4;
/// MP_JOIN: backup subflow (flag B).
const BACKUP: u8 = 1;
const DSS: u8 = 2 << 4;
const ADD_ADDR: u8 = 3 << 4;
const TCPRST: u8 = 8 << 4;
/// MP_CAPABLE: version 1; HMAC-SHA256 (flag H).
const VERSION: u8 = 1;
const SHA256: u8 = 1;
/// DSS: presence of a DATA_ACK and a mapping (flags A and M), and of 64 bits in each (a and m).
const DATA_ACK: u8 = 1;
const DATA_ACK_64: u8 = 2;
const MAPPING: u8 = 4;
const MAPPING_64: u8 = 8;
/// ADD_ADDR: echo (flag E).
const ECHO: u8 = 1;

impl Options {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn add(&mut self, parts: &[&[u8]]) {
        self.0.extend(parts.concat());
    }

    /// Options of a SYN or SYN/ACK: 20 bytes.
    pub(super) fn syn(
        &mut self,
        mss: u16,
        sack: bool,
        window_scale: u8,
        timestamp: u32,
        echo: u32,
    ) {
        self.add(&[&[2, 4], &mss.to_be_bytes()]);
        // SACK-permitted takes the place of the padding before the timestamps.
        self.add(&[if sack { &[4, 2] } else { &[NOP, NOP] }]);
        self.timestamps_unpadded(timestamp, echo);
        self.add(&[&[NOP, 3, 3, window_scale]]);
    }

    /// Timestamps of any other segment: 12 bytes.
    pub(super) fn timestamps(&mut self, timestamp: u32, echo: u32) {
        self.add(&[&[NOP, NOP]]);
        self.timestamps_unpadded(timestamp, echo);
    }

    fn timestamps_unpadded(&mut self, timestamp: u32, echo: u32) {
        self.add(&[&[8, 10], &timestamp.to_be_bytes(), &echo.to_be_bytes()]);
    }

    /// SACK blocks: four bytes, and eight for each block.
    pub(super) fn sack(&mut self, blocks: impl ExactSizeIterator<Item = SackBlock>) {
        if blocks.len() > 0 {
            self.add(&[&[NOP, NOP, 5, 2 + 8 * blocks.len() as u8]]);
            for block in blocks {
                self.add(&[&block.start.to_be_bytes(), &block.end.to_be_bytes()]);
            }
        }
    }

    /// MP_CAPABLE: without a key in a SYN, with the server's in the SYN/ACK, with both in the third packet.
    pub(super) fn mp_capable(&mut self, keys: &[u64]) {
        let length = 4 + 8 * keys.len() as u8;
        self.add(&[&[MPTCP, length, MP_CAPABLE | VERSION, SHA256]]);
        for key in keys {
            self.add(&[&key.to_be_bytes()]);
        }
    }

    /// MP_JOIN of a SYN.
    pub(super) fn mp_join(&mut self, backup: bool, id: u8, token: u32, nonce: u32) {
        let head = [MPTCP, 12, MP_JOIN | (u8::from(backup) * BACKUP), id];
        self.add(&[&head, &token.to_be_bytes(), &nonce.to_be_bytes()]);
    }

    /// MP_JOIN of a SYN/ACK.
    pub(super) fn mp_join_syn_ack(&mut self, backup: bool, id: u8, hmac: [u8; 8], nonce: u32) {
        let head = [MPTCP, 16, MP_JOIN | (u8::from(backup) * BACKUP), id];
        self.add(&[&head, &hmac, &nonce.to_be_bytes()]);
    }

    /// MP_JOIN of the third packet.
    pub(super) fn mp_join_ack(&mut self, hmac: [u8; 20]) {
        self.add(&[&[MPTCP, 24, MP_JOIN, 0], &hmac]);
    }

    /// DSS of a data segment: its position in the stream, and a DATA_ACK of 32 bits.
    pub(super) fn dss_mapping(&mut self, ack: u32, data: u64, subflow: u32, length: u16) {
        // Linux sends a DATA_ACK of 64 bits to a peer whose mappings have 64 bits; the client sends no data.
        let flags = DATA_ACK | MAPPING | MAPPING_64;
        self.add(&[&[MPTCP, 22, DSS, flags], &ack.to_be_bytes()]);
        self.add(&[&data.to_be_bytes(), &subflow.to_be_bytes()]);
        self.add(&[&length.to_be_bytes(), &[NOP, NOP]]);
    }

    /// DSS with a DATA_ACK of 32 bits.
    pub(super) fn dss_ack_32(&mut self, ack: u32) {
        self.add(&[&[MPTCP, 8, DSS, DATA_ACK], &ack.to_be_bytes()]);
    }

    /// DSS with a DATA_ACK of 64 bits.
    pub(super) fn dss_ack(&mut self, ack: u64) {
        let head = [MPTCP, 12, DSS, DATA_ACK | DATA_ACK_64];
        self.add(&[&head, &ack.to_be_bytes()]);
    }

    /// ADD_ADDR.
    pub(super) fn add_addr(&mut self, id: u8, address: Ipv4Addr, hmac: [u8; 8]) {
        self.add(&[&[MPTCP, 16, ADD_ADDR, id], &address.octets(), &hmac]);
    }

    /// Echo of an ADD_ADDR.
    pub(super) fn add_addr_echo(&mut self, id: u8, address: Ipv4Addr) {
        self.add(&[&[MPTCP, 8, ADD_ADDR | ECHO, id], &address.octets()]);
    }

    /// MP_TCPRST with an unspecified reason (RFC 8684, 3.6).
    pub(super) fn tcprst(&mut self) {
        self.add(&[&[MPTCP, 4, TCPRST, 0]]);
    }
}
