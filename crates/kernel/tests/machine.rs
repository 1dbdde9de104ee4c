//! `cc/` in the kernel's BPF machine: the worked examples, and a comparison of any callbacks with native code, byte by byte. Also
//! the verifier's refusals and its number of instructions. Needs root.

#[path = "machine/instructions.rs"]
mod instructions;
#[path = "machine/verifier.rs"]
mod verifier;

use mpcc::Algorithm;
use mpcc_harness::bpf::Bpf;
use mpcc_harness::{Machine, Native, bytes, callbacks, empty, vectors};
use proptest::prelude::*;
use std::cell::RefCell;

#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    dead_code
)]
mod skel {
    pub(crate) mod other_subflow {
        include!(concat!(env!("OUT_DIR"), "/other_subflow.skel.rs"));
    }
}

/// Whether BPF programs can be loaded on this host; prints the reason if not.
fn able() -> bool {
    let root = nix::unistd::geteuid().is_root();
    if !root {
        eprintln!("skipped: loading BPF programs needs root");
    }
    root
}

#[test]
fn worked_examples() {
    if !able() {
        return;
    }
    let mut bpf = Bpf::default();
    for vector in vectors::all() {
        let algorithms = vector.algorithms().unwrap().into_iter();
        for algorithm in algorithms.filter(Algorithm::runs_in_linux) {
            vector.run_for(algorithm, &mut bpf).unwrap();
        }
    }
}

#[test]
fn any_callbacks_leave_the_same_bytes() {
    if !able() {
        return;
    }
    let bpf = RefCell::new(Bpf::default());
    let config = ProptestConfig {
        cases: 30,
        failure_persistence: None,
        ..Default::default()
    };
    for algorithm in Algorithm::all().filter(Algorithm::runs_in_linux) {
        proptest!(config.clone(), |(callbacks in callbacks::callbacks(20, 120), alone in 0u16..8)| {
            let mut native = empty(algorithm);
            native.alone = u16::from(alone == 0);
            let mut kernel = native.clone();
            for callback in &callbacks {
                if !callback.prepare(&mut native) {
                    continue;
                }
                callback.prepare(&mut kernel);
                Native.step(&mut native);
                bpf.borrow_mut().step(&mut kernel);
                prop_assert!(
                    bytes(&native) == bytes(&kernel),
                    "{callback:?} on {algorithm:?}: {:?}, and in the kernel {:?}", native.note, kernel.note
                );
                callback.finish(&mut native);
                callback.finish(&mut kernel);
            }
        });
    }
}
