//! Scripts in the manner of packetdrill: the test injects ACKs at given times and compares the segments that the sender
//! transmits.
//!
//! The connection's network is a wire without rate or delay; the test is the other end.

mod backup;
mod buffers;
mod handshake;
mod receiver;
mod recovery;
mod scheduling;
mod timeouts;
mod window;

use super::interface::TcpInfo;
use super::*;
use crate::application::Reply;
use crate::packet::sack_blocks::SackBlocks;
use crate::packet::{Ack, ByteRange, Data, flag};

/// A reply of this many bytes, this many milliseconds after the reply before.
fn reply(gap: u64, bytes: u64) -> Reply {
    Reply {
        gap: Span::from_millis(gap),
        bytes,
    }
}

/// A sender, established at time 0 with an RTT sample of 100 ms, and the test as its receiver. Tests count full
/// segments, packets count bytes.
struct Script {
    simulation: Simulation<Quiet>,
    /// Segments sent since the last call of [`sent`](Self::sent).
    out: Vec<(u64, u32, bool)>,
    /// All data segments sent so far.
    data: Vec<(Data, bool)>,
}

/// Added to an ACK's flags: the ACK echoes the timestamp of the last transmission of the segment that it acknowledges,
/// not that of the first.
const ANSWERS_RETRANSMISSION: u8 = 0x80;

const RTT: u64 = 100;

/// A connection whose receive window is no limit; with several routes it is MPTCP.
fn plain(
    profile: Profile,
    algorithm: &str,
    routes: Vec<SubflowRoutes>,
    application: Application,
) -> ConnectionSpec {
    let algorithm = Algorithm::find(algorithm).expect("an algorithm");
    ConnectionSpec {
        profile,
        algorithm,
        settings: Settings::standard(algorithm),
        mptcp: routes.len() > 1,
        routes,
        start: Time::ZERO,
        application,
        packet: 1500,
        receive_window: Some(8 << 20),
        path_manager: PathManager::Client,
        join_delay: Span::ZERO,
        ecn: false,
        ssthresh: None,
        groups: Vec::new(),
        backup: Vec::new(),
        phase: Span::ZERO,
    }
}

impl Script {
    fn new(profile: Profile, algorithm: &str, segments: u64) -> Self {
        Self::with(profile, algorithm, Application::File(segments * 1448))
    }

    fn with(profile: Profile, algorithm: &str, application: Application) -> Self {
        Self::with_subflows(profile, algorithm, application, 1)
    }

    /// With more than one subflow the connection is MPTCP. The first subflow is established.
    fn with_subflows(
        profile: Profile,
        algorithm: &str,
        application: Application,
        subflows: usize,
    ) -> Self {
        let mut network = Network::new();
        let wire = network.add_link(LinkSpec::delay(Span::ZERO));
        let routes = SubflowRoutes {
            to_client: network.add_route(&[wire], PortId(0)),
            to_server: network.add_route(&[wire], PortId(1)),
        };
        let routes = vec![routes; subflows];
        let mut simulation = Simulation::new(network, Quiet);
        simulation.add_connection(ConnectionSpec {
            start: Time::from_nanos(u64::MAX - 1),
            ..plain(
                Profile {
                    wake_up_delay: Span::ZERO,
                    poll_interval: Span::ZERO,
                    ..profile
                },
                algorithm,
                routes,
                application,
            )
        });
        let mut script = Self {
            simulation,
            out: Vec::new(),
            data: Vec::new(),
        };
        script.receive(syn(0));
        script.simulation.env.now = Time::ZERO + Span::from_millis(RTT);
        script.receive(handshake_ack(0));
        script.until(0);
        script
    }

    /// A packet arrives, at either end.
    fn receive(&mut self, segment: Segment) {
        self.simulation.deliver(segment.into());
        self.collect();
    }

    /// Advances the time to `ms` after the handshake; timers fire on the way.
    fn until(&mut self, ms: u64) {
        let end = after_handshake(ms);
        while self.simulation.env.timers.next() <= end {
            let at = self.simulation.env.timers.next();
            while self.simulation.fire(at).is_some() {}
            self.collect();
        }
        self.simulation.env.now = end;
    }

    fn collect(&mut self) {
        while let Some(exit) = self.simulation.env.network.poll(self.simulation.env.now) {
            if let Exit::Arrived { at, payload, .. } = exit {
                if let Some(data) = payload.data() {
                    let same = |(sent, _): &(Data, bool)| {
                        (sent.subflow, sent.seq) == (data.subflow, data.seq)
                    };
                    let again = self.data.iter().any(same);
                    self.data.push((data, again));
                    let ms = at.as_nanos() / 1_000_000 - RTT;
                    self.out.push((ms, data.seq / self.mss(), again));
                }
            }
        }
    }

    /// Segments sent since the last call.
    fn sent(&mut self) -> Vec<(u64, u32, bool)> {
        std::mem::take(&mut self.out)
    }

    fn numbers(&mut self) -> Vec<u32> {
        self.sent().into_iter().map(|(_, seq, _)| seq).collect()
    }

    /// An ACK of segment `ack - 1` arrives at `ms`, with SACK blocks. `flags`: those of the ACK, and
    /// [`ANSWERS_RETRANSMISSION`].
    fn ack_with(&mut self, ms: u64, ack: u32, sacks: &[(u64, u64)], duplicate: bool, flags: u8) {
        self.until(ms);
        let mut blocks = SackBlocks {
            duplicate,
            count: sacks.len() as u8,
            ..SackBlocks::default()
        };
        let mss = u64::from(self.mss());
        for (to, from) in blocks.list.iter_mut().zip(sacks) {
            *to = ByteRange::new(from.0 * mss, from.1 * mss);
        }
        let sack = if sacks.is_empty() {
            0
        } else {
            self.simulation.env.sacks.insert(blocks)
        };
        // The ACK echoes the timestamp of the first unacknowledged segment in order, or of the duplicate segment (RFC
        // 7323, 4.3).
        let answers = match duplicate {
            true => sacks[0].0 as u32,
            false if ack > self.una() => self.una(),
            false => self.una().saturating_sub(1),
        } * self.mss();
        let copies = self.data.iter().map(|(data, _)| data);
        let mut copies = copies.filter(|data| data.subflow == subflow(0) && data.seq == answers);
        let answered = match flags & ANSWERS_RETRANSMISSION {
            0 => copies.next(),
            _ => copies.next_back(),
        };
        self.receive(Segment::Ack(Ack {
            subflow: subflow(0),
            seq: ack * self.mss(),
            data_ack: ack * self.mss(),
            window: 5000 * self.mss(),
            sack,
            echo_us: answered.map_or(0, |data| data.sent_us),
            flags: flags & !ANSWERS_RETRANSMISSION,
        }));
    }

    fn ack(&mut self, ms: u64, ack: u32) {
        self.ack_with(ms, ack, &[], false, 0);
    }

    fn sack(&mut self, ms: u64, ack: u32, sacks: &[(u64, u64)]) {
        self.ack_with(ms, ack, sacks, false, 0);
    }

    fn mss(&self) -> u32 {
        self.simulation.connection().send.stream.mss.into()
    }

    fn sender(&self) -> &Sender {
        self.simulation.sender(0)
    }

    /// State of the first subflow.
    fn info(&self) -> TcpInfo {
        self.simulation.tcp_info(0)
    }

    /// First unacknowledged segment.
    fn una(&self) -> u32 {
        self.info().snd_una as u32 / self.mss()
    }

    fn nxt(&self) -> u32 {
        self.info().snd_nxt as u32 / self.mss()
    }

    fn cwnd(&self) -> u32 {
        self.info().snd_cwnd
    }
}

fn syn(index: u8) -> Segment {
    Segment::Syn {
        subflow: subflow(index),
        backup: false,
    }
}

fn handshake_ack(index: u8) -> Segment {
    Segment::HandshakeAck {
        subflow: subflow(index),
        echo_us: 0,
    }
}

fn after_handshake(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(RTT + ms)
}

fn linux(segments: u64) -> Script {
    Script::new(Profile::linux(), "reno", segments)
}
