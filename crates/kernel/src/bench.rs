//! `cc/` in the kernel's BPF machine, one callback at a time, without a socket (`bpf/bench.bpf.c`).

use crate::skel::bench::{BenchSkel, BenchSkelBuilder};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, ProgramInput};
use mpcc::vectors::{self, Machine};
use mpcc::{Algorithm, Pair, ffi};
use std::mem::MaybeUninit;

/// Runs benches by BPF_PROG_TEST_RUN, each on the program that was loaded for its pair. Needs root; whatever the kernel
/// refuses is a panic.
#[derive(Default)]
pub struct Bpf {
    loaded: Vec<(Pair, BenchSkel<'static>)>,
}

impl Bpf {
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
