//! Worked examples, as data beside the headers that they test (`cc/**/*.vectors.toml`), for any [`Machine`] that runs `cc/`.

use crate::machine::with_settings;
use crate::{Harness, Machine, ffi, fresh_tcp, state};
use mpcc::{Algorithm, Settings};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A worked example: callbacks and their results, for the algorithms of exactly one of the first three keys.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vector {
    /// Names of algorithms.
    algorithms: Option<Vec<String>>,
    /// All algorithms with this slow start.
    slow_start: Option<String>,
    /// All algorithms with this congestion avoidance.
    avoidance: Option<String>,
    /// Subject of the example, in a phrase.
    pub name: String,
    /// Settings with other than their standard values.
    #[serde(default)]
    settings: BTreeMap<String, u32>,
    steps: Vec<Step>,
}

/// A callback.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u32)]
enum Operation {
    Init = ffi::mpcc_operation::MPCC_DO_INIT,
    Ack = ffi::mpcc_operation::MPCC_DO_ACK,
    Ssthresh = ffi::mpcc_operation::MPCC_DO_SSTHRESH,
    Undo = ffi::mpcc_operation::MPCC_DO_UNDO,
    State = ffi::mpcc_operation::MPCC_DO_STATE,
    Event = ffi::mpcc_operation::MPCC_DO_EVENT,
    Release = ffi::mpcc_operation::MPCC_DO_RELEASE,
    Request = ffi::mpcc_operation::MPCC_DO_REQUEST,
}

/// A bit of a callback's note.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u32)]
enum Note {
    Taken = ffi::MPCC_NOTE_TAKEN,
    Settled = ffi::MPCC_NOTE_SETTLED,
    Void = ffi::MPCC_NOTE_VOID,
    Withdrawn = ffi::MPCC_NOTE_WITHDRAWN,
    #[serde(rename = "slow start exit")]
    SlowStartExit = ffi::MPCC_NOTE_SLOW_START_EXIT,
    Loss = ffi::MPCC_NOTE_LOSS,
    Moved = ffi::MPCC_NOTE_MOVED,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    #[serde(rename = "do")]
    operation: Operation,
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
    // The endpoint's state before the callback. Default: its state after the callback before.
    cwnd: Option<u32>,
    ssthresh: Option<u32>,
    srtt_us: Option<f64>,
    flight: Option<u32>,
    limited: Option<bool>,
    paced: Option<bool>,
    backup: Option<bool>,
    uncoupled: Option<bool>,
    /// The time, in seconds.
    now_s: Option<f64>,
    /// Time before each of the `times`, in milliseconds.
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
    /// Window after the step, with the fraction that the step has added, in segments; within 0.5 %.
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
    notes: Option<Vec<Note>>,
    credit: Option<u32>,
    ignored: Option<u32>,
    /// Segments that the subflow returned.
    withdrawn: Option<u16>,
    sum_before: Option<u32>,
    sum_after: Option<u32>,
    /// The stored fraction of a segment, as a numerator and a denominator; within 0.1 %.
    growth: Option<[u64; 2]>,
    /// The lender, by its slot.
    lender: Option<u8>,
    /// The group that it publishes.
    group: Option<u8>,
    voided: Option<u16>,
    /// The phase that it publishes, a number of `enum mpcc_phase`.
    phase: Option<u8>,
}

/// Every worked example.
///
/// # Panics
/// If a file cannot be parsed, or has an unknown key or word.
pub fn all() -> Vec<Vector> {
    // The build script finds the files.
    let files: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/vectors.rs"));
    files
        .iter()
        .flat_map(|(name, text)| parse(name, text).unwrap_or_else(|error| panic!("{error}")))
        .collect()
}

/// The examples of a file. The error names the file, the example, and the unknown key or word.
fn parse(file: &str, text: &str) -> Result<Vec<Vector>, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        vector: Vec<toml::Table>,
    }
    let parsed: File = toml::from_str(text).map_err(|error| format!("{file}: {error}"))?;
    let vectors = parsed.vector.into_iter().map(|table| {
        let name = table.get("name").map_or(String::new(), ToString::to_string);
        let parsed = table.try_into();
        parsed.map_err(|error| format!("{file}: {name}: {error}"))
    });
    vectors.collect()
}

impl Vector {
    /// The algorithms to which the example applies. The error has their names if the table lacks one.
    pub fn algorithms(&self) -> Result<Vec<Algorithm>, String> {
        let all = Algorithm::all();
        let (found, names) = match (&self.algorithms, &self.slow_start, &self.avoidance) {
            (Some(names), None, None) => (
                names.iter().map(|name| Algorithm::find(name)).collect(),
                format!("one of {names:?}"),
            ),
            (None, Some(name), None) => (
                Some(all.filter(|a| a.slow_start() == name).collect()),
                format!("the slow start {name:?}"),
            ),
            (None, None, Some(name)) => (
                Some(all.filter(|a| a.avoidance() == name).collect()),
                format!("the congestion avoidance {name:?}"),
            ),
            _ => {
                return Err(format!(
                    "{}: not exactly one of algorithms, slow_start, avoidance",
                    self.name
                ));
            }
        };
        found
            .filter(|found: &Vec<_>| !found.is_empty())
            .ok_or_else(|| format!("{}: the table of algorithms lacks {names}", self.name))
    }

    /// Runs the example on a machine, once for each of its algorithms. The error names the step and the difference.
    pub fn run(&self, machine: &mut dyn Machine) -> Result<(), String> {
        let mut algorithms = self.algorithms()?.into_iter();
        algorithms.try_for_each(|algorithm| self.run_for(algorithm, machine))
    }

    /// Runs the example with one algorithm.
    pub fn run_for(&self, algorithm: Algorithm, machine: &mut dyn Machine) -> Result<(), String> {
        let name = algorithm.name();
        let mut settings = Settings::standard(algorithm);
        for (setting, value) in &self.settings {
            settings
                .set(algorithm, setting, *value)
                .map_err(|error| format!("{}: {error}", self.name))?;
        }
        let mut harness = with_settings(algorithm, settings);
        harness.tcp = [fresh_tcp(); ffi::MPCC_HARNESS_SUBFLOWS as usize];
        for (number, step) in self.steps.iter().enumerate() {
            step.prepare(&mut harness);
            let fraction = step.fraction(&harness);
            for _ in 0..step.times {
                harness.tcp[step.who as usize].now += (step.each_ms * 1e6) as u64;
                machine.step(&mut harness);
            }
            step.check(&harness, fraction).map_err(|difference| {
                format!("{} ({name}), step {}: {difference}", self.name, number + 1)
            })?;
        }
        Ok(())
    }
}

impl Step {
    fn prepare(&self, harness: &mut Harness) {
        let argument = matches!(self.operation, Operation::Init | Operation::Ack);
        harness.operation = self.operation as u32;
        harness.argument = self.argument.unwrap_or(argument.into());
        harness.who = self.who;
        harness.group = self.group;
        harness.alone = self.alone.into();
        let tcp = &mut harness.tcp[self.who as usize];
        tcp.cwnd = self.cwnd.unwrap_or(tcp.cwnd);
        tcp.ssthresh = self.ssthresh.unwrap_or(tcp.ssthresh);
        tcp.flight = self.flight.unwrap_or(tcp.flight);
        tcp.srtt8 = self.srtt_us.map_or(tcp.srtt8, |us| (us * 8.0) as u32);
        tcp.cwnd_limited = self.limited.map_or(tcp.cwnd_limited, u8::from);
        tcp.paced = self.paced.map_or(tcp.paced, u8::from);
        tcp.backup = self.backup.map_or(tcp.backup, u8::from);
        tcp.uncoupled = self.uncoupled.map_or(tcp.uncoupled, u8::from);
        tcp.now = self.now_s.map_or(tcp.now, |s| (s * 1e9).round() as u64);
        tcp.rtt_us = self.rtt_ms.map_or(0, |ms| (ms * 1e3).round() as u32);
        tcp.idle_ms = self.idle_ms;
    }

    /// The part of a segment that the window has grown by.
    fn fraction(&self, harness: &Harness) -> f64 {
        harness.subflow[self.who as usize].growth as f64 / ffi::MPCC_ONE as f64
    }

    fn check(&self, harness: &Harness, fraction_before: f64) -> Result<(), String> {
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
        let subflow = &harness.subflow[self.who as usize];
        let slots = &harness.connection.slot;
        let slot = slots
            .get(subflow.slot as usize)
            .copied()
            .unwrap_or_default();
        let tcp = &harness.tcp[self.who as usize];
        same("cwnd", &expect.cwnd, tcp.cwnd)?;
        same("ssthresh", &expect.ssthresh, tcp.ssthresh)?;
        same("Σ cwnd", &expect.sum, state::sum_cwnd(&harness.connection))?;
        same("ignore", &expect.ignore, state::lisa(subflow).ignore)?;
        same("result", &expect.result, harness.result)?;
        same("credit", &expect.credit, harness.note.credit)?;
        same("ignored", &expect.ignored, harness.note.ignored)?;
        same("withdrawn", &expect.withdrawn, harness.note.withdrawn)?;
        same("sum_before", &expect.sum_before, harness.note.sum_before)?;
        same("sum_after", &expect.sum_after, harness.note.sum_after)?;
        same("lender", &expect.lender, slot.lender)?;
        same("group", &expect.group, slot.group)?;
        same("void credits", &expect.voided, slot.credits_void)?;
        same("phase", &expect.phase, slot.phase)?;
        if let Some(notes) = &expect.notes {
            let bits = notes.iter().fold(0, |bits, note| bits | *note as u32);
            same("notes", &Some(bits), harness.note.what)?;
        }
        let near = |what, exact: Option<f64>, found: f64, error| match exact {
            Some(exact) if (found / exact - 1.0).abs() > error => {
                Err(format!("{what} is {found}, not {exact}"))
            }
            _ => Ok(()),
        };
        let growth = self.fraction(harness);
        let exact = expect.growth.map(|[n, d]| n as f64 / d as f64);
        near("growth", exact, growth, 1e-3)?;
        let window = f64::from(tcp.cwnd) + growth - fraction_before;
        near("window", expect.window, window, 5e-3)?;
        let cubic = state::cubic(subflow);
        near("K", expect.k_s, f64::from(cubic.k) / 1024.0, 1e-3)?;
        same("W_max", &expect.w_max, cubic.w_max())
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    /// Each example has one unknown key or word, which the error names.
    #[test]
    fn unknown_words_are_refused() {
        let ack = r#"{ do = "ack", expect = { cwnd = 10, notes = ["loss"] } }"#;
        let vector = |keys: &str, step: &str| {
            let text = format!("[[vector]]\nname = \"subject\"\nslow_start = \"css\"\n{keys}");
            parse("file.toml", &format!("{text}\nsteps = [{step}]\n"))
        };
        assert_eq!(vector("", ack).map(|vectors| vectors.len()), Ok(1));
        let replaced = |from, to| vector("", &ack.replacen(from, to, 1));
        for (word, parsed) in [
            ("lost", replaced("loss", "lost")),
            ("nots", replaced("notes", "nots")),
            ("expects", replaced("expect", "expects")),
            ("ak", replaced("ack", "ak")),
            ("setings", vector("setings = { con_ssthresh = 60 }", ack)),
        ] {
            let error = parsed.expect_err(word);
            for part in ["file.toml", "subject", &format!("`{word}`")] {
                assert!(error.contains(part), "no {part} in: {error}");
            }
        }
    }
}
