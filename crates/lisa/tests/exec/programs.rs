//! Programs under `exec`, and the processes and cgroups that there are.

use crate::support::until;
use kernel::exec::exec;
use nix::unistd::Pid;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

pub const CGROUPS: &str = "/sys/fs/cgroup";

/// Runs a command under `exec` with `lisa`.
pub fn under_exec(command: Command) -> Command {
    under_exec_with("lisa", command)
}

pub fn under_exec_with(algorithm: &'static str, mut command: Command) -> Command {
    let arguments = [command.get_program()]
        .into_iter()
        .chain(command.get_args());
    let arguments: Vec<_> = arguments.map(Into::into).collect();
    // SAFETY: glibc keeps its allocator usable in the child of a process with threads; nothing else of it is shared.
    unsafe {
        command.pre_exec(move || {
            let error = exec(algorithm, &arguments);
            eprintln!("exec: {error}");
            libc::_exit(error.exit_code().into())
        });
    }
    command
}

/// The command of this name in `commands`.
pub fn named(name: &str, argument: &str) -> Command {
    with_arguments(Command::new("/proc/self/exe"), name, argument)
}

pub fn with_arguments(mut program: Command, name: &str, argument: &str) -> Command {
    // The last argument is a filter that matches no test.
    program.args(["--exact", "command", "--ignored", "--nocapture"]);
    program.arg(format!("{name}={argument}"));
    program
}

/// A program of the host.
pub fn program<const N: usize>(name: &str, arguments: [&str; N]) -> Command {
    let mut command = Command::new(Path::new("/usr/bin").join(name));
    command.args(arguments);
    command
}

pub fn succeeds(mut command: Command) {
    let output = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
}

/// The cgroups that `exec` created below a cgroup.
pub fn cgroups(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).expect("cgroups").flatten();
    let ours = |path: &PathBuf| {
        let name = path.file_name().expect("a name").to_string_lossy();
        name.starts_with("lisa-exec-")
    };
    entries.map(|entry| entry.path()).filter(ours).collect()
}

pub fn until_no_cgroup() {
    until("no cgroup is left", || {
        cgroups(Path::new(CGROUPS)).is_empty()
    });
}

/// Names of all processes that have not ended.
pub fn processes() -> Vec<(Pid, String)> {
    let entries = fs::read_dir("/proc").expect("proc").flatten();
    let process = |path: PathBuf| {
        let pid: i32 = path.file_name()?.to_str()?.parse().ok()?;
        let stat = fs::read_to_string(path.join("stat")).ok()?;
        let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
        (!rest.starts_with(" Z")).then(|| (Pid::from_raw(pid), name.to_owned()))
    };
    entries.filter_map(|entry| process(entry.path())).collect()
}

pub fn called(name: &str) -> Vec<Pid> {
    let all = processes().into_iter();
    all.filter(|(_, other)| other == name)
        .map(|(pid, _)| pid)
        .collect()
}

/// A command that answers lines.
pub struct Answering {
    pub child: Child,
    pub orders: Option<ChildStdin>,
    pub answers: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Answering {
    pub fn start(command: Command) -> Self {
        Self::ready(command, "ready")
    }

    /// Waits for a line of its output.
    pub fn ready(mut command: Command, line: &str) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let orders = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut this = Self {
            child,
            orders,
            answers,
        };
        this.line(line);
        this
    }

    /// The rest of the next line with this prefix.
    pub fn line(&mut self, start: &str) -> String {
        loop {
            let line = self.answers.next().expect("a line").expect("text");
            if let Some(at) = line.find(start) {
                return line[at + start.len()..].trim().to_owned();
            }
        }
    }

    pub fn ask(&mut self) -> String {
        writeln!(self.orders.as_ref().expect("a pipe")).expect("an order");
        self.line("answer ")
    }

    /// Closes the command's input, and waits until the command has ended.
    pub fn end(mut self) {
        drop(self.orders.take());
        self.answers.by_ref().for_each(drop);
        assert!(self.child.wait().expect("it ends").success());
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn answering() -> Answering {
    Answering::start(under_exec(named("answer", "")))
}
