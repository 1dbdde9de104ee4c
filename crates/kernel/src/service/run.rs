//! The loop of the service.

use super::config::Config;
use super::instance::Instance;
use super::log::Log;
use super::namespaces::Watch;
use super::state::State;
use crate::{Error, Result};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use sd_notify::NotifyState;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

/// Time between two searches for entries of connections without sockets. A search takes some 10 ms of a CPU.
const CLEANING: Duration = Duration::from_secs(60);

/// Time between two writes of the metrics' text file: the interval at which Prometheus usually scrapes node_exporter.
const PUBLISHING: Duration = Duration::from_secs(15);

/// Runs the service until SIGTERM or SIGINT.
///
/// Loads the algorithms and sets the defaults that the file names. Then tells systemd, by the variable NOTIFY_SOCKET, that it is
/// ready.
///
/// # Errors
/// The first failure of the start. What was loaded by this call is unloaded again.
pub fn run(file: &Path, log: &mut Log<'_>) -> Result<()> {
    let signals = Signals::block()?;
    let (instance, record) = Instance::begin()?;
    let config = Config::read(file)?;
    let mut watch = Watch::begin()?;
    let mut state = State::new(instance, record)?;
    state.change(config, log)?;
    notify(&[NotifyState::Ready, NotifyState::Status(&state.summary())]);
    log.info(&format!("ready: {}", state.summary()));

    let now = Instant::now();
    let (mut clean_at, mut publish_at) = (now + CLEANING, now + PUBLISHING);
    loop {
        let (signal, changed) = {
            let mut events = [
                PollFd::new(signals.0.as_fd(), PollFlags::POLLIN),
                PollFd::new(watch.mounts(), PollFlags::POLLPRI),
                PollFd::new(watch.files(), PollFlags::POLLIN),
            ];
            let next = clean_at.min(publish_at);
            let wait = next.saturating_duration_since(Instant::now());
            let wait = PollTimeout::try_from(wait.as_millis() + 1).unwrap_or(PollTimeout::MAX);
            match poll(&mut events, wait) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(errno) => return Err(Error::io("poll")(errno.into())),
            }
            let has = |event: &PollFd<'_>| event.any().unwrap_or(true);
            (has(&events[0]), has(&events[1]) || has(&events[2]))
        };
        if changed {
            state.namespaces_changed(watch.deleted(), log);
        }
        if signal {
            match signals.next() {
                Some(Signal::SIGHUP) => reload(&mut state, file, log),
                Some(_) => break,
                None => {}
            }
        }
        if Instant::now() >= publish_at {
            state.publish(log);
            publish_at = Instant::now() + PUBLISHING;
        }
        if Instant::now() >= clean_at {
            state.delete_left_over(log);
            clean_at = Instant::now() + CLEANING;
        }
    }
    notify(&[NotifyState::Stopping]);
    state.stop(log)
}

/// Reads the file again and applies the differences. After an error the state stays as it is.
fn reload(state: &mut State, file: &Path, log: &mut Log<'_>) {
    // systemd 253 and later wait for READY=1 that follows, with the time of the begin.
    if let Ok(now) = NotifyState::monotonic_usec_now() {
        notify(&[NotifyState::Reloading, now]);
    }
    let reloaded = Config::read(file).and_then(|config| state.change(config, log));
    let status = match reloaded {
        Ok(()) => {
            log.info(&format!("reloaded: {}", state.summary()));
            state.summary()
        }
        Err(error) => {
            log.error(&format!("not reloaded: {error}"));
            format!("{}; not reloaded: {error}", state.summary())
        }
    };
    notify(&[NotifyState::Ready, NotifyState::Status(&status)]);
}

/// Informs the service manager, if there is one. The service runs without it, too.
fn notify(state: &[NotifyState<'_>]) {
    let _ = sd_notify::notify(state);
}

/// The signals, which wait in a descriptor instead of interrupting the work.
struct Signals(SignalFd);

impl Signals {
    fn block() -> Result<Self> {
        let mut mask = SigSet::empty();
        for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
            mask.add(signal);
        }
        let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        let signals = mask
            .thread_block()
            .and_then(|()| SignalFd::with_flags(&mask, flags));
        let signals = signals.map_err(|errno| Error::io("signalfd")(errno.into()))?;
        Ok(Self(signals))
    }

    fn next(&self) -> Option<Signal> {
        let signal = self.0.read_signal().ok().flatten()?;
        Signal::try_from(signal.ssi_signo as i32).ok()
    }
}
