//! Number of instructions that the verifier processes for each callback of each algorithm, compared with the recorded numbers in
//! `instructions.txt` of mpcc-harness. If an edit makes the verifier follow a loop once for each state, the number multiplies
//! long before the kernel refuses the program.

use lisa_kernel::load::{self, Options};
use lisa_kernel::owner::Owner;
use mpcc::Algorithm;
use mpcc_harness::instructions::{self, BASELINE, Baseline, CALLBACKS, Counts};
use std::sync::LazyLock;

/// Number of processed instructions at which the kernel refuses a program: BPF_COMPLEXITY_LIMIT_INSNS (linux/bpf.h).
const LIMIT: u32 = 1_000_000;

/// Largest accepted number, a part of the limit: the rest is a margin for other kernels and compilers.
const MOST: u32 = LIMIT / 4 * 3;

const RENEW: &str = "UPDATE_INSTRUCTIONS=1 cargo test -p lisa-kernel --test machine instructions";

/// Numbers of the running kernel.
static COUNTED: LazyLock<Counts> = LazyLock::new(|| {
    let ours = Algorithm::all().filter(|algorithm| algorithm.is_loadable());
    ours.map(|algorithm| (algorithm.name().into(), count(algorithm.name())))
        .collect()
});

fn count(algorithm: &str) -> Vec<u32> {
    let options = Options {
        register_as: Some(format!("t{}", std::process::id())),
        owner: Some(Owner::this()),
        ..Options::default()
    };
    let loaded = load::load(algorithm, &options)
        .unwrap_or_else(|error| panic!("`{algorithm}` does not load: {error}"));
    let counts = instructions::count(loaded.program_ids());
    loaded.unload(None).expect("unloads");
    counts
}

#[test]
fn no_callback_comes_near_the_limit() {
    if !crate::able() {
        return;
    }
    for (algorithm, counts) in COUNTED.iter() {
        for (callback, &count) in CALLBACKS.iter().zip(counts) {
            assert!(
                (1..=MOST).contains(&count),
                "{algorithm}: {callback} takes {count} of the verifier's {LIMIT} instructions, more than {MOST}"
            );
        }
    }
}

#[test]
fn no_callback_grew() {
    if !crate::able() {
        return;
    }
    let here = instructions::title(&instructions::linux());
    let baseline = Baseline::open();
    if std::env::var_os("UPDATE_INSTRUCTIONS").is_some() {
        baseline.renew(&here, &COUNTED);
        return;
    }
    let Some(baseline) = baseline.counts(&here) else {
        eprintln!("skipped: {BASELINE} has nothing for {here}; `{RENEW}` adds it");
        return;
    };
    let grown = |(name, counts): (&String, &Vec<u32>)| instructions::grown(name, counts, &baseline);
    let mut changes: Vec<String> = COUNTED.iter().flat_map(grown).collect();
    let gone = baseline.keys().filter(|name| !COUNTED.contains_key(*name));
    changes.extend(gone.map(|name| format!("{name} is no longer an algorithm")));
    assert!(
        changes.is_empty(),
        "{here}: {}; if the change is intended, `{RENEW}` rewrites {BASELINE}",
        changes.join(", ")
    );
}
