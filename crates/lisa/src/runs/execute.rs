//! Runs jobs on the backend of the arguments: in the simulator or in VMs many at a time, on this host one after another.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use lab::Runner;
use netsim::Span;
use scenario::export::journal::{Finished, Journal};
use scenario::{Error, Outcome, Run, Scenario, Watch};

use super::arguments::Common;
use super::on::On;
use super::progress::Progress;
use super::traces::Traces;
use crate::output::Failure;

/// A run to be made.
pub struct Job {
    pub scenario: Arc<Scenario>,
    /// The scenario's file and the values that were changed, for errors.
    pub about: Arc<str>,
    pub seed: u64,
    pub trace: Trace,
    /// Interval of time series; none: the run has none.
    pub sample: Option<Span>,
}

/// Destination of a run's rows, credits and packets.
pub enum Trace {
    /// Nothing is recorded.
    None,
    /// Rows and credits stay in the result.
    Keep,
    /// Rows, credits and packets are written into files. Then they are removed from the result, unless it is kept.
    Write(Arc<Traces>, Kept),
    /// The outcome is appended to the journal under this number, and its connections and links are removed from the result.
    Journal(Arc<Mutex<Journal>>, usize),
}

/// Whether the rows of a run that are written stay in the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept(pub bool);

impl Trace {
    fn watch(&self) -> Watch {
        match self {
            Self::None | Self::Journal(..) => Watch::default(),
            Self::Keep => Watch {
                trace: true,
                ..Watch::default()
            },
            Self::Write(to, Kept(kept)) => {
                let watch = to.watch();
                Watch {
                    trace: watch.trace || *kept,
                    ..watch
                }
            }
        }
    }

    /// Writes a run's recordings, or removes them from the result.
    fn finish(&self, mut run: Run) -> Result<Run, Failure> {
        if let Self::Write(to, _) = self {
            to.write(&run)?;
        }
        if let Self::Journal(journal, number) = self {
            let finished = Finished {
                outcome: run.outcome,
                samples: std::mem::take(&mut run.samples),
            };
            let mut journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
            journal.append(*number, &finished)?;
            run.outcome = Outcome {
                connections: Vec::new(),
                links: Vec::new(),
                ..finished.outcome
            };
        }
        if !matches!(self, Self::Keep | Self::Write(_, Kept(true))) {
            (run.rows, run.credits, run.losses) = (Vec::new(), Vec::new(), Vec::new());
            run.capture = None;
        }
        Ok(run)
    }
}

/// A backend with the options of the arguments.
pub struct Executor {
    on: On,
    threads: usize,
    /// The kernel of the VM.
    kernel: Option<PathBuf>,
    /// Release of the kernel, once it has run.
    release: RefCell<Option<String>>,
}

impl Executor {
    /// The executor of one backend.
    pub fn new(common: &Common, on: On) -> Result<Self, Failure> {
        check(common, &[on])?;
        Ok(Self::of(common, on))
    }

    /// An executor for each backend, in this order.
    pub fn each(common: &Common, on: &[On]) -> Result<Vec<Self>, Failure> {
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
        Self {
            on,
            threads: match (on, common.jobs) {
                // Runs in real time must not delay each other.
                (On::Host, _) => 1,
                (_, Some(jobs)) => jobs.into(),
                (_, None) => cores(),
            },
            kernel: common.kernel.clone(),
            release: RefCell::new(None),
        }
    }

    /// Release of the kernel that ran the jobs; none for the simulator.
    pub fn release(&self) -> Option<String> {
        self.release.borrow().clone()
    }

    /// Runs the jobs that `job` makes, and calls `done` for each result in the order of the jobs. Returns the number of finished
    /// runs: fewer than `count` if `cancelled` was set.
    pub fn execute(
        &self,
        count: usize,
        job: impl Fn(usize) -> Result<Job, Failure> + Send + Sync + 'static,
        cancelled: &Arc<AtomicBool>,
        progress: &Progress,
        done: impl FnMut(usize, Run) -> Result<(), Failure>,
    ) -> Result<usize, Failure> {
        let cancelled = cancelled.clone();
        let mut runner = match self.on {
            On::Sim => Runner::simulator(self.threads, cancelled),
            On::Host => Runner::host(self.threads, cancelled)?,
            On::Vm => Runner::vm(self.kernel.as_deref(), self.threads, cancelled)?,
        };
        self.release.replace(runner.release());
        // Jobs whose runs are in progress.
        let open = Arc::new(Mutex::new(BTreeMap::new()));
        let opened = open.clone();
        let make = move |number: usize| {
            let job = job(number)?;
            let run = lab::Job {
                scenario: job.scenario.clone(),
                seed: job.seed,
                watch: Watch {
                    sample: job.sample,
                    ..job.trace.watch()
                },
            };
            locked(&opened).insert(number, job);
            Ok(run)
        };
        let receive = move |number: usize, run: Result<Run, lab::Error>| {
            let job = locked(&open).remove(&number).expect("a job in progress");
            job.trace.finish(run.map_err(|error| failure(&job, error))?)
        };
        let tick = |finished| progress.tick(finished);
        runner.run_each(count, make, receive, tick, done)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Number of cores that this process may use.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// An error of a scenario has the job's file and seed.
fn failure(job: &Job, error: lab::Error) -> Failure {
    match error {
        lab::Error::Scenario(error) => Failure::from(Error {
            file: format!("{}, seed {}", job.about, job.seed),
            ..error
        }),
        error => error.into(),
    }
}

/// Checks that the options apply to one of the backends.
fn check(common: &Common, on: &[On]) -> Result<(), Failure> {
    if common.kernel.is_some() && !on.contains(&On::Vm) {
        return Err(Failure::usage("--kernel is for the VM, with `--on vm`"));
    }
    if common.jobs.is_some() && *on == [On::Host] {
        return Err(Failure::usage(
            "--jobs is for simulations and VMs: on the host one run follows the other",
        ));
    }
    Ok(())
}
