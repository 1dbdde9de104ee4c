//! The receiving end: its ACKs and their times.

use super::*;

/// A receiver to which the test sends segments, and its ACKs.
struct Receiving {
    script: Script,
    wire: Vec<(u64, Ack, Option<SackBlocks>)>,
}

impl Receiving {
    fn new(profile: Profile) -> Self {
        Self::with(profile, Application::Endless)
    }

    fn with(profile: Profile, application: Application) -> Self {
        Self::with_subflows(profile, application, 1)
    }

    /// With more than one subflow the connection is MPTCP.
    fn with_subflows(profile: Profile, application: Application, subflows: usize) -> Self {
        let mut script = Script::with_subflows(profile, "reno", application, subflows);
        (0..subflows).for_each(|place| script.simulation.receiver_mut(place).established = true);
        // The window is at its limit.
        script.simulation.set_window_below_limit(0);
        // The test takes the place of the sender.
        script.simulation.close_sender();
        Self {
            script,
            wire: Vec::new(),
        }
    }

    fn collect(&mut self) {
        let simulation = &mut self.script.simulation;
        while let Some(exit) = simulation.env.network.poll(simulation.env.now) {
            if let Exit::Arrived { at, payload, .. } = exit {
                if let Some(ack) = payload.ack() {
                    let blocks = simulation.env.sacks.take(ack.sack);
                    let ms = at.as_nanos() / 1_000_000 - RTT;
                    self.wire.push((ms, ack, blocks));
                }
            }
        }
    }

    /// A data segment arrives at `ms`.
    fn data(&mut self, ms: u64, seq: u32, flags: u8) {
        self.data_on(ms, 0, [seq, seq], flags);
    }

    /// A data segment arrives on a subflow: number `seq` of the subflow, number `dsn` of the stream.
    fn data_on(&mut self, ms: u64, place: u8, [seq, dsn]: [u32; 2], flags: u8) {
        self.until(ms);
        let mss = self.script.mss();
        let data = Data {
            subflow: subflow(place),
            seq: seq * mss,
            dsn: dsn * mss,
            len: mss as u16,
            sent_us: 0,
            flags,
        };
        self.script.simulation.deliver(Segment::Data(data).into());
        self.collect();
    }

    fn until(&mut self, ms: u64) {
        let end = after_handshake(ms);
        while self.script.simulation.env.timers.next() <= end {
            let at = self.script.simulation.env.timers.next();
            while self.script.simulation.fire(at).is_some() {}
            self.collect();
        }
        self.script.simulation.env.now = end;
    }

    /// ACKs sent since the last call: time, ms, and next segment expected.
    fn acks(&mut self) -> Vec<(u64, u32)> {
        let wire = std::mem::take(&mut self.wire);
        wire.iter()
            .map(|(ms, ack, _)| (*ms, ack.seq / 1448))
            .collect()
    }

    /// SACK blocks of the last ACK, and whether the first one is a DSACK block.
    fn blocks(&mut self) -> (Vec<(u64, u64)>, bool) {
        let last = self.wire.last().and_then(|(_, _, blocks)| *blocks);
        self.wire.clear();
        last.map_or((vec![], false), |blocks| {
            (
                blocks.list[..blocks.count as usize]
                    .iter()
                    .map(|block| (block.start / 1448, block.end / 1448))
                    .collect(),
                blocks.duplicate,
            )
        })
    }
}

#[test]
fn sixteen_quick_acks_then_every_second_segment_or_40_ms() {
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
    // ns-3: every second segment from the start, or after 200 ms.
    let mut receiver = Receiving::new(Profile::ns3_newreno());
    (0..3).for_each(|seq| receiver.data(10, seq, 0));
    receiver.until(500);
    assert_eq!(receiver.acks(), [(10, 2), (210, 3)]);
}

#[test]
fn the_end_of_a_write_is_acknowledged_at_once() {
    for (profile, last) in [(Profile::linux(), 30), (Profile::ns3_newreno(), 230)] {
        let mut receiver = Receiving::with(profile, Application::File(19 * 1448));
        (0..18).for_each(|seq| receiver.data(10, seq, 0));
        receiver.acks();
        receiver.data(30, 18, flag::PSH);
        receiver.until(500);
        assert_eq!(receiver.acks(), [(last, 19)]);
    }
}

/// The application reads the stream in order. A pushed segment waits beyond a gap of the stream; the read that follows the missing
/// segment on the other subflow sends its ACK (mptcp_cleanup_rbuf), and not the timer of 40 ms.
#[test]
fn a_read_over_mptcp_sends_the_waiting_ack_of_another_subflow() {
    for (flags, last) in [(flag::PSH, 35), (0, 70)] {
        let mut receiver = Receiving::with_subflows(Profile::linux(), Application::Endless, 2);
        (0..16).for_each(|seq| receiver.data(10, seq, 0));
        receiver.acks();
        receiver.data_on(30, 0, [16, 17], flags);
        assert_eq!(receiver.acks(), []);
        receiver.data_on(35, 1, [0, 16], 0);
        receiver.until(500);
        let wire = std::mem::take(&mut receiver.wire);
        let of_first = wire.iter().filter(|(_, ack, _)| ack.subflow == subflow(0));
        assert_eq!(of_first.map(|(ms, ..)| *ms).collect::<Vec<_>>(), [last]);
    }
}

/// LISA paper, note 3: Linux acknowledges every packet in slow start.
#[test]
fn each_segment_is_acknowledged_while_the_window_grows_and_sixteen_more() {
    assert_each_segment_is_acknowledged(Profile::linux());
    assert_each_segment_is_acknowledged(Profile::linux_3_14());
}

fn assert_each_segment_is_acknowledged(profile: Profile) {
    let mut receiver = Receiving::new(profile);
    let simulation = &mut receiver.script.simulation;
    simulation.set_window_below_limit(59);
    (0..50).for_each(|seq| receiver.data(10, seq, 0));
    let offered: Vec<u32> = receiver.wire.iter().map(|(_, ack, _)| ack.window).collect();
    let most = offered[49 - 2];
    // Windows of `linux` are in units of 128 bytes.
    let set_below_limit = |window: &u32| (most - window + 1448 / 2) / 1448;
    let segments_below_limit: Vec<u32> = offered.iter().map(set_below_limit).collect();
    assert_eq!(segments_below_limit[..3], [57, 55, 53]);
    assert_eq!(segments_below_limit[28..31], [1, 0, 0]);
    let acks: Vec<u32> = receiver.acks().iter().map(|(_, ack)| *ack).collect();
    assert_eq!(acks[..46], (1..=46).collect::<Vec<_>>());
    assert_eq!(acks[46..], [48, 50]);
}

/// A segment that fills a gap arrives while the buffer holds the out-of-order segments, so that the window grows once
/// more with the next segment. It also grows with the first out-of-order segment, which is not in the buffer yet. Each
/// growth causes another immediate ACK and determines which segments later ACKs cover.
#[test]
fn after_a_gap_the_window_grows_once_more() {
    let mut receiver = Receiving::new(Profile::linux());
    (0..20).for_each(|seq| receiver.data(10, seq, 0));
    assert_eq!(
        receiver.acks().last(),
        Some(&(10, 20)),
        "every second segment"
    );
    let threshold = |receiver: &Receiving| {
        receiver
            .script
            .simulation
            .receiver(0)
            .window
            .segments_below_limit()
    };
    // The window is at the limit that it reaches while each segment is read at once, which leaves room for that
    // segment.
    assert_eq!(threshold(&receiver), 1);
    receiver.data(20, 21, 0);
    assert_eq!(threshold(&receiver), 0);
    let simulation = &mut receiver.script.simulation;
    simulation.set_window_below_limit(4);
    receiver.data(20, 22, 0);
    receiver.data(20, 20, 0);
    assert_eq!(threshold(&receiver), 3, "three segments were in the buffer");
    receiver.data(21, 23, 0);
    assert_eq!(threshold(&receiver), 1);
}

/// Over TCP an ACK that would advertise less than the last one waits until the application has read, and so advertises
/// the freed memory.
#[test]
fn an_ack_that_would_shrink_the_window_waits_for_the_application() {
    let mut receiver = Receiving::new(Profile::linux());
    (0..20).for_each(|seq| receiver.data(10, seq, 0));
    // After a gap the receiver advertises the whole buffer; one segment in the buffer makes that less.
    receiver.data(15, 21, 0);
    receiver.data(16, 20, 0);
    receiver.data(17, 22, flag::PSH);
    receiver.acks();
    (23..25).for_each(|seq| receiver.data(20, seq, 0));
    let advertised = receiver.wire.last().map(|(_, ack, _)| ack.window);
    assert_eq!(receiver.acks(), [(20, 25)]);
    let window = &receiver.script.simulation.receiver(0).window;
    // In units of 128 bytes: neither of the two segments is in the buffer any more.
    assert!(u64::from(advertised.unwrap()) + 128 > window.threshold());
}

#[test]
fn gaps_are_reported_at_once_with_the_latest_block_first() {
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
    receiver.data(24, 22, 0);
    assert_eq!(
        receiver.blocks(),
        (vec![(21, 24), (27, 28), (25, 26)], false)
    );
    // A gap is filled: an immediate ACK with the remaining blocks.
    receiver.data(25, 20, 0);
    assert_eq!(receiver.wire.last().unwrap().1.seq / 1448, 24);
    assert_eq!(receiver.blocks(), (vec![(27, 28), (25, 26)], false));
    receiver.data(26, 24, 0);
    receiver.data(27, 26, 0);
    assert_eq!(receiver.wire.last().unwrap().1.seq / 1448, 28);
    assert_eq!(receiver.blocks(), (vec![], false));
}

#[test]
fn a_duplicate_is_reported_once_in_the_first_block() {
    let mut receiver = Receiving::new(Profile::linux());
    (0..4).for_each(|seq| receiver.data(10, seq, 0));
    receiver.data(11, 6, 0);
    receiver.acks();
    receiver.data(20, 2, 0);
    assert_eq!(receiver.wire.last().unwrap().1.seq / 1448, 4);
    assert_eq!(receiver.blocks(), (vec![(2, 3), (6, 7)], true));
    receiver.data(21, 7, 0);
    assert_eq!(receiver.blocks(), (vec![(6, 8)], false));
    // Without SACK the ACK has no block.
    let mut receiver = Receiving::new(Profile::ns3_newreno());
    (0..4).for_each(|seq| receiver.data(10, seq, 0));
    receiver.data(20, 2, 0);
    assert_eq!(receiver.blocks(), (vec![], false));
}

#[test]
fn marks_are_echoed_until_the_sender_has_reduced() {
    let mut receiver = Receiving::new(Profile::linux());
    receiver.data(10, 0, flag::ECT);
    receiver.data(11, 1, flag::ECT | flag::CE);
    receiver.data(12, 2, flag::ECT);
    receiver.data(13, 3, flag::ECT | flag::CWR);
    receiver.data(14, 4, flag::ECT | flag::CWR | flag::CE);
    let echoes = receiver
        .wire
        .iter()
        .map(|(_, ack, _)| ack.flags & flag::ECE != 0);
    assert_eq!(echoes.collect::<Vec<_>>(), [false, true, true, false, true]);
    // After the first sixteen: the first marked segment and the next one are acknowledged at once, then every second
    // one again.
    (5..20).for_each(|seq| receiver.data(20, seq, flag::ECT | flag::CWR));
    receiver.acks();
    receiver.data(30, 20, flag::ECT | flag::CE);
    (21..24).for_each(|seq| receiver.data(31, seq, flag::ECT));
    assert_eq!(receiver.acks(), [(30, 21), (31, 22), (31, 24)]);
}
