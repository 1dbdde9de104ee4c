//! `cc/` in the kernel's BPF machine, one callback at a time, without a socket (`bpf/harness.bpf.c`).

use self::skel::{HarnessSkel, HarnessSkelBuilder};
use crate::{Harness, Machine, bytes};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, ProgramInput};
use mpcc::Algorithm;
use std::mem::MaybeUninit;

mod skel {
    #![allow(
        unreachable_pub,
        missing_docs,
        clippy::all,
        clippy::undocumented_unsafe_blocks
    )]
    include!(concat!(env!("OUT_DIR"), "/harness.skel.rs"));
}

/// Numbers of a slow start and a congestion avoidance.
type Pair = (u8, u8);

/// Runs harnesses by BPF_PROG_TEST_RUN, each on the program that was loaded for its pair. Needs root. Panics on any error
/// of the kernel.
#[derive(Default)]
pub struct Bpf {
    loaded: Vec<(Pair, HarnessSkel<'static>)>,
}

impl Bpf {
    /// The harness with this pair as a constant, which is loaded at its first use.
    fn of(&mut self, pair: Pair) -> &HarnessSkel<'static> {
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

fn load(pair: Pair) -> HarnessSkel<'static> {
    let object = Box::leak(Box::new(MaybeUninit::uninit()));
    let mut open = HarnessSkelBuilder::default().open(object).unwrap();
    let rodata = open.maps.rodata_data.as_deref_mut().expect("a pair");
    (rodata.pair.slow_start, rodata.pair.avoidance) = pair;
    let name = Algorithm::all()
        .find(|algorithm| (algorithm.pair().slow_start, algorithm.pair().avoidance) == pair);
    open.load()
        .unwrap_or_else(|error| panic!("{name:?} passes the verifier: {error}"))
}

impl Machine for Bpf {
    fn step(&mut self, harness: &mut Harness) {
        let skel = self.of((harness.pair.slow_start, harness.pair.avoidance));
        let (map, first) = (&skel.maps.harness, 0u32.to_ne_bytes());
        map.update(&first, bytes(harness), MapFlags::ANY).unwrap();
        let done = skel.progs.step.test_run(ProgramInput::default()).unwrap();
        assert_eq!(done.return_value, 0);
        let value = map.lookup(&first, MapFlags::ANY).unwrap().unwrap();
        // SAFETY: the map's value is a harness, of this very header.
        *harness = unsafe { std::ptr::read_unaligned(value.as_ptr().cast()) };
    }
}
