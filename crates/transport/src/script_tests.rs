//! Scripts in the manner of packetdrill: ACKs go in at given times, and what the sender puts on the wire comes out.
//!
//! The connection's network is a wire without rate or delay; the test is the other end.

use super::*;
use crate::sack::Blocks;
use crate::segment::flag;
use crate::trace::Quiet;
use netsim::{LinkSpec, PortId};

/// A sender, established at time 0 with an RTT sample of 100 ms, and the test as its receiver.
struct Script {
    simulation: Simulation<Quiet>,
    /// Segments on the wire since they were last looked at: when, ms; which; whether sent before.
    out: Vec<(u64, u32, bool)>,
}

const RTT: u64 = 100;

impl Script {
    fn new(profile: Profile, algorithm: &str, segments: u64) -> Self {
        Self::with(profile, algorithm, Application::File(segments * 1448))
    }

    fn with(profile: Profile, algorithm: &str, application: Application) -> Self {
        let mut network = Network::new();
        let wire = network.add_link(LinkSpec::delay(Span::ZERO));
        let routes = vec![(
            network.add_route(&[wire], PortId(0)),
            network.add_route(&[wire], PortId(1)),
        )];
        let mut simulation = Simulation::new(network, Quiet);
        simulation.add_connection(ConnectionSpec {
            profile,
            algorithm: Algorithm::find(algorithm).expect("an algorithm"),
            mptcp: false,
            routes,
            start: Time::from_nanos(u64::MAX - 1),
            application,
            packet: 1500,
            receive_window: Some(8 << 20),
            path_manager: PathManager::Client,
            join_delay: Span::ZERO,
            ecn: false,
            ssthresh: None,
        });
        let mut script = Self {
            simulation,
            out: Vec::new(),
        };
        script.handshake(Kind::Syn);
        script.simulation.now = Time::ZERO + Span::from_millis(RTT);
        script.simulation.running[0].spec.profile.wake_up = Span::ZERO;
        script.handshake(Kind::Established);
        script.until(0);
        script
    }

    fn handshake(&mut self, kind: Kind) {
        let segment = Segment {
            to: 0,
            seq: 0,
            data: 0,
            window: 0,
            sack: 0,
            kind,
            flags: 0,
            len: 0,
        };
        self.simulation.deliver(&segment);
        self.collect();
    }

    /// The time goes on to `ms` after the handshake; timers fire on the way.
    fn until(&mut self, ms: u64) {
        let end = Time::ZERO + Span::from_millis(RTT + ms);
        while self.simulation.timers.next() <= end {
            let at = self.simulation.timers.next();
            self.simulation.now = at;
            while let Some(timer) = self.simulation.timers.fire(at) {
                self.simulation
                    .on_timer(self.simulation.owners[timer as usize]);
            }
            self.collect();
        }
        self.simulation.now = end;
    }

    fn collect(&mut self) {
        while let Some(exit) = self.simulation.network.poll(self.simulation.now) {
            if let Exit::Arrived { at, payload, .. } = exit {
                if payload.kind == Kind::Data {
                    let ms = at.as_nanos() / 1_000_000 - RTT;
                    self.out
                        .push((ms, payload.seq, payload.flags & flag::AGAIN != 0));
                }
            }
        }
    }

    /// What was sent since it was last asked.
    fn sent(&mut self) -> Vec<(u64, u32, bool)> {
        std::mem::take(&mut self.out)
    }

    fn numbers(&mut self) -> Vec<u32> {
        self.sent().into_iter().map(|(_, seq, _)| seq).collect()
    }

    /// An ACK at `ms`, with SACK blocks; `flags` of the segment that it answers.
    fn ack_with(&mut self, ms: u64, ack: u32, sacks: &[(u64, u64)], duplicate: bool, flags: u8) {
        self.until(ms);
        let mut blocks = Blocks {
            duplicate,
            count: sacks.len() as u8,
            ..Blocks::default()
        };
        blocks.list[..sacks.len()].copy_from_slice(sacks);
        let sack = if sacks.is_empty() {
            0
        } else {
            self.simulation.sacks.put(blocks)
        };
        // It answers the segment that made it: the last of the newest block, or the last in order.
        let newest = if duplicate {
            sacks[0].1
        } else {
            sacks.first().map_or(ack.into(), |block| block.1)
        };
        let answers = newest.saturating_sub(1) as u16;
        let segment = Segment {
            to: 0,
            seq: ack,
            data: ack,
            window: 5000,
            sack,
            kind: Kind::Ack,
            flags,
            len: answers,
        };
        self.simulation.deliver(&segment);
        self.collect();
    }

    fn ack(&mut self, ms: u64, ack: u32) {
        self.ack_with(ms, ack, &[], false, 0);
    }

    fn sack(&mut self, ms: u64, ack: u32, sacks: &[(u64, u64)]) {
        self.ack_with(ms, ack, sacks, false, 0);
    }

    fn sender(&self) -> &Sender {
        &self.simulation.senders[0]
    }

    fn cwnd(&self) -> u32 {
        self.sender().tcp.cwnd
    }
}

fn linux(segments: u64) -> Script {
    Script::new(Profile::linux(), "reno", segments)
}

#[test]
fn the_initial_window_and_slow_start() {
    let mut script = linux(1000);
    assert_eq!(
        script.sent(),
        (0..10).map(|seq| (0, seq, false)).collect::<Vec<_>>()
    );
    script.ack(100, 1);
    assert_eq!(script.numbers(), [10, 11]);
    script.ack(101, 3);
    assert_eq!(script.numbers(), [12, 13, 14, 15]);
    assert_eq!(script.cwnd(), 13);
}

#[test]
fn three_segments_beyond_a_gap_start_a_recovery_that_halves_the_window() {
    let mut script = linux(1000);
    script.numbers();
    script.sack(100, 0, &[(1, 2)]);
    script.sack(101, 0, &[(1, 3)]);
    // One new segment for each that has left, the window being what it was (RFC 3042).
    assert_eq!(script.numbers(), [10, 11]);
    script.sack(102, 0, &[(1, 4)]);
    assert_eq!(script.sent(), [(102, 0, true)]);
    assert_eq!(script.sender().tcp.ssthresh, 5);
    // PRR: of the rest of the window every second segment is answered with one.
    let mut sent = 0;
    for (i, end) in (5..13).enumerate() {
        script.sack(103 + i as u64, 0, &[(1, end)]);
        sent += script.numbers().len();
    }
    assert!((3..=5).contains(&sent), "{sent}");
    script.ack_with(202, 12, &[], false, flag::AGAIN);
    assert_eq!(script.cwnd(), 5);
    assert_eq!(script.sender().state, mpcc::state::MPCC_STATE_OPEN);
}

#[test]
fn rack_sends_again_what_was_lost_twice() {
    let mut script = linux(1000);
    script.numbers();
    for end in 2..=10 {
        script.sack(99 + end, 0, &[(1, end)]);
    }
    let sent = script.sent();
    let again: Vec<_> = sent.iter().filter(|s| s.2).collect();
    assert_eq!(again, [&(103, 0, true)]);
    let new = sent
        .iter()
        .filter(|s| !s.2)
        .map(|s| s.1)
        .collect::<Vec<_>>();
    // The new segments arrive a round trip later, the one that was sent again does not.
    for (i, seq) in new.iter().enumerate() {
        script.sack(203 + i as u64, 0, &[(1, u64::from(*seq) + 1)]);
    }
    let again = script
        .sent()
        .into_iter()
        .filter(|s| s.2)
        .map(|s| s.1)
        .collect::<Vec<_>>();
    assert_eq!(again, [0]);
}

#[test]
fn a_lost_tail_is_probed_after_two_round_trips_and_then_times_out() {
    let mut script = linux(4);
    assert_eq!(script.numbers(), [0, 1, 2, 3]);
    // Two smoothed RTTs and two jiffies: the last segment once more.
    script.until(1200);
    let sent = script.sent();
    assert_eq!(sent[0], (208, 3, true));
    // Then the timeout, which the probe's sending has started: 100 ms + max(4 · 50, 200) ms.
    assert_eq!(sent[1], (508, 0, true));
    assert_eq!(sent[2].0, 508 + 600, "the second waits twice as long");
}

#[test]
fn timeouts_double_and_the_window_is_one_segment() {
    let mut script = linux(1000);
    script.numbers();
    script.until(10_000);
    let again: Vec<u64> = script
        .sent()
        .into_iter()
        .filter(|s| s.1 == 0)
        .map(|s| s.0)
        .collect();
    let waits: Vec<u64> = again.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(waits, [600, 1200, 2400, 4800]);
    assert_eq!(script.cwnd(), 1);
    assert_eq!(script.sender().tcp.ssthresh, 5);
    assert_eq!(script.sender().tally.timeouts, 5);
}

#[test]
fn a_probe_that_repaired_a_loss_halves_the_window() {
    let mut script = linux(10);
    script.numbers();
    script.ack(100, 9);
    script.until(400);
    let sent = script.sent();
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!((sent[0].1, sent[0].2), (9, true));
    assert_eq!(script.sender().tcp.cwnd, 19);
}

#[test]
fn a_spurious_timeout_is_undone() {
    let mut script = linux(1000);
    script.numbers();
    // The path stops for 600 ms, and then all ACKs come.
    script.until(520);
    assert_eq!(script.sender().state, mpcc::state::MPCC_STATE_LOSS);
    script.ack(600, 1); // answers the first copy: Eifel
    assert_eq!(script.sender().state, mpcc::state::MPCC_STATE_OPEN);
    assert!(script.cwnd() >= 10, "{}", script.cwnd());
    assert!(script.sender().tcp.ssthresh > 1 << 20);
}

#[test]
fn frto_finds_a_spurious_timeout_without_timestamps() {
    let mut script = linux(1000);
    script.numbers();
    script.until(520);
    // The retransmission is acknowledged, and then what was sent once and before the timeout.
    script.ack_with(600, 1, &[], false, flag::AGAIN);
    assert_eq!(script.sender().state, mpcc::state::MPCC_STATE_LOSS);
    script.ack_with(601, 2, &[], false, 0);
    assert_eq!(script.sender().state, mpcc::state::MPCC_STATE_OPEN);
    assert!(script.cwnd() >= 10, "{}", script.cwnd());
}

#[test]
fn a_needless_recovery_is_undone_when_the_receiver_has_it_twice() {
    let mut script = linux(1000);
    script.numbers();
    for end in 2..=4 {
        script.sack(99 + end, 0, &[(1, end)]);
    }
    assert_eq!(script.sender().state, mpcc::state::MPCC_STATE_RECOVERY);
    // The first segment was late, not lost: its ACK, then one that says that it came twice.
    script.ack_with(110, 4, &[], false, flag::AGAIN);
    script.ack_with(202, 4, &[(0, 1)], true, flag::AGAIN);
    assert!(script.cwnd() >= 10, "{}", script.cwnd());
    assert_eq!(script.sender().state, mpcc::state::MPCC_STATE_OPEN);
}

#[test]
fn newreno_repairs_one_segment_a_round_trip() {
    let mut script = Script::new(Profile::ns3_newreno(), "reno", 1000);
    script.numbers();
    // Segments 0 and 4 are lost: eight duplicate ACKs.
    for i in 0..8 {
        script.ack(100 + i, 0);
    }
    let sent = script.sent();
    assert_eq!(
        sent[2],
        (102, 0, true),
        "after two by limited transmit: {sent:?}"
    );
    assert_eq!(script.sender().tcp.ssthresh, 5);
    script.ack(202, 4);
    assert_eq!(script.sent()[0], (202, 4, true));
    let high = script.sender().nxt as u32;
    script.ack(302, high);
    script.ack(303, high + 1);
    assert_eq!(script.sender().state, mpcc::state::MPCC_STATE_OPEN);
}

#[test]
fn fack_takes_all_but_the_last_three_before_the_highest_for_lost() {
    let mut script = Script::new(Profile::linux_3_14(), "reno", 1000);
    script.numbers();
    script.sack(100, 0, &[(6, 7)]);
    // 0 to 3 are lost; PRR lets one go.
    assert_eq!(script.sent(), [(100, 0, true)]);
    assert_eq!(script.sender().lost, 4);
}

#[test]
fn an_idle_connection_begins_with_a_smaller_window() {
    let application = Application::Requests {
        bytes: 60 * 1448,
        gaps: [Span::from_millis(100), Span::from_millis(700)].into(),
    };
    let mut script = Script::with(Profile::linux(), "reno", application);
    let mut at = 0;
    let mut windows = Vec::new();
    let mut reply = |script: &mut Script, gap: u64| {
        while script.sender().out() > 0 {
            at += 100;
            let nxt = script.sender().nxt as u32;
            script.ack(at, nxt);
        }
        windows.push(script.cwnd());
        at += gap;
        script.until(at);
        windows.push(script.cwnd());
    };
    reply(&mut script, 100);
    reply(&mut script, 700);
    // After 100 ms it goes on as it was; 700 ms are two timeouts of 300 ms.
    assert_eq!(windows[0], windows[1]);
    assert_eq!(windows[3], windows[2] / 4, "{windows:?}");
}
