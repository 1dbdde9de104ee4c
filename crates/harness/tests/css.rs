//! CSS: its growth factor compared with exact terms, and its bounds.

use mpcc::Algorithm;
use mpcc_harness::ffi::{self, mpcc_tcp as Tcp};
use mpcc_harness::{Machine, Native, empty, fresh_tcp, state};
use proptest::prelude::*;

/// log2 1.5: the α before any join.
const FIRST: f64 = 0.584_962_500_721_156_2;

/// A subflow of the scene: its window when the next one joins, and its RTT in eighths of a microsecond.
type Path = (u32, u32);

/// The factor α_i of the last of these subflows, which join one after another (Algorithm 2), in exact terms.
fn exact(threshold: u32, paths: &[Path]) -> f64 {
    let mut log_alpha = FIRST;
    let mut sum = 0;
    for (i, &(window, _)) in paths.iter().enumerate() {
        let (before, after) = (f64::from(sum), f64::from(sum + window));
        let c = f64::from(threshold);
        if i > 0 {
            let left = (c / after).log2().max(0.0);
            log_alpha *= if before < c {
                left / (c / before).log2()
            } else {
                0.0
            };
        }
        sum += window;
    }
    let base = paths.iter().map(|path| path.1).min().unwrap();
    let own = paths.last().unwrap().1;
    (log_alpha * f64::from(own) / f64::from(base))
        .min(1.0)
        .exp2()
}

/// The same factor of `cc/`, or `None` if the sum ends slow start.
fn fixed(threshold: u32, paths: &[Path]) -> Option<f64> {
    use ffi::mpcc_operation::*;
    let mut harness = empty(Algorithm::find("css").unwrap());
    for (who, &(cwnd, srtt8)) in paths.iter().enumerate() {
        harness.tcp[who] = Tcp {
            cwnd,
            srtt8,
            ssthresh: threshold,
            ..fresh_tcp()
        };
        (harness.who, harness.operation, harness.argument) = (who as u32, MPCC_DO_INIT, 1);
        Native.step(&mut harness);
    }
    harness.operation = MPCC_DO_ACK;
    Native.step(&mut harness);
    let last = paths.len() - 1;
    let slow = harness.tcp[last].ssthresh == threshold;
    let css = state::css(&harness.subflow[last]);
    slow.then(|| 1.0 + css.growth as f64 / ffi::MPCC_ONE as f64)
}

fn error(threshold: u32, paths: &[Path]) -> f64 {
    fixed(threshold, paths).map_or(0.0, |found| found / exact(threshold, paths) - 1.0)
}

/// The smallest α' and the most different RTTs: windows near C, and up to 15 joins.
#[test]
fn growth_over_a_grid() {
    let mut worst = [(0.0, (0, vec![])), (0.0, (0, vec![]))];
    for c in [
        12u32,
        20,
        45,
        46,
        100,
        1_000,
        32_768,
        (1 << 20) - 1,
        1 << 20,
    ] {
        for windows in [
            1,
            2,
            9,
            c / 8,
            c / 3,
            c / 2,
            c - c / 8,
            c.saturating_sub(100),
            c - 11,
        ] {
            for joins in 1..=15 {
                for iw in [1, 3, 10] {
                    for ratio in [1.0, 1.1, 2.0, 7.3, 25.0, 1e3, 1e5, 6e6] {
                        let mut paths = vec![(windows.max(1), 80); 1];
                        paths.extend(std::iter::repeat_n((iw, (80.0 * ratio) as u32), joins));
                        let error = error(c, &paths).abs();
                        let worst = &mut worst[usize::from(joins > 1)];
                        if error > worst.0 {
                            *worst = (error, (c, paths));
                        }
                    }
                }
            }
        }
    }
    println!("one join: {:?}\nmore: {:?}", worst[0], worst[1]);
    assert!(worst[0].0 < 1e-5 && worst[1].0 < 1e-5, "{worst:?}");
}

/// Numbers spread evenly over their magnitudes.
fn magnitude(from: u32, to: u32) -> impl Strategy<Value = u32> {
    let (from, to) = (f64::from(from).ln(), f64::from(to).ln());
    (from..=to).prop_map(|ln| ln.exp().round() as u32)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..Default::default() })]
    #[test]
    fn growth_is_within_a_thousandth(
        c in magnitude(2, 1 << 20), part in 0.0..1.0,
        first in magnitude(80, 480_000_000),
        joins in proptest::collection::vec((1u32..=10, magnitude(80, 480_000_000)), 1..16),
    ) {
        let mut paths = vec![(((f64::from(c) * part) as u32).max(1), first)];
        paths.extend(joins);
        let error = error(c, &paths);
        prop_assert!(error.abs() < 1e-3, "{} {:?}: {}", c, paths, error);
    }
}
