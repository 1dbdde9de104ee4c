//! Values that MPTCP derives from a connection's keys: tokens, initial data sequence numbers and message authentication
//! codes (RFC 8684, 3.1, 3.2 and 3.4.1, with SHA-256).

use std::net::Ipv4Addr;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// The two keys of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keys {
    /// Key of the client, which opens the connection.
    pub(super) client: u64,
    /// Key of the server.
    pub(super) server: u64,
}

/// Token of a connection at the host with this key: the first 32 bits of the key's hash.
pub(super) fn token(key: u64) -> u32 {
    let hash = Sha256::digest(key.to_be_bytes());
    u32::from_be_bytes(hash[..4].try_into().expect("four bytes"))
}

/// Initial data sequence number of the host with this key: the last 64 bits of the key's hash. The first byte has the next
/// number.
pub(super) fn initial_dsn(key: u64) -> u64 {
    let hash = Sha256::digest(key.to_be_bytes());
    u64::from_be_bytes(hash[24..].try_into().expect("eight bytes"))
}

impl Keys {
    /// HMAC of the server in the SYN/ACK of a join: 64 bits.
    pub(super) fn server_hmac(self, client_nonce: u32, server_nonce: u32) -> [u8; 8] {
        let nonces = [server_nonce.to_be_bytes(), client_nonce.to_be_bytes()].concat();
        hmac(self.server, self.client, &nonces)[..8]
            .try_into()
            .expect("eight bytes")
    }

    /// HMAC of the client in the third packet of a join: 160 bits.
    pub(super) fn client_hmac(self, client_nonce: u32, server_nonce: u32) -> [u8; 20] {
        let nonces = [client_nonce.to_be_bytes(), server_nonce.to_be_bytes()].concat();
        hmac(self.client, self.server, &nonces)[..20]
            .try_into()
            .expect("twenty bytes")
    }

    /// HMAC of an address that the server announces without a port: the last 64 bits.
    pub(super) fn address_hmac(self, id: u8, address: Ipv4Addr) -> [u8; 8] {
        let mut message = vec![id];
        message.extend(address.octets());
        message.extend([0, 0]);
        hmac(self.server, self.client, &message)[24..]
            .try_into()
            .expect("eight bytes")
    }
}

/// HMAC-SHA256 with both keys, the sender's first.
fn hmac(sender: u64, receiver: u64, message: &[u8]) -> [u8; 32] {
    let key = [sender.to_be_bytes(), receiver.to_be_bytes()].concat();
    let mut hmac = Hmac::<Sha256>::new_from_slice(&key).expect("HMAC keys have any length");
    hmac.update(message);
    hmac.finalize().into_bytes().into()
}
