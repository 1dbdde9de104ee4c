//! What each process gives up.

use super::{Channel, filter};
use caps::errors::CapsError;
use caps::{CapSet, Capability, CapsHashSet};
use landlock::{
    ABI, Access, AccessFs, AccessNet, NetPort, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, Scope, path_beneath_rules,
};
use nix::sys::prctl;
use nix::sys::signal::{SigHandler, SigSet, Signal, signal};
use nix::unistd::{Gid, Pid, Uid, getppid, setgroups, setresgid, setresuid};
use std::os::fd::{AsFd, AsRawFd, RawFd};

/// User and group of network processes. systemd (UIDS-GIDS: 65520–65533 are unused) and Debian (policy 9.2.2: reserved) assign this number
/// to no user. Not `nobody`: any other process of that user could send signals to a network process. A user namespace with
/// 65 536 ids maps this number.
const USER: u32 = 65_520;

/// Newest version of Landlock whose rules are used: Linux 6.12. On an older kernel those that it has are.
const LANDLOCK: ABI = ABI::V6;

/// What a network process keeps. It loses all else: capabilities, its user and groups, descriptors, files, signals, and system calls that
/// reading and answering does not need.
pub struct Sandbox<'a> {
    /// Descriptors, besides those of standard streams and the channel.
    pub descriptors: &'a [RawFd],
    /// Folders whose files it may read, as far as its user may.
    pub readable: &'a [&'a str],
    /// TCP ports that it may connect to.
    pub connect: &'a [u16],
}

impl Sandbox<'_> {
    /// Gives up everything else, in the network process. The error is one line.
    pub(super) fn enter(&self, channel: &Channel, parent: Pid) -> Result<(), String> {
        let failed =
            |what: &'static str| move |error: nix::Error| format!("{what}: {}", error.desc());
        // Signals of a terminal or of systemd to all processes are the parent's: it decides when the work ends.
        for of_parent in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
            // SAFETY: SIG_IGN installs no handler.
            unsafe { signal(of_parent, SigHandler::SigIgn) }.map_err(failed("signals"))?;
        }
        (SigSet::all().thread_unblock()).map_err(failed("signals"))?;
        prctl::set_name(c"lisa-network").map_err(failed("PR_SET_NAME"))?;
        self.close_descriptors(channel)
            .map_err(failed("close_range"))?;
        self.restrict_files_and_ports()
            .map_err(|error| format!("Landlock: {error}"))?;

        drop_bounding(&[])?;
        // Without CAP_SETUID it keeps the caller's user. The other limits hold all the same.
        if caps::has_cap(None, CapSet::Effective, Capability::CAP_SETUID).unwrap_or(true) {
            let (user, group) = (Uid::from_raw(USER), Gid::from_raw(USER));
            setgroups(&[]).map_err(failed("setgroups"))?;
            setresgid(group, group, group).map_err(failed("setresgid"))?;
            setresuid(user, user, user).map_err(failed("setresuid"))?;
        }
        keep_capabilities(&[])?;
        prctl::set_dumpable(false).map_err(failed("PR_SET_DUMPABLE"))?;
        // After the change of the user, which clears it.
        prctl::set_pdeathsig(Signal::SIGKILL).map_err(failed("PR_SET_PDEATHSIG"))?;
        if getppid() != parent {
            return Err("the privileged process has ended".into());
        }
        filter::restrict_system_calls()
    }

    fn close_descriptors(&self, channel: &Channel) -> nix::Result<()> {
        let kept = [0, 1, 2, channel.as_fd().as_raw_fd()];
        let kept = kept.iter().chain(self.descriptors);
        let mut kept: Vec<u32> = kept.map(|fd| *fd as u32).collect();
        kept.sort_unstable();
        kept.dedup();
        let ends = kept[1..].iter().map(|next| next - 1).chain([u32::MAX]);
        for (first, last) in kept.iter().map(|fd| fd + 1).zip(ends) {
            if first <= last {
                // SAFETY: the closed descriptors belong to variables of the parent, which this process neither uses nor drops.
                nix::errno::Errno::result(unsafe {
                    libc::syscall(libc::SYS_close_range, first, last, 0)
                })?;
            }
        }
        Ok(())
    }

    /// Files, TCP ports, signals, ptrace, abstract UNIX sockets of other processes: as far as the kernel has Landlock.
    fn restrict_files_and_ports(&self) -> Result<(), RulesetError> {
        let read = AccessFs::ReadFile | AccessFs::ReadDir;
        let ports = self.connect.iter();
        Ruleset::default()
            .handle_access(AccessFs::from_all(LANDLOCK))?
            .handle_access(AccessNet::from_all(LANDLOCK))?
            .scope(Scope::from_all(LANDLOCK))?
            .create()?
            .add_rules(path_beneath_rules(self.readable, read))?
            .add_rules(
                ports.map(|port| Ok::<_, RulesetError>(NetPort::new(*port, AccessNet::ConnectTcp))),
            )?
            .restrict_self()?;
        Ok(())
    }
}

/// Gives up all capabilities but these, for good, and the possibility to gain some by `exec`. Those that this thread lacks stay missing.
///
/// # Errors
/// A line, if the kernel refuses.
pub fn keep_capabilities(kept: &[Capability]) -> Result<(), String> {
    drop_bounding(kept)?;
    let failed = |error: CapsError| format!("capabilities: {error}");
    let has = caps::read(None, CapSet::Permitted).map_err(failed)?;
    let kept: CapsHashSet = kept.iter().copied().filter(|c| has.contains(c)).collect();
    caps::clear(None, CapSet::Ambient).map_err(failed)?;
    caps::clear(None, CapSet::Inheritable).map_err(failed)?;
    caps::set(None, CapSet::Effective, &kept).map_err(failed)?;
    caps::set(None, CapSet::Permitted, &kept).map_err(failed)?;
    prctl::set_no_new_privs().map_err(|error| format!("PR_SET_NO_NEW_PRIVS: {}", error.desc()))
}

/// Takes all capabilities but these out of the bounding set. Only CAP_SETPCAP can; without it no_new_privs has the same effect.
fn drop_bounding(kept: &[Capability]) -> Result<(), String> {
    let failed = |error: CapsError| format!("the bounding set of capabilities: {error}");
    if caps::has_cap(None, CapSet::Effective, Capability::CAP_SETPCAP).map_err(failed)? {
        for capability in caps::read(None, CapSet::Bounding).map_err(failed)? {
            if !kept.contains(&capability) {
                caps::drop(None, CapSet::Bounding, capability).map_err(failed)?;
            }
        }
    }
    Ok(())
}
