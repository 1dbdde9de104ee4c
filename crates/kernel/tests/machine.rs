//! `cc/` in the kernel's BPF machine: the worked examples hold there, and any callbacks leave the same bytes as native
//! code does. And what its verifier refuses. Needs root.

#[path = "machine/verifier.rs"]
mod verifier;

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, ProgramInput};
use mpcc::vectors::{self, Machine, Native};
use mpcc::{Algorithm, callbacks, ffi};
use proptest::prelude::*;
use skel::bench::{BenchSkel, BenchSkelBuilder};
use std::{cell::RefCell, mem::MaybeUninit};

#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    dead_code
)]
mod skel {
    pub(crate) mod bench {
        include!(concat!(env!("OUT_DIR"), "/bench.skel.rs"));
    }
    pub(crate) mod other_subflow {
        include!(concat!(env!("OUT_DIR"), "/other_subflow.skel.rs"));
    }
}

/// Whether BPF programs can be loaded here; prints why not.
fn able() -> bool {
    let root = nix::unistd::geteuid().is_root();
    if !root {
        eprintln!("skipped: loading BPF programs needs root");
    }
    root
}

/// Runs benches by BPF_PROG_TEST_RUN.
struct Bpf {
    skel: BenchSkel<'static>,
}

impl Bpf {
    /// `None` where it cannot be.
    fn new() -> Option<Self> {
        if !able() {
            return None;
        }
        let object = Box::leak(Box::new(MaybeUninit::uninit()));
        let open = BenchSkelBuilder::default().open(object).unwrap();
        Some(Self {
            skel: open.load().expect("the bench passes the verifier"),
        })
    }
}

impl Machine for Bpf {
    fn step(&mut self, bench: &mut ffi::mpcc_bench) {
        let (map, first) = (&self.skel.maps.bench, 0u32.to_ne_bytes());
        map.update(&first, vectors::bytes(bench), MapFlags::ANY)
            .unwrap();
        let done = self
            .skel
            .progs
            .step
            .test_run(ProgramInput::default())
            .unwrap();
        assert_eq!(done.return_value, 0);
        let value = map.lookup(&first, MapFlags::ANY).unwrap().unwrap();
        // SAFETY: the map's value is a bench, of this very header.
        *bench = unsafe { std::ptr::read_unaligned(value.as_ptr().cast()) };
    }
}

#[test]
fn worked_examples() {
    let Some(mut bpf) = Bpf::new() else { return };
    for vector in vectors::all() {
        vector.run(&mut bpf).unwrap();
    }
}

#[test]
fn any_callbacks_leave_the_same_bytes() {
    let Some(bpf) = Bpf::new() else { return };
    let bpf = RefCell::new(bpf);
    let algorithms = proptest::sample::select(Algorithm::all().collect::<Vec<_>>());
    let config = ProptestConfig {
        cases: 150,
        failure_persistence: None,
        ..Default::default()
    };
    proptest!(config, |(algorithm in algorithms, callbacks in callbacks::callbacks(20, 120), alone in 0u16..8)| {
        let mut native = vectors::empty();
        native.pair = algorithm.pair();
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
                vectors::bytes(&native) == vectors::bytes(&kernel),
                "{callback:?} on {algorithm:?}: {:?}, and in the kernel {:?}", native.note, kernel.note
            );
            callback.finish(&mut native);
            callback.finish(&mut kernel);
        }
    });
}
