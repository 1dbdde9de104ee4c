//! Longest-prefix match from addresses to nodes.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use ipnet::IpNet;
use topology::NodeIndex;

/// Prefixes and their nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prefixes {
    /// Networks by family and length. An address is looked up in the longest first.
    lengths: BTreeMap<(bool, u8), HashMap<IpAddr, NodeIndex>>,
}

impl Prefixes {
    /// Adds a prefix; returns whether it is new.
    pub(crate) fn insert(&mut self, prefix: IpNet, node: NodeIndex) -> bool {
        let key = (prefix.addr().is_ipv6(), prefix.prefix_len());
        let networks = self.lengths.entry(key).or_default();
        networks.insert(prefix.network(), node).is_none()
    }

    /// The node of the longest prefix that contains this address.
    pub(crate) fn node(&self, address: IpAddr) -> Option<NodeIndex> {
        let address = address.to_canonical();
        let family = address.is_ipv6();
        let lengths = self.lengths.range((family, 0)..=(family, 128)).rev();
        lengths.into_iter().find_map(|((_, length), networks)| {
            let network = IpNet::new(address, *length).ok()?.network();
            networks.get(&network).copied()
        })
    }
}
