//! Runs QEMU: a machine with one processor, whose time is the number of executed instructions.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::sys::memfd::{MFdFlags, memfd_create};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Answer;
use super::command::{self, Files, Memory, QEMU, Start, Writes};
use super::console::last_lines;
use super::exchange::HostEnd;
use super::monitor::{Message, Monitor};
use super::snapshot::Snapshot;
use crate::error::Error;

/// Real time until a machine must be paused or must end: some thirty times the time on one core. Most guests that hang end by
/// themselves before.
const LIMIT: Duration = Duration::from_secs(120);
/// Additional real time for each second of a scenario.
const SECOND_LIMIT: Duration = Duration::from_secs(20);

/// Runs a machine until its watchdog pauses it. Returns its state.
pub(crate) fn run_to_pause(
    start: &Start,
    exchange: &HostEnd,
    cancelled: &AtomicBool,
) -> Result<Snapshot, Error> {
    let snapshot = match start {
        Start::Boot(..) => Snapshot::new(),
        Start::From(snapshot) => snapshot.successor(),
    };
    let snapshot = snapshot.map_err(Error::kernel("making the VM's memory"))?;
    let memory = Memory {
        file: &snapshot.memory,
        writes: Writes::Shared,
    };
    let mut machine = Machine::start(start, memory, exchange, LIMIT, cancelled)?;
    if machine.wait_for_pause()? {
        machine.save(&snapshot.devices)?;
        return Ok(snapshot);
    }
    Err(match machine.wait_for_end::<Answer>(exchange)? {
        Err(error) => Error::InGuest(error),
        Ok(_) => Error::GuestDied("it ended before its time".into()),
    })
}

/// Runs a machine from a snapshot to its end. Returns its answer. `stop` is the stop time of the scenario.
pub(crate) fn run_to_end(
    from: &Snapshot,
    exchange: &HostEnd,
    stop: Duration,
    cancelled: &AtomicBool,
) -> Result<Answer, Error> {
    let memory = Memory {
        file: &from.memory,
        writes: Writes::Private,
    };
    let start = Start::From(from);
    Machine::start(&start, memory, exchange, limit(stop), cancelled)?.wait_for_end(exchange)
}

/// Boots a machine and passes it these jobs, one at each pause. Returns its answer.
pub(crate) fn run_without_snapshots<A: DeserializeOwned>(
    boot: &Start,
    exchange: &HostEnd,
    jobs: &[Vec<u8>],
    stop: Duration,
    cancelled: &AtomicBool,
) -> Result<A, Error> {
    let own = Snapshot::new().map_err(Error::kernel("making the VM's memory"))?;
    let memory = Memory {
        file: &own.memory,
        writes: Writes::Shared,
    };
    let mut machine = Machine::start(boot, memory, exchange, limit(stop), cancelled)?;
    for job in jobs {
        if !machine.wait_for_pause()? {
            break;
        }
        (exchange.put(job)).map_err(Error::kernel("passing a job to the VM"))?;
        machine.request("cont", json!({}))?;
    }
    machine.wait_for_end(exchange)
}

fn limit(stop: Duration) -> Duration {
    LIMIT + SECOND_LIMIT.mul_f64(stop.as_secs_f64())
}

/// A running QEMU. It is killed when this is dropped.
struct Machine<'a> {
    child: Child,
    monitor: Monitor,
    /// Console of the guest.
    console: File,
    /// Standard error of QEMU.
    errors: File,
    /// Time at which it must have ended.
    deadline: Instant,
    cancelled: &'a AtomicBool,
}

impl<'a> Machine<'a> {
    fn start(
        start: &Start,
        memory: Memory<'_>,
        exchange: &HostEnd,
        limit: Duration,
        cancelled: &'a AtomicBool,
    ) -> Result<Self, Error> {
        let failed = |error: io::Error| Error::kernel(format!("starting {QEMU}"))(error);
        // Files without names, which need no removal.
        let file = |name| memfd_create(name, MFdFlags::MFD_CLOEXEC).map(File::from);
        let console = file(c"lisa-console").map_err(|error| failed(error.into()))?;
        let errors = file(c"lisa-errors").map_err(|error| failed(error.into()))?;
        let (monitor, qemu_end) = Monitor::pair().map_err(failed)?;
        let files = Files {
            memory,
            exchange: &exchange.0,
            console: &console,
            monitor: &qemu_end,
        };
        let mut prepared = command::prepare(start, &files).map_err(failed)?;
        let command = &mut prepared.command;
        command.stderr(errors.try_clone().map_err(failed)?);
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
        if memory.has_monitor() {
            // The monitor requires this command first.
            machine.request("qmp_capabilities", json!({}))?;
        }
        Ok(machine)
    }

    /// The next message of the monitor; `None` at its end.
    fn next(&mut self) -> Result<Option<Value>, Error> {
        loop {
            if self.cancelled.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            if Instant::now() > self.deadline {
                return Err(Error::GuestHangs(last_lines(&self.console, None)));
            }
            match self.monitor.next() {
                Ok(Message::Line(line)) => return Ok(Some(line)),
                Ok(Message::Nothing) => {}
                Ok(Message::End) => return Ok(None),
                Err(error) => return Err(Error::kernel("waiting for the VM")(error)),
            }
        }
    }

    /// Executes a command of the monitor. Returns the result; `None` if QEMU has ended.
    fn request(&mut self, command: &str, arguments: Value) -> Result<Option<Value>, Error> {
        // After the end of QEMU this fails, and `next` returns `None`.
        let _ = self.monitor.send(command, arguments);
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

    /// Waits until the watchdog pauses the machine. Returns false if the machine ends before.
    fn wait_for_pause(&mut self) -> Result<bool, Error> {
        loop {
            match self.request("query-status", json!({}))? {
                None => return Ok(false),
                Some(answer) if answer["status"] == "watchdog" => break,
                Some(_) => {}
            }
            // Any event of the monitor.
            if self.next()?.is_none() {
                return Ok(false);
            }
        }
        // Only an idle processor is in a reproducible state.
        let registers = json!({"command-line": "info registers"});
        let registers = self.request("human-monitor-command", registers)?;
        match registers.unwrap_or_default().as_str() {
            Some(registers) if registers.contains("HLT=1") => Ok(true),
            _ => Err(Error::GuestDied("it was not idle at its pause".into())),
        }
    }

    /// Writes the state of the devices, processor and clock included, to a file.
    fn save(&mut self, devices: &File) -> Result<(), Error> {
        // Through this process: QEMU has no descriptor of the file.
        let file = format!("/proc/{}/fd/{}", std::process::id(), devices.as_raw_fd());
        self.request("xen-save-devices-state", json!({"filename": file}))?;
        Ok(())
    }

    /// Waits until the machine ends. Returns its answer.
    fn wait_for_end<A: DeserializeOwned>(mut self, exchange: &HostEnd) -> Result<A, Error> {
        while self.next()?.is_some() {}
        (self.child.wait()).map_err(Error::kernel("waiting for the VM"))?;
        let answer = exchange
            .answer()
            .map_err(Error::kernel("reading the VM's answer"))?;
        let Some(answer) = answer else {
            let last = last_lines(&self.console, Some(&self.errors));
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
