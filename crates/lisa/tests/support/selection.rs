//! The algorithms that a test of each algorithm runs.

use mpcc::Algorithm;
use std::collections::BTreeSet;

/// The algorithms that run in Linux.
pub fn of_kernels() -> impl Iterator<Item = Algorithm> {
    Algorithm::all().filter(Algorithm::runs_in_linux)
}

/// The fewest algorithms with all slow starts and all avoidances, or those that `KERNELS_ALGORITHMS` names, or `all`.
pub fn algorithms() -> Vec<String> {
    let all = || of_kernels().map(|algorithm| algorithm.name().into());
    match std::env::var("KERNELS_ALGORITHMS") {
        Err(_) => fewest(),
        Ok(names) if names == "all" => all().collect(),
        Ok(names) => names.split(',').map(String::from).collect(),
    }
}

/// Repeatedly chooses the algorithm with the most parts that no chosen algorithm has.
fn fewest() -> Vec<String> {
    let parts = |a: &Algorithm| [(0, a.slow_start()), (1, a.avoidance())];
    let mut missing: BTreeSet<_> = of_kernels().flat_map(|a| parts(&a)).collect();
    let mut chosen = Vec::new();
    while !missing.is_empty() {
        let new = |a: &Algorithm| {
            parts(a)
                .iter()
                .filter(|part| missing.contains(*part))
                .count()
        };
        let best = of_kernels().max_by_key(new).expect("some algorithm");
        for part in parts(&best) {
            missing.remove(&part);
        }
        chosen.push(best.name().into());
    }
    chosen
}
