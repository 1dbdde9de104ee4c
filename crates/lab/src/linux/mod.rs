//! Network configuration of the running kernel: namespaces, TUN ports, addresses and routes, sysctls, MPTCP's path manager.

pub(crate) mod addressing;
pub(crate) mod namespace;
mod netlink;
pub(crate) mod path_manager;
pub(crate) mod sysctl;
pub(crate) mod tun;
