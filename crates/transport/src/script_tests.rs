//! Scripts in the manner of packetdrill: ACKs go in at given times, and what the sender puts on the wire comes out.
//!
//! The connection's network is a wire without rate or delay; the test is the other end.

use super::*;
use crate::pace::Pace;
use crate::sack::Blocks;
use crate::segment::flag;
use crate::trace::Quiet;
use mpcc::Algorithm;
use netsim::{LinkSpec, PortId};

/// A sender, established at time 0 with an RTT sample of 100 ms, and the test as its receiver.
struct Script {
    simulation: Simulation<Quiet>,
    /// Segments on the wire since they were last looked at: when, ms; which; whether sent before.
    out: Vec<(u64, u32, bool)>,
    /// Their flags, all of them.
    flags: Vec<(u32, u8)>,
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
            flags: Vec::new(),
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
                    self.flags.push((payload.seq, payload.flags));
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

#[test]
fn a_probe_that_repaired_the_tail_halves_the_window_with_the_next_ack() {
    let application = Application::Requests {
        bytes: 10 * 1448,
        gaps: [Span::from_millis(10)].into(),
    };
    let mut script = Script::with(Profile::linux(), "reno", application);
    script.numbers();
    script.ack(100, 9);
    script.until(400);
    script.sent();
    // The probe fills the hole: whether its first copy was lost shows when nobody tells of a second one.
    script.ack_with(408, 10, &[], false, flag::AGAIN);
    assert_eq!(script.cwnd(), 20);
    script.until(420);
    script.sent();
    script.ack(520, 11);
    assert_eq!(script.cwnd(), 10, "{:?}", script.sender().tcp);
    assert_eq!(script.sender().state, mpcc::state::MPCC_STATE_OPEN);
}

#[test]
fn a_probe_that_the_receiver_had_already_leaves_the_window_alone() {
    let mut script = linux(10);
    script.numbers();
    script.ack(100, 9);
    script.until(400);
    script.sent();
    script.ack_with(401, 9, &[(8, 9)], true, 0);
    assert_eq!(script.cwnd(), 19);
    assert_eq!(script.sender().tally.losses, 0);
}

#[test]
fn a_probe_takes_new_data_where_the_receiver_has_room_for_it() {
    // All ten are out, and the window has no room for an eleventh: the probe goes beyond it (RFC 8985, 7.3).
    let mut script = linux(1000);
    script.numbers();
    script.until(250);
    assert_eq!(script.sent(), [(208, 10, false)]);
}

/// What once made lost segments wait for ever: a probe that arrived counted as one of them under way.
#[test]
fn a_timeout_sends_again_what_is_lost_beside_a_probe_that_arrived() {
    let mut script = linux(2);
    script.numbers();
    script.until(250);
    assert_eq!(script.sent(), [(208, 1, true)]);
    script.sack(300, 0, &[(1, 2)]);
    script.until(2000);
    let again = script.sent();
    assert!(
        !again.is_empty() && again.iter().all(|s| s.1 == 0),
        "{again:?}"
    );
    script.ack_with(2100, 2, &[], false, flag::AGAIN);
    assert_eq!(script.simulation.report(0).bytes, 2 * 1448);
}

#[test]
fn segments_overtaken_within_a_quarter_of_the_round_trip_are_not_sent_again() {
    let mut script = linux(1000);
    script.numbers();
    // One segment is late, by less than a quarter of 100 ms, and two that were sent after it are there: no more.
    script.sack(100, 0, &[(1, 3)]);
    script.until(110);
    script.ack(111, 3);
    script.until(180);
    assert!(script.sent().iter().all(|s| !s.2));
    assert_eq!(script.sender().tally.losses, 0);
    // Of the next ones one does not come: after the quarter, 25 ms (and two jiffies of the timer), it is sent again.
    let mut script = linux(1000);
    script.numbers();
    script.sack(100, 0, &[(1, 3)]);
    script.until(180);
    let again: Vec<_> = script.sent().into_iter().filter(|s| s.2).collect();
    // An eighth of the smoothed round trip, where that is less (Linux: srtt >> 3).
    let wait = (RTT / 4).min(RTT / 8);
    assert_eq!(again.len(), 1, "{again:?}");
    assert_eq!(again[0].1, 0);
    assert!(
        (100 + wait..=100 + 25 + 9).contains(&again[0].0),
        "{again:?}"
    );
}

/// RFC 6937, appendix A's first example: 20 segments, the first lost, RFC 6937 with the window going to 10: every second
/// ACK sends one.
#[test]
fn prr_answers_every_second_segment_of_a_halved_window() {
    let mut script = linux(10_000);
    script.numbers();
    script.ack(100, 10);
    assert_eq!(script.numbers().len(), 20);
    // 10..30 are out, 10 is lost. Two by limited transmit, then the first again.
    let mut sent = Vec::new();
    for end in 12..=30 {
        script.sack(189 + end, 10, &[(11, end)]);
        sent.push(script.numbers().len());
    }
    assert_eq!(script.sender().tcp.ssthresh, 10);
    assert_eq!(sent[..3], [1, 1, 1]);
    // Half of 17 ACKs, until no more than the new window is under way.
    let total: usize = sent[2..].iter().sum();
    assert!((8..=9).contains(&total), "{sent:?}");
    assert!(
        sent[3..].windows(2).all(|pair| pair[0] + pair[1] <= 1 + 1),
        "{sent:?}"
    );
    assert_eq!(script.sender().flight(), 10);
    assert_eq!(script.cwnd(), 10);
}

#[test]
fn the_timeout_backs_off_to_two_minutes_and_a_sample_ends_that() {
    let mut script = linux(1000);
    script.numbers();
    script.until(1_200_000);
    let at: Vec<u64> = script
        .sent()
        .into_iter()
        .filter(|s| s.2)
        .map(|s| s.0)
        .collect();
    let waits: Vec<u64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(waits[..4], [600, 1200, 2400, 4800]);
    assert!(waits[8..].iter().all(|wait| *wait == 120_000), "{waits:?}");
    let last = at.last().unwrap() + 120_000;
    script.until(last);
    assert_eq!(script.sender().rtt.timeout(), Span::from_millis(120_000));
    // It answers the last copy, and that is a sample of 100 ms.
    script.ack_with(last + 100, 1, &[], false, flag::AGAIN);
    assert!(script.sender().rtt.timeout() < Span::from_millis(301));
}

#[test]
fn frto_repairs_where_there_is_nothing_new_to_send() {
    let mut script = linux(10);
    script.numbers();
    script.until(520);
    script.sent();
    // The first copy of the first one was lost: the others follow without another timeout (RFC 5682, 2.1, 2b).
    script.ack_with(610, 1, &[], false, flag::AGAIN);
    let again: Vec<u32> = script.numbers();
    assert_eq!(again, [1, 2], "a window of two");
}

#[test]
fn an_unused_window_shrinks_and_does_not_grow() {
    let application = Application::Paced(Pace::new(
        netsim::Rate::from_bits_per_second(1448 * 8 * 100),
        None,
    ));
    let mut script = Script::with(Profile::linux(), "reno", application);
    // A segment each 10 ms, and 100 ms of round trip: 10 are out, of a window of 100.
    script.simulation.senders[0].tcp.cwnd = 100;
    script.simulation.senders[0].tcp.ssthresh = 50;
    let mut windows = Vec::new();
    for i in 0..400 {
        script.until(i * 10);
        let out = script.sender().nxt - script.sender().una;
        if out >= 10 {
            script.ack(i * 10, script.sender().una as u32 + 1);
        }
        windows.push(script.cwnd());
    }
    // Below twice of what is out it is limited by itself in slow start, and grows.
    let down = windows.iter().position(|window| *window < 20).unwrap();
    assert!(
        windows[..=down].windows(2).all(|pair| pair[1] <= pair[0]),
        "{windows:?}"
    );
    assert!(
        windows[down..]
            .iter()
            .all(|window| (10..=20).contains(window)),
        "{windows:?}"
    );
    // A timeout is 300 ms: half of the way to 10, each 300 ms.
    assert_eq!(
        [windows[25], windows[45], windows[75], windows[105]],
        [100, 55, 32, 21]
    );
    // What it was counts on: three quarters of it.
    assert_eq!(script.sender().tcp.ssthresh, 75);
}

#[test]
fn ecn_halves_the_window_once_a_round_trip_and_says_so_once() {
    let mut script = linux(1000);
    script.simulation.senders[0].ecn = true;
    script.numbers();
    script.ack_with(100, 2, &[], false, flag::ECHO);
    assert_eq!(script.sender().tcp.ssthresh, 5);
    for i in 3..=10u32 {
        script.ack_with(98 + u64::from(i), i, &[], false, flag::ECHO);
    }
    assert_eq!(script.sender().tally.losses, 1, "once for what was out");
    assert_eq!(script.sender().state, mpcc::state::MPCC_STATE_CWR);
    let nxt = script.sender().nxt as u32;
    assert!(script.simulation.senders[0].recovery.reduced || nxt > 10);
    script.ack(201, nxt);
    script.ack(202, script.sender().nxt as u32);
    assert_eq!(script.sender().state, mpcc::state::MPCC_STATE_OPEN);
    script.ack_with(301, script.sender().nxt as u32, &[], false, flag::ECHO);
    assert_eq!(script.sender().tally.losses, 2);
}

#[test]
fn the_receive_window_is_never_exceeded() {
    let mut script = linux(1000);
    script.numbers();
    script.ack(100, 10);
    // The receiver takes 5 beyond what it has.
    script.simulation.connections[0].edge = 35;
    let mut highest = 0;
    for ack in 11..=30 {
        script.until(100 + u64::from(ack));
        let segment = Segment {
            to: 0,
            seq: ack,
            data: ack,
            window: 5,
            sack: 0,
            kind: Kind::Ack,
            flags: 0,
            len: (ack - 1) as u16,
        };
        script.simulation.deliver(&segment);
        script.collect();
        highest = script.numbers().into_iter().max().unwrap_or(highest);
        assert!(highest < 35.max(ack + 5), "{highest} at {ack}");
    }
}

/// The receiving end, which gets data by hand; its ACKs come out.
struct Receiving {
    script: Script,
    wire: Vec<(u64, Segment, Option<Blocks>)>,
}

impl Receiving {
    fn new(profile: Profile) -> Self {
        let mut script = Script::with(profile, "reno", Application::Endless);
        script.simulation.receivers[0].established = true;
        // The sender is out of the play.
        script.simulation.senders[0].life = Life::Closed;
        let timer = script.simulation.senders[0].timer;
        script.simulation.timers.clear(timer);
        Self {
            script,
            wire: Vec::new(),
        }
    }

    fn collect(&mut self) {
        let simulation = &mut self.script.simulation;
        while let Some(exit) = simulation.network.poll(simulation.now) {
            if let Exit::Arrived { at, payload, .. } = exit {
                if payload.kind == Kind::Ack {
                    let blocks = simulation.sacks.take(payload.sack);
                    let ms = at.as_nanos() / 1_000_000 - RTT;
                    self.wire.push((ms, payload, blocks));
                }
            }
        }
    }

    /// A data segment arrives at `ms`.
    fn data(&mut self, ms: u64, seq: u32, flags: u8) {
        self.until(ms);
        let segment = Segment {
            to: 0,
            seq,
            data: seq,
            window: 0,
            sack: 0,
            kind: Kind::Data,
            flags,
            len: 1448,
        };
        self.script.simulation.deliver(&segment);
        self.collect();
    }

    fn until(&mut self, ms: u64) {
        let end = Time::ZERO + Span::from_millis(RTT + ms);
        while self.script.simulation.timers.next() <= end {
            let simulation = &mut self.script.simulation;
            let at = simulation.timers.next();
            simulation.now = at;
            while let Some(timer) = simulation.timers.fire(at) {
                simulation.on_timer(simulation.owners[timer as usize]);
            }
            self.collect();
        }
        self.script.simulation.now = end;
    }

    /// When ACKs went out since it was last asked, and what they acknowledge.
    fn acks(&mut self) -> Vec<(u64, u32)> {
        let wire = std::mem::take(&mut self.wire);
        wire.iter().map(|(ms, ack, _)| (*ms, ack.seq)).collect()
    }

    /// The SACK blocks of the last ACK, and whether the first tells of a segment that came twice.
    fn blocks(&mut self) -> (Vec<(u64, u64)>, bool) {
        let last = self.wire.last().and_then(|(_, _, blocks)| *blocks);
        self.wire.clear();
        last.map_or((vec![], false), |blocks| {
            (
                blocks.list[..blocks.count as usize].to_vec(),
                blocks.duplicate,
            )
        })
    }
}

#[test]
fn the_first_sixteen_are_acknowledged_one_by_one_and_then_every_second_or_after_40_ms() {
    let mut receiver = Receiving::new(Profile::linux());
    (0..16).for_each(|seq| receiver.data(10, seq, 0));
    assert_eq!(
        receiver.acks(),
        (1..=16).map(|seq| (10, seq)).collect::<Vec<_>>()
    );
    (16..20).for_each(|seq| receiver.data(20, seq, 0));
    assert_eq!(receiver.acks(), [(20, 18), (20, 20)]);
    receiver.data(30, 20, 0);
    receiver.until(200);
    assert_eq!(receiver.acks(), [(70, 21)]);
    // ns-3: from the beginning, and 200 ms.
    let mut receiver = Receiving::new(Profile::ns3_newreno());
    (0..3).for_each(|seq| receiver.data(10, seq, 0));
    receiver.until(500);
    assert_eq!(receiver.acks(), [(10, 2), (210, 3)]);
}

#[test]
fn gaps_and_what_fills_them_are_told_at_once_the_latest_block_first() {
    let mut receiver = Receiving::new(Profile::linux());
    (0..20).for_each(|seq| receiver.data(10, seq, 0));
    receiver.acks();
    receiver.data(20, 21, 0);
    assert_eq!(receiver.blocks(), (vec![(21, 22)], false));
    receiver.data(21, 23, 0);
    assert_eq!(receiver.blocks(), (vec![(23, 24), (21, 22)], false));
    receiver.data(22, 25, 0);
    receiver.data(23, 27, 0);
    // Three blocks fit beside the timestamp option.
    assert_eq!(
        receiver.blocks(),
        (vec![(27, 28), (25, 26), (23, 24)], false)
    );
    receiver.data(24, 22, flag::AGAIN);
    assert_eq!(
        receiver.blocks(),
        (vec![(21, 24), (27, 28), (25, 26)], false)
    );
    // A gap is filled: at once, and what is left of the blocks.
    receiver.data(25, 20, flag::AGAIN);
    assert_eq!(receiver.wire.last().unwrap().1.seq, 24);
    assert_eq!(receiver.blocks(), (vec![(27, 28), (25, 26)], false));
    receiver.data(26, 24, 0);
    receiver.data(27, 26, 0);
    assert_eq!(receiver.wire.last().unwrap().1.seq, 28);
    assert_eq!(receiver.blocks(), (vec![], false));
}

#[test]
fn what_comes_twice_is_told_first_and_once() {
    let mut receiver = Receiving::new(Profile::linux());
    (0..4).for_each(|seq| receiver.data(10, seq, 0));
    receiver.data(11, 6, 0);
    receiver.acks();
    receiver.data(20, 2, flag::AGAIN);
    assert_eq!(receiver.wire.last().unwrap().1.seq, 4);
    assert_eq!(receiver.blocks(), (vec![(2, 3), (6, 7)], true));
    receiver.data(21, 7, 0);
    assert_eq!(receiver.blocks(), (vec![(6, 8)], false));
    // Without SACK it is a plain ACK.
    let mut receiver = Receiving::new(Profile::ns3_newreno());
    (0..4).for_each(|seq| receiver.data(10, seq, 0));
    receiver.data(20, 2, flag::AGAIN);
    assert_eq!(receiver.blocks(), (vec![], false));
}

#[test]
fn marks_are_echoed_until_the_sender_has_reduced() {
    let mut receiver = Receiving::new(Profile::linux());
    receiver.data(10, 0, flag::ECN_CAPABLE);
    receiver.data(11, 1, flag::ECN_CAPABLE | flag::CONGESTION);
    receiver.data(12, 2, flag::ECN_CAPABLE);
    receiver.data(13, 3, flag::ECN_CAPABLE | flag::REDUCED);
    receiver.data(14, 4, flag::ECN_CAPABLE | flag::REDUCED | flag::CONGESTION);
    let echoes = receiver
        .wire
        .iter()
        .map(|(_, ack, _)| ack.flags & flag::ECHO != 0);
    assert_eq!(echoes.collect::<Vec<_>>(), [false, true, true, false, true]);
    // Beyond the first sixteen: the first mark and the next segment at once, then every second again.
    (5..20).for_each(|seq| receiver.data(20, seq, flag::ECN_CAPABLE | flag::REDUCED));
    receiver.acks();
    receiver.data(30, 20, flag::ECN_CAPABLE | flag::CONGESTION);
    (21..24).for_each(|seq| receiver.data(31, seq, flag::ECN_CAPABLE));
    assert_eq!(receiver.acks(), [(30, 21), (31, 22), (31, 24)]);
}

/// A connection whose wire loses the `n`-th packets of a kind.
fn opens(lose: impl Fn(Kind, u32) -> bool, seconds: u64) -> (Vec<(u64, Kind)>, Option<u64>, u32) {
    let mut script = Script::with(Profile::linux(), "reno", Application::File(100 * 1448));
    let mut simulation = Simulation::new(std::mem::take(&mut script.simulation.network), Quiet);
    let (down, up) = script.simulation.running[0].spec.routes[0];
    simulation.add_connection(ConnectionSpec {
        profile: Profile::linux(),
        algorithm: Algorithm::find("reno").expect("an algorithm"),
        mptcp: false,
        routes: vec![(down, up)],
        start: Time::ZERO,
        application: Application::File(100 * 1448),
        packet: 1500,
        receive_window: Some(8 << 20),
        path_manager: PathManager::Client,
        join_delay: Span::ZERO,
        ecn: false,
        ssthresh: None,
    });
    let (mut wire, mut counts) = (Vec::new(), [0; 8]);
    let stop = Time::ZERO + Span::from_secs(seconds);
    while simulation.senders[0].tally.established.is_none() {
        let limit = simulation.timers.next().min(stop);
        if let Some(Exit::Arrived { at, payload, .. }) = simulation.network.poll(limit) {
            simulation.now = at;
            let count = &mut counts[payload.kind as usize];
            *count += 1;
            wire.push((at.as_nanos() / 1_000_000, payload.kind));
            if !lose(payload.kind, *count) {
                simulation.deliver(&payload);
            }
        } else if limit == stop {
            break;
        } else {
            simulation.now = limit;
            while let Some(timer) = simulation.timers.fire(limit) {
                simulation.on_timer(simulation.owners[timer as usize]);
            }
        }
    }
    let sender = &simulation.senders[0];
    let at = sender.tally.established.map(|at| at.as_nanos() / 1_000_000);
    (wire, at, sender.tcp.cwnd)
}

#[test]
fn syns_are_sent_again_after_1_2_4_seconds() {
    let (wire, at, window) = opens(|kind, n| kind == Kind::Syn && n <= 3, 100);
    let syns = wire.iter().filter(|(_, kind)| *kind == Kind::Syn);
    assert_eq!(
        syns.map(|(ms, _)| *ms).collect::<Vec<_>>(),
        [0, 1000, 3000, 7000]
    );
    // The server has sent its SYN/ACK once: it has nothing to hold against the path.
    assert_eq!((at, window), (Some(7000), 10));
}

#[test]
fn a_lost_syn_ack_costs_a_second_and_two_of_them_the_initial_window() {
    let (_, at, window) = opens(|kind, n| kind == Kind::SynAck && n <= 1, 100);
    // The client's SYN and the server's timer come together: the SYN/ACK that answers was sent again once or twice.
    assert_eq!(at, Some(1000));
    assert!(window <= 10);
    let (_, at, window) = opens(|kind, n| kind == Kind::SynAck && n <= 3, 100);
    assert_eq!((at, window), (Some(3000), 1));
    let (_, at, _) = opens(|kind, _| kind == Kind::SynAck, 100);
    assert_eq!(at, None);
}

#[test]
fn a_lost_third_packet_is_repeated_with_the_syn_ack() {
    let (_, at, window) = opens(|kind, n| kind == Kind::Established && n <= 1, 100);
    assert_eq!((at, window), (Some(1000), 10));
}

#[test]
fn without_rack_a_copy_is_lost_when_something_newer_arrives() {
    let mut script = Script::new(Profile::linux_3_14(), "reno", 1000);
    script.numbers();
    script.sack(100, 0, &[(1, 4)]);
    let copies = |script: &mut Script| script.sent().iter().filter(|sent| sent.2).count();
    assert_eq!(copies(&mut script), 1);
    // What was sent before the copy says nothing of it, however late it comes.
    for end in 5..=10 {
        script.sack(200 + end, 0, &[(1, end)]);
    }
    assert_eq!(copies(&mut script), 0);
    script.sack(302, 0, &[(1, 11)]);
    assert_eq!(script.sent()[0], (302, 0, true));
}

/// RFC 6937's slow start reduction bound: where less is under way than the new window, each ACK that tells of one segment
/// sends one, and one more when it is a progress.
#[test]
fn prr_sends_one_for_one_after_heavy_losses() {
    let mut script = linux(10_000);
    script.numbers();
    script.ack(100, 10);
    script.numbers();
    // Of 10..30 the first 15 are lost.
    let mut sent = Vec::new();
    for end in 26..=30 {
        script.sack(175 + end, 10, &[(25, end)]);
        sent.push(script.numbers().len());
    }
    assert_eq!(script.sender().tcp.ssthresh, 10);
    assert_eq!(sent, [1, 1, 1, 1, 1]);
    // The two that limited transmit had sent, and the first one that was sent again.
    script.sack(305, 10, &[(25, 32)]);
    assert_eq!(script.numbers().len(), 2);
    script.ack_with(306, 11, &[(25, 32)], false, flag::AGAIN);
    assert_eq!(script.numbers().len(), 2);
}

#[test]
fn what_is_sent_again_is_not_ecn_capable_and_new_data_tells_of_the_reduction_once() {
    let mut script = linux(10_000);
    script.simulation.senders[0].ecn = true;
    script.numbers();
    for end in 2..=10 {
        script.sack(98 + end, 0, &[(1, end)]);
    }
    script.ack_with(210, 10, &[], false, flag::AGAIN);
    script.ack(300, script.sender().nxt as u32);
    let again = |flags: &u8| flags & flag::AGAIN != 0;
    let told = script
        .flags
        .iter()
        .filter(|(_, flags)| flags & flag::REDUCED != 0);
    assert_eq!(told.count(), 1);
    assert!(script.flags.iter().any(|(_, flags)| again(flags)));
    // The first ten were sent before the test turned it on.
    for (seq, flags) in &script.flags[10..] {
        assert_eq!(again(flags), flags & flag::ECN_CAPABLE == 0, "{seq}");
        assert!(!(again(flags) && flags & flag::REDUCED != 0));
    }
}
