//! Owners of timers.

use crate::packet::SubflowId;

/// Owner and purpose of a timer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TimerOwner {
    /// Sender: SYN/ACK, retransmissions, probes.
    Sender(SubflowId),
    /// Receiver: SYN, third packet of a join, delayed ACK.
    Receiver(SubflowId),
    /// Start of a connection.
    Start(u32),
    /// Next write of the application.
    Write(u32),
    /// Repetition of an ADD_ADDR.
    Announcement(u32),
    /// Retransmission timer of an MPTCP connection (mptcp_retransmit_timer).
    Retransmission(u32),
    /// Wake-up of the application, which has free send buffer.
    Wakeup(u32),
    /// Next datagram of a UDP source.
    Udp(u32),
}

impl TimerOwner {
    /// Number of the connection; none for a UDP source.
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
