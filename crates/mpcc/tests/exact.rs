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
    ratio(bench.subflow[0].increase, ffi::MPCC_ONE)
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
