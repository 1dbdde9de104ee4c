//! The command line of QEMU: a machine with the devices and settings that are named here, and no others.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};

use super::GUEST;
use super::exchange;
use super::initramfs::{LIBRARIES, PROGRAM};
use super::kernel_image::KernelImage;
use super::snapshot::{self, Snapshot};
use crate::process;

pub(crate) const QEMU: &str = "qemu-system-x86_64";

/// One instruction takes one nanosecond; an idle processor continues at the next timer at once. The record is not used, but recording
/// makes QEMU's threads take turns: otherwise the thread that advances the clock to the next timer may miss the last instructions
/// before the processor becomes idle.
const TIME: &str = "shift=0,sleep=off,rr=record,rrfile=/dev/null";

/// Initial state of a machine.
pub(crate) enum Start<'a> {
    /// A kernel, its initramfs, and the arguments of this program in the guest.
    Boot(&'a KernelImage, &'a File, &'a str),
    /// A snapshot.
    From(&'a Snapshot),
}

/// Memory of a machine.
#[derive(Clone, Copy)]
pub(crate) struct Memory<'a> {
    pub(crate) file: &'a File,
    pub(crate) writes: Writes,
}

impl Memory<'_> {
    /// Whether the machine has a monitor: one that writes to copies gets no commands. Each time that the clock advances, QEMU wakes the
    /// monitor's thread, which takes a fifth of a run's time.
    pub(crate) fn has_monitor(&self) -> bool {
        matches!(self.writes, Writes::Shared)
    }
}

/// Destination of a machine's writes to its memory.
#[derive(Clone, Copy)]
pub(crate) enum Writes {
    /// The file.
    Shared,
    /// Copies of the file's pages.
    Private,
}

/// Files of a machine.
pub(crate) struct Files<'a> {
    pub(crate) memory: Memory<'a>,
    pub(crate) exchange: &'a File,
    pub(crate) console: &'a File,
    /// QEMU's end of the monitor, which is open until QEMU ends.
    pub(crate) monitor: &'a UnixStream,
}

/// A command that can be started.
pub(crate) struct Prepared {
    pub(crate) command: Command,
    /// State of the devices, to be open until QEMU has started.
    _devices: Option<File>,
}

/// The command of a machine. QEMU is killed when the calling thread ends.
pub(crate) fn prepare(start: &Start, files: &Files) -> io::Result<Prepared> {
    let mut command = Command::new(QEMU);
    command.args(["-nodefaults", "-no-user-config", "-display", "none"]);
    command.args(["-machine", "pc,memory-backend=memory,suppress-vmdesc=on"]);
    let megabytes = snapshot::MEMORY >> 20;
    command.args(["-cpu", "qemu64", "-m", &megabytes.to_string()]);
    command.args(["-accel", "tcg,thread=single", "-icount", TIME]);
    command.args(["-seed", "0", "-rtc", "base=2020-01-01,clock=vm"]);
    command.args(["-device", "ib700", "-action", "watchdog=pause"]);
    command.arg("-no-reboot");
    command.args([
        "-chardev",
        &format!("file,id=console,path={}", path(files.console)),
    ]);
    command.args(["-serial", "chardev:console"]);
    if files.memory.has_monitor() {
        let socket = format!("socket,id=monitor,fd={}", files.monitor.as_raw_fd());
        command.args(["-chardev", &socket, "-mon", "chardev=monitor,mode=control"]);
    }
    let share = match files.memory.writes {
        Writes::Shared => "on",
        Writes::Private => "off",
    };
    for (id, share, size, file) in [
        ("memory", share, snapshot::MEMORY, files.memory.file),
        ("exchange", "on", exchange::SIZE, files.exchange),
    ] {
        let place = format!("size={size},mem-path={}", path(file));
        let object = format!("memory-backend-file,id={id},share={share},{place}");
        command.args(["-object", &object]);
    }
    command.args(["-device", "ivshmem-plain,memdev=exchange,master=on"]);
    let mut inherited = [files.memory.file, files.exchange, files.console]
        .map(AsRawFd::as_raw_fd)
        .to_vec();
    inherited.push(files.monitor.as_raw_fd());
    let mut open_devices = None;
    match start {
        Start::Boot(kernel, initramfs, arguments) => {
            command.arg("-kernel").arg(&kernel.path);
            command.args(["-initrd", &path(initramfs)]);
            command.args(["-append", &kernel_arguments(arguments)]);
            inherited.push(initramfs.as_raw_fd());
        }
        Start::From(from) => {
            let devices = snapshot::reopen(&from.devices)?;
            command.args(["-incoming", &format!("fd:{}", devices.as_raw_fd())]);
            command.args(["-global", "migration.send-configuration=off"]);
            inherited.push(devices.as_raw_fd());
            open_devices = Some(devices);
        }
    }
    // A terminal's Ctrl-C interrupts this process, which ends QEMU.
    command.process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let parent = std::process::id();
    // SAFETY: between fork and exec the closure makes only system calls: fcntl, prctl, getppid.
    unsafe {
        command.pre_exec(move || {
            for &fd in &inherited {
                let fd = BorrowedFd::borrow_raw(fd);
                fcntl(fd, FcntlArg::F_SETFD(FdFlag::empty()))?;
            }
            process::die_with_parent(parent)
        });
    }
    Ok(Prepared {
        command,
        _devices: open_devices,
    })
}

/// Path by which QEMU opens an inherited file.
fn path(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// The kernel's command line. The kernel passes unknown settings to the first process: as arguments behind `--`, and a NAME=VALUE
/// before it in the environment.
fn kernel_arguments(program: &str) -> String {
    let console = "console=ttyS0 quiet";
    // No randomness before the seed.
    let reproducible = "nokaslr random.trust_cpu=off random.trust_bootloader=off";
    // Without features that a run does not use and that take long with translated instructions: half of a boot. The local APIC's
    // timer is calibrated by waiting for another timer; the HPET needs no calibration.
    let fast = "mitigations=off nolapic_timer audit=0 init_on_alloc=0 cryptomgr.notests=1 \
        initcall_blacklist=load_system_certificate_list,jent_mod_init,trace_eval_init,init_kprobe_trace";
    // A scenario needs no security module; the job of a test may need Landlock.
    let security = if program == GUEST {
        "lsm="
    } else {
        "lsm=landlock"
    };
    // Every failure ends the guest, and with it QEMU.
    let failures = "panic=-1 oops=panic softlockup_panic=1";
    format!(
        "{console} {reproducible} {fast} {security} {failures} LD_LIBRARY_PATH={LIBRARIES} rdinit={PROGRAM} -- {program}"
    )
}
