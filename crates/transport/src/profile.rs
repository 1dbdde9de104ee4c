//! Behaviour of an endpoint: today's Linux, the Linux of the LISA papers, the ns-3 of the CSS paper.

use netsim::{Span, Time};

/// Loss detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detection {
    /// By time: a segment is lost when a later one was delivered and a reordering window has passed. A probe repairs
    /// lost tails (RACK-TLP, RFC 8985).
    RackTlp,
    /// By sequence: a segment is lost when segments three or more beyond it are SACKed (forward acknowledgement, Mathis
    /// and Mahdavi 1996; Linux until 4.x). A probe repairs lost tails.
    Fack,
    /// By three duplicate ACKs, without SACK (NewReno, RFC 6582).
    DuplicateAcks,
}

/// Size of a receive buffer, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferSize {
    /// Size at first.
    pub initial: u32,
    /// Size up to which the buffer grows.
    pub max: u32,
}

impl BufferSize {
    /// A buffer that does not grow.
    #[must_use]
    pub const fn fixed(size: u32) -> Self {
        Self {
            initial: size,
            max: size,
        }
    }
}

/// Number of SACK blocks that fit beside the other options of an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackRoom {
    /// Of TCP.
    pub tcp: u8,
    /// Of MPTCP.
    pub mptcp: u8,
}

/// Behaviour of an endpoint. Sizes are of whole IP packets, in bytes, unless a field says otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Name in scenario files.
    pub name: &'static str,
    /// Initial window, segments.
    pub initial_window: u32,
    /// Loss detection.
    pub detection: Detection,
    /// Whether a reduction is spread over a round trip (PRR, RFC 6937) or made at once.
    pub prr: bool,
    /// Whether spurious reductions and timeouts are undone (F-RTO, RFC 5682; Eifel, RFC 3522; DSACK, RFC 3708).
    pub undo: bool,
    /// Retransmission timeout before the first RTT sample (RFC 6298, 2.1).
    pub rto_initial: Span,
    /// Minimum of the part of the retransmission timeout beyond the smoothed RTT (Linux: TCP_RTO_MIN).
    pub rto_min: Span,
    /// Maximum retransmission timeout (Linux: TCP_RTO_MAX).
    pub rto_max: Span,
    /// Granularity of the timers of an established sender (Linux: a jiffy); 0: exact.
    pub jiffy: Span,
    /// Whether a window grows for each ACK (RFC 5681), not for each acknowledged segment (Linux). CSS counts bytes in
    /// slow start in both cases.
    pub counts_acks: bool,
    /// Maximum delay of an ACK that waits for a second segment (Linux: TCP_DELACK_MIN).
    pub delayed_ack: Span,
    /// Number of segments that are acknowledged one by one at the start and after a duplicate (Linux: quick ACKs).
    /// While the receive window grows, each segment is. 0: none.
    pub quick_acks: u32,
    /// Whether the ACK of a segment with the push flag is sent when the application reads it, which happens on arrival
    /// (Linux: ICSK_ACK_PUSHED in tcp_cleanup_rbuf).
    pub acknowledges_push: bool,
    /// Delay of the server's application: from the end of the handshake, or from the ACK that frees send buffer, to its
    /// next write. ADD_ADDR leaves before that write: on a slow link a full queue would otherwise drop it.
    pub wake_up_delay: Span,
    /// Interval at which the application polls for free send buffer; 0: it blocks and is woken. Below a round trip of
    /// one interval it is woken, too.
    pub poll_interval: Span,
    /// Receive buffer (Linux: tcp_rmem).
    pub receive_buffer: BufferSize,
    /// Maximum size of the send buffer of a subflow, bytes (Linux: tcp_wmem).
    pub send_buffer: u32,
    /// Whether the advertised share of the receive buffer follows the memory of a received segment (scaling_ratio):
    /// half until the first segment, then the measured share. Otherwise half always.
    pub measures_scaling_ratio: bool,
    /// Maximum receive window before the first segment, segments (tcp_default_init_rwnd).
    pub initial_receive_window: u32,
    /// Whether an idle sender's window is halved for each retransmission timeout (RFC 5681, 4.1).
    pub idle_restart: bool,
    /// Whether segments leave in TSO bursts and less than a burst may be deferred (Linux 6.x: tcp_tso_should_defer; old
    /// kernels decide otherwise).
    pub bursts: bool,
    /// Whether the server has random processing delays of some microseconds ([`netsim::Network::inject_burst`]).
    pub host_jitter: bool,
    /// Whether all addresses are announced at once, not each after the echo of the one before.
    pub announces_at_once: bool,
    /// Whether unsent data waits in write queues of the subflows, filled in large pieces by MPTCP (Linux). Otherwise
    /// each segment goes to the subflow with room and the lowest RTT at the time it is sent (MPTCP until 0.9x, ns-3).
    pub write_queues: bool,
    /// Whether the server acknowledges the third packet of a join and the client waits for that (RFC 8684, 3.2).
    pub answers_joins: bool,
    /// Whether the first RTT sample of a join has millisecond resolution: Linux completes the join without its request
    /// socket (tcp_check_req: drop_req).
    pub join_rtt_in_milliseconds: bool,
    /// Headers of a TCP packet without SACK, bytes: IPv4, TCP and timestamps.
    pub header: u16,
    /// MPTCP's options in a full data packet, bytes.
    pub mptcp_data_header: u16,
    /// MPTCP's options in an ACK, bytes.
    pub mptcp_ack_header: u16,
    /// Number of SACK blocks that fit beside the other options.
    pub sack_blocks: SackRoom,
}

/// Bytes of IPv4 (20), TCP (20) and the timestamp option (12).
const HEADER: u16 = 52;

/// Time from wake-up to write of a blocked application: median of 20 connections between two namespaces, Linux 6.18.
const WAKE_UP_DELAY: Span = Span::from_micros(250);

impl Profile {
    /// Linux 6.x. Values that were measured are in `docs/notes/kernel.md`.
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
            acknowledges_push: true,
            quick_acks: 16,                        // TCP_MAX_QUICKACKS
            wake_up_delay: Span::from_micros(200), // minimum of 26 runs in the VM, maximum 1.1 ms; ADD_ADDR leaves after 50 µs
            poll_interval: Span::from_millis(1),   // as the lab's application
            receive_buffer: BufferSize {
                initial: 131_072,
                max: 6_291_456,
            },
            send_buffer: 4 << 20,
            measures_scaling_ratio: true,
            initial_receive_window: u32::MAX,
            idle_restart: true,
            bursts: true,
            host_jitter: true,
            announces_at_once: false,
            write_queues: true,
            answers_joins: true,
            join_rtt_in_milliseconds: true,
            header: HEADER,
            mptcp_data_header: 24, // 1424 bytes of payload in 1500
            mptcp_ack_header: 12,  // DSS with a 64-bit DATA_ACK
            // 40 bytes of options: 12 of timestamps, 12 of DSS leave 16, and a block takes 8 after the first 4.
            sack_blocks: SackRoom { tcp: 3, mptcp: 1 },
        }
    }

    /// Linux 3.14 with MPTCP 0.89: no RACK; all addresses are announced at once; the receive buffer does not grow and
    /// is larger than the papers' files need.
    #[must_use]
    pub const fn linux_3_14() -> Self {
        Self {
            name: "linux-3.14",
            detection: Detection::Fack,
            receive_buffer: BufferSize::fixed(6 << 20),
            measures_scaling_ratio: false, // tcp_adv_win_scale = 1
            initial_receive_window: 20, // tcp_default_init_rwnd: twice the initial congestion window
            bursts: false,
            host_jitter: false,
            wake_up_delay: WAKE_UP_DELAY,
            poll_interval: Span::ZERO,
            announces_at_once: true,
            write_queues: false,
            answers_joins: false,
            join_rtt_in_milliseconds: false,
            jiffy: Span::ZERO, // its timer wheel was different and is not modelled
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
            acknowledges_push: false,
            quick_acks: 0,
            jiffy: Span::ZERO,
            receive_buffer: BufferSize::fixed(6 << 20),
            measures_scaling_ratio: false,
            wake_up_delay: WAKE_UP_DELAY,
            poll_interval: Span::ZERO,
            idle_restart: false,
            bursts: false,
            host_jitter: false,
            announces_at_once: true,
            write_queues: false,
            answers_joins: false,
            join_rtt_in_milliseconds: false,
            ..Self::linux()
        }
    }

    /// Time of the application's next write if it can write since `now`. It polls at `phase` and every `poll_interval`
    /// after.
    pub(crate) fn writes_at(&self, now: Time, phase: Span) -> Time {
        let poll_interval = self.poll_interval.as_nanos().max(1);
        let waited =
            (now.as_nanos() + poll_interval - phase.as_nanos() % poll_interval) % poll_interval;
        now + Span::from_nanos((poll_interval - waited) % poll_interval) + self.wake_up_delay
    }

    /// Poll interval, µs.
    pub(crate) const fn poll_interval_us(&self) -> u32 {
        (self.poll_interval.as_nanos() / 1000) as u32
    }

    /// Headers of a data packet, bytes.
    pub(crate) const fn data_header(&self, mptcp: bool) -> u16 {
        self.header + if mptcp { self.mptcp_data_header } else { 0 }
    }

    /// Profile of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|profile| profile.name == name)
    }

    /// All profiles.
    #[must_use]
    pub const fn all() -> [Self; 3] {
        [Self::linux(), Self::linux_3_14(), Self::ns3_newreno()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The application polls every millisecond, at 300 µs past it, and writes 200 µs after a poll.
    #[test]
    fn a_polling_application_writes_at_its_next_poll() {
        let profile = Profile {
            wake_up_delay: Span::from_micros(200),
            poll_interval: Span::from_millis(1),
            ..Profile::linux()
        };
        let phase = Span::from_micros(300);
        for (from, writes_at) in [(0, 500), (300, 500), (301, 1500), (1299, 1500)] {
            let from = Time::ZERO + Span::from_micros(from);
            let writes_at = Time::ZERO + Span::from_micros(writes_at);
            assert_eq!(profile.writes_at(from, phase), writes_at, "{from:?}");
        }
        let woken = Profile::linux_3_14();
        let now = Time::ZERO + Span::from_micros(301);
        assert_eq!(woken.writes_at(now, phase), now + WAKE_UP_DELAY);
    }
}
