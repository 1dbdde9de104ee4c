//! What MPTCP makes of a connection's keys: tokens, first data sequence numbers and message authentication codes
//! (RFC 8684, 3.1, 3.2 and 3.4.1, with SHA-256).

use std::net::Ipv4Addr;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// The two keys of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keys {
    /// Of the client, which opens it.
    pub(super) client: u64,
    /// Of the server.
    pub(super) server: u64,
}

/// What names a connection to the host that has this key: the first 32 bits of the key's hash.
pub(super) fn token(key: u64) -> u32 {
    let hash = Sha256::digest(key.to_be_bytes());
    u32::from_be_bytes(hash[..4].try_into().expect("four bytes"))
}

/// The data sequence number before the first byte of the host that has this key: the last 64 bits of the key's hash.
pub(super) fn first_data(key: u64) -> u64 {
    let hash = Sha256::digest(key.to_be_bytes());
    u64::from_be_bytes(hash[24..].try_into().expect("eight bytes"))
}

impl Keys {
    /// The server's answer to a join, which proves that it knows the keys: 64 bits.
    pub(super) fn join_answer(self, client_nonce: u32, server_nonce: u32) -> [u8; 8] {
        let nonces = [server_nonce.to_be_bytes(), client_nonce.to_be_bytes()].concat();
        code(self.server, self.client, &nonces)[..8]
            .try_into()
            .expect("eight bytes")
    }

    /// The client's proof in the third packet of a join: 160 bits.
    pub(super) fn join_proof(self, client_nonce: u32, server_nonce: u32) -> [u8; 20] {
        let nonces = [client_nonce.to_be_bytes(), server_nonce.to_be_bytes()].concat();
        code(self.client, self.server, &nonces)[..20]
            .try_into()
            .expect("twenty bytes")
    }

    /// The server's signature on an address that it announces without a port: the last 64 bits.
    pub(super) fn address(self, id: u8, address: Ipv4Addr) -> [u8; 8] {
        let mut message = vec![id];
        message.extend(address.octets());
        message.extend([0, 0]);
        code(self.server, self.client, &message)[24..]
            .try_into()
            .expect("eight bytes")
    }
}

/// HMAC-SHA256 by both keys, the author's first.
fn code(author: u64, reader: u64, message: &[u8]) -> [u8; 32] {
    let key = [author.to_be_bytes(), reader.to_be_bytes()].concat();
    let mut code = Hmac::<Sha256>::new_from_slice(&key).expect("a key may have any length");
    code.update(message);
    code.finalize().into_bytes().into()
}
