//! Owners of timers.

use crate::packet::SubflowId;

/// Owner and purpose of a timer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TimerOwner {
    /// A sender: its handshake, its retransmissions.
    Sender(SubflowId),
    /// A receiver: its handshake, its delayed ACK.
    Receiver(SubflowId),
    /// The start of a connection.
    Start(u32),
    /// The next write of the application.
    Write(u32),
    /// An announced address, whose echo is expected.
    Announcement(u32),
    /// MPTCP's retransmission timer (mptcp_retransmit_timer).
    Retransmission(u32),
    /// The application has room to write and is woken.
    Wakeup(u32),
    /// A source of datagrams.
    Udp(u32),
}

impl TimerOwner {
    /// Number of the connection; none for a source of datagrams.
    #[cfg(any(debug_assertions, test))]
    pub(crate) fn connection(self) -> Option<u32> {
        match self {
            Self::Sender(id) | Self::Receiver(id) => Some(id.connection),
            Self::Start(number)
            | Self::Write(number)
            | Self::Announcement(number)
            | Self::Retransmission(number)
            | Self::Wakeup(number) => Some(number),
            Self::Udp(_) => None,
        }
    }
}
