//! Runs scenarios on a Linux kernel in a VM in virtual time: the same results in every run.
//!
//! QEMU emulates the processor, with a clock that counts instructions. In the guest, a [`Host`](crate::Host) runs the scenario as on
//! a real machine: namespaces, TUN ports, the links of `netsim` in the guest's time. The VM needs neither root nor /dev/kvm. The
//! guest's program is this program.
//!
//! The kernel boots once. Each run starts from a snapshot of the booted machine with the scenario's algorithms loaded.

mod command;
mod console;
mod exchange;
mod guest;
mod initramfs;
mod kernel_image;
mod monitor;
mod qemu;
mod snapshot;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use netsim::Span;
use nix::sys::memfd::{MFdFlags, memfd_create};
use scenario::{Backend, Run, Scenario, Watch};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use self::command::Start;
use self::exchange::HostEnd;
use self::kernel_image::KernelImage;
pub use self::kernel_image::cache;
use self::snapshot::Snapshot;
use crate::error::Error;
use crate::host::LoadRequest;
use crate::supported;

pub use guest::{be_guest, load_module, ready_for_hosts, serve};

/// First argument of the program in a guest, which calls [`be_guest`] first.
const GUEST: &str = "vm-guest";

/// A kernel and its files, for any number of runs, also at the same time.
#[derive(Debug)]
pub struct Vm {
    kernel: KernelImage,
    initramfs: File,
    cancelled: Arc<AtomicBool>,
    /// Snapshot after boot.
    booted: LazySnapshot,
    /// Snapshots with these algorithms loaded.
    loaded: Mutex<BTreeMap<BTreeSet<LoadRequest>, Arc<LazySnapshot>>>,
}

/// Largest number of stored snapshots with algorithms, of some 110 MB each. Further snapshots are made again for each run.
const MAX_SNAPSHOTS: usize = 8;

/// A snapshot that is made on first use.
#[derive(Debug, Default)]
struct LazySnapshot(Mutex<Option<Arc<Snapshot>>>);

impl LazySnapshot {
    /// The snapshot, made by `make` if there is none yet. Other threads wait for it.
    fn get(&self, make: impl FnOnce() -> Result<Snapshot, Error>) -> Result<Arc<Snapshot>, Error> {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = &*made {
            return Ok(made.clone());
        }
        Ok(made.insert(Arc::new(make()?)).clone())
    }
}

/// Release of the kernel in this file, or else of the one that `make setup` fetched, as `uname -r` prints it.
///
/// # Errors
/// If there is no kernel.
pub fn release(kernel: Option<&Path>) -> Result<String, Error> {
    Ok(KernelImage::of(kernel)?.release)
}

/// A run, as a job for the guest.
#[derive(Serialize, Deserialize)]
struct Job<'a> {
    scenario: Cow<'a, Scenario>,
    seed: u64,
    /// Whether the packets are recorded.
    capture: bool,
    /// Whether the run has no rows: no trace was requested, and a connection is endless. A run of transfers alone always has rows. Each
    /// additional instruction takes a nanosecond of virtual time and may change the drops of a queue. This field and those after it
    /// are therefore serialized only with a value other than the default.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    without_rows: bool,
    /// Interval of time series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sample: Option<Span>,
}

/// Answer to a [`Job`]: a run or an error.
type Answer = Result<Run, String>;

impl Vm {
    /// A VM with the kernel in this file, or with the kernel that `make setup` has fetched. Once `cancelled` is set, a run ends with
    /// [`Error::Interrupted`].
    pub fn new(kernel: Option<&Path>, cancelled: Arc<AtomicBool>) -> Result<Self, Error> {
        Self::with_files(kernel, cancelled, &[])
    }

    /// As [`Vm::new`], with further files of the host at the same paths in the guest.
    pub fn with_files(
        kernel: Option<&Path>,
        cancelled: Arc<AtomicBool>,
        files: &[PathBuf],
    ) -> Result<Self, Error> {
        if !cfg!(target_arch = "x86_64") {
            return Err(Error::VmProcessor);
        }
        let kernel = KernelImage::of(kernel)?;
        let what = "making the VM's initramfs";
        let file =
            memfd_create(c"lisa-initramfs", MFdFlags::MFD_CLOEXEC).map_err(Error::kernel(what))?;
        let mut writer = BufWriter::new(File::from(file));
        initramfs::write(&kernel, files, &mut writer)?;
        writer.flush().map_err(Error::kernel(what))?;
        let initramfs = writer
            .into_inner()
            .map_err(|error| Error::kernel(what)(error.into_error()))?;
        Ok(Self {
            kernel,
            initramfs,
            cancelled,
            booted: LazySnapshot::default(),
            loaded: Mutex::default(),
        })
    }

    /// Release of the kernel, as `uname -r` prints it.
    #[must_use]
    pub fn release(&self) -> &str {
        &self.kernel.release
    }

    /// Runs a scenario with a seed, on a machine that has just loaded its algorithms. The seed also determines the random numbers of
    /// the guest's kernel.
    pub fn run(&self, scenario: &Scenario, seed: u64, watch: Watch) -> Result<Run, Error> {
        let wall = Instant::now();
        supported::check(scenario)?;
        let snapshot = self.with_algorithms(scenario)?;
        let exchange = exchange(&serialized(&Job::new(scenario, seed, watch)))?;
        let answer = qemu::run_to_end(&snapshot, &exchange, stop(scenario), &self.cancelled)?;
        done(answer, wall)
    }

    /// As [`Vm::run`], with the same results, for a single run: without snapshots, which would take longer.
    pub fn run_once(&self, scenario: &Scenario, seed: u64, watch: Watch) -> Result<Run, Error> {
        let wall = Instant::now();
        supported::check(scenario)?;
        let jobs = [
            serialized(&algorithms(scenario)),
            serialized(&Job::new(scenario, seed, watch)),
        ];
        let exchange = exchange(&[])?;
        let boot = Start::Boot(&self.kernel, &self.initramfs, GUEST);
        let stop = stop(scenario);
        let answer = qemu::run_without_snapshots(&boot, &exchange, &jobs, stop, &self.cancelled)?;
        done(answer, wall)
    }

    /// Boots a machine for one job. The guest starts this program with `arguments`, and the program must call [`serve`]. `within` is
    /// the longest duration of the job, in virtual time.
    pub fn call<A: DeserializeOwned>(
        &self,
        arguments: &str,
        job: &impl Serialize,
        within: Duration,
    ) -> Result<A, Error> {
        let boot = Start::Boot(&self.kernel, &self.initramfs, arguments);
        qemu::run_without_snapshots(
            &boot,
            &exchange(&serialized(job))?,
            &[],
            within,
            &self.cancelled,
        )
    }

    /// Snapshot with the algorithms of this scenario.
    fn with_algorithms(&self, scenario: &Scenario) -> Result<Arc<Snapshot>, Error> {
        let booted = self.booted.get(|| {
            let start = Start::Boot(&self.kernel, &self.initramfs, GUEST);
            qemu::run_to_pause(&start, &exchange(&[])?, &self.cancelled)
        })?;
        let names = algorithms(scenario);
        let make = || {
            let exchange = exchange(&serialized(&names))?;
            qemu::run_to_pause(&Start::From(&booted), &exchange, &self.cancelled)
        };
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if loaded.len() >= MAX_SNAPSHOTS && !loaded.contains_key(&names) {
            drop(loaded);
            return make().map(Arc::new);
        }
        let made = loaded.entry(names.clone()).or_default().clone();
        drop(loaded);
        made.get(make)
    }
}

impl<'a> Job<'a> {
    fn new(scenario: &'a Scenario, seed: u64, watch: Watch) -> Self {
        Self {
            scenario: Cow::Borrowed(scenario),
            seed,
            capture: watch.capture,
            without_rows: !watch.trace && scenario.has_endless(),
            sample: watch.sample,
        }
    }
}

/// The algorithms of a scenario, independent of the order of its connections.
fn algorithms(scenario: &Scenario) -> BTreeSet<LoadRequest> {
    scenario.connections.iter().map(LoadRequest::of).collect()
}

/// Stop time of a scenario.
fn stop(scenario: &Scenario) -> Duration {
    Duration::from_nanos(scenario.stop.as_nanos())
}

/// A job as the exchange holds it.
fn serialized(job: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(job).expect("plain data")
}

fn exchange(job: &[u8]) -> Result<HostEnd, Error> {
    HostEnd::new(job).map_err(Error::kernel("making the VM's exchange"))
}

/// The run in a guest's answer. `began` is its start in real time.
fn done(answer: Answer, began: Instant) -> Result<Run, Error> {
    let mut run = answer.map_err(Error::InGuest)?;
    run.outcome.backend = Backend::Vm;
    run.outcome.wall_seconds = Some(began.elapsed().as_secs_f64());
    Ok(run)
}
