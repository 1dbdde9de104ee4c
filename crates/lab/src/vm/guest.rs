//! Inside the VM: this program is the first process of a kernel that has just booted, and has it for itself.

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

/// The longest that a guest may take beyond the scenario's end, on its own clock: for what is done before and after.
const GRACE: Duration = Duration::from_secs(30);

/// The longest that a kernel has between two ticks (HZ = 100).
const TICK: Duration = Duration::from_millis(10);
/// The port that starts QEMU's IB700 watchdog (hw/watchdog/wdt_ib700.c), what is written there for so many seconds, and how
/// many they are.
const WATCHDOG: u16 = 0x443;
const REST_CODE: u8 = 14;
const REST: Duration = Duration::from_secs(2);

// RNDADDENTROPY says the size of its two numbers only (random(4)).
nix::ioctl_write_ptr_bad!(
    add_entropy,
    nix::request_code_write!(b'R', 3, size_of::<[libc::c_int; 2]>()),
    Entropy
);
nix::ioctl_none!(reseed, b'R', 7);

/// struct rand_pool_info (linux/random.h) with 32 bytes, all that the kernel's generator takes at a time.
#[repr(C)]
pub struct Entropy {
    /// Bits.
    entropy_count: libc::c_int,
    /// Bytes.
    buf_size: libc::c_int,
    buf: [u8; 32],
}

/// Where this is the first process of a guest of [`super::Vm`], whose arguments are no user's: does the jobs of a scenario's
/// run, answers, and switches the VM off. Nothing anywhere else.
///
/// # Panics
/// When the guest is broken.
pub fn be_guest() {
    let is_guest = std::env::args_os()
        .nth(1)
        .is_some_and(|first| first == GUEST);
    if is_guest && std::process::id() == 1 {
        answers(|end| -> Answer { work(end).map_err(|error| error.to_string()) });
    }
}

/// Does the job that [`super::Vm::call`] gave, answers, and switches the VM off.
///
/// # Panics
/// When this is no guest of [`super::Vm`].
pub fn serve<J: DeserializeOwned, A: Serialize>(work: impl FnOnce(J) -> A) -> ! {
    answers(|end| work(job(end)));
}

fn answers<A: Serialize>(work: impl FnOnce(&GuestEnd) -> A) -> ! {
    // A guest that panics stops, and its console is all that is seen of it.
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

/// What a system's first process does.
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

/// Boots, rests, loads algorithms, rests, runs a scenario. At each rest the host may go on with copies of this machine.
fn work(end: &GuestEnd) -> Result<Run, Error> {
    ready_for_hosts()?;
    rest()?;
    let algorithms: BTreeSet<LoadRequest> = job(end);
    let mut host = Host::new(0, Arc::default())?;
    for algorithm in algorithms {
        load(&format!("tcp_{}", algorithm.name))?;
        host.load(algorithm)?;
    }
    rest()?;
    let job: Job = job(end);
    seed(job.seed)
        .and_then(|()| wait_for_a_phase())
        .map_err(Error::kernel("seeding the kernel's random numbers"))?;
    let deadline = Duration::from_nanos(job.scenario.stop.as_nanos()) + GRACE;
    thread::spawn(move || {
        thread::sleep(deadline);
        panic!("the scenario did not end by itself");
    });
    let watch = Watch {
        trace: true,
        capture: job.capture,
    };
    host.run_watched(&job.scenario, job.seed, watch)
}

fn job<T: DeserializeOwned>(end: &GuestEnd) -> T {
    serde_json::from_slice(&end.job()).expect("a job of this program's")
}

/// Has the host stop this machine after [`REST`], when all its threads have long been asleep, and sleeps for as long again.
/// The watchdog's time is the guest's: where it ends the processor has stopped by itself, and nothing can happen before the
/// next timer. So a machine rests in one state and no other, however late the host sees that it does.
fn rest() -> Result<(), Error> {
    const AGAIN: u32 = 2;
    start_watchdog().map_err(Error::kernel("starting the VM's watchdog"))?;
    thread::sleep(REST * AGAIN);
    Ok(())
}

#[cfg(target_arch = "x86_64")]
fn start_watchdog() -> io::Result<()> {
    // SAFETY: the port is this device's, whose other bits nobody uses; the call changes nothing but who may write to it.
    unsafe {
        if libc::ioperm(WATCHDOG.into(), 1, 1) != 0 {
            return Err(io::Error::last_os_error());
        }
        std::arch::asm!("out dx, al", in("dx") WATCHDOG, in("al") REST_CODE);
    }
    Ok(())
}

#[cfg(not(target_arch = "x86_64"))]
fn start_watchdog() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Loads into the guest's kernel what a [`Host`] needs of it.
pub fn ready_for_hosts() -> Result<(), Error> {
    load("tun")?;
    match Path::new("/dev/net/tun").exists() {
        true => Ok(()),
        false => Err(Error::NoModules),
    }
}

/// Loads a module that came along, packed or not. One that did not is built in, or will be missed.
fn load(name: &str) -> Result<(), Error> {
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

/// Makes all random numbers of the kernel from here on a matter of the seed: keys of MPTCP, sequence numbers, ports.
fn seed(seed: u64) -> io::Result<()> {
    let random = File::open("/dev/urandom")?;
    let mut entropy = Entropy {
        entropy_count: 256,
        buf_size: 32,
        buf: [0; 32],
    };
    entropy.buf[..8].copy_from_slice(&seed.to_le_bytes());
    let fd = std::os::fd::AsRawFd::as_raw_fd(&random);
    // SAFETY: RNDADDENTROPY reads a rand_pool_info, which `entropy` is; RNDRESEEDCRNG takes nothing.
    unsafe {
        add_entropy(fd, &entropy)?;
        reseed(fd)?;
    }
    Ok(())
}

/// The kernel's timers go by ticks. Where a run begins between two of them is a matter of chance, and here of the seed.
fn wait_for_a_phase() -> io::Result<()> {
    let mut random = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    thread::sleep(TICK.mul_f64(u64::from_le_bytes(random) as f64 / u64::MAX as f64));
    Ok(())
}

/// Ends the VM: QEMU takes a reboot for the end.
fn stop() -> ! {
    let _ = fs::write("/proc/sys/kernel/printk", "1"); // no word of the end behind a last line
    match reboot(RebootMode::RB_AUTOBOOT) {
        Ok(never) => match never {},
        Err(error) => panic!("the VM does not stop: {error}"),
    }
}
