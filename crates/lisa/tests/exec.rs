//! `lisa kernel exec` on the kernels of the VM: by its cgroup and BPF programs on Linux 6.12, by its helper process on 6.1.
//!
//! The tests run in a VM, because they change global state: cgroups, the BPF file system, the programs of the root cgroup.

mod support;

#[path = "exec/commands.rs"]
mod commands;
#[path = "exec/examine.rs"]
mod examine;
#[path = "exec/others.rs"]
mod others;
#[path = "exec/programs.rs"]
mod programs;

use examine::{Finding, Job, Way, examine};
use lab::Vm;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use support::vm::{GUEST, answer, fetched, vmlinuz};

/// Limit for all tests, on the guest's clock.
const WITHIN: Duration = Duration::from_secs(300);

#[test]
#[ignore = "is run by the tests in the VM, there"]
fn guest() {
    support::vm::guest(|job: Job| {
        // Every system has it, for files such as the lock of the attached programs.
        std::fs::create_dir_all("/run").expect("a folder");
        examine(&job)
    });
}

#[test]
#[ignore = "is run by the tests in the VM, there"]
fn command() {
    commands::run();
}

/// Paths of a program in /usr/bin and of its libraries.
fn files_of(program: &str) -> Vec<PathBuf> {
    let program = Path::new("/usr/bin").join(program);
    let said = Command::new("ldd").arg(&program).output().expect("ldd");
    assert!(said.status.success(), "{}: {said:?}", program.display());
    // "libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x…)"
    let said = String::from_utf8(said.stdout).expect("text");
    let words = said.split_whitespace().filter(|word| word.starts_with('/'));
    words.map(PathBuf::from).chain([program]).collect()
}

/// The files that Python reads when it imports `socket`.
fn python_files() -> Vec<PathBuf> {
    let list = "import socket, sys\nfor m in list(sys.modules.values()): print(getattr(m, '__file__', ''))";
    let mut python = Command::new("/usr/bin/python3");
    let said = python.args(["-S", "-c", list]).output().expect("python3");
    let said = String::from_utf8(said.stdout).expect("text");
    let files = said.lines().filter(|path| path.starts_with('/'));
    files.map(PathBuf::from).collect()
}

fn in_vm(version: &str, way: Way) {
    let Some(kernel) = fetched(version) else {
        return;
    };
    let mut files: Vec<_> = ["curl", "iperf3", "python3"]
        .into_iter()
        .flat_map(files_of)
        .chain(python_files())
        .collect();
    files.sort();
    files.dedup();
    let job = Job::new(way);
    let vm = Vm::with_files(Some(&vmlinuz(&kernel)), Arc::default(), &files);
    let findings = vm.and_then(|vm| vm.call(GUEST, &job, WITHIN));
    let Some(findings): Option<Vec<Finding>> = answer(version, findings) else {
        return;
    };
    let failed: Vec<_> = findings.iter().filter_map(Finding::failure).collect();
    assert!(failed.is_empty(), "Linux {version}: {}", failed.join("\n"));
    assert!(!findings.is_empty());
}

#[test]
fn linux_6_1_by_a_helper() {
    in_vm("6.1", Way::Seccomp);
}

#[test]
fn linux_6_12_by_a_cgroup() {
    in_vm("6.12", Way::Cgroup);
}

#[test]
fn linux_7_3_by_a_cgroup() {
    in_vm("7.3", Way::Cgroup);
}
