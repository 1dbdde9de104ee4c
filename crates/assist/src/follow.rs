//! The two processes of an endpoint.

use std::future::pending;
use std::os::fd::{AsFd, AsRawFd};
use std::rc::Rc;

use caps::Capability;
use kernel::privilege_separation::{
    Channel, End, Sandbox, forbid_sockets, keep_capabilities, spawn,
};
use nix::sys::prctl;
use nix::sys::signal::{SigHandler, SigSet, Signal, signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

use crate::agent::{Agent, Event};
use crate::client::Manager;
use crate::error::{Error, Result};
use crate::events::PathManagerEvents;
use crate::loaded::Loaded;
use crate::requests::{Privileged, Remote};

/// What reading connections and setting groups needs. CAP_SYS_ADMIN opens maps and programs by their ids and includes CAP_BPF and
/// CAP_PERFMON, which with CAP_NET_ADMIN run the programs that request groups.
const NEEDED: [Capability; 4] = [
    Capability::CAP_BPF,
    Capability::CAP_PERFMON,
    Capability::CAP_NET_ADMIN,
    Capability::CAP_SYS_ADMIN,
];

/// Folders that resolving a name reads: its configuration, also in links into /run, and the libraries of nsswitch.conf.
const RESOLVER: [&str; 5] = ["/etc", "/run", "/usr", "/lib", "/lib64"];

/// Port of DNS, for answers that are too long for UDP.
const DNS: u16 = 53;

/// Follows the manager until SIGINT, SIGTERM or SIGHUP, then couples all subflows. `on_event` is called in both processes: [`Event::Coupled`] at
/// the end is of the privileged one. The calling program has no other thread.
///
/// # Errors
/// Without privileges, or if the network process fails. All subflows are coupled then, too.
pub fn follow(manager: Manager, on_event: impl Fn(Event) + Clone + 'static) -> Result<()> {
    let mut privileged = Privileged::new(Loaded::here()?);
    let events = PathManagerEvents::open()?;
    let signals = signals().map_err(|errno| Error::new("signalfd", errno.desc()))?;
    // No core file with the token, and no debugger of the same user.
    prctl::set_dumpable(false).map_err(|errno| Error::new("PR_SET_DUMPABLE", errno.desc()))?;
    let sandbox = Sandbox {
        descriptors: &[events.as_fd().as_raw_fd()],
        readable: &RESOLVER,
        connect: &[manager.target().port, DNS],
    };
    let in_network = on_event.clone();
    let network = spawn(&sandbox, move |channel| {
        match run(channel, manager, events, in_network.clone()) {
            Ok(()) => 0,
            Err(error) => {
                in_network(Event::Kernel(error));
                1
            }
        }
    });
    let network = network.map_err(|error| Error(error.to_string()))?;
    keep_capabilities(&NEEDED)
        .and_then(|()| forbid_sockets())
        .map_err(Error)?;

    let end = network.serve(Some(signals.as_fd()), |request, part| {
        privileged.answer(request, part)
    });
    // First: whatever the network process does, its groups end here.
    let coupled = privileged.couple();
    network.stop();
    let exit = network.wait();
    coupled?;
    on_event(Event::Coupled);
    let reason = match (end, exit) {
        (End::Stopped, _) => return Ok(()),
        (End::Invalid, _) => "has sent an invalid request".into(),
        (End::Ended, None) => "has closed its channel".into(),
        (End::Ended, Some(exit)) => format!("has ended ({exit})"),
    };
    Err(Error(format!(
        "the network process {reason}; all subflows are coupled"
    )))
}

/// The loop, in the network process, until the privileged process ends.
fn run(
    channel: Channel,
    manager: Manager,
    events: PathManagerEvents,
    on_event: impl Fn(Event) + 'static,
) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(|error| Error::new("the network process", error))?;
    let channel = Rc::new(channel);
    let agent = Agent::new(manager, Remote(channel.clone()), on_event);
    runtime.block_on(async {
        tokio::select! {
            ended = agent.run(events, pending()) => ended,
            () = channel.closed() => Ok(()),
        }
    })
}

/// Signals that end the work, in a descriptor.
fn signals() -> nix::Result<SignalFd> {
    let mut mask = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM]);
    // SAFETY: neither action is a handler.
    unsafe {
        match signal(Signal::SIGHUP, SigHandler::SigDfl)? {
            // nohup(1). A signal that is blocked would arrive all the same.
            SigHandler::SigIgn => _ = signal(Signal::SIGHUP, SigHandler::SigIgn)?,
            _ => mask.add(Signal::SIGHUP),
        }
    }
    mask.thread_block()?;
    SignalFd::with_flags(&mask, SfdFlags::SFD_CLOEXEC)
}
