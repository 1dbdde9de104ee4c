//! How an endpoint behaves: today's Linux, the Linux of the LISA papers, the ns-3 of the CSS paper.

use netsim::{Span, Time};

/// How a sender learns that a segment is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detection {
    /// By time since segments that were sent later have arrived, with a probe for lost tails (RACK-TLP, RFC 8985).
    RackTlp,
    /// By segments beyond the highest that was acknowledged: three more (forward acknowledgement, Mathis and Mahdavi
    /// 1996; Linux until 4.x), with a probe for lost tails.
    Fack,
    /// By three ACKs that acknowledge nothing new; no SACK (NewReno, RFC 6582).
    DuplicateAcks,
}

/// An endpoint's behaviour. Sizes in bytes of whole IP packets where nothing else is said.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Its name in scenario files.
    pub name: &'static str,
    /// Initial window, segments.
    pub initial_window: u32,
    /// How losses are found.
    pub detection: Detection,
    /// Whether a reduction is spread over a round trip (RFC 6937), or made at once.
    pub prr: bool,
    /// Whether a reduction or a timeout that was a mistake is found and undone (F-RTO, RFC 5682; Eifel; DSACK).
    pub undo: bool,
    /// The timeout before the first sample (RFC 6298, 2.1).
    pub rto_initial: Span,
    /// What a timeout is longer than the smoothed RTT, at least (Linux: TCP_RTO_MIN).
    pub rto_min: Span,
    /// The longest timeout (Linux: TCP_RTO_MAX).
    pub rto_max: Span,
    /// Unit of the timers of an established sender (Linux: a jiffy); 0: they are exact.
    pub jiffy: Span,
    /// Whether a window grows for each ACK, as RFC 5681 has it, or for each segment that one acknowledges (Linux). CSS counts
    /// bytes in slow start with either.
    pub counts_acks: bool,
    /// How long an ACK may wait for a second segment (Linux: TCP_DELACK_MIN).
    pub delayed_ack: Span,
    /// So many segments are acknowledged one by one, at the start and round a loss, and any while the receive window grows
    /// (Linux: quick ACKs); 0: none.
    pub quick_acks: u32,
    /// Whether the end of a write is acknowledged as soon as the application has read it, which it does at once (Linux:
    /// ICSK_ACK_PUSHED in tcp_cleanup_rbuf).
    pub reads_push: bool,
    /// From the end of the handshake, or from the ACK that makes room for more, until the server's application has been woken
    /// and writes. Addresses are announced before: on a slow link a full queue would else lose them.
    pub wake_up: Span,
    /// It looks so often whether it can write; zero: it is told, as it is where a round trip is shorter.
    pub looks: Span,
    /// A receiver's buffer at first, bytes, and the most that it grows to (Linux: tcp_rmem).
    pub receive_buffer: (u32, u32),
    /// Half of it is offered: until a segment has been seen and what it takes in memory (Linux: scaling_ratio), or always.
    pub measures_frames: bool,
    /// The most segments that are offered before any has come.
    pub first_window: u32,
    /// Whether the window is halved for each timeout that it was idle (RFC 5681, 4.1).
    pub idle_restart: bool,
    /// Whether segments leave in bursts, and what is less than one may wait (Linux: tcp_tso_should_defer; that of old kernels is
    /// another).
    pub bursts: bool,
    /// Whether its data leave some microseconds late, by chance ([`netsim::Network::inject_burst`]).
    pub is_late: bool,
    /// Whether all addresses are announced at once, or each when the one before was taken up.
    pub announces_at_once: bool,
    /// Whether unsent data waits in write queues of the subflows, to which MPTCP gives it in large pieces (Linux); otherwise each
    /// segment goes to the subflow with room and the lowest RTT when it is sent (MPTCP until 0.9x, ns-3).
    pub write_queues: bool,
    /// Whether the server answers the third packet of a join, and the client waits for that (RFC 8684, 3.2).
    pub answers_joins: bool,
    /// Whether the first RTT sample of a join is in milliseconds: Linux completes the join without its request socket
    /// (tcp_check_req: drop_req).
    pub joins_in_milliseconds: bool,
    /// The headers of a full data packet and of an ACK without SACK: TCP's, and what MPTCP adds to each.
    pub header: u16,
    /// See `header`.
    pub mptcp_data_header: u16,
    /// See `header`.
    pub mptcp_ack_header: u16,
    /// How many SACK blocks fit beside the other options: TCP's, MPTCP's.
    pub sack_blocks: (usize, usize),
}

/// Bytes of IPv4 (20), TCP (20) and the timestamp option (12).
const HEADER: u16 = 52;

/// An application that is told writes after: the median of 20 connections between two namespaces, Linux 6.18.
const TOLD: Span = Span::from_micros(250);

impl Profile {
    /// Linux 6.x. What was read off its traces is in `docs/notes/kernel.md`.
    #[must_use]
    pub const fn linux() -> Self {
        Self {
            name: "linux",
            initial_window: 10,
            detection: Detection::RackTlp,
            prr: true,
            undo: true,
            rto_initial: Span::from_millis(1000),
            rto_min: Span::from_millis(200),
            rto_max: Span::from_millis(120_000),
            jiffy: Span::from_millis(4), // CONFIG_HZ = 250: Debian's
            counts_acks: false,
            delayed_ack: Span::from_millis(40),
            reads_push: true,
            quick_acks: 16,                  // TCP_MAX_QUICKACKS
            wake_up: Span::from_micros(200), // the least of 26 in the VM, most 1.1 ms; ADD_ADDR goes after 50 µs
            looks: Span::from_millis(1),     // so does the lab's application
            receive_buffer: (131_072, 6_291_456),
            measures_frames: true,
            first_window: u32::MAX,
            idle_restart: true,
            bursts: true,
            is_late: true,
            announces_at_once: false,
            write_queues: true,
            answers_joins: true,
            joins_in_milliseconds: true,
            header: HEADER,
            mptcp_data_header: 24, // 1424 bytes of payload in 1500
            mptcp_ack_header: 12,  // DSS with a 64-bit DATA_ACK
            // 40 bytes of options: 12 of timestamps, 12 of DSS leave 16, and a block takes 8 after the first 4.
            sack_blocks: (3, 1),
        }
    }

    /// Linux 3.14 with MPTCP 0.89: no RACK; all addresses announced at once; larger receive windows than the papers'
    /// files need.
    #[must_use]
    pub const fn linux_3_14() -> Self {
        Self {
            name: "linux-3.14",
            detection: Detection::Fack,
            receive_buffer: (6 << 20, 6 << 20),
            measures_frames: false, // tcp_adv_win_scale = 1
            first_window: 20,       // tcp_default_init_rwnd: twice the initial congestion window
            bursts: false,
            is_late: false,
            wake_up: TOLD,
            looks: Span::ZERO,
            announces_at_once: true,
            write_queues: false,
            answers_joins: false,
            joins_in_milliseconds: false,
            jiffy: Span::ZERO, // its wheel was another one
            ..Self::linux()
        }
    }

    /// ns-3's TCP NewReno with delayed ACKs, as the CSS paper used it.
    #[must_use]
    pub const fn ns3_newreno() -> Self {
        Self {
            name: "ns3-newreno",
            detection: Detection::DuplicateAcks,
            prr: false,
            undo: false,
            counts_acks: true, // ns-3 before 3.25: TcpNewReno::NewAck
            delayed_ack: Span::from_millis(200), // ns-3: DelAckTimeout
            reads_push: false,
            quick_acks: 0,
            jiffy: Span::ZERO,
            receive_buffer: (6 << 20, 6 << 20),
            measures_frames: false,
            wake_up: TOLD,
            looks: Span::ZERO,
            idle_restart: false,
            bursts: false,
            is_late: false,
            announces_at_once: true,
            write_queues: false,
            answers_joins: false,
            joins_in_milliseconds: false,
            ..Self::linux()
        }
    }

    /// When the application writes that can since `now`. It looks `phase` after each whole number of times that it looks.
    pub(crate) fn writes_at(&self, now: Time, phase: Span) -> Time {
        let looks = self.looks.as_nanos().max(1);
        let waited = (now.as_nanos() + looks - phase.as_nanos() % looks) % looks;
        now + Span::from_nanos((looks - waited) % looks) + self.wake_up
    }

    /// How often the application looks, µs.
    pub(crate) const fn looks_us(&self) -> u32 {
        (self.looks.as_nanos() / 1000) as u32
    }

    /// Bytes of a data packet that are not payload.
    pub(crate) const fn data_header(&self, mptcp: bool) -> u16 {
        self.header + if mptcp { self.mptcp_data_header } else { 0 }
    }

    /// The profile of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|profile| profile.name == name)
    }

    /// Every profile.
    #[must_use]
    pub const fn all() -> [Self; 3] {
        [Self::linux(), Self::linux_3_14(), Self::ns3_newreno()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A look comes once a millisecond, 300 µs after each, and what is written then leaves 200 µs later.
    #[test]
    fn an_application_writes_when_it_has_looked() {
        let profile = Profile {
            wake_up: Span::from_micros(200),
            looks: Span::from_millis(1),
            ..Profile::linux()
        };
        let phase = Span::from_micros(300);
        for (from, writes_at) in [(0, 500), (300, 500), (301, 1500), (1299, 1500)] {
            let from = Time::ZERO + Span::from_micros(from);
            let writes_at = Time::ZERO + Span::from_micros(writes_at);
            assert_eq!(profile.writes_at(from, phase), writes_at, "{from:?}");
        }
        let told = Profile::linux_3_14();
        let now = Time::ZERO + Span::from_micros(301);
        assert_eq!(told.writes_at(now, phase), now + TOLD);
    }
}
