//! Attaches the BPF programs that serve the cgroups, and detaches them.
//!
//! One set of programs serves all algorithms. Links of tracing and cgroup programs end with their last reference, unlike the
//! registration of a congestion control, so they are pinned in the BPF file system of process 1: `ip netns exec` mounts another
//! /sys for its command alone. [`after_load`] and [`after_unload`] make the pins agree with the loaded algorithms from any state,
//! also after a process was killed during a change.

use std::fs::{self, File};
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, symlink};
use std::path::Path;
use std::time::{Duration, Instant};
use std::{io, thread};

use libbpf_rs::btf::types;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, MapHandle, OpenObject, ProgramInput};
use mpcc::NAME_MAX;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::mount::{MsFlags, mount, umount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::statfs::{BPF_FS_MAGIC, statfs};

use super::hierarchy;
use crate::exec::is_name_of_ours;
use crate::exec::landlock;
use crate::kernel_fs::read_proc;
use crate::requirements::kernel_btf;
use crate::skel::exec::{ExecSkel, ExecSkelBuilder};
use crate::{Error, Result, libbpf, mounts, registry};

/// Conventional mount point of the BPF file system (bpftool, iproute2, systemd).
const BPF_FS: &str = "/sys/fs/bpf";
/// Source of a mount of [`BPF_FS`] by this project.
const MOUNT_SOURCE: &str = "lisa";
const PINS: &str = "/sys/fs/bpf/lisa";
/// The map of algorithms.
const ALGORITHMS: &str = "/sys/fs/bpf/lisa/algorithms";
/// The sockops program.
const CONNECTED: &str = "/sys/fs/bpf/lisa/connected";
/// The program that makes sockets MPTCP.
const SOCKET: &str = "/sys/fs/bpf/lisa/socket";
/// A symbolic link whose target is the hash of the object of these programs. (A BPF file system has no ordinary files.)
const OBJECT: &str = "/sys/fs/bpf/lisa/object";
const HASH: &str = env!("LISA_EXEC_OBJECT");
/// Locked while pins are changed; removed after each change. Its directory is the only one of /run in which the service may write.
const LOCK: &str = "/run/lisa/pins.lock";
const LOCK_DIRECTORY: &str = "/run/lisa";
/// Longest wait for the lock. A change of the pins takes milliseconds.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// To be called after a load. Serves the algorithms that every user may choose, while at least one algorithm of this project
/// without an owner is loaded. Replaces the programs of another version; for this moment new sockets of commands are plain TCP.
///
/// # Errors
/// Why the programs are not attached. `lisa kernel exec` then uses its helper process.
pub(crate) fn after_load() -> Result<()> {
    update(true)
}

/// To be called after an unload. As [`after_load`], but programs that are not attached remain so. Detaches everything after the last
/// algorithm.
pub(crate) fn after_unload() -> Result<()> {
    update(false)
}

/// Loads the programs and frees them again: whether [`after_load`] can attach them.
///
/// # Errors
/// Why the kernel does not accept them.
pub(crate) fn try_load() -> Result<()> {
    in_mounts_of_init(|| load(&mut MaybeUninit::uninit()).map(drop))
}

/// Runs `work` on a new thread, which changes its mounts and may enter a Landlock domain.
fn in_mounts_of_init<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let work = thread::Builder::new().spawn(move || {
        enter_mounts_of_init()?;
        work()
    });
    let work = work.map_err(Error::io("starting a thread"))?;
    work.join().expect("it does not panic")
}

fn update(attaches: bool) -> Result<()> {
    in_mounts_of_init(move || {
        let lock = lock().map_err(Error::io(format!("locking {LOCK}")))?;
        let updated = update_locked(attaches);
        // Before the lock is released: the next process creates another file.
        let _ = fs::remove_file(LOCK);
        let _ = fs::remove_dir(LOCK_DIRECTORY); // fails while the service has its record there
        drop(lock);
        updated
    })
}

/// Locks a file that only root can open, so that no other user can hold the lock.
fn lock() -> io::Result<Flock<File>> {
    let deadline = Instant::now() + LOCK_TIMEOUT;
    loop {
        let mut options = File::options();
        options.write(true).create(true).mode(0o600);
        fs::create_dir_all(LOCK_DIRECTORY)?;
        let file = match options.custom_flags(libc::O_NOFOLLOW).open(LOCK) {
            // The previous holder has removed the directory.
            Err(error) if error.kind() == io::ErrorKind::NotFound && Instant::now() < deadline => {
                continue;
            }
            opened => opened?,
        };
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            // The previous holder may have removed the file between `open` and `flock`.
            Ok(lock) if fs::metadata(LOCK).is_ok_and(|on_disk| same_file(&on_disk, &lock)) => {
                return Ok(lock);
            }
            Ok(_) => continue,
            Err((_, Errno::EWOULDBLOCK)) if Instant::now() < deadline => {
                thread::sleep(Duration::from_millis(10));
            }
            Err((_, Errno::EWOULDBLOCK)) => {
                return Err(io::Error::other(
                    "another `lisa kernel` command has held it for 10 s",
                ));
            }
            Err((_, errno)) => return Err(errno.into()),
        }
    }
}

fn same_file(on_disk: &fs::Metadata, file: &File) -> bool {
    file.metadata()
        .is_ok_and(|file| (file.dev(), file.ino()) == (on_disk.dev(), on_disk.ino()))
}

fn update_locked(attaches: bool) -> Result<()> {
    let mut loaded = registry::find()?.into_iter();
    if !loaded.any(|registered| !registered.is_leaving() && registered.owner().is_none()) {
        return detach();
    }
    let algorithms = match attached()? {
        Some(algorithms) if !attaches || is_this_version()? => algorithms,
        _ => {
            detach()?;
            if !attaches {
                return Ok(());
            }
            match attach() {
                Ok(algorithms) => algorithms,
                // A kernel or a container without these programs: `exec` uses its helper process.
                Err(error) => {
                    detach()?;
                    return Err(error);
                }
            }
        }
    };
    serve(&algorithms)
}

/// Moves this thread into the mount namespace of process 1, where pins stay after the end of this process. Without the privilege
/// the thread stays in its namespace.
///
/// # Errors
/// If /proc cannot be read: pins in another place would be a second set of programs.
fn enter_mounts_of_init() -> Result<()> {
    let namespace = |path| fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino()));
    let (own, init) = ("/proc/thread-self/ns/mnt", "/proc/1/ns/mnt");
    let file = match File::open(init) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
        file => file.map_err(Error::io(init))?,
    };
    if matches!((namespace(own), namespace(init)), (Ok(own), Ok(init)) if own == init) {
        return Ok(());
    }
    // Only a thread that does not share its working directory may change its mount namespace.
    if unshare(CloneFlags::CLONE_FS).is_ok() {
        let _ = setns(file, CloneFlags::CLONE_NEWNS);
    }
    Ok(())
}

/// The map of algorithms, if all programs are attached.
fn attached() -> Result<Option<MapHandle>> {
    // Paths first: libbpf would print a message for a missing pin.
    for pin in [SOCKET, CONNECTED, ALGORITHMS] {
        if !Path::new(pin).try_exists().map_err(Error::io(pin))? {
            return Ok(None);
        }
    }
    let algorithms = MapHandle::from_pinned_path(ALGORITHMS);
    algorithms.map(Some).map_err(Error::bpf(ALGORITHMS))
}

fn is_this_version() -> Result<bool> {
    match fs::read_link(OBJECT) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        target => Ok(target.map_err(Error::io(OBJECT))? == Path::new(HASH)),
    }
}

/// Removes the pins, which frees links and programs, in the reverse order of their creation.
fn detach() -> Result<()> {
    for pin in [SOCKET, CONNECTED, ALGORITHMS, OBJECT] {
        absent(fs::remove_file(pin)).map_err(Error::io(pin))?;
    }
    absent(fs::remove_dir(PINS)).map_err(Error::io(PINS))?;
    if is_ours_and_empty() {
        umount(BPF_FS).map_err(|errno| Error::io(format!("unmounting {BPF_FS}"))(errno.into()))?;
    }
    Ok(())
}

/// Success also if there was nothing to remove.
fn absent(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Whether [`BPF_FS`] is a mount by this project without files.
fn is_ours_and_empty() -> bool {
    let mounts = mounts::of("thread-self").unwrap_or_default();
    let mut at = mounts
        .iter()
        .rev()
        .filter(|mount| mount.at == Path::new(BPF_FS));
    at.next()
        .is_some_and(|mount| mount.kind == "bpf" && mount.source == MOUNT_SOURCE)
        && fs::read_dir(BPF_FS).is_ok_and(|mut files| files.next().is_none())
}

/// Loads the programs, and examines this kernel for them. Also returns the cgroup for the sockops program.
fn load(memory: &mut MaybeUninit<OpenObject>) -> Result<(ExecSkel<'_>, File)> {
    check()?;
    let root = hierarchy::root().ok_or(Error::Missing {
        what: "cgroup v2 mounted",
        remedy: "`mount -t cgroup2 cgroup2 /sys/fs/cgroup` mounts it",
    })?;
    let root = File::open(&root).map_err(Error::io(root.display().to_string()))?;
    libbpf::prepare()?;
    let open = ExecSkelBuilder::default().open(memory).map_err(failed)?;
    let mut skel = open.load().map_err(failed)?;
    survey(&mut skel, &root)?;
    Ok((skel, root))
}

fn failed(error: libbpf_rs::Error) -> Error {
    let message = libbpf::last_message();
    let what = format!("attaching the programs of `lisa kernel exec` ({message})");
    Error::bpf(what)(error)
}

fn attach() -> Result<MapHandle> {
    let mut memory = MaybeUninit::uninit();
    let (mut skel, root) = load(&mut memory)?;
    mount_bpf_fs()?;
    fs::create_dir(PINS).map_err(Error::io(PINS))?;
    symlink(HASH, OBJECT).map_err(Error::io(OBJECT))?;
    skel.maps.algorithms.pin(ALGORITHMS).map_err(failed)?;
    let connected = skel.progs.lisa_connected.attach_cgroup(root.as_raw_fd());
    connected
        .and_then(|mut link| link.pin(CONNECTED))
        .map_err(failed)?;
    // Last, so that no socket becomes MPTCP before the algorithm can be set.
    let socket = skel.progs.lisa_socket.attach();
    socket
        .and_then(|mut link| link.pin(SOCKET))
        .map_err(failed)?;
    MapHandle::from_pinned_path(ALGORITHMS).map_err(failed)
}

fn check() -> Result<()> {
    kernel_btf()?
        .type_by_name::<types::Func<'_>>("update_socket_protocol")
        .map(drop)
        .ok_or(Error::Missing {
            what: "BPF hook for socket()",
            remedy: "Linux 6.6 and later have it",
        })
}

/// Runs the program that examines the structures of this kernel for the other programs.
fn survey(skel: &mut ExecSkel<'_>, root: &File) -> Result<()> {
    let failed = |error| Error::bpf("examining this kernel for `lisa kernel exec`")(error);
    let run = |in_domain: u32| {
        let mut in_domain = in_domain.to_ne_bytes();
        let input = ProgramInput {
            context_in: Some(&mut in_domain),
            ..Default::default()
        };
        skel.progs.lisa_survey.test_run(input).map(drop)
    };
    run(0).map_err(failed)?;
    let ports = landlock::enter_domain().map_err(Error::io("entering a Landlock domain"))?;
    if ports {
        run(1).map_err(failed)?;
    }
    let root = root.metadata().map_err(Error::io("the root cgroup"))?.ino();
    let bss = skel.maps.bss_data.as_deref_mut().expect("it has data");
    bss.host.root = root;
    if bss.host.mptcp_id == 0 || ports != (bss.host.landlock != 0) {
        return Err(Error::Missing {
            what: "layout of MPTCP's or Landlock's data that is known",
            remedy: "`lisa kernel exec` uses a helper process instead",
        });
    }
    Ok(())
}

fn mount_bpf_fs() -> Result<()> {
    if statfs(Path::new(BPF_FS)).is_ok_and(|fs| fs.filesystem_type() == BPF_FS_MAGIC) {
        return Ok(());
    }
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(
        Some(MOUNT_SOURCE),
        BPF_FS,
        Some("bpf"),
        flags,
        Some("mode=0700"),
    )
    .map_err(|errno| Error::io(format!("mounting {BPF_FS}"))(errno.into()))
}

/// Serves the algorithms that every user may choose, and no others. A name of this project that another program has registered is
/// not served.
fn serve(algorithms: &MapHandle) -> Result<()> {
    const ALLOWED: &str = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";
    let failed = |error| Error::bpf("algorithms of `lisa kernel exec`")(error);
    let allowed = read_proc(ALLOWED)?;
    let registered = registry::find_registrations()?;
    let is_ours = |name: &str| {
        let mut named = registered.iter().filter(|found| found.name() == name);
        named.any(|found| !found.is_leaving())
    };
    let names = allowed.split_whitespace();
    let served = names.filter(|name| !is_name_of_ours(name) || is_ours(name));
    let allowed: Vec<_> = served.map(key).collect();
    for name in algorithms.keys().collect::<Vec<_>>() {
        if !allowed.iter().any(|key| key[..] == name[..]) {
            algorithms.delete(&name).map_err(failed)?;
        }
    }
    for key in &allowed {
        algorithms
            .update(key, &[1], MapFlags::ANY)
            .map_err(failed)?;
    }
    Ok(())
}

fn key(name: &str) -> [u8; NAME_MAX + 1] {
    let mut key = [0; NAME_MAX + 1];
    for (to, from) in key[..NAME_MAX].iter_mut().zip(name.bytes()) {
        *to = from;
    }
    key
}
