//! QEMU: a machine of one processor whose time is the number of instructions that it has executed.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::memfd::{MFdFlags, memfd_create};

use super::exchange::{self, HostEnd};
use super::initramfs::{LIBRARIES, PROGRAM};
use super::{GUEST, KernelImage};
use crate::child;
use crate::error::Error;

const QEMU: &str = "qemu-system-x86_64";

/// How long at most until it is noticed that somebody wants an end.
const LOOK: Duration = Duration::from_millis(50);

/// How long a guest may take on the wall's clock, until it has taken its job and then for each second of its own: some
/// thirty times what it takes on one core. Most guests that stop end by themselves before.
const BOOT_LIMIT: Duration = Duration::from_secs(120);
const SECOND_LIMIT: Duration = Duration::from_secs(20);

/// How much of what a dead guest said last is worth reading.
const LAST_LINES: usize = 4;

/// Boots the kernel with these files and waits until the guest has ended. An error where it ended without an answer.
pub(crate) fn run(
    kernel: &KernelImage,
    initramfs: &File,
    exchange: &HostEnd,
    stop: Duration,
    cancelled: &AtomicBool,
) -> Result<Vec<u8>, Error> {
    let console = memfd_create(c"lisa-console", MFdFlags::MFD_CLOEXEC)
        .map_err(Error::kernel("making the VM's console"))?;
    let console = File::from(console);
    let mut machine = Machine::start(kernel, initramfs, exchange, &console)?;
    let Some(complaint) = machine.wait(exchange, stop, cancelled)? else {
        return Err(Error::GuestHangs(last_lines(&read(&console), "")));
    };
    match exchange.answer() {
        Ok(Some(answer)) => Ok(answer),
        Ok(None) => Err(Error::GuestDied(last_lines(&read(&console), &complaint))),
        Err(error) => Err(Error::kernel("reading the VM's answer")(error)),
    }
}

/// A QEMU, which ends with this.
struct Machine {
    child: Child,
    errors: ChildStderr,
}

impl Machine {
    fn start(
        kernel: &KernelImage,
        initramfs: &File,
        exchange: &HostEnd,
        console: &File,
    ) -> Result<Self, Error> {
        // Files without names: none is left, however all this ends.
        let files = [initramfs, &exchange.0, console].map(AsRawFd::as_raw_fd);
        let [initramfs, exchange, console] = files.map(|fd| format!("/proc/self/fd/{fd}"));
        let size = exchange::SIZE;
        let mut command = Command::new(QEMU);
        // No device and no settings but those named here.
        command.args(["-nodefaults", "-no-user-config", "-display", "none"]);
        command.args(["-machine", "pc", "-cpu", "qemu64", "-m", "512"]);
        // One instruction is one nanosecond; a processor that has nothing to do goes on to the next timer at once.
        command.args(["-accel", "tcg,thread=single"]);
        command.args(["-icount", "shift=0,sleep=off", "-seed", "0"]);
        command.args(["-rtc", "base=2020-01-01,clock=vm", "-no-reboot"]);
        command.arg("-kernel").arg(&kernel.path);
        command.args(["-initrd", &initramfs]);
        command.args(["-append", &kernel_arguments()]);
        command.args(["-chardev", &format!("file,id=console,path={console}")]);
        command.args(["-serial", "chardev:console"]);
        let memory = "memory-backend-file,id=exchange,share=on";
        command.args([
            "-object",
            &format!("{memory},size={size},mem-path={exchange}"),
        ]);
        command.args(["-device", "ivshmem-plain,memdev=exchange"]);
        // A terminal's Ctrl-C is for this process: it ends QEMU.
        command.process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(Stdio::piped());
        let parent = std::process::id();
        // SAFETY: between fork and exec the closure makes only system calls: fcntl, prctl, getppid.
        unsafe {
            command.pre_exec(move || {
                for fd in files {
                    let fd = std::os::fd::BorrowedFd::borrow_raw(fd);
                    fcntl(fd, FcntlArg::F_SETFD(FdFlag::empty()))?;
                }
                child::dies_with(parent)
            });
        }
        let mut child = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::NoQemu(QEMU),
            _ => Error::kernel(format!("starting {QEMU}"))(error),
        })?;
        let errors = child.stderr.take().expect("a pipe, as asked for");
        Ok(Self { child, errors })
    }

    /// Waits until it has ended: what it said on standard error. `None` where it does not end.
    fn wait(
        &mut self,
        exchange: &HostEnd,
        stop: Duration,
        cancelled: &AtomicBool,
    ) -> Result<Option<String>, Error> {
        let failed = |error: io::Error| Error::kernel("waiting for the VM")(error);
        let begun = Instant::now();
        let mut said = Vec::new();
        loop {
            if cancelled.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let limit = match exchange.is_taken().map_err(failed)? {
                false => BOOT_LIMIT,
                true => BOOT_LIMIT + SECOND_LIMIT.mul_f64(stop.as_secs_f64()),
            };
            if begun.elapsed() > limit {
                return Ok(None);
            }
            let mut fds = [PollFd::new(self.errors.as_fd(), PollFlags::POLLIN)];
            let timeout = PollTimeout::try_from(LOOK).expect("a short time");
            match poll(&mut fds, timeout) {
                Ok(0) | Err(nix::errno::Errno::EINTR) => continue,
                Ok(_) => {}
                Err(error) => return Err(failed(error.into())),
            }
            let mut buffer = [0; 4096];
            match self.errors.read(&mut buffer).map_err(failed)? {
                0 => break,
                read => said.extend_from_slice(&buffer[..read]),
            }
        }
        self.child.wait().map_err(failed)?;
        Ok(Some(String::from_utf8_lossy(&said).into_owned()))
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The kernel's command line. What it does not know goes to the first process: behind `--` as arguments, a NAME=VALUE
/// before it into the environment.
fn kernel_arguments() -> String {
    let console = "console=ttyS0 quiet";
    // Nothing at random before the seed, and nothing measured on hardware that is not there.
    let same = "nokaslr random.trust_cpu=off random.trust_bootloader=off";
    // What a run has no use for and what takes long where instructions are translated: half of a boot. The local APIC's timer
    // is measured by waiting for another; the HPET needs no measurement.
    let fast = "mitigations=off nolapic_timer audit=0 lsm= init_on_alloc=0 cryptomgr.notests=1 \
        initcall_blacklist=load_system_certificate_list,jent_mod_init,trace_eval_init,init_kprobe_trace";
    // Whatever goes wrong ends the guest, and QEMU with it.
    let ends = "panic=-1 oops=panic softlockup_panic=1";
    format!(
        "{console} {same} {fast} {ends} LD_LIBRARY_PATH={LIBRARIES} rdinit={PROGRAM} -- {GUEST}"
    )
}

/// All that the guest printed.
fn read(console: &File) -> String {
    let mut text = vec![0; console.metadata().map_or(0, |data| data.len() as usize)];
    let _ = console.read_exact_at(&mut text, 0);
    String::from_utf8_lossy(&text).into_owned()
}

/// What is worth knowing of a death, in one line: the last lines of the console, and QEMU's own.
fn last_lines(console: &str, complaint: &str) -> String {
    let lines = console.lines().chain(complaint.lines()).map(str::trim);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    match &lines[lines.len().saturating_sub(LAST_LINES)..] {
        [] => "it said nothing".into(),
        last => last.join(" | "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_death_is_told_in_one_line() {
        assert_eq!(last_lines("", " \n"), "it said nothing");
        let console = "[ 1.0] one\r\n\r\n[ 1.1] two\r\n[ 1.2] three\r\n[ 1.3] four\r\n";
        assert_eq!(
            last_lines(console, "qemu: five\n"),
            "[ 1.1] two | [ 1.2] three | [ 1.3] four | qemu: five"
        );
    }
}
