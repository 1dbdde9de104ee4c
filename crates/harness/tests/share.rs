//! Share of N subflows beside one Reno flow, from the algorithms alone, without queues, timers and packets.

use mpcc::{Algorithm, Connection, Subflow, Tcp};
use mpcc_harness::fresh_endpoint;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// The windows that are reduced in a round trip.
#[derive(Clone, Copy, Debug)]
enum Losses {
    /// All windows, if they fill the path.
    AllAtOnce,
    /// One window, with a probability proportional to its size, if all together fill the path.
    OneAtATime,
    /// Each window with the probability that one of its segments is lost; of this number of segments one is lost.
    Random(u32),
}

/// Size of the path, segments.
const ROOM: u32 = 2000;
/// Losses with which Reno's mean window is 200, √(2·20 000).
const RARE: Losses = Losses::Random(20_000);
const ROUND_TRIPS: u32 = 200_000;

/// Results of a run.
struct Shared {
    /// The subflows' share of all segments.
    share: f64,
    /// Mean over all round trips of the largest window of the subflows, in units of their mean window.
    largest: f64,
    /// Mean square of their windows, in units of the square of their mean window.
    square: f64,
}

/// Simulates subflows of these RTTs beside a Reno flow of RTT 1, in steps of that RTT.
fn run(algorithm: &str, rtts: &[u32], losses: Losses) -> Shared {
    let n = rtts.len() as u32;
    let connection = |name| Connection::new(Algorithm::find(name).unwrap());
    let (mut multi, mut reno) = (connection(algorithm), connection("reno"));
    let rtts: Vec<u32> = [&[1], rtts].concat(); // the rival is the first
    let endpoint = |rtt| Tcp {
        cwnd: 100,
        ssthresh: 2,
        srtt8: 8 * 40_000 * rtt, // 40 ms
        ..fresh_endpoint()
    };
    let mut tcp: Vec<Tcp> = rtts.iter().map(|&rtt| endpoint(rtt)).collect();
    let mut flows: Vec<Subflow> = tcp[1..]
        .iter_mut()
        .map(|tcp| multi.open(tcp, 0).0)
        .collect();
    flows.insert(0, reno.open(&mut tcp[0], 0).0);
    let mut random = Pcg64Mcg::seed_from_u64(11);
    let (mut carried, mut largest, mut square) = ([0_u64; 2], 0.0, 0.0);
    for round in 0..ROUND_TRIPS {
        let windows: Vec<u32> = tcp.iter().map(|tcp| tcp.cwnd).collect();
        let ours = || windows[1..].iter().copied().map(f64::from);
        let mean = ours().sum::<f64>() / f64::from(n);
        largest += ours().fold(0.0, f64::max) / mean;
        square += ours().map(|w| w * w).sum::<f64>() / f64::from(n) / (mean * mean);
        let full: u32 = windows.iter().sum();
        let one = random.next_u32() % full;
        let mut before = 0;
        for (i, (flow, tcp)) in flows.iter_mut().zip(&mut tcp).enumerate() {
            let connection = if i == 0 { &mut reno } else { &mut multi };
            if round % rtts[i] != 0 {
                continue;
            }
            carried[usize::from(i > 0)] += u64::from(windows[i]);
            let lost = match losses {
                Losses::AllAtOnce => full > ROOM,
                Losses::OneAtATime => full > ROOM && (before..before + windows[i]).contains(&one),
                Losses::Random(one_in) => random.next_u32() % one_in < windows[i],
            };
            before += windows[i];
            if lost {
                (tcp.ssthresh, _) = connection.ssthresh(flow, tcp);
                tcp.cwnd = tcp.ssthresh;
            } else {
                connection.on_ack(flow, tcp, windows[i]);
            }
        }
    }
    Shared {
        share: carried[1] as f64 / (carried[0] + carried[1]) as f64,
        largest: largest / f64::from(ROUND_TRIPS),
        square: square / f64::from(ROUND_TRIPS),
    }
}

/// Checks that the subflows take the share of `flows` Reno flows, a number that may depend on the windows.
fn takes(algorithm: &str, n: u32, losses: Losses, flows: impl Fn(&Shared) -> f64) {
    let shared = run(algorithm, &vec![1; n as usize], losses);
    let flows = flows(&shared);
    let (share, expected) = (shared.share, flows / (1.0 + flows));
    let what = format!("{algorithm}, {n} subflows, {losses:?}: {share:.3}, theory {expected:.3}");
    println!(
        "{what}; largest window {:.2}, mean square {:.2}",
        shared.largest, shared.square
    );
    assert!((share / expected - 1.0).abs() < 0.05, "{what}");
}

/// The paper's model (eq. 13): a half if all windows are halved at once, √N shares if each subflow has its own losses.
#[test]
fn nmcc_takes_a_half_where_all_lose_at_once_and_else_the_root() {
    for n in [1, 2, 4, 8] {
        takes("nmcc", n, Losses::AllAtOnce, |_| 1.0);
        takes("nmcc", n, Losses::OneAtATime, |_| f64::from(n).sqrt());
    }
}

/// In a round trip LIA lets all windows w together grow by max w/Σw, OLIA by Σw²/(Σw)²; Reno's window v grows by 1. Where one
/// segment in 1/p is lost they are reduced by p·Σw²/2, and v by p·v²/2. So with L and Q, the largest window and the mean
/// square in terms of the mean window, Σw is √(L/Q)·v with LIA, and v with OLIA. Where all lose at once, Σw is halved as v is,
/// and with LIA grows by 1/N of what v does.
#[test]
fn lia_goes_by_its_largest_window_and_olia_takes_a_half() {
    for n in [1, 2, 4, 8] {
        let lia = |shared: &Shared| (shared.largest / shared.square).sqrt();
        takes("lia", n, RARE, lia);
        takes("lia", n, Losses::AllAtOnce, |_| 1.0 / f64::from(n));
        takes("olia", n, RARE, |_| 1.0);
    }
}

/// By their mean windows the subflows would have Reno's rate on the better path. But windows vary, and max w/t² over the
/// square of a varying sum has a smaller mean. Small windows lose more to rounding.
#[test]
fn over_paths_of_unequal_rtts_they_take_less_than_reno_on_the_better_one() {
    for algorithm in ["lia", "olia", "balia"] {
        for (one_in, least) in [(200, 0.85), (20_000, 0.9)] {
            let share = run(algorithm, &[1, 2], Losses::Random(one_in)).share;
            let of_reno = share / (1.0 - share);
            println!("{algorithm}, RTTs of 1 and 2, losses of one in {one_in}: {of_reno:.2}");
            assert!((least..1.0).contains(&of_reno), "{algorithm}: {of_reno}");
        }
    }
}
