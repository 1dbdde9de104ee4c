//! `lisa kernel unload`.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kernel::holders::{self, Holders};
use kernel::registry::{self, Found, Registered, Registration};
use kernel::unload::Unloaded;
use nix::sys::signal::{SigHandler, Signal, signal};

use crate::output::{Failure, complain, counted};

/// Unloads an algorithm, and waits for its sockets if `wait` is given.
pub fn unload(name: &str, wait: Option<Duration>) -> Result<(), Failure> {
    let found = match registry::find_any(name) {
        Err(not_loaded @ (kernel::Error::NotLoaded { .. } | kernel::Error::Foreign { .. })) => {
            let leaving = registry::find_leaving(name)?;
            if leaving.is_empty() {
                return Err(not_loaded.into());
            }
            return wait_for_leaving(name, &leaving, wait);
        }
        Ok(Found::Damaged(error)) => return Err(error.into()),
        found => found?.registration(),
    };
    let Some(registered) = found else {
        return Ok(());
    };
    let Some(within) = wait else {
        print_unloaded(name, &registered.unload(None)?);
        return Ok(());
    };
    let mut progress = Progress::begin(name, within);
    let unloaded = registered.unload(Some(&mut |references| progress.update(references)))?;
    progress.finish(&registered, &unloaded)?;
    print_unloaded(name, &unloaded);
    Ok(())
}

fn print_unloaded(name: &str, unloaded: &Unloaded) {
    match &unloaded.restored {
        Some(previous) => println!("unloaded `{name}`; the default is `{previous}` again"),
        None => println!("unloaded `{name}`"),
    }
    if let Err(error) = &unloaded.exec {
        complain(format!(
            "`lisa kernel exec` may choose `{name}` still: {error}"
        ));
    }
}

/// Waits for the sockets of algorithms of this name that an earlier command unloaded.
fn wait_for_leaving(
    name: &str,
    leaving: &[Registered],
    wait: Option<Duration>,
) -> Result<(), Failure> {
    let Some(within) = wait else {
        let found = holders::find()?;
        let of_all = leaving.iter().map(|registered| found.of(registered));
        let holders = of_all.reduce(Holders::and).unwrap_or_default().summary();
        let name = name.into();
        return Err(kernel::Error::Leaving { name, holders }.into());
    };
    let mut progress = Progress::begin(name, within);
    for registered in leaving {
        let left = registered.wait(&mut |references| progress.update(references))?;
        let unloaded = Unloaded {
            exec: Ok(()),
            restored: None,
            left,
        };
        progress.finish(registered, &unloaded)?;
    }
    println!("unloaded `{name}`");
    Ok(())
}

/// The wait for the last sockets. Shows a line on a terminal; ends after a time or by Ctrl-C.
struct Progress<'a> {
    name: &'a str,
    /// Longest duration of the wait.
    within: Duration,
    until: Instant,
    /// Number of references that was shown last.
    shown: u64,
}

impl<'a> Progress<'a> {
    fn begin(name: &'a str, within: Duration) -> Self {
        handle_interruption();
        Self {
            name,
            within,
            until: Instant::now() + within,
            shown: 0,
        }
    }

    /// Shows the number of sockets and namespaces that have the algorithm. Returns whether the wait continues.
    fn update(&mut self, references: u64) -> bool {
        if references != self.shown && std::io::stderr().is_terminal() {
            let references = counted(references as usize, "reference");
            eprint!("\r`{}`: waiting for {references} \x1b[K", self.name);
        }
        self.shown = references;
        Instant::now() < self.until && !INTERRUPTED.load(Ordering::Relaxed)
    }

    /// Fails if references remain; the error names the namespaces and sockets.
    fn finish(&self, registered: &Registration, unloaded: &Unloaded) -> Result<(), Failure> {
        let name = self.name;
        if self.shown > 0 && std::io::stderr().is_terminal() {
            eprint!("\r\x1b[K");
        }
        if unloaded.left == 0 {
            return Ok(());
        }
        let restored = match &unloaded.restored {
            Some(previous) => format!(", the default is `{previous}` again"),
            None => String::new(),
        };
        let why = match INTERRUPTED.load(Ordering::Relaxed) {
            true => "interrupted".into(),
            false => format!("not freed within {} s", self.within.as_secs_f64()),
        };
        let holders = holders::find()?.of(registered).summary();
        Err(Failure::new(format!(
            "{why}: `{name}` is unloaded{restored}, no new socket can choose it, and it stays in the kernel for {holders}; \
             `lisa kernel unload {name} --wait` waits again, `lisa kernel status` lists all of them"
        )))
    }
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Makes Ctrl-C and SIGTERM end the wait instead of the program.
fn handle_interruption() {
    extern "C" fn interrupted(_: i32) {
        INTERRUPTED.store(true, Ordering::Relaxed);
    }
    for name in [Signal::SIGINT, Signal::SIGTERM] {
        // SAFETY: the handler only stores to an atomic.
        unsafe { signal(name, SigHandler::Handler(interrupted)) }
            .expect("no signal of ours to keep");
    }
}
