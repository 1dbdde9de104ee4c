//! A pseudo-terminal in which a command runs.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use nix::pty::{Winsize, openpty};

use crate::support::until;

/// A command with a terminal as standard input, output and error.
pub struct Terminal {
    child: Child,
    keyboard: File,
    screen: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Terminal {
    /// Starts the command in a terminal of 24 lines with this number of columns.
    pub fn start(mut command: Command, columns: u16) -> Self {
        let size = Winsize {
            ws_row: 24,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let pair = openpty(Some(&size), None).expect("a pseudo-terminal");
        let side = || pair.slave.try_clone().expect("a descriptor");
        command.stdin(side()).stdout(side()).stderr(side());
        command.env("TERM", "xterm").env_remove("COLUMNS");
        // The terminal is the command's own: Ctrl-C is then a signal also between two questions.
        let own_terminal = || {
            nix::unistd::setsid()?;
            // SAFETY: the ioctl takes no pointer.
            match unsafe { libc::ioctl(0, libc::TIOCSCTTY, 0) } {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        };
        // SAFETY: setsid and ioctl are async-signal-safe.
        unsafe { command.pre_exec(own_terminal) };
        let child = command.spawn().expect("it starts");
        drop((command, pair.slave));
        let keyboard = File::from(pair.master);
        let mut output = keyboard.try_clone().expect("a descriptor");
        let screen = Arc::new(Mutex::new(Vec::new()));
        let copy = screen.clone();
        // Ends with an error when the command has closed the terminal.
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = output.read(&mut bytes) {
                copy.lock().unwrap().extend(&bytes[..n]);
            }
        });
        Self {
            child,
            keyboard,
            screen,
            reader,
        }
    }

    /// All that was printed so far.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().unwrap()).into_owned()
    }

    /// Waits for this text after the last answer, then types keys.
    pub fn answer(&mut self, prompt: &str, keys: &str) {
        until(prompt, || self.text().contains(prompt));
        self.screen.lock().unwrap().clear();
        self.keyboard.write_all(keys.as_bytes()).expect("it reads");
    }

    /// Waits for the end. Returns what was printed since the last answer.
    pub fn end(mut self) -> (ExitStatus, String) {
        let mut status = None;
        until("the end", || {
            status = self.child.try_wait().expect("a process");
            status.is_some()
        });
        let status = status.expect("it ended");
        self.reader.join().expect("the terminal is read to its end");
        let text = String::from_utf8_lossy(&self.screen.lock().unwrap()).into_owned();
        (status, text)
    }
}

/// Text without escape sequences of the terminal and without carriage returns.
pub fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut in_escape = false;
    for c in text.chars() {
        match c {
            '\u{1b}' => in_escape = true,
            c if in_escape => in_escape = !c.is_ascii_alphabetic(),
            '\r' => {}
            c => plain.push(c),
        }
    }
    plain
}
