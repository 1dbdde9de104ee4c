//! Random networks and transfers: every byte arrives once and in order, and the invariants of the simulation, of links
//! and of the network hold after each event.

use super::*;
use crate::application::Reply;
use netsim::{CoDel, DropTail, FqCoDel, Jitter, Loss, Outage, Policer, Queue, Rate, Red, Reorder};
use proptest::prelude::*;

/// One direction of a path.
#[derive(Clone, Debug)]
struct Way {
    kbits: u64,
    /// Times of transmission opportunities, ms, in place of the rate.
    trace: Option<Vec<u32>>,
    delay_us: u64,
    queue: Queue,
    /// Share of packets that are lost, and mean length of bursts of losses.
    loss: Option<(f64, f64)>,
    /// Share of packets that are reordered, and their additional delay, µs.
    late: Option<(f64, u64)>,
    /// Longest jitter, µs.
    jitter: Option<u64>,
    /// Times between the instants at which the link goes down and up by turns, µs.
    switches: Vec<u64>,
}

impl Way {
    fn link(&self) -> LinkSpec {
        let rate = Rate::from_bits_per_second(self.kbits * 1000);
        let delay = Span::from_micros(self.delay_us);
        let mut link = match &self.trace {
            None => LinkSpec::shaped(rate, self.queue, delay),
            Some(times) => {
                let text: Vec<String> = times.iter().map(u32::to_string).collect();
                let trace = text.join("\n").parse().expect("times in order");
                LinkSpec::traced(trace, self.queue, delay)
            }
        };
        link = match self.loss {
            Some((share, burst)) if burst > 1.0 => link.loss(Loss::bursty(share, burst)),
            Some((share, _)) => link.loss(Loss::random(share)),
            None => link,
        };
        if let Some(longest) = self.jitter {
            link = link.jitter(Jitter::new(Span::from_micros(longest)));
        }
        if let Some((share, extra)) = self.late {
            link = link.reorder(Reorder::new(share, Span::from_micros(extra)));
        }
        let instants = self.switches.iter().scan(Time::ZERO, |at, gap| {
            *at += Span::from_micros(*gap);
            Some(*at)
        });
        let instants: Vec<Time> = instants.collect();
        let outages = instants
            .chunks_exact(2)
            .map(|ends| Outage::new(ends[0], ends[1]));
        link.down(outages.collect())
    }
}

/// Every discipline, with room for 1 to 100 packets.
fn queue() -> impl Strategy<Value = Queue> {
    let packets = || 1usize..100;
    let ecn = any::<bool>;
    let times = (1u64..50, 1u64..300);
    let [codel_times, fq_times] = [(); 2].map(|()| {
        times
            .clone()
            .prop_map(|(a, b)| (Span::from_millis(a), Span::from_millis(b)))
    });
    prop_oneof![
        4 => packets().prop_map(|n| DropTail::new(n).into()),
        1 => (packets(), 0usize..10).prop_map(|(n, m)| DropTail::new(n).mark_above(m).into()),
        1 => (1500u64..150_000).prop_map(|bytes| DropTail::bytes(bytes).into()),
        1 => (packets(), 0.0..20.0f64, 1.0..40.0f64, 0.01..1.0f64, 0.001..1.0f64, ecn()).prop_map(
            |(limit, min, more, max_p, weight, ecn)| {
                let red = Red::new(min, min + more, max_p).gentle(2.0 * (min + more));
                let red = red.weight(weight).limit(limit);
                (if ecn { red.ecn() } else { red }).into()
            }
        ),
        1 => (1u64..1000).prop_map(|mbit| Red::lia_olia(Rate::from_bits_per_second(mbit * 1_000_000)).into()),
        1 => (packets(), codel_times, ecn()).prop_map(|(limit, (target, interval), ecn)| {
            let codel = CoDel::new().times(target, interval).limit(limit);
            (if ecn { codel.ecn() } else { codel }).into()
        }),
        1 => (packets(), fq_times, 64u32..3000).prop_map(|(limit, (target, interval), quantum)| {
            FqCoDel::new().times(target, interval).limit(limit).quantum(quantum).into()
        }),
        1 => (64u64..1_000_000, 3000u64..300_000).prop_map(|(kbit, burst)| {
            Policer::new(Rate::from_bits_per_second(kbit * 1000), burst).into()
        }),
    ]
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
    let jitter = prop_oneof![3 => Just(None), 1 => (1u64..100_000).prop_map(Some)];
    let switches = prop_oneof![
        3 => Just(Vec::new()),
        1 => proptest::collection::vec(1u64..5_000_000, 2..8),
    ];
    // 64 kbit/s to 1 Gbit/s, RTTs of 20 µs to 2 s.
    let rate = (6.0..13.8f64).prop_map(|exponent| (exponent.exp() as u64).max(64));
    let delay = (2.3..13.8f64).prop_map(|exponent| exponent.exp() as u64);
    // From 12 Mbit/s down to one packet per 200 ms.
    let gaps = proptest::collection::vec(0u32..200, 1..30);
    let times = gaps.prop_map(|gaps| {
        let sums = gaps.iter().scan(1, |sum, gap| {
            *sum += gap;
            Some(*sum)
        });
        sums.collect()
    });
    let trace = prop_oneof![5 => Just(None), 1 => times.prop_map(Some)];
    (rate, trace, delay, queue(), loss, late, jitter, switches).prop_map(
        |(kbits, trace, delay_us, queue, loss, late, jitter, switches)| Way {
            kbits,
            trace,
            delay_us,
            queue,
            loss,
            late,
            jitter,
            switches,
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
        prop_oneof![Just(None), (8_000u32..200_000).prop_map(Some)],
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
    /// Runs the transfer for at most a day.
    fn run(&self) -> (Simulation<Quiet>, u64) {
        let (mut simulation, bytes) = self.prepare();
        self.finish(&mut simulation);
        (simulation, bytes)
    }

    /// A simulation that has not begun, and the number of bytes of the transfer.
    fn prepare(&self) -> (Simulation<Quiet>, u64) {
        let mut network = Network::with_seed(self.seed);
        let mut routes = Vec::new();
        for (down, up) in &self.paths {
            let [to_client, to_server] = [down, up].map(|way| {
                let link = network.add_link(way.link());
                network.add_route(&[link], PortId(0))
            });
            routes.push(SubflowRoutes {
                to_client,
                to_server,
            });
        }
        let algorithms: Vec<Algorithm> = Algorithm::all().collect();
        let bytes = self.replies.iter().sum();
        let application = if let [bytes] = self.replies[..] {
            Application::File(bytes)
        } else {
            let later = self.replies[1..].iter().map(|&bytes| Reply {
                gap: Span::from_micros(bytes * 50),
                bytes,
            });
            Application::Requests {
                bytes: self.replies[0],
                later: later.collect(),
            }
        };
        let mut simulation = Simulation::new(network, Quiet);
        let algorithm = algorithms[self.algorithm % algorithms.len()];
        simulation.add_connection(ConnectionSpec {
            profile: Profile::all()[self.profile].clone(),
            algorithm,
            settings: Settings::standard(algorithm),
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
            // Some subflows share a group; other groups are requested later.
            groups: self.groups(0),
            backup: self.backup(),
            phase: Span::ZERO,
        });
        (simulation, bytes)
    }

    fn finish(&self, simulation: &mut Simulation<Quiet>) {
        simulation.run(Time::ZERO + Span::from_millis(self.seed % 1000));
        simulation.request_groups(0, &self.groups(1));
        simulation.run(Time::ZERO + Span::from_secs(86_400));
    }

    /// Everything that a run reports.
    fn results(&self, only_slow_paths: bool) -> String {
        let (mut simulation, _) = self.prepare();
        if only_slow_paths {
            simulation.take_only_slow_paths();
        }
        self.finish(&mut simulation);
        let links = simulation.network().counters(simulation.now());
        let (report, events) = (simulation.report(0), simulation.events());
        format!("{report:?} {events} {links:?}")
    }

    /// A quarter of the joins is for backups, if the scheduler supports backups.
    fn backup(&self) -> Vec<bool> {
        let bits = self.seed.rotate_right(17);
        let drawn = |i: usize| i > 0 && bits >> (2 * i) & 3 == 3;
        let linux = Profile::all()[self.profile].write_queues;
        (0..self.paths.len()).map(|i| linux && drawn(i)).collect()
    }

    /// A group for each subflow, drawn from the bits of the seed from `from` on.
    fn groups(&self, from: u32) -> Vec<u8> {
        let bits = self.seed.rotate_right(from);
        let group = |i: usize| (bits >> i & 1) as u8;
        (0..self.paths.len()).map(group).collect()
    }
}

fn check(transfer: &Transfer) -> Result<(), TestCaseError> {
    let (mut simulation, bytes) = transfer.run();
    let report = simulation.report(0);
    let segments = bytes / 1424 + 1;
    if report.completion.is_some() {
        prop_assert_eq!(report.bytes, bytes);
        prop_assert_eq!(simulation.received(), bytes);
        let subflows = report.subflows.iter().map(|subflow| subflow.counters);
        let acknowledged: u64 = subflows.clone().map(|counters| counters.bytes).sum();
        if !transfer.mptcp {
            prop_assert_eq!(acknowledged, bytes);
        }
        // Data is sent on a second subflow only after a timeout of the first, or of the connection (Linux).
        let timeouts: u32 = subflows.map(|counters| counters.timeouts).sum();
        let linux = Profile::all()[transfer.profile].write_queues;
        if timeouts == 0 && !(transfer.mptcp && linux) {
            prop_assert!(acknowledged <= bytes, "{acknowledged} of {bytes}");
        }
    } else {
        // A day is enough: a burst of losses may outlast many timeouts of two minutes.
        prop_assert!(false, "{} of {bytes} bytes", report.bytes);
    }
    // Events of segments, retransmissions and ACKs; of handshakes and their repetitions; and of the connection's timer,
    // which may fire every other tick of 4 ms and does not back off while every packet is lost.
    let ticks = report.completion.unwrap_or(Time::ZERO).as_nanos() / 4_000_000;
    prop_assert!(
        simulation.events() < 100 * segments + 5000 + ticks,
        "{} events for {segments} segments",
        simulation.events()
    );
    if report.completion.is_some() {
        simulation.drain();
        prop_assert_eq!(simulation.sacks_in_flight(), 0, "SACK blocks remain");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn every_byte_arrives_once_and_in_order(transfer in transfer()) {
        check(&transfer)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// A receiver without header prediction and a sender without the fast path of ACKs have the same results.
    #[test]
    fn fast_paths_and_slow_paths_agree(transfer in transfer()) {
        prop_assert_eq!(transfer.results(false), transfer.results(true));
    }
}
