//! Simulations on several threads, without the interpreter's lock.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use scenario::{Error, Run, Scenario, Watch, batch, simulate_cancellable};
use signal_hook::consts::SIGINT;
use signal_hook::low_level::unregister;
use signal_hook::{SigId, flag};

use crate::error::Failure;

/// Shortest time between two checks for Ctrl-C, and between two calls of the progress callback.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Largest number of runs at a time.
const MOST: usize = 1024;

/// A run to be made.
pub struct Job {
    pub scenario: Arc<Scenario>,
    /// The scenario's file and the values that were changed, for errors.
    pub about: Arc<str>,
    pub seed: u64,
    pub watch: Watch,
}

/// How jobs run.
pub struct Settings {
    /// Number of runs at a time.
    pub threads: usize,
    /// Called with the numbers of finished runs and of all runs, from time to time and at the end.
    pub progress: Option<Py<PyAny>>,
}

impl Settings {
    /// `jobs`: number of runs at a time; none: one for each core.
    pub fn new(jobs: Option<usize>, progress: Option<Py<PyAny>>) -> Result<Self, Failure> {
        let cores = || thread::available_parallelism().map_or(1, usize::from);
        match jobs {
            Some(jobs) if !(1..=MOST).contains(&jobs) => Err(Failure::Argument(format!(
                "jobs {jobs}: a whole number from 1 to {MOST}"
            ))),
            jobs => Ok(Self {
                threads: jobs.unwrap_or_else(cores),
                progress,
            }),
        }
    }
}

/// Makes `count` runs, and calls `done` for each in the order of the jobs.
pub fn execute(
    py: Python<'_>,
    settings: &Settings,
    count: usize,
    job: impl Fn(usize) -> Result<Job, Failure> + Send + Sync + 'static,
    done: impl FnMut(usize, Run) -> Result<(), Failure> + Send,
) -> PyResult<()> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let flag = cancelled.clone();
    let interrupt = Interrupt::new(py)?;
    let work = move |number: usize| run(&job(number)?, &flag);
    let mut checked = Instant::now();
    let mut raised = None;
    let tick = |finished: usize| {
        if checked.elapsed() < CHECK_INTERVAL || raised.is_some() {
            return;
        }
        checked = Instant::now();
        let called = Python::attach(|py| {
            py.check_signals()?;
            interrupt.check()?;
            match &settings.progress {
                Some(progress) => progress.call1(py, (finished, count)).map(drop),
                None => Ok(()),
            }
        });
        if let Err(error) = called {
            raised = Some(error);
            cancelled.store(true, Ordering::Relaxed);
        }
    };
    let ended = py.detach(|| {
        let all = || batch::in_order(count, settings.threads, &cancelled, work, tick, done);
        catch_unwind(AssertUnwindSafe(all))
    });
    // Threads in progress end, also after an error.
    cancelled.store(true, Ordering::Relaxed);
    if let Some(error) = raised {
        return Err(error);
    }
    match ended {
        Ok(Ok(_)) => match &settings.progress {
            Some(progress) => progress.call1(py, (count, count)).map(drop),
            None => Ok(()),
        },
        Ok(Err(failure)) => Err(failure.raise(py)),
        Err(panic) => Err(Failure::Internal(message(&*panic)).raise(py)),
    }
}

/// Ctrl-C while runs are made on another thread than Python's main thread, which alone handles signals.
struct Interrupt {
    pressed: Arc<AtomicBool>,
    registered: Option<SigId>,
}

impl Interrupt {
    /// Python's handler still runs: this one is beside it. A program that handles or ignores Ctrl-C itself keeps that.
    fn new(py: Python<'_>) -> PyResult<Self> {
        let pressed = Arc::new(AtomicBool::new(false));
        let threading = py.import("threading")?;
        let current = threading.call_method0("current_thread")?;
        let signals = py.import("signal")?;
        let handler = signals.call_method1("getsignal", (SIGINT,))?;
        let is_elsewhere = !current.is(&threading.call_method0("main_thread")?)
            && handler.is(&signals.getattr("default_int_handler")?);
        let registered = is_elsewhere.then(|| flag::register(SIGINT, pressed.clone()));
        Ok(Self {
            pressed,
            registered: registered.transpose()?,
        })
    }

    fn check(&self) -> PyResult<()> {
        match self.pressed.load(Ordering::Relaxed) {
            true => Err(PyKeyboardInterrupt::new_err(())),
            false => Ok(()),
        }
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        if let Some(id) = self.registered {
            unregister(id);
        }
    }
}

/// Makes a run. An error has the job's file and seed.
fn run(job: &Job, cancelled: &AtomicBool) -> Result<Run, Failure> {
    let run = simulate_cancellable(&job.scenario, job.seed, job.watch, cancelled);
    run.map_err(|error| {
        Failure::Scenario(Error {
            file: format!("{}, seed {}", job.about, job.seed),
            ..error
        })
    })
}

/// The message of a panic.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    scenario::one_line(text.unwrap_or("a panic without a message"))
}
