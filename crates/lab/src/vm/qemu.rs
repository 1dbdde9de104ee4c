//! QEMU: a machine of one processor whose time is the number of instructions that it has executed.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::exchange::{self, HostEnd};
use super::initramfs::{LIBRARIES, PROGRAM};
use super::monitor::{Monitor, Said};
use super::snapshot::{self, Snapshot};
use super::{Answer, GUEST, KernelImage};
use crate::error::Error;
use crate::process;

const QEMU: &str = "qemu-system-x86_64";

/// One instruction is one nanosecond; a processor that has nothing to do goes on to the next timer at once. Nobody wants the
/// record, but who keeps one makes QEMU's threads take turns: otherwise the one that moves the clock on to the next timer
/// may miss the instructions before the rest.
const TIME: &str = "shift=0,sleep=off,rr=record,rrfile=/dev/null";

/// How long a machine may take on the wall's clock until it rests or ends, and more for each second of a scenario: some
/// thirty times what it takes on one core. Most guests that stop end by themselves before.
const LIMIT: Duration = Duration::from_secs(120);
const SECOND_LIMIT: Duration = Duration::from_secs(20);

/// How much of what a dead guest said last is worth reading.
const LAST_LINES: usize = 4;
/// How a program or the kernel begins to report that it cannot go on.
const CAUSES: [&str; 4] = ["panicked at", "BUG: ", "Oops", "Kernel panic"];

/// What a machine starts with.
pub(crate) enum Start<'a> {
    /// A kernel, its files, and the arguments of this program there.
    Boot(&'a KernelImage, &'a File, &'a str),
    /// What another was at rest.
    From(&'a Snapshot),
}

/// Lets a machine run until it rests, and ends it there: what it was.
pub(crate) fn to_rest(
    start: &Start,
    exchange: &HostEnd,
    cancelled: &AtomicBool,
) -> Result<Snapshot, Error> {
    let snapshot = match start {
        Start::Boot(..) => Snapshot::new(),
        Start::From(snapshot) => snapshot.successor(),
    };
    let snapshot = snapshot.map_err(Error::kernel("making the VM's memory"))?;
    let memory = (&snapshot.memory, Writes::Through);
    let mut machine = Machine::start(start, memory, exchange, LIMIT, cancelled)?;
    if machine.rests()? {
        machine.save(&snapshot.devices)?;
        return Ok(snapshot);
    }
    Err(match machine.ends::<Answer>(exchange)? {
        Err(error) => Error::InGuest(error),
        Ok(_) => Error::GuestDied("it ended before its time".into()),
    })
}

/// Lets a machine run from its rest to its end: what it answered. `stop` is how long the scenario takes at most.
pub(crate) fn to_end(
    from: &Snapshot,
    exchange: &HostEnd,
    stop: Duration,
    cancelled: &AtomicBool,
) -> Result<Answer, Error> {
    let memory = (&from.memory, Writes::Aside);
    let start = Start::From(from);
    Machine::start(&start, memory, exchange, limit(stop), cancelled)?.ends(exchange)
}

/// Lets one machine boot and do these jobs, one at each rest: what it answered.
pub(crate) fn straight_on<A: DeserializeOwned>(
    boot: &Start,
    exchange: &HostEnd,
    jobs: &[Vec<u8>],
    stop: Duration,
    cancelled: &AtomicBool,
) -> Result<A, Error> {
    let own = Snapshot::new().map_err(Error::kernel("making the VM's memory"))?;
    let memory = (&own.memory, Writes::Through);
    let mut machine = Machine::start(boot, memory, exchange, limit(stop), cancelled)?;
    for job in jobs {
        if !machine.rests()? {
            break;
        }
        (exchange.put(job)).map_err(Error::kernel("telling the VM"))?;
        machine.ask("cont", json!({}))?;
    }
    machine.ends(exchange)
}

fn limit(stop: Duration) -> Duration {
    LIMIT + SECOND_LIMIT.mul_f64(stop.as_secs_f64())
}

/// Where a machine's writes to a file of memory go: into it, or into copies of its pages.
#[derive(Clone, Copy)]
enum Writes {
    Through,
    Aside,
}

/// A QEMU, which ends with this.
struct Machine<'a> {
    child: Child,
    monitor: Monitor,
    /// What the guest says, and QEMU.
    console: File,
    errors: File,
    /// When it is to have come to its end.
    deadline: Instant,
    cancelled: &'a AtomicBool,
}

impl<'a> Machine<'a> {
    fn start(
        start: &Start,
        (memory, writes): (&File, Writes),
        exchange: &HostEnd,
        limit: Duration,
        cancelled: &'a AtomicBool,
    ) -> Result<Self, Error> {
        let failed = |error: io::Error| Error::kernel(format!("starting {QEMU}"))(error);
        // Files without names: none is left, however all this ends.
        let file = |name| memfd_create(name, MFdFlags::MFD_CLOEXEC).map(File::from);
        let console = file(c"lisa-console").map_err(|error| failed(error.into()))?;
        let errors = file(c"lisa-errors").map_err(|error| failed(error.into()))?;
        let (monitor, theirs) = Monitor::pair().map_err(failed)?;
        let mut command = Command::new(QEMU);
        // No device and no settings but those named here.
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
            &format!("file,id=console,path={}", path(&console)),
        ]);
        command.args(["-serial", "chardev:console"]);
        command.args([
            "-chardev",
            &format!("socket,id=monitor,fd={}", theirs.as_raw_fd()),
        ]);
        command.args(["-mon", "chardev=monitor,mode=control"]);
        let share = match writes {
            Writes::Through => "on",
            Writes::Aside => "off",
        };
        for (id, share, size, file) in [
            ("memory", share, snapshot::MEMORY, memory),
            ("exchange", "on", exchange::SIZE, &exchange.0),
        ] {
            let place = format!("size={size},mem-path={}", path(file));
            let object = format!("memory-backend-file,id={id},share={share},{place}");
            command.args(["-object", &object]);
        }
        command.args(["-device", "ivshmem-plain,memdev=exchange,master=on"]);
        let mut files = [memory, &exchange.0, &console]
            .map(AsRawFd::as_raw_fd)
            .to_vec();
        files.push(theirs.as_raw_fd());
        // Open until QEMU has it.
        let devices;
        match start {
            Start::Boot(kernel, initramfs, arguments) => {
                command.arg("-kernel").arg(&kernel.path);
                command.args(["-initrd", &path(initramfs)]);
                command.args(["-append", &kernel_arguments(arguments)]);
                files.push(initramfs.as_raw_fd());
            }
            Start::From(from) => {
                devices = snapshot::again(&from.devices).map_err(failed)?;
                command.args(["-incoming", &format!("fd:{}", devices.as_raw_fd())]);
                command.args(["-global", "migration.send-configuration=off"]);
                files.push(devices.as_raw_fd());
            }
        }
        // A terminal's Ctrl-C is for this process: it ends QEMU.
        command.process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(errors.try_clone().map_err(failed)?);
        let parent = std::process::id();
        // SAFETY: between fork and exec the closure makes only system calls: fcntl, prctl, getppid.
        unsafe {
            command.pre_exec(move || {
                for &fd in &files {
                    let fd = BorrowedFd::borrow_raw(fd);
                    fcntl(fd, FcntlArg::F_SETFD(FdFlag::empty()))?;
                }
                process::die_with_parent(parent)
            });
        }
        let child = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::NoQemu(QEMU),
            _ => failed(error),
        })?;
        let mut machine = Self {
            child,
            monitor,
            console,
            errors,
            deadline: Instant::now() + limit,
            cancelled,
        };
        // What the monitor wants to hear before anything else.
        machine.ask("qmp_capabilities", json!({}))?;
        Ok(machine)
    }

    /// The next that its monitor says; `None` at its end.
    fn next(&mut self) -> Result<Option<Value>, Error> {
        loop {
            if self.cancelled.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            if Instant::now() > self.deadline {
                return Err(Error::GuestHangs(last_lines(&read(&self.console), "")));
            }
            match self.monitor.next() {
                Ok(Said::Line(line)) => return Ok(Some(line)),
                Ok(Said::Nothing) => {}
                Ok(Said::End) => return Ok(None),
                Err(error) => return Err(Error::kernel("waiting for the VM")(error)),
            }
        }
    }

    /// Waits for what its monitor has to say to a command; `None` at its end.
    fn ask(&mut self, command: &str, arguments: Value) -> Result<Option<Value>, Error> {
        // A QEMU that has ended says nothing either.
        let _ = self.monitor.ask(command, arguments);
        while let Some(mut line) = self.next()? {
            if let Some(error) = line.get("error") {
                return Err(Error::GuestDied(format!("{command}: {error}")));
            }
            if let Some(answer) = line.get_mut("return") {
                return Ok(Some(answer.take()));
            }
        }
        Ok(None)
    }

    /// Waits until it rests. False where it ends before.
    fn rests(&mut self) -> Result<bool, Error> {
        loop {
            match self.ask("query-status", json!({}))? {
                None => return Ok(false),
                Some(answer) if answer["status"] == "watchdog" => break,
                Some(_) => {}
            }
            // Something happens.
            if self.next()?.is_none() {
                return Ok(false);
            }
        }
        // A processor that was at work has been stopped anywhere.
        let registers = json!({"command-line": "info registers"});
        let registers = self.ask("human-monitor-command", registers)?;
        match registers.unwrap_or_default().as_str() {
            Some(registers) if registers.contains("HLT=1") => Ok(true),
            _ => Err(Error::GuestDied("it worked when it was to rest".into())),
        }
    }

    /// Writes down what its devices are, processor and clock among them.
    fn save(&mut self, devices: &File) -> Result<(), Error> {
        // The file is this process's: QEMU began without it.
        let file = format!("/proc/{}/fd/{}", std::process::id(), devices.as_raw_fd());
        self.ask("xen-save-devices-state", json!({"filename": file}))?;
        Ok(())
    }

    /// Waits until it ends: what it answered.
    fn ends<A: DeserializeOwned>(mut self, exchange: &HostEnd) -> Result<A, Error> {
        while self.next()?.is_some() {}
        (self.child.wait()).map_err(Error::kernel("waiting for the VM"))?;
        let answer = exchange
            .answer()
            .map_err(Error::kernel("reading the VM's answer"))?;
        let Some(answer) = answer else {
            let last = last_lines(&read(&self.console), &read(&self.errors));
            return Err(Error::GuestDied(last));
        };
        serde_json::from_slice(&answer)
            .map_err(|error| Error::GuestDied(format!("its answer: {error}")))
    }
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The name under which QEMU finds a file that it is given.
fn path(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// The kernel's command line. What it does not know goes to the first process: behind `--` as arguments, a NAME=VALUE
/// before it into the environment.
fn kernel_arguments(program: &str) -> String {
    let console = "console=ttyS0 quiet";
    // Nothing at random before the seed, and nothing measured on hardware that is not there.
    let same = "nokaslr random.trust_cpu=off random.trust_bootloader=off";
    // What a run has no use for and what takes long where instructions are translated: half of a boot. The local APIC's timer
    // is measured by waiting for another; the HPET needs no measurement.
    let fast = "mitigations=off nolapic_timer audit=0 init_on_alloc=0 cryptomgr.notests=1 \
        initcall_blacklist=load_system_certificate_list,jent_mod_init,trace_eval_init,init_kprobe_trace";
    // A scenario needs no security module; a job of a test's own may be about Landlock.
    let security = if program == GUEST {
        "lsm="
    } else {
        "lsm=landlock"
    };
    // Whatever goes wrong ends the guest, and QEMU with it.
    let ends = "panic=-1 oops=panic softlockup_panic=1";
    format!(
        "{console} {same} {fast} {security} {ends} LD_LIBRARY_PATH={LIBRARIES} rdinit={PROGRAM} -- {program}"
    )
}

/// All that a file holds.
fn read(file: &File) -> String {
    let mut text = vec![0; file.metadata().map_or(0, |data| data.len() as usize)];
    let _ = file.read_exact_at(&mut text, 0);
    String::from_utf8_lossy(&text).into_owned()
}

/// What is worth knowing of a death, in one line: the last lines of the console, and QEMU's own.
fn last_lines(console: &str, complaint: &str) -> String {
    let lines = console.lines().chain(complaint.lines()).map(str::trim);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let (before, last) = lines.split_at(lines.len().saturating_sub(LAST_LINES));
    // A kernel's panic ends with registers. Its cause, or that of the program, is in its first two lines.
    let is_cause = |line: &&str| CAUSES.iter().any(|cause| line.contains(cause));
    let cause = before.iter().copied().skip_while(|line| !is_cause(line));
    let said: Vec<&str> = cause.take(2).chain(last.iter().copied()).collect();
    match said[..] {
        [] => "it said nothing".into(),
        _ => said.join(" | "),
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
        let console = "[ 1.0] BUG: unable to handle page fault\n1\n2\n3\n4\n5\n";
        assert_eq!(
            last_lines(console, ""),
            "[ 1.0] BUG: unable to handle page fault | 1 | 2 | 3 | 4 | 5"
        );
    }
}
