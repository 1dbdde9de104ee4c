//! How a run on a kernel in a VM ends: interrupted, without what it needs, with a guest that dies.

use std::io::Read;
use std::process::{Child, Output};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::support::until;
use super::support::vm::vmlinuz;
use super::*;

/// The children of a process.
fn children(parent: u32) -> Vec<Pid> {
    let parent_of = |process: Pid| -> Option<u32> {
        // proc_pid_stat(5): the state and the parent follow the name, which is in parentheses.
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        let (_, rest) = stat.rsplit_once(')')?;
        rest.split_whitespace().nth(1)?.parse().ok()
    };
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let name = entry.ok()?.file_name();
        name.to_str()?.parse().ok().map(Pid::from_raw)
    });
    processes
        .filter(|process| parent_of(*process) == Some(parent))
        .collect()
}

/// Whether a process runs; a zombie does not.
fn runs(process: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z"))
}

/// A program that is killed when a test fails.
struct Running(Child);

impl Running {
    /// Output of the program, once it has ended.
    fn output(&mut self) -> Output {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let printed = self.0.stdout.as_mut().unwrap();
        printed.read_to_end(&mut stdout).unwrap();
        let said = self.0.stderr.as_mut().unwrap();
        said.read_to_end(&mut stderr).unwrap();
        Output {
            status: self.0.wait().unwrap(),
            stdout,
            stderr,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Minutes of work for a guest, so that no run ends before the signal.
const LONG: &str = "--set stop=1000s --set connection.*.bytes=1GB";

#[test]
fn nothing_is_left_however_it_ends() {
    if fetched(KERNEL).is_none() {
        return;
    }
    // During the boot, and during two runs.
    for (signal, count) in [
        (Signal::SIGINT, 1),
        (Signal::SIGTERM, 2),
        (Signal::SIGKILL, 1),
        (Signal::SIGKILL, 2),
    ] {
        let place = Place::new();
        let run = format!("run small.toml --on vm --jobs 2 --seeds 100 {LONG}");
        let mut run = Running(place.lisa(&run).spawn().unwrap());
        // If a machine fails before, the run ends.
        let machines = loop {
            assert!(run.0.try_wait().unwrap().is_none(), "it has ended");
            let machines = children(run.0.id());
            if machines.len() == count {
                break machines;
            }
            thread::sleep(Duration::from_millis(5));
        };
        kill(Pid::from_raw(run.0.id() as i32), signal).unwrap();
        let output = run.output();
        if signal != Signal::SIGKILL {
            let line = complaint(&output, 130);
            assert!(line.contains("interrupted: 0 of 100 runs"), "{line}");
        }
        until("the machines end", || !machines.iter().copied().any(runs));
        assert_eq!(place.files(), [] as [PathBuf; 0]);
    }
}

#[test]
fn a_missing_requirement_is_one_line() {
    let place = Place::new();
    let says = |mut command: Command, code: i32, words: &str| {
        let line = complaint(&command.output().unwrap(), code);
        assert!(line.contains(words), "{line}");
    };
    let run = |more: &str| place.lisa(&format!("run small.toml --on vm {more}"));
    let mut unset = run("");
    unset.env("XDG_CACHE_HOME", "/nowhere");
    says(
        unset,
        1,
        "/nowhere/lisa/kernels/6.12: fetch it with `make setup`",
    );
    says(
        run("--kernel small.toml"),
        1,
        "small.toml: this is no bzImage",
    );
    says(run("--kernel missing"), 1, "missing: No such file");
    let host = place.lisa("run small.toml --kernel missing");
    says(host, 2, "--kernel is for the VM");
    let Some(kernel) = fetched(KERNEL) else {
        return;
    };
    let marked = run("--set connection.1.join_delay=1s");
    says(marked, 1, "the lab does not support");
    let mut without = run("");
    without
        .env("PATH", "/nowhere")
        .env("XDG_CACHE_HOME", kernel.join("../../.."));
    says(without, 1, "install qemu-system-x86");
}

/// A kernel without its modules, and a kernel that stops before any output.
#[test]
fn a_guest_that_cannot_or_dies_says_why() {
    let Some(kernel) = fetched(KERNEL) else {
        return;
    };
    let place = Place::new();
    let kernel = fs::read(vmlinuz(&kernel)).unwrap();
    fs::create_dir(place.0.join("boot")).unwrap();
    let run = |kernel: &[u8]| {
        fs::write(place.0.join("boot/vmlinuz"), kernel).unwrap();
        let run = "run small.toml --on vm --kernel boot/vmlinuz";
        complaint(&place.lisa(run).output().unwrap(), 1)
    };
    let alone = run(&kernel);
    if alone.contains("no qemu") {
        eprintln!("skipped: {alone}");
        return;
    }
    assert!(
        alone.contains("in the VM: no TUN driver: beside the folder"),
        "{alone}"
    );
    // Only the boot sectors remain, whose number is in their header (`setup_sects` of the boot protocol).
    let mut dead = kernel;
    let sectors = (usize::from(dead[0x1f1]) + 1) * 512;
    let invalid = [0x0f, 0x0b].into_iter().cycle(); // ud2, which nobody handles
    for (byte, invalid) in dead[sectors..].iter_mut().zip(invalid) {
        *byte = invalid;
    }
    let dead = run(&dead);
    assert!(dead.contains("the VM died: "), "{dead}");
}
