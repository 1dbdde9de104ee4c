//! `cc/` in the kernel's BPF machine: the worked examples hold there, and any callbacks leave the same bytes as native
//! code does. And what its verifier refuses, and how much it goes through. Needs root.

#[path = "machine/instructions.rs"]
mod instructions;
#[path = "machine/verifier.rs"]
mod verifier;

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, ProgramInput};
use mpcc::vectors::{self, Machine, Native};
use mpcc::{Algorithm, Pair, callbacks, ffi};
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

/// Runs benches by BPF_PROG_TEST_RUN, each on the program that was loaded for its pair.
struct Bpf {
    loaded: Vec<(Pair, BenchSkel<'static>)>,
}

impl Bpf {
    /// `None` where it cannot be.
    fn new() -> Option<Self> {
        able().then(|| Self { loaded: Vec::new() })
    }

    /// The bench with this pair as a constant, loaded when it is first asked for.
    fn of(&mut self, pair: Pair) -> &BenchSkel<'static> {
        let at = match self.loaded.iter().position(|(of, _)| *of == pair) {
            Some(at) => at,
            None => {
                self.loaded.push((pair, load(pair)));
                self.loaded.len() - 1
            }
        };
        &self.loaded[at].1
    }
}

fn load(pair: Pair) -> BenchSkel<'static> {
    let object = Box::leak(Box::new(MaybeUninit::uninit()));
    let mut open = BenchSkelBuilder::default().open(object).unwrap();
    let rodata = open.maps.rodata_data.as_deref_mut().expect("a pair");
    (rodata.pair.slow_start, rodata.pair.avoidance) = (pair.slow_start, pair.avoidance);
    let name = Algorithm::all().find(|algorithm| algorithm.pair() == pair);
    open.load()
        .unwrap_or_else(|error| panic!("{name:?} passes the verifier: {error}"))
}

impl Machine for Bpf {
    fn step(&mut self, bench: &mut ffi::mpcc_bench) {
        let skel = self.of(bench.pair);
        let (map, first) = (&skel.maps.bench, 0u32.to_ne_bytes());
        map.update(&first, vectors::bytes(bench), MapFlags::ANY)
            .unwrap();
        let done = skel.progs.step.test_run(ProgramInput::default()).unwrap();
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
    let config = ProptestConfig {
        cases: 30,
        failure_persistence: None,
        ..Default::default()
    };
    for algorithm in Algorithm::all() {
        proptest!(config.clone(), |(callbacks in callbacks::callbacks(20, 120), alone in 0u16..8)| {
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
}
