//! The guest's side of the VM: this program is the first process of a kernel that has just booted.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use nix::kmod::{ModuleInitFlags, finit_module};
use nix::mount::{MsFlags, mount};
use nix::sys::reboot::{RebootMode, reboot};
use scenario::{Run, Watch};
use serde::{Serialize, de::DeserializeOwned};

use super::exchange::GuestEnd;
use super::initramfs::MODULES;
use super::{Answer, GUEST, Job};
use crate::error::Error;
use crate::host::Host;
use crate::host::LoadRequest;

/// `MODULE_INIT_COMPRESSED_FILE` (linux/module.h): the kernel unpacks the module.
const COMPRESSED: u32 = 4;

/// Virtual time that a guest may take beyond the scenario's stop time, for set-up and results.
const GRACE: Duration = Duration::from_secs(30);

/// Longest period of a kernel's ticks (HZ = 100).
const TICK: Duration = Duration::from_millis(10);
/// I/O port that starts QEMU's IB700 watchdog (hw/watchdog/wdt_ib700.c).
const WATCHDOG: u16 = 0x443;
/// Value for the port that sets the watchdog to [`WATCHDOG_TIMEOUT`].
const WATCHDOG_CODE: u8 = 14;
const WATCHDOG_TIMEOUT: Duration = Duration::from_secs(2);

// The request code of RNDADDENTROPY has the size of its two integers only (random(4)).
nix::ioctl_write_ptr_bad!(
    add_entropy,
    nix::request_code_write!(b'R', 3, size_of::<[libc::c_int; 2]>()),
    Entropy
);
nix::ioctl_none!(reseed, b'R', 7);

/// struct rand_pool_info (linux/random.h) with 32 bytes, the most that the kernel's generator takes in one request.
#[repr(C)]
pub struct Entropy {
    /// Entropy, bits.
    entropy_count: libc::c_int,
    /// Size of `buf`, bytes.
    buf_size: libc::c_int,
    buf: [u8; 32],
}

/// In the first process of a guest of [`super::Vm`]: does the jobs of a run, answers, and switches the VM off. Elsewhere it does
/// nothing.
///
/// # Panics
/// If the guest fails.
pub fn be_guest() {
    let is_guest = std::env::args_os()
        .nth(1)
        .is_some_and(|first| first == GUEST);
    if is_guest && std::process::id() == 1 {
        answers(|end| -> Answer { work(end).map_err(|error| error.to_string()) });
    }
}

/// Does the job of [`super::Vm::call`], answers, and switches the VM off.
///
/// # Panics
/// If this is no guest of [`super::Vm`].
pub fn serve<J: DeserializeOwned, A: Serialize>(work: impl FnOnce(J) -> A) -> ! {
    answers(|end| work(job(end)));
}

fn answers<A: Serialize>(work: impl FnOnce(&GuestEnd) -> A) -> ! {
    // A panic ends the guest. The host reads the message from the console.
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        stop();
    }));
    let end = prepare().expect("a new machine");
    let answer = work(&end);
    end.answer(&serde_json::to_vec(&answer).expect("plain data"));
    stop();
}

/// Mounts the file systems of a first process, and opens the exchange.
fn prepare() -> io::Result<GuestEnd> {
    for (kind, place) in [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev")] {
        mount(
            Some(kind),
            place,
            Some(kind),
            MsFlags::empty(),
            None::<&str>,
        )?;
    }
    GuestEnd::open()
}

/// Pauses after boot, loads algorithms, pauses, runs a scenario. At each pause the host may continue with copies of this machine.
fn work(end: &GuestEnd) -> Result<Run, Error> {
    ready_for_hosts()?;
    pause()?;
    let algorithms: BTreeSet<LoadRequest> = job(end);
    let mut host = Host::new(0, Arc::default())?;
    for algorithm in algorithms {
        load_module(&format!("tcp_{}", algorithm.name))?;
        host.load(algorithm)?;
    }
    pause()?;
    let job: Job = job(end);
    seed(job.seed)
        .and_then(|()| wait_for_a_random_phase())
        .map_err(Error::kernel("seeding the kernel's random numbers"))?;
    let deadline = Duration::from_nanos(job.scenario.stop.as_nanos()) + GRACE;
    thread::spawn(move || {
        thread::sleep(deadline);
        panic!("the scenario did not end by itself");
    });
    let watch = Watch {
        trace: !job.without_rows,
        capture: job.capture,
        segments: false,
        sample: job.sample,
    };
    host.run_watched(&job.scenario, job.seed, watch)
}

fn job<T: DeserializeOwned>(end: &GuestEnd) -> T {
    serde_json::from_slice(&end.job()).expect("a job of this program")
}

/// Pauses this machine after [`WATCHDOG_TIMEOUT`], when all threads have long been asleep.
///
/// The watchdog counts virtual time: when it expires the processor is idle, and nothing can happen before the next timer. So the
/// paused machine has a reproducible state, however late the host detects the pause.
fn pause() -> Result<(), Error> {
    // Long enough for the watchdog to expire during the sleep.
    const SLEEP: u32 = 2;
    start_watchdog().map_err(Error::kernel("starting the VM's watchdog"))?;
    thread::sleep(WATCHDOG_TIMEOUT * SLEEP);
    Ok(())
}

#[cfg(target_arch = "x86_64")]
fn start_watchdog() -> io::Result<()> {
    // SAFETY: the port belongs to this device alone; `ioperm` changes only this process's permission to write to it.
    unsafe {
        if libc::ioperm(WATCHDOG.into(), 1, 1) != 0 {
            return Err(io::Error::last_os_error());
        }
        std::arch::asm!("out dx, al", in("dx") WATCHDOG, in("al") WATCHDOG_CODE);
    }
    Ok(())
}

#[cfg(not(target_arch = "x86_64"))]
fn start_watchdog() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Loads the guest's kernel modules that a [`Host`] needs.
pub fn ready_for_hosts() -> Result<(), Error> {
    load_module("tun")?;
    match Path::new("/dev/net/tun").exists() {
        true => Ok(()),
        false => Err(Error::NoModules),
    }
}

/// Loads a module of the initramfs, compressed or not. A module that is not there is built in, or its absence causes an error later.
///
/// # Errors
/// If the kernel refuses it.
pub fn load_module(name: &str) -> Result<(), Error> {
    for ending in ["ko", "ko.xz", "ko.zst", "ko.gz"] {
        let path = Path::new(MODULES).join(format!("{name}.{ending}"));
        if !path.exists() {
            continue;
        }
        let flags = match ending {
            "ko" => ModuleInitFlags::empty(),
            _ => ModuleInitFlags::from_bits_retain(COMPRESSED),
        };
        let file = File::open(&path).map_err(Error::kernel(format!("opening {name}.{ending}")))?;
        match finit_module(&file, &CString::default(), flags) {
            Ok(()) | Err(nix::errno::Errno::EEXIST) => return Ok(()),
            Err(error) => {
                return Err(Error::kernel(format!("loading {name}.{ending}"))(error));
            }
        }
    }
    Ok(())
}

/// Makes all later random numbers of the kernel a function of the seed: MPTCP keys, sequence numbers, ports.
fn seed(seed: u64) -> io::Result<()> {
    let random = File::open("/dev/urandom")?;
    let mut entropy = Entropy {
        entropy_count: 256,
        buf_size: 32,
        buf: [0; 32],
    };
    entropy.buf[..8].copy_from_slice(&seed.to_le_bytes());
    let fd = std::os::fd::AsRawFd::as_raw_fd(&random);
    // SAFETY: RNDADDENTROPY reads a rand_pool_info, the type of `entropy`; RNDRESEEDCRNG takes no argument.
    unsafe {
        add_entropy(fd, &entropy)?;
        reseed(fd)?;
    }
    Ok(())
}

/// Waits until a phase of the kernel's tick that depends on the seed. On a real machine a run begins at a random phase of the tick,
/// on which the kernel's timers depend.
fn wait_for_a_random_phase() -> io::Result<()> {
    let mut random = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    thread::sleep(TICK.mul_f64(u64::from_le_bytes(random) as f64 / u64::MAX as f64));
    Ok(())
}

/// Ends the VM: QEMU ends at a reboot.
fn stop() -> ! {
    let _ = fs::write("/proc/sys/kernel/printk", "1"); // no message behind the last line of the console
    match reboot(RebootMode::RB_AUTOBOOT) {
        Ok(never) => match never {},
        Err(error) => panic!("the VM does not stop: {error}"),
    }
}
