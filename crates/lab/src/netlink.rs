//! Requests to the kernel by netlink(7).
//!
//! Through `netlink-bindings`, generated from the kernel's own specifications: it speaks all five
//! families that are needed here and brings no runtime along. (rust-netlink's `mptcp-pm` 0.2 can
//! read MPTCP's limits and endpoints, but not set them.)

use std::io;

use netlink_bindings::traits::NetlinkRequest;
use netlink_socket2::{NetlinkSocket, ReplyError};

use crate::error::Error;

/// A socket to the kernel; it speaks of the namespace of the thread that first asks.
pub(crate) struct Netlink(NetlinkSocket);

impl Netlink {
    pub(crate) fn new() -> Self {
        Self(NetlinkSocket::new())
    }

    /// Asks for a change and waits until it is made; `what` says which, should it be refused.
    pub(crate) fn ask<R: NetlinkRequest>(
        &mut self,
        request: &R,
        what: impl FnOnce() -> String,
    ) -> Result<(), Error> {
        let sent = self.0.request(request).map_err(ReplyError::from);
        sent.and_then(|mut reply| reply.recv_ack())
            .map_err(|refusal| {
                // The kernel's own words (the extended ACK) are in the text, not in the code.
                Error::Kernel {
                    what: what(),
                    source: io::Error::other(refusal.to_string()),
                }
            })
    }
}
