//! `lisa kernel …`

use crate::{cli::Kernel, default, group, output::Failure, output::counted, status, top};
use kernel::holders::{self, Holders};
use kernel::registry::{self, Registered};
use kernel::unload::Unloaded;
use kernel::{load, load::Ensured};
use nix::sys::signal::{SigHandler, Signal, signal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{ffi::OsString, io::IsTerminal};

/// Runs one of them.
pub fn run(command: Kernel) -> Result<(), Failure> {
    match command {
        Kernel::Load {
            name,
            default,
            max_connections,
            settings,
        } => {
            let options = load::Options {
                max_connections,
                settings,
                ..Default::default()
            };
            load_algorithm(&name, &options, default)
        }
        Kernel::Unload { name, wait } => unload(&name, wait),
        Kernel::Default { name, off, all } => match name {
            Some(name) => default::make(&name),
            None if all => default::off_everywhere(),
            None if off => default::off(),
            None => default::show(),
        },
        Kernel::Status { json } => status::print(json),
        Kernel::Top { interval } => top::run(interval),
        Kernel::Group {
            token,
            assignments,
            reset,
        } => match token {
            _ if reset => group::reset(token),
            Some(token) if !assignments.is_empty() => group::request(token, &assignments),
            _ => group::show(token),
        },
        Kernel::Exec { name, command } => Err(exec(&name, &command)),
    }
}

/// Returns only where the command could not be started.
fn exec(name: &str, command: &[OsString]) -> Failure {
    let error = kernel::exec::exec(name, command);
    if matches!(error, kernel::exec::Error::NotLoaded(_)) {
        if let Err(unknown) = kernel::load::loadable(name) {
            return unknown.into(); // a name that could not be loaded either
        }
    }
    Failure {
        code: error.exit_code(),
        message: error.to_string(),
    }
}

fn load_algorithm(name: &str, options: &load::Options, is_default: bool) -> Result<(), Failure> {
    let Ensured {
        registered,
        new,
        exec,
    } = load::ensure(name, options)?;
    if is_default {
        let made = kernel::default::make(&registered);
        if made.is_err() && new {
            // The cause is what `make` returned.
            let _ = registered.unload(None);
        }
        let (plain, changed) = made?;
        match new {
            true => println!("loaded `{name}`"),
            false => println!("`{name}` is loaded already, with these settings"),
        }
        default::print_made(name, &plain, changed);
    } else if new {
        println!("loaded `{name}`; `lisa kernel exec {name} -- COMMAND` uses it");
        println!(
            "MPTCP connections that choose it are coupled; plain TCP keeps the algorithm that it has"
        );
    } else {
        println!("`{name}` is loaded already, with these settings");
    }
    if let (true, Err(why)) = (new, exec) {
        println!("`lisa kernel exec` uses a helper process for each command ({why})");
    }
    Ok(())
}

fn unload(name: &str, wait: Option<Duration>) -> Result<(), Failure> {
    let registered = match registry::find_one(name) {
        Err(not_loaded @ kernel::Error::NotLoaded { .. }) => {
            let leaving = registry::find_leaving(name)?;
            if leaving.is_empty() {
                return Err(not_loaded.into());
            }
            return wait_for_leaving(name, &leaving, wait);
        }
        found => found?,
    };
    let Some(within) = wait else {
        print_unloaded(name, &registered.unload(None)?);
        return Ok(());
    };
    let mut progress = Progress::begin(name, within);
    let unloaded = registered.unload(Some(&mut |left| progress.goes_on(left)))?;
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
        eprintln!("lisa: `lisa kernel exec` may choose `{name}` still: {error}");
    }
}

/// Waits for algorithms of this name that were unloaded before.
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
        let left = registered.wait(&mut |left| progress.goes_on(left))?;
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

/// Waiting for the last sockets: a line on a terminal, and an end after a time or by Ctrl-C.
struct Progress<'a> {
    name: &'a str,
    within: Duration,
    until: Instant,
    shown: u64,
}

impl<'a> Progress<'a> {
    fn begin(name: &'a str, within: Duration) -> Self {
        watch_for_interruption();
        Self {
            name,
            within,
            until: Instant::now() + within,
            shown: 0,
        }
    }

    /// Shows how many sockets and namespaces have the algorithm, and whether to wait for them any longer.
    fn goes_on(&mut self, left: u64) -> bool {
        if left != self.shown && std::io::stderr().is_terminal() {
            let left = counted(left as usize, "reference");
            eprint!("\r`{}`: waiting for {left} to go \x1b[K", self.name);
        }
        self.shown = left;
        Instant::now() < self.until && !INTERRUPTED.load(Ordering::Relaxed)
    }

    /// Fails, naming the namespaces and sockets, if references remain.
    fn finish(&self, registered: &Registered, unloaded: &Unloaded) -> Result<(), Failure> {
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

/// From here on Ctrl-C and SIGTERM end the waiting, not the program.
fn watch_for_interruption() {
    extern "C" fn interrupted(_: i32) {
        INTERRUPTED.store(true, Ordering::Relaxed);
    }
    for name in [Signal::SIGINT, Signal::SIGTERM] {
        // SAFETY: the handler does nothing but store to an atomic.
        unsafe { signal(name, SigHandler::Handler(interrupted)) }
            .expect("no signal of ours to keep");
    }
}
