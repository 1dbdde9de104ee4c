//! How far the simulator and a Linux kernel agree, over the suite in `experiments/agreement`.
//!
//! Transfers (suite.toml) are compared by their completion times and retransmissions, long flows (long.toml) by their shares. A record
//! keeps the outcomes of a kernel in a VM. The simulator is compared with the record.
//! Exit codes: 0 done, 1 failed, 2 wrong usage.

mod judge;
mod long;
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
use long::Shares;
use results::{Record, Results};
use suite::{Point, Suite};

/// Compares the simulator with a Linux kernel, over the suites in experiments/agreement.
#[derive(Parser)]
#[command(name = "agreement", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run on the kernel in a VM all points that the records lack, one run for each core at a time. Ctrl-C ends the command; the
    /// records keep the finished runs.
    Record,
    /// Run both suites in the simulator, and compare the results with the records.
    Check,
    /// Run some transfers in the VM again, and compare the results with the record.
    Again,
    /// Write the tables and figures of docs/agreement.md and docs/fairness.md.
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

/// Folder of the workspace.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("crates/agreement").into()
}

/// Folder of the scenarios and the record.
fn folder() -> PathBuf {
    root().join("experiments/agreement")
}

fn suite_in(file: &str) -> Result<Suite> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    Suite::load(&path, &folder())
}

/// The suite of transfers.
fn suite() -> Result<Suite> {
    suite_in("suite.toml")
}

/// The suite of transfers, and the record of the kernel.
fn load() -> Result<(Suite, Record)> {
    let record = Record::load(&folder().join("linux-6.12.csv"))?;
    Ok((suite()?, record))
}

/// The suite of long flows, and the record of the kernel.
fn load_long() -> Result<(Suite, Record)> {
    let record = Record::load(&folder().join("steady-6.12.csv"))?;
    Ok((suite_in("long.toml")?, record))
}

fn record() -> Result<()> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let flag = cancelled.clone();
    ctrlc::set_handler(move || flag.store(true, Ordering::SeqCst))?;
    for (suite, record) in [load()?, load_long()?] {
        record_missing(&suite, record, &cancelled)?;
    }
    Ok(())
}

/// Runs what the record lacks.
fn record_missing(suite: &Suite, mut record: Record, cancelled: &Arc<AtomicBool>) -> Result<()> {
    let about = about()?;
    if record.results.len() > 0 && record.about != about {
        let path = record.path.display();
        bail!(
            "{path} is a record of {}, but this is {about}: delete the file to measure again",
            record.about
        );
    }
    record.about = about;
    let mut jobs = runs::jobs(&suite.points);
    jobs.retain(|job| !record.results.has(&job.point.name, job.seed));
    // All points with the first seed first: an interrupted record then has the same number of seeds of each.
    jobs.sort_by_key(|job| job.seed);
    let (of, finished) = (
        jobs.len(),
        runs::in_vms(jobs, cancelled, |name, outcome| record.add(name, outcome))?,
    );
    if finished < of {
        bail!("interrupted: {finished} of {of} runs are finished and recorded");
    }
    // In the order of the suite, which may differ from the order of the runs.
    record.write(&suite.points)
}

/// Versions of the kernel and of QEMU, which decide the results.
fn about() -> Result<String> {
    let kernel = runs::kernel_release()?;
    let version = Command::new("qemu-system-x86_64").arg("--version").output();
    let version = version.context("no qemu-system-x86_64: install qemu-system-x86")?;
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let version = version.lines().next().unwrap_or_default();
    let version = version.trim_start_matches("QEMU emulator version ");
    Ok(format!(
        "Linux {kernel}, QEMU {version}, by `make agreement`"
    ))
}

/// The verdict over the recorded runs, and the number of runs that the record lacks.
fn verdict(suite: &Suite, record: &Record) -> Result<(Verdict, usize)> {
    let all = runs::jobs(&suite.points);
    let has = |job: &runs::Job| record.results.has(&job.point.name, job.seed);
    let (jobs, missing): (Vec<_>, Vec<_>) = all.into_iter().partition(has);
    let simulator = runs::simulate(jobs)?;
    let verdict = Verdict::of(&suite.points, &record.results, &simulator);
    Ok((verdict, missing.len()))
}

/// The shares of long flows of the recorded points, and the number of runs that the record lacks.
fn shares(suite: &Suite, record: &Record) -> Result<(Shares, usize)> {
    let is_missing = |job: &&runs::Job| !record.results.has(&job.point.name, job.seed);
    let missing = runs::jobs(&suite.points).iter().filter(is_missing).count();
    let more = suite.points.iter().map(|point| Point {
        seeds: long::SIMULATED,
        ..point.clone()
    });
    let simulator = runs::simulate(runs::jobs(&more.collect::<Vec<_>>()))?;
    let shares = Shares::of(&suite.points, &record.results, &simulator);
    Ok((shares, missing))
}

fn check() -> Result<()> {
    let (suite, record) = load()?;
    let (verdict, missing) = verdict(&suite, &record)?;
    print!("{verdict}");
    let (long_suite, long_record) = load_long()?;
    let (shares, long_missing) = shares(&long_suite, &long_record)?;
    print!("{shares}");
    let long_faults = shares.faults(&long_suite.misses);
    let mut faults = verdict.faults(&suite.misses, suite.signs);
    faults.extend(long_faults);
    for (record, missing) in [(&record, missing), (&long_record, long_missing)] {
        if missing > 0 {
            let path = record.path.display();
            faults.push(format!(
                "{path} lacks {missing} runs: `make agreement` measures them"
            ));
        }
    }
    if !faults.is_empty() {
        bail!("compared with {}: {}", record.about, faults.join("; "));
    }
    Ok(())
}

/// Compares runs in the VM with the record. Another build of this program made the record, whose guest is some
/// microseconds slower or faster: the tolerances are those of the simulator.
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
            "{path} is stale: {within} of {of} points agree with it; delete the file to measure again"
        );
    }
    Ok(())
}
