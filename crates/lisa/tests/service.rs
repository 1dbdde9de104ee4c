//! `lisa kernel service`: what it loads and sets, at the start, after a change of its file, after its end.
//!
//! The services run in network namespaces of their own, whose default is that of the file; the first namespace's default stays.
//! They load algorithms under their own names: `support::turn` runs the tests one after another. Needs root.

mod support;

#[path = "service/check.rs"]
mod check;
#[path = "service/connections.rs"]
mod connections;
#[path = "service/namespaces.rs"]
mod namespaces;
#[path = "service/state.rs"]
mod state;

use lab::Namespace;
use nix::sys::signal::Signal;
use std::fs;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::process::{Command, Output};
use support::world::Running;
use support::{Folder, LISA, PATIENCE, complaint, until};

/// A file of the service, in a folder of its own.
struct File {
    folder: Folder,
    path: PathBuf,
}

impl File {
    fn new(text: &str) -> Self {
        let folder = Folder::new();
        let path = folder.join("lisa.toml");
        fs::write(&path, text).expect("a file");
        Self { folder, path }
    }

    fn write(&self, text: &str) {
        fs::write(&self.path, text).expect("a file");
    }

    /// `lisa kernel service --config FILE …` on a host.
    fn command(&self, host: &Namespace, arguments: &[&str]) -> Command {
        let mut command = host.command(LISA);
        command.args(["kernel", "service", "--config"]);
        command.arg(&self.path).args(arguments);
        command.env_remove("JOURNAL_STREAM");
        command
    }
}

/// A running service.
struct Service {
    running: Running,
    /// The end of systemd: NOTIFY_SOCKET.
    manager: UnixDatagram,
}

impl Service {
    /// Starts it and waits until it is ready. Returns it with its status line.
    fn start(host: &Namespace, file: &File) -> (Self, String) {
        let socket = file.folder.join(format!("notify-{}", support::number()));
        let manager = UnixDatagram::bind(&socket).expect("a socket");
        manager.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let mut command = file.command(host, &[]);
        let running = Running::start(command.env("NOTIFY_SOCKET", &socket));
        let mut service = Self { running, manager };
        match service.notification() {
            Some(ready) => {
                assert!(ready.starts_with("READY=1\n"), "{ready}");
                let status = status(&ready);
                (service, status)
            }
            None => {
                let errors = service.running.end().stderr;
                panic!("not ready: {}", String::from_utf8_lossy(&errors));
            }
        }
    }

    /// The next message to systemd; `None` if the service has ended.
    fn notification(&mut self) -> Option<String> {
        let mut message = [0; 4096];
        self.manager.set_nonblocking(true).expect("a socket");
        let mut length = None;
        until("a message to systemd", || {
            length = self.manager.recv(&mut message).ok();
            length.is_some() || !self.running.runs()
        });
        let length = length?;
        Some(String::from_utf8_lossy(&message[..length]).into_owned())
    }

    /// Makes it read its file again, and waits until it has. Returns its status line.
    fn reload(&mut self) -> String {
        self.running.signal(Signal::SIGHUP);
        let begin = self.notification().expect("it runs");
        assert!(begin.starts_with("RELOADING=1\nMONOTONIC_USEC="), "{begin}");
        let ready = self.notification().expect("it runs");
        assert!(ready.starts_with("READY=1\n"), "{ready}");
        status(&ready)
    }

    /// Ends it with a signal. Returns the lines that it has reported.
    fn stop(mut self, signal: Signal) -> Vec<String> {
        self.running.signal(signal);
        assert_eq!(self.notification().as_deref(), Some("STOPPING=1\n"));
        lines(&self.running.succeed())
    }

    /// Kills it. Returns the lines that it has reported.
    fn kill(self) -> Vec<String> {
        self.running.signal(Signal::SIGKILL);
        lines(&self.running.end())
    }
}

/// The lines on standard error, without `lisa: `.
fn lines(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = |line: &str| {
        let line = line.strip_prefix("lisa: ");
        line.expect("every line has the name of the program")
            .to_owned()
    };
    text.lines().map(line).collect()
}

fn status(notification: &str) -> String {
    let status = notification.lines().find_map(|l| l.strip_prefix("STATUS="));
    status.expect("a status").into()
}

/// The error of a service that must not start.
fn refused(mut command: Command) -> String {
    complaint(&command.output().expect("lisa"), 1)
}

fn default_of(host: &Namespace) -> String {
    host.run(|| kernel::default::get().expect("a sysctl"))
}

/// Names of the loaded algorithms.
fn loaded() -> Vec<String> {
    let found = kernel::registry::find().expect("the registry");
    let lasting = found
        .iter()
        .filter(|r| !r.is_leaving() && r.owner().is_none());
    lasting.map(|registered| registered.name().into()).collect()
}

/// The line that has these words.
fn has_line(lines: &[String], words: &str) -> bool {
    lines.iter().any(|line| line.contains(words))
}
