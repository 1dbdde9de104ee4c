//! Worked examples, as data beside the headers that they test (`cc/**/*.vectors.toml`), for any [`Machine`] that runs
//! `cc/`: native code, or the kernel's BPF machine. And a view of what algorithms keep.

use crate::{Algorithm, Tcp, ffi};
use serde::Deserialize;
use std::{boxed::Box, format, string::String, vec::Vec};

/// Something that runs `cc/`.
pub trait Machine {
    /// Runs the bench's next callback and leaves its results in the bench.
    fn step(&mut self, bench: &mut ffi::mpcc_bench);
}

/// This program.
pub struct Native;

impl Machine for Native {
    fn step(&mut self, bench: &mut ffi::mpcc_bench) {
        // SAFETY: the bench is live and exclusive.
        unsafe { ffi::mpcc_native_bench_step(bench) }
    }
}

/// The bytes of a bench. Padding is zero from [`empty`] on, so two equal benches have equal bytes.
pub fn bytes(bench: &ffi::mpcc_bench) -> &[u8] {
    // SAFETY: a bench is plain old data, made of integers; padding was zeroed with the rest of it.
    unsafe { core::slice::from_raw_parts((&raw const *bench).cast(), size_of::<ffi::mpcc_bench>()) }
}

/// A bench with nothing on it; padding is zero too.
pub fn empty() -> Box<ffi::mpcc_bench> {
    // SAFETY: all zero is a valid bench.
    unsafe { Box::new(core::mem::zeroed()) }
}

/// An endpoint as Linux starts one: 10 segments, no threshold, an RTT of 40 ms.
pub fn fresh_tcp() -> Tcp {
    Tcp {
        cwnd: 10,
        cwnd_clamp: u32::MAX,
        ssthresh: i32::MAX as u32, // Linux: TCP_INFINITE_SSTHRESH
        srtt8: 8 * 40_000,
        flight: 0,
        cwnd_limited: 1,
        rtt_us: 0,
        idle_ms: 0,
        now: 0,
    }
}

/// A worked example: callbacks, and what they must lead to.
#[derive(Debug, Deserialize)]
pub struct Vector {
    /// What it shows.
    pub name: String,
    #[serde(flatten)]
    holds_for: HoldsFor,
    steps: Vec<Step>,
}

/// Which algorithms an example holds for.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum HoldsFor {
    /// Those of these names.
    Algorithms(Vec<String>),
    /// All with this slow start.
    SlowStart(String),
    /// All with this congestion avoidance.
    Avoidance(String),
}

impl HoldsFor {
    /// None where the table has no such name.
    fn algorithms(&self) -> Option<Vec<Algorithm>> {
        let all = Algorithm::all();
        let found: Vec<_> = match self {
            Self::Algorithms(names) => {
                return names.iter().map(|name| Algorithm::find(name)).collect();
            }
            Self::SlowStart(name) => all.filter(|a| a.slow_start() == name).collect(),
            Self::Avoidance(name) => all.filter(|a| a.avoidance() == name).collect(),
        };
        (!found.is_empty()).then_some(found)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    #[serde(rename = "do")]
    what: String,
    #[serde(default)]
    who: u32,
    /// The callback's argument: acknowledged segments, a state, an event.
    argument: Option<u32>,
    #[serde(default = "once")]
    times: u32,
    #[serde(default)]
    group: u32,
    #[serde(default)]
    alone: bool,
    // What the endpoint has before the callback, where it is not what it had after the last one.
    cwnd: Option<u32>,
    ssthresh: Option<u32>,
    srtt_us: Option<f64>,
    flight: Option<u32>,
    limited: Option<bool>,
    /// The time, in seconds.
    now_s: Option<f64>,
    /// What goes by before each of the `times`, in milliseconds.
    #[serde(default)]
    each_ms: f64,
    /// The ACK's RTT sample, in milliseconds; without it the ACK has none.
    rtt_ms: Option<f64>,
    #[serde(default)]
    idle_ms: u32,
    #[serde(default)]
    expect: Expect,
}

fn once() -> u32 {
    1
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    cwnd: Option<u32>,
    ssthresh: Option<u32>,
    /// The whole window before the step and what the step adds with its fraction, in segments; within 0.5 %.
    window: Option<f64>,
    /// CUBIC's K, in seconds; within 0.1 %.
    k_s: Option<f64>,
    /// CUBIC's W_max, in segments.
    w_max: Option<u32>,
    /// Σ cwnd over the slots in use.
    sum: Option<u32>,
    /// Acknowledged segments still to be ignored.
    ignore: Option<u32>,
    result: Option<u32>,
    /// The notes, in any order; an empty list for none.
    notes: Option<Vec<String>>,
    credit: Option<u32>,
    ignored: Option<u32>,
    sum_before: Option<u32>,
    sum_after: Option<u32>,
    /// The fraction of a segment that is kept, as a numerator and a denominator; within 0.1 %.
    growth: Option<[u64; 2]>,
    /// The lender, by its slot.
    lender: Option<u8>,
    /// The group that it shows.
    group: Option<u8>,
    voided: Option<u16>,
}

/// Every worked example.
pub fn all() -> Vec<Vector> {
    #[derive(Deserialize)]
    struct File {
        vector: Vec<Vector>,
    }
    let files = [
        (
            "lisa",
            include_str!("../../../cc/slow_start/lisa.vectors.toml"),
        ),
        (
            "uncoupled",
            include_str!("../../../cc/slow_start/uncoupled.vectors.toml"),
        ),
        (
            "hystart",
            include_str!("../../../cc/slow_start/hystart.vectors.toml"),
        ),
        (
            "hystartpp",
            include_str!("../../../cc/slow_start/hystartpp.vectors.toml"),
        ),
        (
            "css",
            include_str!("../../../cc/slow_start/css.vectors.toml"),
        ),
        (
            "nmcc in slow start",
            include_str!("../../../cc/slow_start/nmcc.vectors.toml"),
        ),
        (
            "nmcc",
            include_str!("../../../cc/avoidance/nmcc.vectors.toml"),
        ),
        (
            "reno",
            include_str!("../../../cc/avoidance/reno.vectors.toml"),
        ),
        (
            "lia",
            include_str!("../../../cc/avoidance/lia.vectors.toml"),
        ),
        (
            "cubic",
            include_str!("../../../cc/avoidance/cubic.vectors.toml"),
        ),
        (
            "olia",
            include_str!("../../../cc/avoidance/olia.vectors.toml"),
        ),
        (
            "balia",
            include_str!("../../../cc/avoidance/balia.vectors.toml"),
        ),
        (
            "wvegas",
            include_str!("../../../cc/avoidance/wvegas.vectors.toml"),
        ),
    ];
    files
        .into_iter()
        .flat_map(|(name, text)| match toml::from_str::<File>(text) {
            Ok(file) => file.vector,
            Err(error) => panic!("{name}.vectors.toml: {error}"),
        })
        .collect()
}

const NOTES: [(&str, u32); 7] = [
    ("taken", ffi::MPCC_NOTE_TAKEN),
    ("settled", ffi::MPCC_NOTE_SETTLED),
    ("void", ffi::MPCC_NOTE_VOID),
    ("withdrawn", ffi::MPCC_NOTE_WITHDRAWN),
    ("left slow start", ffi::MPCC_NOTE_LEFT_SLOW_START),
    ("loss", ffi::MPCC_NOTE_LOSS),
    ("moved", ffi::MPCC_NOTE_MOVED),
];

impl Vector {
    /// The algorithms that it holds for. The error names one that the table lacks.
    pub fn algorithms(&self) -> Result<Vec<Algorithm>, String> {
        let unknown = || format!("{}: the table lacks one of {:?}", self.name, self.holds_for);
        self.holds_for.algorithms().ok_or_else(unknown)
    }

    /// Runs the example on a machine, once for each of its algorithms. The error says which step differs, and how.
    pub fn run(&self, machine: &mut dyn Machine) -> Result<(), String> {
        let mut algorithms = self.algorithms()?.into_iter();
        algorithms.try_for_each(|algorithm| self.run_for(algorithm, machine))
    }

    /// The same with one algorithm.
    pub fn run_for(&self, algorithm: Algorithm, machine: &mut dyn Machine) -> Result<(), String> {
        let name = algorithm.name();
        let mut bench = empty();
        bench.pair = algorithm.pair();
        bench.tcp = [fresh_tcp(); ffi::MPCC_BENCH_SUBFLOWS as usize];
        for (number, step) in self.steps.iter().enumerate() {
            step.prepare(&mut bench)?;
            let fraction = step.fraction(&bench);
            for _ in 0..step.times {
                bench.tcp[step.who as usize].now += (step.each_ms * 1e6) as u64;
                machine.step(&mut bench);
            }
            step.check(&bench, fraction).map_err(|difference| {
                format!("{} ({name}), step {}: {difference}", self.name, number + 1)
            })?;
        }
        Ok(())
    }
}

impl Step {
    fn prepare(&self, bench: &mut ffi::mpcc_bench) -> Result<(), String> {
        use ffi::mpcc_operation::*;
        let (operation, argument) = match self.what.as_str() {
            "init" => (MPCC_DO_INIT, 1),
            "ack" => (MPCC_DO_ACK, 1),
            "ssthresh" => (MPCC_DO_SSTHRESH, 0),
            "undo" => (MPCC_DO_UNDO, 0),
            "state" => (MPCC_DO_STATE, 0),
            "event" => (MPCC_DO_EVENT, 0),
            "release" => (MPCC_DO_RELEASE, 0),
            "ask" => (MPCC_DO_ASK, 0),
            other => return Err(format!("do = \"{other}\"")),
        };
        bench.operation = operation;
        bench.argument = self.argument.unwrap_or(argument);
        bench.who = self.who;
        bench.group = self.group;
        bench.alone = self.alone.into();
        let tcp = &mut bench.tcp[self.who as usize];
        tcp.cwnd = self.cwnd.unwrap_or(tcp.cwnd);
        tcp.ssthresh = self.ssthresh.unwrap_or(tcp.ssthresh);
        tcp.flight = self.flight.unwrap_or(tcp.flight);
        tcp.srtt8 = self.srtt_us.map_or(tcp.srtt8, |us| (us * 8.0) as u32);
        tcp.cwnd_limited = self.limited.map_or(tcp.cwnd_limited, u32::from);
        tcp.now = self.now_s.map_or(tcp.now, |s| (s * 1e9).round() as u64);
        tcp.rtt_us = self.rtt_ms.map_or(0, |ms| (ms * 1e3).round() as u32);
        tcp.idle_ms = self.idle_ms;
        Ok(())
    }

    /// The part of a segment that the window has grown by.
    fn fraction(&self, bench: &ffi::mpcc_bench) -> f64 {
        bench.subflow[self.who as usize].growth as f64 / ffi::MPCC_ONE as f64
    }

    fn check(&self, bench: &ffi::mpcc_bench, fraction_before: f64) -> Result<(), String> {
        fn same<T: PartialEq + core::fmt::Debug>(
            what: &str,
            expected: &Option<T>,
            found: T,
        ) -> Result<(), String> {
            match expected {
                Some(expected) if *expected != found => {
                    Err(format!("{what} is {found:?}, not {expected:?}"))
                }
                _ => Ok(()),
            }
        }
        let expect = &self.expect;
        let subflow = &bench.subflow[self.who as usize];
        let slots = &bench.connection.slot;
        let slot = slots
            .get(subflow.slot as usize)
            .copied()
            .unwrap_or_default();
        let tcp = &bench.tcp[self.who as usize];
        same("cwnd", &expect.cwnd, tcp.cwnd)?;
        same("ssthresh", &expect.ssthresh, tcp.ssthresh)?;
        same("Σ cwnd", &expect.sum, sum_cwnd(&bench.connection))?;
        same("ignore", &expect.ignore, subflow.ignore)?;
        same("result", &expect.result, bench.result)?;
        same("credit", &expect.credit, bench.note.credit)?;
        same("ignored", &expect.ignored, bench.note.ignored)?;
        same("sum_before", &expect.sum_before, bench.note.sum_before)?;
        same("sum_after", &expect.sum_after, bench.note.sum_after)?;
        same("lender", &expect.lender, slot.lender)?;
        same("group", &expect.group, slot.group)?;
        same("void credits", &expect.voided, slot.credits_void)?;
        if let Some(notes) = &expect.notes {
            let bits = NOTES
                .iter()
                .filter(|note| notes.iter().any(|n| n == note.0));
            same(
                "notes",
                &Some(bits.map(|note| note.1).sum()),
                bench.note.what,
            )?;
        }
        let near = |what, exact: Option<f64>, found: f64, error| match exact {
            Some(exact) if (found / exact - 1.0).abs() > error => {
                Err(format!("{what} is {found}, not {exact}"))
            }
            _ => Ok(()),
        };
        let growth = self.fraction(bench);
        let exact = expect.growth.map(|[n, d]| n as f64 / d as f64);
        near("growth", exact, growth, 1e-3)?;
        let window = f64::from(tcp.cwnd) + growth - fraction_before;
        near("window", expect.window, window, 5e-3)?;
        let cubic = cubic(subflow);
        near("K", expect.k_s, f64::from(cubic.k) / 1024.0, 1e-3)?;
        same("W_max", &expect.w_max, cubic.w_max)
    }
}

/// What a subflow keeps if it runs CUBIC.
pub fn cubic(subflow: &crate::Subflow) -> &ffi::mpcc_cubic {
    // SAFETY: all views of the union are plain integers.
    unsafe { &subflow.__bindgen_anon_1.cubic }
}

/// What a subflow keeps if it runs wVegas.
pub fn wvegas(subflow: &crate::Subflow) -> &ffi::mpcc_wvegas {
    // SAFETY: all views of the union are plain integers.
    unsafe { &subflow.__bindgen_anon_1.wvegas }
}

/// The change for each acknowledged segment, Q40, that a subflow keeps if it runs OLIA.
pub fn change(subflow: &crate::Subflow) -> i64 {
    // SAFETY: all views of the union are plain integers.
    unsafe { subflow.__bindgen_anon_1.olia.change }
}

/// The increase for each acknowledged segment, Q40, that a subflow keeps if it runs LIA or Balia.
pub fn increase(subflow: &crate::Subflow) -> u64 {
    // SAFETY: all views of the union are plain integers.
    unsafe { subflow.__bindgen_anon_1.__bindgen_anon_1.increase }
}

/// What a subflow keeps if it runs HyStart++.
pub fn hystartpp(subflow: &crate::Subflow) -> &ffi::mpcc_hystartpp {
    // SAFETY: all views of the union are plain integers.
    unsafe { &subflow.__bindgen_anon_2.hystartpp }
}

/// What a subflow keeps if it runs CSS.
pub fn css(subflow: &crate::Subflow) -> &ffi::mpcc_css {
    // SAFETY: all views of the union are plain integers.
    unsafe { &subflow.__bindgen_anon_2.__bindgen_anon_1.css }
}

/// What a subflow keeps if it runs NMCC's slow start.
pub fn nmcc(subflow: &crate::Subflow) -> &ffi::mpcc_nmcc {
    // SAFETY: all views of the union are plain integers.
    unsafe { &subflow.__bindgen_anon_2.nmcc }
}

/// m² in Q20, that a subflow keeps if it runs NMCC.
pub fn m2(subflow: &crate::Subflow) -> u32 {
    // SAFETY: all views of the union are plain integers.
    unsafe { subflow.__bindgen_anon_1.__bindgen_anon_1.m2 }
}

/// Σ cwnd over the subflows that are present, in segments.
pub fn sum_cwnd(connection: &ffi::mpcc_connection) -> u32 {
    let present = |slot: &&crate::Slot| u32::from(slot.phase) != ffi::mpcc_phase::MPCC_ABSENT;
    connection.slot.iter().filter(present).map(cwnd).sum()
}

/// A slot's published window, in segments.
pub fn cwnd(slot: &crate::Slot) -> u32 {
    // SAFETY: both views of the union are plain integers.
    unsafe { slot.account.__bindgen_anon_1.cwnd }
}

/// A slot's unsettled debit, in segments.
pub fn debit(slot: &crate::Slot) -> u32 {
    // SAFETY: both views of the union are plain integers.
    unsafe { slot.account.__bindgen_anon_1.debit.into() }
}

/// The slots that took a credit here and are not paid, a bit each.
pub fn takers(slot: &crate::Slot) -> u16 {
    // SAFETY: both views of the union are plain integers.
    unsafe { slot.account.__bindgen_anon_1.takers }
}

/// The group that a slot's subflow is asked to be in.
pub fn wish(slot: &crate::Slot) -> u8 {
    // SAFETY: all views of the union are plain integers.
    unsafe { slot.wish.__bindgen_anon_1.group }
}
