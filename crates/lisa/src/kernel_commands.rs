//! `lisa kernel …`

use crate::{cli::Kernel, group, output::Failure, output::counted, status, top};
use kernel::{load, registry};
use nix::sys::signal::{SigHandler, Signal, signal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{ffi::OsString, io::IsTerminal};

/// Runs one of them.
pub fn run(command: Kernel) -> Result<(), Failure> {
    match command {
        Kernel::Load {
            name,
            default,
            max_connections,
            con_ssthresh,
        } => {
            let found = mpcc::Algorithm::find(&name);
            if con_ssthresh.is_some() && found.is_some_and(|a| a.slow_start() != "css") {
                return Err(Failure::usage(format!(
                    "--con-ssthresh is for coupled slow start (`css`, `css_…`), not for `{name}`"
                )));
            }
            let options = load::Options {
                default,
                max_connections,
                con_ssthresh,
                ..Default::default()
            };
            let registered = load::load(&name, &options)?;
            print!("loaded `{}`", registered.name());
            match registered.made_default()? {
                Some((_, previous)) => println!(
                    ", the default of this network namespace from now on (it was `{previous}`)"
                ),
                None => println!("; `lisa kernel exec {name} -- COMMAND` uses it"),
            }
            Ok(())
        }
        Kernel::Unload { name, wait } => unload(&name, wait),
        Kernel::Status { json } => status::print(json),
        Kernel::Top { interval } => top::run(interval),
        Kernel::Group {
            token,
            assignments,
            reset,
        } => match token {
            _ if reset => group::reset(token),
            Some(token) if !assignments.is_empty() => group::ask(token, &assignments),
            _ => group::show(token),
        },
        Kernel::Exec { name, command } => Err(exec(&name, &command)),
    }
}

/// Returns only where the command could not be started.
fn exec(name: &str, command: &[OsString]) -> Failure {
    let error = kernel::exec::exec(name, command);
    if matches!(error, kernel::exec::Error::NotLoaded(_)) {
        if let Err(unknown) = kernel::error::loadable(name) {
            return unknown.into(); // a name that could not be loaded either
        }
    }
    Failure {
        code: error.exit_code(),
        message: error.to_string(),
    }
}

fn unload(name: &str, wait: bool) -> Result<(), Failure> {
    let registered = registry::find_one(name)?;
    let default = registered.made_default()?;
    if wait {
        watch_for_interruption();
        let mut left = 0;
        let mut progress = |users: u64| {
            if users != left && std::io::stderr().is_terminal() {
                eprint!(
                    "\r`{name}`: {} to close \x1b[K",
                    counted(users as usize, "socket")
                );
            }
            left = users;
            !INTERRUPTED.load(Ordering::Relaxed)
        };
        registered.unload(Some(&mut progress))?;
        if left > 0 && std::io::stderr().is_terminal() {
            eprint!("\r\x1b[K");
        }
        if left > 0 && INTERRUPTED.load(Ordering::Relaxed) {
            return Err(Failure::new(format!(
                "interrupted: `{name}` is unloaded for new sockets, and {} it until closed; `lisa kernel status` shows it",
                if left == 1 {
                    "1 socket keeps".into()
                } else {
                    format!("{left} sockets keep")
                },
            )));
        }
    } else {
        registered.unload(None)?;
    }
    match default {
        Some((_, previous)) if kernel::default::get()? == previous => {
            println!("unloaded `{name}`; the default is `{previous}` again");
        }
        _ => println!("unloaded `{name}`"),
    }
    Ok(())
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
