//! The peer of a filter: an address, a network, a port.

use super::IpAddr;
use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

/// `ADDRESS`, `ADDRESS/PREFIX`, `ADDRESS:PORT`, `ADDRESS/PREFIX:PORT`; an IPv6 address before a port is in brackets:
/// `[fd00::1]:443`, `[fd00::]/64:443`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    address: IpAddr,
    prefix: u8,
    port: Option<u16>,
}

/// Number of bits of an address.
fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

impl Peer {
    /// Whether a remote end belongs to this peer.
    pub fn matches(&self, remote: SocketAddr) -> bool {
        let number = |address| match address {
            IpAddr::V4(address) => u128::from(address.to_bits()),
            IpAddr::V6(address) => address.to_bits(),
        };
        let remote_address = remote.ip().to_canonical();
        let host_bits = u32::from(bits(self.address) - self.prefix);
        let differ = number(self.address) ^ number(remote_address);
        // A shift by all 128 bits overflows: every address of the family is in that network.
        self.address.is_ipv4() == remote_address.is_ipv4()
            && differ.checked_shr(host_bits).unwrap_or(0) == 0
            && self.port.is_none_or(|port| port == remote.port())
    }
}

impl FromStr for Peer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "ADDRESS, ADDRESS/PREFIX or either with :PORT is needed ([…] around IPv6)";
        let parts = || {
            // Without a port: `fd00::1`, `fd00::/64`.
            if let Some((address, prefix)) = network(text) {
                return Some((address, prefix, None));
            }
            let (network_text, port) = text.rsplit_once(':')?;
            let (address, prefix) = network(network_text)?;
            // `1:2` of an IPv6 address without brackets could be a port or not.
            let is_clear = address.is_ipv4() || network_text.starts_with('[');
            Some((
                address,
                prefix,
                Some(port.parse().ok().filter(|_| is_clear)?),
            ))
        };
        let (address, prefix, port) = parts().ok_or_else(wrong)?;
        let bits = bits(address);
        let prefix = prefix.unwrap_or(bits);
        if prefix > bits {
            return Err(format!("a prefix of this address has at most {bits} bits"));
        }
        Ok(Self {
            address,
            prefix,
            port,
        })
    }
}

/// Address and prefix; an IPv6 address may be in brackets.
fn network(text: &str) -> Option<(IpAddr, Option<u8>)> {
    let (address, prefix) = match text.split_once('/') {
        Some((address, prefix)) => (address, Some(prefix.parse().ok()?)),
        None => (text, None),
    };
    let inner = address.strip_prefix('[').and_then(|a| a.strip_suffix(']'));
    let address: IpAddr = match inner {
        Some(inner) => IpAddr::V6(inner.parse().ok()?),
        None => address.parse().ok()?,
    };
    match (address.to_canonical(), prefix) {
        // The prefix of a mapped address counts the 96 bits before it, too.
        (IpAddr::V4(mapped), Some(prefix)) if address.is_ipv6() => {
            Some((mapped.into(), Some(u8::checked_sub(prefix, 96)?)))
        }
        canonical => Some(canonical),
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address {
            IpAddr::V6(address) if self.port.is_some() => write!(f, "[{address}]")?,
            address => write!(f, "{address}")?,
        }
        if self.prefix < bits(self.address) {
            write!(f, "/{}", self.prefix)?;
        }
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}
