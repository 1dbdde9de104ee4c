//! Random networks and transfers: every byte arrives once and in order, whatever the network does, and what
//! `crate::invariants` recounts after each event holds.

use super::*;
use crate::trace::Quiet;
use mpcc::Algorithm;
use netsim::{DropTail, LinkSpec, Loss, PortId, Rate, Reorder};
use proptest::prelude::*;

/// One direction of a path.
#[derive(Clone, Debug)]
struct Way {
    kbits: u64,
    delay_us: u64,
    queue: usize,
    /// Share of packets lost at random, and in bursts of how many on average.
    loss: Option<(f64, f64)>,
    /// Share of packets that come later, and by how much, µs.
    late: Option<(f64, u64)>,
    /// Marks from so many waiting packets on.
    marks: Option<usize>,
}

impl Way {
    fn link(&self) -> LinkSpec {
        let mut queue = DropTail::new(self.queue);
        if let Some(packets) = self.marks {
            queue = queue.mark_above(packets);
        }
        let rate = Rate::from_bits_per_second(self.kbits * 1000);
        let mut link = LinkSpec::shaped(rate, queue, Span::from_micros(self.delay_us));
        link = match self.loss {
            Some((share, burst)) if burst > 1.0 => link.loss(Loss::bursty(share, burst)),
            Some((share, _)) => link.loss(Loss::random(share)),
            None => link,
        };
        if let Some((share, extra)) = self.late {
            link = link.reorder(Reorder::new(share, Span::from_micros(extra)));
        }
        link
    }
}

fn way() -> impl Strategy<Value = Way> {
    let loss = prop_oneof![
        3 => Just(None),
        2 => (0.001..0.2f64, prop_oneof![Just(1.0), 1.5..6.0f64]).prop_map(Some),
    ];
    let late = prop_oneof![
        3 => Just(None),
        1 => (0.01..0.5f64, 100u64..200_000).prop_map(Some),
    ];
    let marks = prop_oneof![Just(None), (0usize..10).prop_map(Some)];
    // 64 kbit/s to 1 Gbit/s, 20 µs to 2 s there and back.
    let rate = (6.0..13.8f64).prop_map(|exponent| (exponent.exp() as u64).max(64));
    let delay = (2.3..13.8f64).prop_map(|exponent| exponent.exp() as u64);
    (rate, delay, 1usize..100, loss, late, marks).prop_map(
        |(kbits, delay_us, queue, loss, late, marks)| Way {
            kbits,
            delay_us,
            queue,
            loss,
            late,
            marks,
        },
    )
}

/// A transfer over these paths.
#[derive(Clone, Debug)]
struct Transfer {
    paths: Vec<(Way, Way)>,
    seed: u64,
    profile: usize,
    algorithm: usize,
    mptcp: bool,
    replies: Vec<u64>,
    ecn: bool,
    announced: bool,
    receive_window: Option<u32>,
    ssthresh: Option<u32>,
}

fn transfer() -> impl Strategy<Value = Transfer> {
    let bytes = prop_oneof![Just(0u64), Just(1), Just(1424), Just(1425), 0u64..300_000];
    (
        proptest::collection::vec((way(), way()), 1..9),
        any::<u64>(),
        0usize..3,
        any::<usize>(),
        any::<bool>(),
        prop_oneof![
            5 => bytes.prop_map(|bytes| vec![bytes]),
            1 => proptest::collection::vec(1u64..30_000, 2..5)
        ],
        any::<bool>(),
        any::<bool>(),
        prop_oneof![Just(None), (1u32..200_000).prop_map(Some)],
        prop_oneof![Just(None), (2u32..40).prop_map(Some)],
    )
        .prop_map(
            |(
                paths,
                seed,
                profile,
                algorithm,
                mptcp,
                replies,
                ecn,
                announced,
                receive_window,
                ssthresh,
            )| Transfer {
                paths,
                seed,
                profile,
                algorithm,
                mptcp,
                replies,
                ecn,
                announced,
                receive_window,
                ssthresh,
            },
        )
}

impl Transfer {
    /// Runs it for at most a day.
    fn run(&self) -> (Simulation<Quiet>, u64) {
        let mut network = Network::with_seed(self.seed);
        let mut routes = Vec::new();
        for (down, up) in &self.paths {
            let [down, up] = [down, up].map(|way| {
                let link = network.add_link(way.link());
                network.add_route(&[link], PortId(0))
            });
            routes.push((down, up));
        }
        let algorithms: Vec<Algorithm> = Algorithm::all().collect();
        let bytes = self.replies.iter().sum();
        let application = if let [bytes] = self.replies[..] {
            Application::File(bytes)
        } else {
            let gaps = self.replies[1..].iter().map(|b| Span::from_micros(b * 50));
            Application::Requests {
                bytes: self.replies[0],
                gaps: gaps.collect(),
            }
        };
        let bytes = if self.replies.len() > 1 {
            self.replies[0] * self.replies.len() as u64
        } else {
            bytes
        };
        let mut simulation = Simulation::new(network, Quiet);
        simulation.add_connection(ConnectionSpec {
            profile: Profile::all()[self.profile].clone(),
            algorithm: algorithms[self.algorithm % algorithms.len()],
            mptcp: self.mptcp,
            routes,
            start: Time::ZERO,
            application,
            packet: 1500,
            receive_window: self.receive_window,
            path_manager: if self.announced {
                PathManager::Announced
            } else {
                PathManager::Client
            },
            join_delay: Span::ZERO,
            ecn: self.ecn,
            ssthresh: self.ssthresh,
        });
        simulation.run(Time::ZERO + Span::from_secs(86_400));
        (simulation, bytes)
    }
}

/// Lets all packets that are under way arrive.
fn drain<O: Observer>(simulation: &mut Simulation<O>) {
    while let Some(exit) = simulation.network.poll(Time::from_nanos(u64::MAX / 2)) {
        match exit {
            Exit::Arrived { at, payload, .. } => {
                let segment = Segment::from(payload);
                simulation.now = at;
                simulation.deliver(segment);
            }
            Exit::Lost { payload, .. } => {
                let segment = Segment::from(payload);
                simulation.sacks.take(segment.sack);
            }
        }
    }
}

fn check(transfer: &Transfer) -> Result<(), TestCaseError> {
    let (mut simulation, bytes) = transfer.run();
    let report = simulation.report(0);
    let segments = bytes / 1424 + 1;
    if report.completion.is_some() {
        prop_assert_eq!(report.bytes, bytes);
        prop_assert_eq!(simulation.connections[0].arrived, bytes);
        let sent: u64 = report.subflows.iter().map(|s| s.tally.bytes).sum();
        // What was sent on two subflows was acknowledged on both, or on one.
        prop_assert!(sent <= 9 * bytes);
    } else {
        // A day is enough for each of them: a burst of losses may outlast many timeouts of two minutes.
        prop_assert!(false, "{} of {bytes} bytes", report.bytes);
    }
    // Each segment, its copies and its ACKs; handshakes and their repetitions.
    prop_assert!(
        simulation.events() < 100 * segments + 5000,
        "{} events for {segments} segments",
        simulation.events()
    );
    if report.completion.is_some() {
        drain(&mut simulation);
        prop_assert_eq!(simulation.sacks.under_way(), 0, "SACK blocks are left over");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::default())]

    #[test]
    fn every_byte_arrives_once_and_in_order(transfer in transfer()) {
        check(&transfer)?;
    }
}
