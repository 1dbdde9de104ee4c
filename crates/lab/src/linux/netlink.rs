//! Requests to the kernel by netlink(7).
//!
//! By `netlink-bindings`, which is generated from the kernel's own specifications, has all five families that are used here, and
//! needs no runtime. (rust-netlink's `mptcp-pm` 0.2 can read MPTCP's limits and endpoints, but not set them.)

use std::io;

use netlink_bindings::traits::NetlinkRequest;
use netlink_socket2::{NetlinkSocket, ReplyError};

use crate::error::Error;

/// A netlink socket. Its namespace is that of the thread of the first request.
pub(crate) struct Netlink(NetlinkSocket);

impl Netlink {
    pub(crate) fn new() -> Self {
        Self(NetlinkSocket::new())
    }

    /// Requests a change and waits for its acknowledgement. `what` describes the change, for the error.
    pub(crate) fn request<R: NetlinkRequest>(
        &mut self,
        request: &R,
        what: impl FnOnce() -> String,
    ) -> Result<(), Error> {
        let sent = self.0.request(request).map_err(ReplyError::from);
        sent.and_then(|mut reply| reply.recv_ack())
            .map_err(|refusal| {
                // The text has the kernel's extended ACK, the code does not.
                Error::Kernel {
                    what: what(),
                    source: io::Error::other(refusal.to_string()),
                }
            })
    }
}
