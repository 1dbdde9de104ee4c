//! The receiving end: which ACKs it sends, and when.

use super::*;

/// The receiving end, which gets data by hand; its ACKs come out.
struct Receiving {
    script: Script,
    wire: Vec<(u64, Ack, Option<Blocks>)>,
}

impl Receiving {
    fn new(profile: Profile) -> Self {
        Self::with(profile, Application::Endless)
    }

    fn with(profile: Profile, application: Application) -> Self {
        let mut script = Script::with(profile, "reno", application);
        script.simulation.receiver_mut(0).established = true;
        // The window has its size.
        script.simulation.set_missing_window(0);
        // The sender is out of the play.
        script.simulation.sender_mut(0).life = Life::Closed;
        let timer = script.simulation.sender(0).timer;
        script.simulation.env.timers.clear(timer);
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
        self.until(ms);
        let data = Data {
            subflow: subflow(0),
            seq: seq * 1448,
            dsn: seq * 1448,
            len: 1448,
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

    /// When ACKs went out since it was last asked, and what they acknowledge.
    fn acks(&mut self) -> Vec<(u64, u32)> {
        let wire = std::mem::take(&mut self.wire);
        wire.iter()
            .map(|(ms, ack, _)| (*ms, ack.seq / 1448))
            .collect()
    }

    /// The SACK blocks of the last ACK, and whether the first tells of a segment that came twice.
    fn blocks(&mut self) -> (Vec<(u64, u64)>, bool) {
        let last = self.wire.last().and_then(|(_, _, blocks)| *blocks);
        self.wire.clear();
        last.map_or((vec![], false), |blocks| {
            (
                blocks.list[..blocks.count as usize]
                    .iter()
                    .map(|(start, end)| (start / 1448, end / 1448))
                    .collect(),
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

/// As the LISA paper's note 3 has it: Linux acknowledges every packet in slow start.
#[test]
fn while_the_window_grows_and_sixteen_times_more_each_segment_is_acknowledged() {
    each_is_acknowledged(Profile::linux());
    each_is_acknowledged(Profile::linux_3_14());
}

fn each_is_acknowledged(profile: Profile) {
    let mut receiver = Receiving::new(profile);
    let simulation = &mut receiver.script.simulation;
    simulation.set_missing_window(59);
    (0..50).for_each(|seq| receiver.data(10, seq, 0));
    let offered: Vec<u32> = receiver.wire.iter().map(|(_, ack, _)| ack.window).collect();
    let most = offered[49 - 2];
    // It is told in units of 128 bytes by `linux`.
    let lacks = |window: &u32| (most - window + 1448 / 2) / 1448;
    let lacking: Vec<u32> = offered.iter().map(lacks).collect();
    assert_eq!(lacking[..3], [57, 55, 53]);
    assert_eq!(lacking[28..31], [1, 0, 0]);
    let acks: Vec<u32> = receiver.acks().iter().map(|(_, ack)| *ack).collect();
    assert_eq!(acks[..46], (1..=46).collect::<Vec<_>>());
    assert_eq!(acks[46..], [48, 50]);
}

/// What fills a gap finds the buffer still full of what waited, and the window grows once more with the next segment; so it does
/// with the first segment beyond a gap, which is not in the buffer yet. Each of that is another ACK at once, and decides which
/// segments later ACKs cover.
#[test]
fn a_gap_leaves_the_window_to_grow_once_more() {
    let mut receiver = Receiving::new(Profile::linux());
    (0..20).for_each(|seq| receiver.data(10, seq, 0));
    assert_eq!(receiver.acks().last(), Some(&(10, 20)), "two by two");
    let threshold = |receiver: &Receiving| receiver.script.simulation.receiver(0).window.lacking();
    // The window is as large as it comes to be while each segment is read at once; it has room for that one more.
    assert_eq!(threshold(&receiver), 1);
    receiver.data(20, 21, 0);
    assert_eq!(threshold(&receiver), 0);
    let simulation = &mut receiver.script.simulation;
    simulation.set_missing_window(4);
    receiver.data(20, 22, 0);
    receiver.data(20, 20, 0);
    assert_eq!(threshold(&receiver), 3, "three were in the buffer");
    receiver.data(21, 23, 0);
    assert_eq!(threshold(&receiver), 1);
}

/// Over TCP an ACK that would offer less than the last one waits until the application has read, and so tells of what has become
/// free.
#[test]
fn an_ack_that_would_offer_less_waits_for_the_application() {
    let mut receiver = Receiving::new(Profile::linux());
    (0..20).for_each(|seq| receiver.data(10, seq, 0));
    // A gap lets it offer all that there is, which it does when all is read; one segment in the buffer makes that less.
    receiver.data(15, 21, 0);
    receiver.data(16, 20, 0);
    receiver.data(17, 22, flag::PSH);
    receiver.acks();
    (23..25).for_each(|seq| receiver.data(20, seq, 0));
    let told = receiver.wire.last().map(|(_, ack, _)| ack.window);
    assert_eq!(receiver.acks(), [(20, 25)]);
    let offer = &receiver.script.simulation.receiver(0).window;
    // In units of 128 bytes: none of the two takes room any more.
    assert!(u64::from(told.unwrap()) + 128 > offer.threshold());
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
    receiver.data(24, 22, 0);
    assert_eq!(
        receiver.blocks(),
        (vec![(21, 24), (27, 28), (25, 26)], false)
    );
    // A gap is filled: at once, and what is left of the blocks.
    receiver.data(25, 20, 0);
    assert_eq!(receiver.wire.last().unwrap().1.seq / 1448, 24);
    assert_eq!(receiver.blocks(), (vec![(27, 28), (25, 26)], false));
    receiver.data(26, 24, 0);
    receiver.data(27, 26, 0);
    assert_eq!(receiver.wire.last().unwrap().1.seq / 1448, 28);
    assert_eq!(receiver.blocks(), (vec![], false));
}

#[test]
fn what_comes_twice_is_told_first_and_once() {
    let mut receiver = Receiving::new(Profile::linux());
    (0..4).for_each(|seq| receiver.data(10, seq, 0));
    receiver.data(11, 6, 0);
    receiver.acks();
    receiver.data(20, 2, 0);
    assert_eq!(receiver.wire.last().unwrap().1.seq / 1448, 4);
    assert_eq!(receiver.blocks(), (vec![(2, 3), (6, 7)], true));
    receiver.data(21, 7, 0);
    assert_eq!(receiver.blocks(), (vec![(6, 8)], false));
    // Without SACK it is a plain ACK.
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
    // Beyond the first sixteen: the first mark and the next segment at once, then every second again.
    (5..20).for_each(|seq| receiver.data(20, seq, flag::ECT | flag::CWR));
    receiver.acks();
    receiver.data(30, 20, flag::ECT | flag::CE);
    (21..24).for_each(|seq| receiver.data(31, seq, flag::ECT));
    assert_eq!(receiver.acks(), [(30, 21), (31, 22), (31, 24)]);
}
