//! Fixed point against exact rational arithmetic.

use mpcc::vectors::{self, Machine, Native};
use mpcc::{Algorithm, ffi};
use num_bigint::BigInt;
use num_rational::BigRational;
use proptest::prelude::*;

fn ratio(numerator: u64, denominator: u64) -> BigRational {
    BigRational::new(BigInt::from(numerator), BigInt::from(denominator))
}

/// RFC 6356: min(α/total, 1/w_0) with α/total = max(w/t²)/(Σ w/t)², for the first of these windows and RTTs.
fn exact_lia(paths: &[(u32, u32)]) -> BigRational {
    let path = |&(w, t): &(u32, u32)| (BigRational::from(BigInt::from(w)), ratio(t.into(), 1));
    let best = paths
        .iter()
        .map(|p| path(p).0 / (&path(p).1 * &path(p).1))
        .max()
        .unwrap();
    let sum: BigRational = paths.iter().map(|p| path(p).0 / path(p).1).sum();
    (best / (&sum * &sum)).min(ratio(1, paths[0].0.into()))
}

fn fixed_lia(paths: &[(u32, u32)]) -> BigRational {
    let mut bench = vectors::empty();
    bench.pair = Algorithm::find("mptcp").unwrap().pair();
    for (who, &(cwnd, srtt8)) in paths.iter().enumerate() {
        bench.tcp[who] = mpcc::Tcp {
            cwnd,
            srtt8,
            ssthresh: 1,
            ..vectors::fresh_tcp()
        };
        bench.who = who as u32;
        bench.operation = ffi::mpcc_operation::MPCC_DO_INIT;
        bench.argument = 0;
        Native.step(&mut bench);
    }
    bench.who = 0;
    bench.operation = ffi::mpcc_operation::MPCC_DO_ACK;
    bench.argument = 1;
    Native.step(&mut bench);
    ratio(vectors::increase(&bench.subflow[0]), ffi::MPCC_ONE)
}

fn error(paths: &[(u32, u32)]) -> f64 {
    use num_bigint::ToBigInt;
    let exact = exact_lia(paths);
    let error =
        (fixed_lia(paths) - &exact) / exact * BigRational::from(1_000_000_000.to_bigint().unwrap());
    error.to_integer().to_string().parse::<f64>().unwrap() / 1e9
}

/// Windows spread evenly over their magnitudes, as RTTs are.
fn magnitude(from: u32, to: u32) -> impl Strategy<Value = u32> {
    let (from, to) = (f64::from(from).ln(), f64::from(to).ln());
    (from..=to).prop_map(|ln| ln.exp().round() as u32)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..Default::default() })]
    #[test]
    fn lia_is_within_a_hundredth(
        paths in proptest::collection::vec((magnitude(1, 1 << 20), magnitude(80, 480_000_000)), 1..=8),
    ) {
        let error = error(&paths);
        prop_assert!(error.abs() < 0.01, "{:?}: {}", paths, error);
    }
}

/// The corners of the range, two values of each.
#[test]
fn lia_in_the_corners() {
    let corners = [
        (1, 80),
        (1, 480_000_000),
        (1 << 20, 80),
        (1 << 20, 480_000_000),
        (1024, 1 << 14),
    ];
    let mut worst: f64 = 0.0;
    for first in corners {
        for second in corners {
            for others in 0..=6 {
                let mut paths = vec![first, second];
                paths.extend(std::iter::repeat_n(second, others));
                worst = worst.max(error(&paths).abs());
            }
        }
    }
    assert!(worst < 0.01, "{worst}");
}

/// An epoch of CUBIC in exact terms: RFC 9438 with C = 0.4 and β = 0.7.
struct Epoch {
    w_max: f64,
    start: f64, // the window that it starts with
    rtt: f64,
}

impl Epoch {
    /// W(t + RTT), or W_est after an ACK of one segment and one of a window.
    fn target(&self, t: f64) -> f64 {
        let k = ((self.w_max - self.start) / 0.4).cbrt();
        let reno = self.start + 3.0 * 0.3 / 1.7 * (1.0 + 1.0 / self.start);
        (0.4 * (t + self.rtt - k).powi(3) + self.w_max).max(reno)
    }

    /// What a window of ACKs leads to: a hundredth of a segment more at least, half of the window at most.
    fn window(&self, cwnd: f64, t: f64) -> f64 {
        self.target(t).clamp(cwnd + 0.01, 1.5 * cwnd)
    }
}

/// The relative error of the window that a window of ACKs leads to, `t` ns after the start of an epoch, from a window
/// of `part` of the exact one.
fn cubic_error(w_max: u32, rtt_us: u32, part: f64, t: u64) -> f64 {
    use ffi::mpcc_operation::*;
    let mut bench = vectors::empty();
    bench.pair = Algorithm::find("cubic").unwrap().pair();
    bench.tcp[0] = mpcc::Tcp {
        cwnd: w_max,
        ssthresh: 1,
        rtt_us,
        now: 123_456_789_000,
        ..vectors::fresh_tcp()
    };
    bench.operation = MPCC_DO_INIT;
    Native.step(&mut bench);
    bench.operation = MPCC_DO_SSTHRESH;
    Native.step(&mut bench);
    let epoch = Epoch {
        w_max: w_max.into(),
        start: bench.result.into(),
        rtt: f64::from(rtt_us) / 1e6,
    };

    bench.operation = MPCC_DO_ACK;
    bench.argument = 1;
    bench.tcp[0].cwnd = bench.result;
    Native.step(&mut bench);
    let seconds = t as f64 / 1e9;
    let cwnd = (epoch.target(seconds) * part).clamp(1.0, f64::from(1 << 20)) as u32;
    bench.subflow[0].growth = 0;
    bench.argument = cwnd;
    bench.tcp[0].cwnd = cwnd;
    bench.tcp[0].now += t;
    Native.step(&mut bench);
    let fraction = bench.subflow[0].growth as f64 / ffi::MPCC_ONE as f64;
    let found = f64::from(bench.tcp[0].cwnd) + fraction;
    found / epoch.window(cwnd.into(), seconds) - 1.0
}

#[test]
fn cubic_over_a_grid() {
    const HOUR: f64 = 3600.0;
    let mut worst = (0.0, (0, 0, 0.0, 0.0));
    // Windows doubling from 3 to 2^20, RTTs from 10 µs to 60 s, times to 10 hours and around K.
    for doublings in 0..19 {
        let w_max = (3 << doublings).min(1 << 20);
        let k = (f64::from(w_max) * 0.3 / 0.4).cbrt();
        let around = (1..60).map(|i| k * f64::from(i) / 20.0);
        let times = around.chain([1e-5, 1e-3, 0.1, 200.0, 1000.0, HOUR, 10.0 * HOUR]);
        for t in times {
            for rtt_us in [10, 1_000, 40_000, 1_000_000, 60_000_000] {
                for part in [0.5, 0.7, 0.9, 0.99, 1.1] {
                    let error = cubic_error(w_max, rtt_us, part, (t * 1e9) as u64).abs();
                    if error > worst.0 {
                        worst = (error, (w_max, rtt_us, part, t));
                    }
                }
            }
        }
    }
    assert!(worst.0 < 0.01, "{worst:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..Default::default() })]
    #[test]
    fn cubic_is_within_a_hundredth(
        w_max in magnitude(3, 1 << 20), rtt_us in magnitude(10, 60_000_000), part in 0.4..1.2, t_us in magnitude(1, u32::MAX),
    ) {
        let error = cubic_error(w_max, rtt_us, part, u64::from(t_us) * 1000);
        prop_assert!(error.abs() < 0.01, "{}", error);
    }
}
