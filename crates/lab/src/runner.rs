//! One interface to the three places where a scenario runs: the simulator, this host's kernel, a kernel in a VM.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use scenario::{Run, Scenario, Watch, batch};

use crate::error::Error;
use crate::host::Host;
use crate::vm::Vm;

/// A run to be made.
#[derive(Clone, Debug)]
pub struct Job {
    /// The scenario.
    pub scenario: Arc<Scenario>,
    /// The seed from which the random parts of the scenario are drawn.
    pub seed: u64,
    /// What is recorded beside the outcome.
    pub watch: Watch,
}

/// Runs scenarios in one place. Algorithms that it loaded into the host's kernel are unloaded when it is dropped.
pub struct Runner {
    endpoints: Arc<Endpoints>,
    /// Number of runs at the same time.
    threads: usize,
    cancelled: Arc<AtomicBool>,
}

impl Runner {
    /// The simulator, with this many runs at the same time. Once `cancelled` is set, no further run starts.
    #[must_use]
    pub fn simulator(threads: usize, cancelled: Arc<AtomicBool>) -> Self {
        Self::new(Endpoints::Simulated, threads, cancelled)
    }

    /// The kernel of this host, with this many runs at the same time, each in network namespaces of its own. Once
    /// `cancelled` is set, the runs in progress end.
    ///
    /// # Errors
    /// The first requirement that this host does not meet ([`Host::new`]).
    pub fn host(threads: usize, cancelled: Arc<AtomicBool>) -> Result<Self, Error> {
        let hosts = (0..threads.max(1)).map(|number| Host::new(number, cancelled.clone()));
        let pool = Pool::new(hosts.collect::<Result<_, _>>()?);
        Ok(Self::new(Endpoints::Host(pool), threads, cancelled))
    }

    /// The kernel in this file, or else the one that `make setup` fetched, in VMs, with this many at the same time. Once
    /// `cancelled` is set, the runs in progress end.
    ///
    /// # Errors
    /// The first requirement that is missing ([`Vm::new`]).
    pub fn vm(
        kernel: Option<&Path>,
        threads: usize,
        cancelled: Arc<AtomicBool>,
    ) -> Result<Self, Error> {
        let vm = Vm::new(kernel, cancelled.clone())?;
        Ok(Self::new(Endpoints::Vm(vm), threads, cancelled))
    }

    fn new(endpoints: Endpoints, threads: usize, cancelled: Arc<AtomicBool>) -> Self {
        Self {
            endpoints: Arc::new(endpoints),
            threads,
            cancelled,
        }
    }

    /// Release of the kernel, as `uname -r` prints it; none for the simulator.
    #[must_use]
    pub fn release(&self) -> Option<String> {
        match &*self.endpoints {
            Endpoints::Simulated => None,
            Endpoints::Host(_) => Some(kernel::requirements::release()),
            Endpoints::Vm(vm) => Some(vm.release().into()),
        }
    }

    /// As [`Runner::run_each`], of jobs that are known.
    ///
    /// # Errors
    /// As [`Runner::run_each`].
    pub fn run_all<T, E>(
        &mut self,
        jobs: Vec<Job>,
        receive: impl Fn(usize, Result<Run, Error>) -> Result<T, E> + Send + Sync + 'static,
        tick: impl FnMut(usize),
        done: impl FnMut(usize, T) -> Result<(), E>,
    ) -> Result<usize, E>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        let count = jobs.len();
        let job = move |number: usize| Ok(jobs[number].clone());
        self.run_each(count, job, receive, tick, done)
    }

    /// Makes all runs. Returns the number of results that `done` received: fewer than the jobs if `cancelled` was set.
    ///
    /// `job` makes each job on the thread that makes its run: a million jobs need not be in memory.
    ///
    /// `receive` gets each job's number and run on the thread that made the run, so that it may write files at the
    /// same time as other runs go on. `done` gets the results on this thread, in the order of the jobs. `tick` gets
    /// the number of finished runs now and then.
    ///
    /// # Errors
    /// The first error of `job`, `receive` or `done`, in the order of the jobs. It sets `cancelled`, which ends runs that are in
    /// progress.
    pub fn run_each<T, E>(
        &mut self,
        count: usize,
        job: impl Fn(usize) -> Result<Job, E> + Send + Sync + 'static,
        receive: impl Fn(usize, Result<Run, Error>) -> Result<T, E> + Send + Sync + 'static,
        tick: impl FnMut(usize),
        mut done: impl FnMut(usize, T) -> Result<(), E>,
    ) -> Result<usize, E>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        let endpoints = self.endpoints.clone();
        let work = move |number: usize| match endpoints.run(&job(number)?, count == 1) {
            // `cancelled` was set during this run, which then has no result.
            Err(Error::Interrupted) => Ok(None),
            result => receive(number, result).map(Some),
        };
        let mut finished = 0;
        let deliver = |number: usize, result: Option<T>| match result {
            None => Ok(()),
            Some(result) => {
                finished += 1;
                done(number, result)
            }
        };
        let all = batch::in_order(count, self.threads, &self.cancelled, work, tick, deliver);
        if all.is_err() {
            self.cancelled.store(true, Ordering::SeqCst);
        }
        // `in_order` may return before its threads end, and a host's run leaves namespaces and algorithms if the
        // process ends first.
        if let Endpoints::Host(pool) = &*self.endpoints {
            drop(pool.all_returned());
        }
        all.map(|_| finished)
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        if let Endpoints::Host(pool) = &*self.endpoints {
            // Unloads the algorithms here: a thread that still shares the pool may end after the process.
            pool.all_returned().clear();
        }
    }
}

/// The TCP endpoints of the runs.
enum Endpoints {
    Simulated,
    Host(Pool),
    Vm(Vm),
}

impl Endpoints {
    /// Makes a run. `only` is set if it is the only one, for which a VM takes no snapshots.
    fn run(&self, job: &Job, only: bool) -> Result<Run, Error> {
        let Job {
            scenario,
            seed,
            watch,
        } = job;
        // Real endpoints get sizes.
        let sized = || scenario.with_thresholds(*seed);
        match self {
            Self::Simulated => Ok(scenario::simulate_watched(scenario, *seed, *watch)?),
            Self::Host(pool) => {
                let scenario = sized()?;
                pool.take()
                    .run(|host| host.run_watched(&scenario, *seed, *watch))
            }
            Self::Vm(vm) if only => vm.run_once(&*sized()?, *seed, *watch),
            Self::Vm(vm) => vm.run(&*sized()?, *seed, *watch),
        }
    }
}

/// The hosts, one for each run at the same time. Each keeps its algorithms loaded from run to run.
struct Pool {
    free: Mutex<Vec<Host>>,
    returned: Condvar,
    /// Number of hosts, free and in use.
    size: usize,
}

impl Pool {
    fn new(hosts: Vec<Host>) -> Self {
        Self {
            size: hosts.len(),
            free: Mutex::new(hosts),
            returned: Condvar::new(),
        }
    }

    /// A host, once one is free.
    fn take(&self) -> Lease<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let empty = |free: &mut Vec<Host>| free.is_empty();
        let mut free =
            (self.returned.wait_while(free, empty)).unwrap_or_else(PoisonError::into_inner);
        Lease {
            pool: self,
            host: free.pop(),
        }
    }

    /// Waits until no host is in use.
    fn all_returned(&self) -> MutexGuard<'_, Vec<Host>> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let in_use = |free: &mut Vec<Host>| free.len() < self.size;
        (self.returned.wait_while(free, in_use)).unwrap_or_else(PoisonError::into_inner)
    }
}

/// A host in use. Returns to the pool when it is dropped, also by a panic.
struct Lease<'a> {
    pool: &'a Pool,
    host: Option<Host>,
}

impl Lease<'_> {
    fn run<T>(&mut self, run: impl FnOnce(&mut Host) -> T) -> T {
        run(self
            .host
            .as_mut()
            .expect("a lease has a host until it is dropped"))
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let free = self.pool.free.lock();
        let mut free = free.unwrap_or_else(PoisonError::into_inner);
        free.extend(self.host.take());
        self.pool.returned.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENARIO: &str = "stop = \"9s\"\n[topology]\nkind = \"shared-bottleneck\"\nrate = \"5Mbit\"\nrtt = \"40ms\"\n\
                            queue = 17\n[[connection]]\nprotocol = \"tcp\"\nbytes = \"30KB\"\n";

    fn jobs(seeds: u64) -> Vec<Job> {
        let scenario = Arc::new(Scenario::parse(SCENARIO, "a.toml").unwrap());
        let job = |seed| Job {
            scenario: scenario.clone(),
            seed,
            watch: Watch::default(),
        };
        (1..=seeds).map(job).collect()
    }

    #[test]
    fn results_arrive_in_the_order_of_the_jobs() {
        let mut runner = Runner::simulator(3, Arc::default());
        let mut seeds = Vec::new();
        let receive = |number, run: Result<Run, Error>| Ok((number, run?.outcome.seed));
        let finished = runner.run_all(
            jobs(7),
            receive,
            |_| (),
            |number, (received, seed)| {
                assert_eq!(number, received);
                seeds.push(seed);
                Ok::<_, Error>(())
            },
        );
        assert_eq!(finished.unwrap(), 7);
        assert_eq!(seeds, [1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn an_error_ends_the_other_runs() {
        let cancelled = Arc::new(AtomicBool::new(false));
        let mut runner = Runner::simulator(2, cancelled.clone());
        let receive = |number, _| match number {
            2 => Err("no disk"),
            _ => Ok(()),
        };
        let failed = runner.run_all(jobs(50), receive, |_| (), |_, ()| Ok(()));
        assert_eq!(failed, Err("no disk"));
        assert!(cancelled.load(Ordering::SeqCst));
    }

    #[test]
    fn a_cancelled_runner_starts_no_run() {
        let mut runner = Runner::simulator(2, Arc::new(AtomicBool::new(true)));
        let finished = runner.run_all(jobs(50), |_, _| Ok::<_, Error>(()), |_| (), |_, ()| Ok(()));
        assert_eq!(finished.unwrap(), 0);
    }
}
