//! Runs scenarios on a Linux kernel in a VM in virtual time: the same figures on every run.
//!
//! QEMU executes the guest by software, with a clock that counts instructions. Inside, a [`Host`](crate::Host) runs the
//! scenario as it would outside: namespaces, TUN ports, the links of `netsim` in the guest's time. It needs neither root
//! nor /dev/kvm, and the guest is this very program.

mod exchange;
mod guest;
mod initramfs;
mod kernel_image;
mod qemu;

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use nix::sys::memfd::{MFdFlags, memfd_create};
use scenario::{Run, Scenario, Watch};
use serde::{Deserialize, Serialize};

use self::exchange::HostEnd;
use self::kernel_image::KernelImage;
use crate::error::Error;
use crate::supported;

pub use guest::guest;

/// The argument with which a guest starts its program, which is then to call [`guest`] and nothing else.
pub const GUEST: &str = "vm-guest";

/// A kernel and files to boot it with, as often as there are runs. Runs may be made at the same time.
#[derive(Debug)]
pub struct Vm {
    kernel: KernelImage,
    initramfs: File,
    cancelled: Arc<AtomicBool>,
}

/// What a guest is to do.
#[derive(Serialize, Deserialize)]
struct Job<'a> {
    scenario: Cow<'a, Scenario>,
    seed: u64,
    watch: Watch,
}

/// What came of it: a run, or why there is none.
type Answer = Result<Run, String>;

impl Vm {
    /// A VM with the kernel in this file, or else with the one that `make setup` fetched. Once `cancelled` is set a run
    /// ends with [`Error::Interrupted`].
    pub fn new(kernel: Option<&Path>, cancelled: Arc<AtomicBool>) -> Result<Self, Error> {
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
        initramfs::write(&kernel, &mut writer)?;
        writer.flush().map_err(Error::kernel(what))?;
        let initramfs = writer
            .into_inner()
            .map_err(|error| Error::kernel(what)(error.into_error()))?;
        Ok(Self {
            kernel,
            initramfs,
            cancelled,
        })
    }

    /// Runs a scenario, as this seed draws it, on a machine that has just booted. The seed also decides what the guest's
    /// kernel draws.
    pub fn run(&self, scenario: &Scenario, seed: u64, watch: Watch) -> Result<Run, Error> {
        let wall = Instant::now();
        supported::check(scenario)?;
        let stop = Duration::from_nanos(scenario.stop.as_nanos());
        let scenario = Cow::Borrowed(scenario);
        let job = serde_json::to_vec(&Job {
            scenario,
            seed,
            watch,
        })
        .expect("plain data");
        let exchange = HostEnd::new(&job).map_err(Error::kernel("making the VM's exchange"))?;
        let answer = qemu::run(
            &self.kernel,
            &self.initramfs,
            &exchange,
            stop,
            &self.cancelled,
        )?;
        let answer: Answer = serde_json::from_slice(&answer)
            .map_err(|error| Error::GuestDied(format!("its answer: {error}")))?;
        let mut run = answer.map_err(Error::InGuest)?;
        run.outcome.backend = "vm";
        run.outcome.wall_seconds = Some(wall.elapsed().as_secs_f64());
        Ok(run)
    }
}
