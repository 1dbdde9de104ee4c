//! Runs scenarios on a Linux kernel in a VM in virtual time: the same figures on every run.
//!
//! QEMU executes the guest by software, with a clock that counts instructions. Inside, a [`Host`](crate::Host) runs the
//! scenario as it would outside: namespaces, TUN ports, the links of `netsim` in the guest's time. It needs neither root
//! nor /dev/kvm, and the guest is this very program.
//!
//! The kernel boots once. Each run starts from a snapshot of the machine as it was then, with its scenario's algorithms loaded.

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

use nix::sys::memfd::{MFdFlags, memfd_create};
use scenario::{Run, Scenario, Watch};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use self::exchange::HostEnd;
use self::kernel_image::KernelImage;
use self::qemu::Start;
use self::snapshot::Snapshot;
use crate::error::Error;
use crate::host::LoadRequest;
use crate::supported;

pub use guest::{be_guest, ready_for_hosts, serve};

/// The argument with which a guest starts its program, which is then to call [`be_guest`] before anything else.
const GUEST: &str = "vm-guest";

/// A kernel and files to boot it with, as often as there are runs. Runs may be made at the same time.
#[derive(Debug)]
pub struct Vm {
    kernel: KernelImage,
    initramfs: File,
    cancelled: Arc<AtomicBool>,
    booted: Made,
    /// With these algorithms loaded.
    loaded: Mutex<BTreeMap<BTreeSet<LoadRequest>, Arc<Made>>>,
}

/// How many snapshots with algorithms loaded are kept, of some 110 MB each. What is beyond is made for each run anew.
const KEPT: usize = 8;

/// A snapshot, once there is one.
#[derive(Debug, Default)]
struct Made(Mutex<Option<Arc<Snapshot>>>);

impl Made {
    /// The snapshot; where there is none yet it is made, and whoever else wants it waits.
    fn get(&self, make: impl FnOnce() -> Result<Snapshot, Error>) -> Result<Arc<Snapshot>, Error> {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = &*made {
            return Ok(made.clone());
        }
        Ok(made.insert(Arc::new(make()?)).clone())
    }
}

/// What a guest is to do.
#[derive(Serialize, Deserialize)]
struct Job<'a> {
    scenario: Cow<'a, Scenario>,
    seed: u64,
    /// Whether the packets are kept. Rows always are: a job that said whether somebody wants them would be longer or shorter, and
    /// each instruction more is a nanosecond, which may decide what a queue drops.
    capture: bool,
}

/// What came of it: a run, or why there is none.
type Answer = Result<Run, String>;

impl Vm {
    /// A VM with the kernel in this file, or else with the one that `make setup` fetched. Once `cancelled` is set a run
    /// ends with [`Error::Interrupted`].
    pub fn new(kernel: Option<&Path>, cancelled: Arc<AtomicBool>) -> Result<Self, Error> {
        Self::with_files(kernel, cancelled, &[])
    }

    /// The same, with other files of the host at their own paths.
    pub fn with_files(
        kernel: Option<&Path>,
        cancelled: Arc<AtomicBool>,
        files: &[PathBuf],
    ) -> Result<Self, Error> {
        if !cfg!(target_arch = "x86_64") {
            return Err(Error::VmProcessor);
        }
        let kernel = match kernel {
            Some(path) => KernelImage::open(path)?,
            None => KernelImage::fetched()?,
        };
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
            booted: Made::default(),
            loaded: Mutex::default(),
        })
    }

    /// The kernel's release, as `uname -r` prints it.
    #[must_use]
    pub fn release(&self) -> &str {
        &self.kernel.release
    }

    /// Runs a scenario, as this seed draws it, on a machine that has just loaded its algorithms. The seed also decides what
    /// the guest's kernel draws.
    pub fn run(&self, scenario: &Scenario, seed: u64, watch: Watch) -> Result<Run, Error> {
        let wall = Instant::now();
        supported::check(scenario)?;
        let snapshot = self.with_algorithms(scenario)?;
        let exchange = exchange(&told(&Job::new(scenario, seed, watch)))?;
        let answer = qemu::to_end(&snapshot, &exchange, stop(scenario), &self.cancelled)?;
        done(answer, wall)
    }

    /// The same, to the last byte, for a run that is the only one: snapshots do not pay for it.
    pub fn run_once(&self, scenario: &Scenario, seed: u64, watch: Watch) -> Result<Run, Error> {
        let wall = Instant::now();
        supported::check(scenario)?;
        let jobs = [
            told(&algorithms(scenario)),
            told(&Job::new(scenario, seed, watch)),
        ];
        let exchange = exchange(&[])?;
        let boot = Start::Boot(&self.kernel, &self.initramfs, GUEST);
        let stop = stop(scenario);
        let answer = qemu::straight_on(&boot, &exchange, &jobs, stop, &self.cancelled)?;
        done(answer, wall)
    }

    /// Has a machine that has just booted do a job, and no other. It starts this program with `arguments`, which is then to
    /// call [`serve`] and nothing else. `within` is how long the job may take on the guest's clock.
    pub fn call<A: DeserializeOwned>(
        &self,
        arguments: &str,
        job: &impl Serialize,
        within: Duration,
    ) -> Result<A, Error> {
        let boot = Start::Boot(&self.kernel, &self.initramfs, arguments);
        qemu::straight_on(&boot, &exchange(&told(job))?, &[], within, &self.cancelled)
    }

    /// A machine that has loaded what this scenario needs.
    fn with_algorithms(&self, scenario: &Scenario) -> Result<Arc<Snapshot>, Error> {
        let booted = self.booted.get(|| {
            let start = Start::Boot(&self.kernel, &self.initramfs, GUEST);
            qemu::to_rest(&start, &exchange(&[])?, &self.cancelled)
        })?;
        let names = algorithms(scenario);
        let make = || {
            let exchange = exchange(&told(&names))?;
            qemu::to_rest(&Start::From(&booted), &exchange, &self.cancelled)
        };
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if loaded.len() >= KEPT && !loaded.contains_key(&names) {
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
        }
    }
}

/// The algorithms of a scenario, whatever the order of its connections.
fn algorithms(scenario: &Scenario) -> BTreeSet<LoadRequest> {
    scenario.connections.iter().map(LoadRequest::of).collect()
}

/// How long a scenario takes at most.
fn stop(scenario: &Scenario) -> Duration {
    Duration::from_nanos(scenario.stop.as_nanos())
}

/// As a guest is told.
fn told(job: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(job).expect("plain data")
}

fn exchange(job: &[u8]) -> Result<HostEnd, Error> {
    HostEnd::new(job).map_err(Error::kernel("making the VM's exchange"))
}

/// The run that a guest has answered with, which began at this time.
fn done(answer: Answer, began: Instant) -> Result<Run, Error> {
    let mut run = answer.map_err(Error::InGuest)?;
    run.outcome.backend = "vm";
    run.outcome.wall_seconds = Some(began.elapsed().as_secs_f64());
    Ok(run)
}
