//! NMCC: m² and the resulting windows compared with exact terms, and friendliness as the paper states it.

use mpcc::Algorithm;
use mpcc_harness::ffi::{self, mpcc_tcp as Tcp};
use mpcc_harness::{Harness, Machine, Native, empty, fresh_tcp, state};
use num_bigint::BigInt;
use num_rational::BigRational;
use proptest::prelude::*;

/// A subflow: its window, its RTT in eighths of a microsecond, whether it is in slow start.
type Path = (u32, u32, bool);

/// Ω (equation 7).
fn omega(&(window, srtt8, slow): &Path) -> BigRational {
    let whole = |n: u32| BigRational::from(BigInt::from(n));
    whole(if slow { window } else { 1 }) / (whole(srtt8) * whole(srtt8))
}

fn float(exact: &BigRational) -> f64 {
    let scaled = exact * BigRational::from(BigInt::from(1u64 << 60));
    scaled.to_integer().to_string().parse::<f64>().unwrap() / (1u64 << 60) as f64
}

/// m² (equation 9).
fn exact(paths: &[Path]) -> f64 {
    let sum: BigRational = paths.iter().map(omega).sum();
    float(&(sum / paths.iter().map(omega).max().unwrap()))
}

fn scene(paths: &[Path]) -> Box<Harness> {
    let mut harness = empty(Algorithm::find("nmcc").unwrap());
    for (who, &(cwnd, srtt8, slow)) in paths.iter().enumerate() {
        let ssthresh = if slow { i32::MAX as u32 } else { 1 };
        harness.tcp[who] = Tcp {
            cwnd,
            srtt8,
            ssthresh,
            ..fresh_tcp()
        };
        (harness.who, harness.operation, harness.argument) =
            (who as u32, ffi::mpcc_operation::MPCC_DO_INIT, 1);
        Native.step(&mut harness);
    }
    harness
}

fn ack(harness: &mut Harness, who: usize, acked: u32) {
    (harness.who, harness.operation, harness.argument) =
        (who as u32, ffi::mpcc_operation::MPCC_DO_ACK, acked);
    Native.step(harness);
}

/// The window with its fraction.
fn window(harness: &Harness, who: usize) -> f64 {
    f64::from(harness.tcp[who].cwnd) + harness.subflow[who].growth as f64 / ffi::MPCC_ONE as f64
}

fn fixed(paths: &[Path]) -> f64 {
    let mut harness = scene(paths);
    ack(&mut harness, 0, 1);
    f64::from(state::m2(&harness.subflow[0])) / f64::from(ffi::MPCC_M2_ONE)
}

#[test]
fn m2_in_the_corners() {
    let mut worst = (0.0, vec![]);
    let corners = [
        (1, 80),
        (1, 480_000_000),
        (1 << 20, 80),
        (1 << 20, 480_000_000),
        (1024, 1 << 14),
        (3, 1 << 18),
        (1 << 20, 81_920),
    ];
    for first in corners {
        for second in corners {
            for others in [0, 1, 6, 14] {
                for slow in 0..4 {
                    let mut paths = vec![
                        (first.0, first.1, slow & 1 != 0),
                        (second.0, second.1, slow & 2 != 0),
                    ];
                    paths.extend(std::iter::repeat_n(paths[1], others));
                    let error = (fixed(&paths) / exact(&paths) - 1.0).abs();
                    if error > worst.0 {
                        worst = (error, paths);
                    }
                }
            }
        }
    }
    println!("{worst:?}");
    assert!(worst.0 < 1e-4, "{worst:?}");
}

/// Numbers spread evenly over their magnitudes.
fn magnitude(from: u32, to: u32) -> impl Strategy<Value = u32> {
    let (from, to) = (f64::from(from).ln(), f64::from(to).ln());
    (from..=to).prop_map(|ln| ln.exp().round() as u32)
}

fn paths() -> impl Strategy<Value = Vec<Path>> {
    let path = (
        magnitude(1, 1 << 20),
        magnitude(80, 480_000_000),
        any::<bool>(),
    );
    proptest::collection::vec(path, 1..=16)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]
    #[test]
    fn m2_is_within_a_ten_thousandth(paths in paths()) {
        let error = fixed(&paths) / exact(&paths) - 1.0;
        prop_assert!(error.abs() < 1e-4, "{:?}: {}", paths, error);
    }

    /// Equations 3 and 6: all subflows together gain rate as fast as the best subflow would alone. A subflow gains its increase
    /// for one acknowledged segment, times the window that is acknowledged in a round trip.
    #[test]
    fn all_together_gain_what_the_best_would_alone(paths in paths()) {
        let scene = scene(&paths);
        let gain = |who: usize| {
            let mut harness = scene.clone();
            ack(&mut harness, who, 1);
            let (w, t) = (f64::from(paths[who].0), f64::from(paths[who].1));
            (window(&harness, who) - w) * w / (t * t)
        };
        let sum: f64 = (0..paths.len()).map(gain).sum();
        let best = paths.iter().map(omega).max().unwrap();
        let (w, t, slow) = paths.iter().find(|path| omega(path) == best).unwrap();
        let best = if *slow { f64::from(*w) } else { 1.0 } / f64::from(*t).powi(2);
        prop_assert!((sum / best - 1.0).abs() < 1e-3, "{sum} and {best}");
    }
}

/// IV-B.2: cwnd_j = cwnd_{j−1} + cwnd^sp_{j−1} / m², for m² other subflows of equal growth, ACK by ACK. The growth of this subflow is
/// so small beside theirs that m² is their number.
#[test]
fn windows_do_not_fall_behind_the_reference() {
    let mut worst: f64 = 0.0;
    for m2 in [1, 2, 4, 8] {
        let mut paths = vec![(16, 480_000_000, true)];
        paths.extend(std::iter::repeat_n((1 << 20, 800, true), m2));
        let mut harness = scene(&paths);
        let (mut exact, mut alone) = (16, 16);
        while exact < 1 << 18 {
            for _ in 0..exact {
                ack(&mut harness, 0, 1);
            }
            exact += alone / m2 as u32;
            alone *= 2;
            worst = worst.max((window(&harness, 0) / f64::from(exact) - 1.0).abs());
        }
    }
    println!("{worst}");
    assert!(worst < 0.01, "{worst}");
}
