//! Runs jobs in the simulator or in VMs, many at once, or on this host, one after another.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;

use lab::Vm;
use scenario::export::{self, columns::Format};
use scenario::{Error, Run, Scenario, Watch, batch};

use super::arguments::{Common, On};
use super::progress::Progress;
use crate::output::Failure;

/// A run that is to be made.
pub struct Job {
    pub scenario: Arc<Scenario>,
    /// Its file, and what of it was changed: for errors.
    pub about: Arc<str>,
    pub seed: u64,
    pub trace: Trace,
}

/// What becomes of a run's rows, credits and packets.
pub enum Trace {
    /// Nobody wants them.
    None,
    /// Rows and credits stay in the result.
    Keep,
    /// They go into files, and not into the result.
    Write(Arc<Traces>),
}

impl Trace {
    fn watch(&self) -> Watch {
        let (trace, capture) = match self {
            Self::None => (false, false),
            Self::Keep => (true, false),
            Self::Write(to) => (to.trace.is_some(), to.pcap.is_some()),
        };
        Watch { trace, capture }
    }
}

/// Where traces and captures go.
pub struct Traces {
    trace: Option<(PathBuf, Format)>,
    pcap: Option<PathBuf>,
    /// Whether any more are written. Who writes one reads this meanwhile.
    open: RwLock<bool>,
}

impl Traces {
    /// The directories of both, which are there.
    pub fn new(trace: Option<(PathBuf, Format)>, pcap: Option<PathBuf>) -> Self {
        Self {
            trace,
            pcap,
            open: RwLock::new(true),
        }
    }

    fn write(&self, run: &Run) -> Result<(), Failure> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        if !*open {
            return Ok(());
        }
        if let Some((directory, format)) = &self.trace {
            export::write_trace(run, directory, *format)?;
        }
        if let Some(directory) = &self.pcap {
            export::write_capture(run, directory)?;
        }
        Ok(())
    }

    /// Waits for what is being written, and lets no more be: a process that ends meanwhile leaves half a file.
    pub fn close(&self) {
        *self.open.write().unwrap_or_else(PoisonError::into_inner) = false;
    }
}

/// Where jobs run.
pub struct Backend {
    on: On,
    threads: usize,
    /// The VM's.
    kernel: Option<PathBuf>,
}

impl Backend {
    pub fn new(common: &Common, on: On) -> Result<Self, Failure> {
        check(common, &[on])?;
        Ok(Self::of(common, on))
    }

    /// One for each, in their order.
    pub fn all(common: &Common, on: &[On]) -> Result<Vec<Self>, Failure> {
        for (number, one) in on.iter().enumerate() {
            if on[..number].contains(one) {
                let name = one.name();
                return Err(Failure::usage(format!(
                    "--on names `{name}` twice: name each backend once"
                )));
            }
        }
        check(common, on)?;
        Ok(on.iter().map(|on| Self::of(common, *on)).collect())
    }

    fn of(common: &Common, on: On) -> Self {
        let cores = || thread::available_parallelism().map_or(1, usize::from);
        Self {
            on,
            threads: common.jobs.map_or_else(cores, usize::from),
            kernel: common.kernel.clone(),
        }
    }

    /// Runs all, and hands over each result in the order of the jobs. Returns how many there were: fewer than all if
    /// `cancelled` became true.
    pub fn execute(
        &self,
        jobs: Vec<Job>,
        cancelled: &Arc<AtomicBool>,
        progress: &Progress,
        done: impl FnMut(usize, Run) -> Result<(), Failure>,
    ) -> Result<usize, Failure> {
        match self.on {
            On::Sim => self.at_once(jobs, simulated, cancelled, progress, done),
            On::Host => on_host(&jobs, cancelled, progress, done),
            On::Vm => self.in_vms(jobs, cancelled, progress, done),
        }
    }

    fn in_vms(
        &self,
        jobs: Vec<Job>,
        cancelled: &Arc<AtomicBool>,
        progress: &Progress,
        mut done: impl FnMut(usize, Run) -> Result<(), Failure>,
    ) -> Result<usize, Failure> {
        let vm = Vm::new(self.kernel.as_deref(), cancelled.clone())?;
        let run = if jobs.len() == 1 {
            Vm::run_once
        } else {
            Vm::run
        };
        let work = move |job: &Job| match run(&vm, &job.scenario, job.seed, job.trace.watch()) {
            // The VM may see that it is to end before anyone else does.
            Err(lab::Error::Interrupted) => Ok(None),
            result => traced_run(job, result?).map(Some),
        };
        let mut handed = 0;
        let take = |number, run: Option<Run>| {
            let Some(run) = run else { return Ok(()) };
            handed += 1;
            done(number, run)
        };
        self.at_once(jobs, work, cancelled, progress, take)?;
        Ok(handed)
    }

    /// Many at a time.
    fn at_once<T: Send + 'static>(
        &self,
        jobs: Vec<Job>,
        work: impl Fn(&Job) -> Result<T, Failure> + Send + Sync + 'static,
        cancelled: &AtomicBool,
        progress: &Progress,
        done: impl FnMut(usize, T) -> Result<(), Failure>,
    ) -> Result<usize, Failure> {
        let count = jobs.len();
        let work = move |number: usize| work(&jobs[number]);
        let tick = |finished| progress.tick(finished);
        batch::in_order(count, self.threads, cancelled, work, tick, done)
    }
}

/// Whether the options fit where it runs.
fn check(common: &Common, on: &[On]) -> Result<(), Failure> {
    if common.kernel.is_some() && !on.contains(&On::Vm) {
        return Err(Failure::usage("--kernel is for the VM, with `--on vm`"));
    }
    if common.jobs.is_some() && *on == [On::Host] {
        return Err(Failure::usage(
            "--jobs is for simulations and VMs: on the host one run comes after the other",
        ));
    }
    Ok(())
}

fn simulated(job: &Job) -> Result<Run, Failure> {
    let run = scenario::simulate_watched(&job.scenario, job.seed, job.trace.watch());
    let run = run.map_err(|error| Error {
        file: format!("{}, seed {}", job.about, job.seed),
        ..error
    })?;
    traced_run(job, run)
}

/// Writes a run's trace and packets, or drops them, as the job wants.
fn traced_run(job: &Job, mut run: Run) -> Result<Run, Failure> {
    if let Trace::Write(to) = &job.trace {
        to.write(&run)?;
    }
    if !matches!(job.trace, Trace::Keep) {
        (run.rows, run.credits, run.losses) = (Vec::new(), Vec::new(), Vec::new());
        run.capture = None;
    }
    Ok(run)
}

fn on_host(
    jobs: &[Job],
    cancelled: &Arc<AtomicBool>,
    progress: &Progress,
    mut done: impl FnMut(usize, Run) -> Result<(), Failure>,
) -> Result<usize, Failure> {
    let mut host = lab::Host::new(0, cancelled.clone())?;
    for (number, job) in jobs.iter().enumerate() {
        progress.tick(number);
        if cancelled.load(Ordering::SeqCst) {
            return Ok(number);
        }
        let run = match host.run_watched(&job.scenario, job.seed, job.trace.watch()) {
            Err(lab::Error::Interrupted) => return Ok(number),
            result => result?,
        };
        done(number, traced_run(job, run)?)?;
    }
    Ok(jobs.len())
}
