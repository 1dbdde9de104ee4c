//! How far the simulator and a Linux kernel agree, over the suite in `experiments/agreement`.
//!
//! The kernel's outcomes are measured in a VM and kept in a file, with which the simulator is compared.
//! Exit codes: 0 done, 1 failed, 2 wrong usage.

mod judge;
mod page;
mod plot;
mod results;
mod runs;
mod suite;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use clap::{Parser, Subcommand};

use judge::Verdict;
use results::{Record, Results};
use suite::Suite;

/// Holds the simulator against a Linux kernel.
#[derive(Parser)]
#[command(name = "agreement", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Measure on the kernel in a VM what its record does not have yet. Ctrl-C ends it: what is finished is kept.
    Record,
    /// Run the suite in the simulator, and hold it against the record.
    Check,
    /// Run some points in the VM again, and hold them against the record.
    Again,
    /// Write docs/agreement.md and its pictures.
    Page,
}

fn main() -> ExitCode {
    lab::vm::be_guest();
    let done = match Cli::parse().command {
        Task::Record => record(),
        Task::Check => check(),
        Task::Again => again(),
        Task::Page => page::write(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("agreement: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The workspace.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("crates/agreement").into()
}

/// Where the suite, its scenarios and the record are.
fn folder() -> PathBuf {
    root().join("experiments/agreement")
}

fn suite() -> Result<Suite> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite.toml");
    Suite::load(&path, &folder())
}

/// The suite, and what the kernel made of it.
fn load() -> Result<(Suite, Record)> {
    let suite = suite()?;
    let record = Record::load(&folder().join("linux-6.12.csv"))?;
    Ok((suite, record))
}

fn record() -> Result<()> {
    let (suite, mut record) = load()?;
    let about = about()?;
    if record.results.len() > 0 && record.about != about {
        let path = record.path.display();
        bail!(
            "{path} is of {}, and here is {about}: delete it to measure anew",
            record.about
        );
    }
    record.about = about;
    let mut jobs = runs::jobs(&suite.points);
    jobs.retain(|(point, seed)| !record.results.has(&point.name, *seed));
    let cancelled = Arc::new(AtomicBool::new(false));
    let flag = cancelled.clone();
    ctrlc::set_handler(move || flag.store(true, Ordering::SeqCst))?;
    let (of, finished) = (
        jobs.len(),
        runs::in_vms(jobs, &cancelled, |name, outcome| record.add(name, outcome))?,
    );
    if finished < of {
        bail!("interrupted: {finished} of {of} runs are finished, and kept");
    }
    // In the suite's order, whatever the order in which they were measured.
    record.write(&suite.points)
}

/// Which kernel, and which QEMU.
fn about() -> Result<String> {
    let kernel = lab::Vm::new(None, Arc::default())?.release().to_owned();
    let version = Command::new("qemu-system-x86_64").arg("--version").output();
    let version = version.context("no qemu-system-x86_64: install qemu-system-x86")?;
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let version = version.lines().next().unwrap_or_default();
    let version = version.trim_start_matches("QEMU emulator version ");
    Ok(format!(
        "Linux {kernel}, QEMU {version}, by `make agreement`"
    ))
}

/// The verdict over what the record has, and how many runs it has not.
fn verdict(suite: &Suite, record: &Record) -> Result<(Verdict, usize)> {
    let all = runs::jobs(&suite.points);
    let has = |(point, seed): &runs::Job| record.results.has(&point.name, *seed);
    let (jobs, missing): (Vec<_>, Vec<_>) = all.into_iter().partition(has);
    let simulator = runs::simulate(jobs)?;
    let verdict = Verdict::of(&suite.points, &record.results, &simulator);
    Ok((verdict, missing.len()))
}

fn check() -> Result<()> {
    let (suite, record) = load()?;
    let (verdict, missing) = verdict(&suite, &record)?;
    print!("{verdict}");
    if missing > 0 {
        let path = record.path.display();
        bail!("{path}: {missing} runs are not there: `make agreement` measures them");
    }
    let faults = verdict.faults(&suite.misses, suite.signs);
    if !faults.is_empty() {
        bail!("beside {}: {}", record.about, faults.join("; "));
    }
    Ok(())
}

/// The record is of another build of this program, whose guest is some microseconds slower or faster: what it measured is
/// held against these runs as the simulator is.
fn again() -> Result<()> {
    let (suite, record) = load()?;
    let mut now = Results::default();
    let jobs = runs::jobs(&suite.again);
    runs::in_vms(jobs, &Arc::default(), |name, outcome| {
        now.add(name, outcome);
        Ok(())
    })?;
    let before = record.results.only(&suite.again);
    let verdict = Verdict::of(&suite.again, &before, &now);
    print!("{verdict}");
    let (within, of) = verdict.count();
    if within < suite.again.len() {
        let path = record.path.display();
        bail!(
            "{path} is stale: {within} of {of} points came out as recorded; delete it to measure anew"
        );
    }
    Ok(())
}
