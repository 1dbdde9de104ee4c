//! The network namespaces of this host: their names, and how to enter them.
//!
//! A namespace has an inode number. It has a name only if it is mounted (`ip netns add blue`: /run/netns/blue). It exists while a
//! mount, a process, a file descriptor or a socket refers to it. Another process can enter it through a mount, a process or a
//! descriptor; a namespace that only sockets refer to can be neither named nor entered.

use crate::kernel_fs::proc_error;
use crate::mounts::{self, Mount};
use crate::text::printable;
use crate::{Error, Result};
use nix::sched::{CloneFlags, setns};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::{fmt, io, panic, thread};

/// A process: its number and its command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// The command's name, at most 15 bytes (`/proc/PID/comm`). Control characters and bytes that are not UTF-8 are escaped.
    pub command: String,
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} {}", self.pid, self.command)
    }
}

/// A network namespace.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Namespace {
    /// Inode number, as in `net:[4026531840]`.
    pub inode: u32,
    /// Name in /run/netns, or the path of another mount. Control characters and bytes that are not UTF-8 are escaped.
    pub name: Option<String>,
    /// A process in the namespace, or else one with a file descriptor of it.
    pub process: Option<Process>,
    /// File for setns(2).
    #[serde(skip)]
    path: Option<PathBuf>,
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label())?;
        match (&self.name, &self.process) {
            (Some(_), _) => Ok(()),
            (None, Some(process)) => write!(f, " ({process})"),
            (None, None) => f.write_str(" (no process, no name)"),
        }
    }
}

impl Namespace {
    /// A namespace of which only the inode number is known.
    pub(crate) fn unknown(inode: u32) -> Self {
        Self {
            inode,
            name: None,
            process: None,
            path: None,
        }
    }

    /// Its name, or its inode number if it has no name.
    pub fn label(&self) -> String {
        match &self.name {
            Some(name) => format!("`{name}`"),
            None => format!("net:[{}]", self.inode),
        }
    }

    /// Whether a mount, a process or a file descriptor leads into it.
    pub fn can_be_entered(&self) -> bool {
        self.path.is_some()
    }

    /// Runs `work` on a thread inside this namespace.
    ///
    /// # Errors
    /// If the namespace cannot be entered; those of `work`.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        let entering = || format!("entering {self}");
        let path = self.path.as_deref().ok_or_else(|| {
            Error::io(entering())(io::Error::other("no process, mount or descriptor of it"))
        })?;
        thread::scope(|scope| {
            let inside = scope.spawn(|| {
                let namespace = self.open(path).map_err(Error::io(entering()))?;
                setns(namespace, CloneFlags::CLONE_NEWNET)
                    .map_err(|error| Error::io(entering())(error.into()))?;
                work()
            });
            inside
                .join()
                .unwrap_or_else(|panic| panic::resume_unwind(panic))
        })
    }

    /// Opens the file by which this namespace was found. Since then a process may have ended, moved to another namespace, or
    /// replaced the file behind its descriptor (by a FIFO, which would block).
    fn open(&self, path: &Path) -> io::Result<File> {
        let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(flags)
            .open(path)?;
        match file.metadata()?.ino() == u64::from(self.inode) {
            true => Ok(file),
            false => Err(io::Error::other("it is another namespace by now")),
        }
    }
}

/// Network namespaces, by inode number.
#[derive(Debug, Default)]
pub struct Namespaces(HashMap<u32, Namespace>);

impl Namespaces {
    /// The namespaces with a name in /run/netns, by name.
    pub fn named() -> Result<Vec<Namespace>> {
        let mounts = mounts::of("self").map_err(proc_error(MOUNTS))?;
        let named = mounts.into_iter().filter_map(|mount| {
            let name = netns_name(&mount.at)?.to_owned();
            let namespace = Namespace {
                name: Some(printable(name.as_bytes())),
                ..Namespace::unknown(inode(&mount)?)
            };
            let path = Some(mount.at);
            Some((name, Namespace { path, ..namespace }))
        });
        // `ip netns add` mounts /run/netns twice if it is a mount point of its own.
        let named: BTreeMap<_, _> = named.collect();
        Ok(named.into_values().collect())
    }

    /// The mounted namespaces, which are those with a name. It reads one file, whatever the number of processes.
    ///
    /// # Errors
    /// If the mounts cannot be read.
    pub fn mounted() -> Result<Self> {
        let mut found = Self::default();
        for mount in mounts::of("self").map_err(proc_error(MOUNTS))? {
            let Some(inode) = inode(&mount) else { continue };
            let namespace = found.entry(inode);
            let name = netns_name(&mount.at).unwrap_or(mount.at.as_os_str());
            namespace
                .name
                .get_or_insert_with(|| printable(name.as_bytes()));
            namespace.path.get_or_insert(mount.at);
        }
        Ok(found)
    }

    /// All namespaces that a mount, a process or a file descriptor refers to, as far as /proc shows them to this process.
    ///
    /// # Errors
    /// If /proc cannot be read.
    pub fn find() -> Result<Self> {
        let mut found = Self::mounted()?;
        let processes = processes()?;
        for (pid, process) in &processes {
            for task in entries(&process.join("task"))? {
                found.add(*pid, process, &task.join("ns/net"));
            }
        }
        // Descriptors last: a process in the namespace takes precedence over one with a descriptor of it.
        for (pid, process) in &processes {
            for descriptor in entries(&process.join("fd"))? {
                let target = fs::read_link(&descriptor).unwrap_or_default();
                if target.to_string_lossy().starts_with("net:[") {
                    found.add(*pid, process, &descriptor);
                }
            }
        }
        Ok(found)
    }

    /// Whether [`Namespaces::get`] was called for this inode number or it was found.
    pub(crate) fn has(&self, inode: u32) -> bool {
        self.0.contains_key(&inode)
    }

    /// Remembers that no mount, process or file descriptor was found for an inode number.
    pub(crate) fn note(&mut self, inode: u32) {
        self.entry(inode);
    }

    /// The namespace with this inode number, with its name and a process if known.
    pub fn get(&self, inode: u32) -> Namespace {
        let known = self.0.get(&inode).cloned();
        known.unwrap_or_else(|| Namespace::unknown(inode))
    }

    fn entry(&mut self, inode: u32) -> &mut Namespace {
        let new = || Namespace::unknown(inode);
        self.0.entry(inode).or_insert_with(new)
    }

    fn add(&mut self, pid: u32, process: &Path, path: &Path) {
        let Ok(metadata) = fs::metadata(path) else {
            return; // the process has ended, or is another user's
        };
        let namespace = self.entry(metadata.ino() as u32);
        namespace.path.get_or_insert_with(|| path.into());
        namespace.process.get_or_insert_with(|| Process {
            pid,
            command: fs::read(process.join("comm")).map_or(String::new(), |comm| {
                printable(comm.strip_suffix(b"\n").unwrap_or(&comm))
            }),
        });
    }
}

/// The mounts of this process's mount namespace (proc(5)). poll(2) reports a change as POLLPRI.
pub(crate) const MOUNTS: &str = "/proc/self/mountinfo";

/// Directory of the named network namespaces (ip-netns(8)).
pub(crate) const NETNS: &str = "/run/netns";

/// Name of the network namespace that is mounted here.
fn netns_name(path: &Path) -> Option<&OsStr> {
    let name = path.strip_prefix(NETNS);
    let name = name.or_else(|_| path.strip_prefix("/var/run/netns")); // /var/run is a link to /run, or a directory
    name.ok().map(Path::as_os_str)
}

/// Inode number of the network namespace that is mounted.
fn inode(mount: &Mount) -> Option<u32> {
    let root = mount.root.to_str()?;
    let inode = root.strip_prefix("net:[")?.strip_suffix(']')?;
    inode.parse().ok()
}

/// The processes that /proc shows, by number.
fn processes() -> Result<BTreeMap<u32, PathBuf>> {
    let numbered = |path: PathBuf| {
        let pid = path.file_name()?.to_str()?.parse().ok()?;
        Some((pid, path))
    };
    Ok(entries(Path::new("/proc"))?.filter_map(numbered).collect())
}

/// Entries of a directory of /proc; none if its process has ended, or is another user's.
fn entries(directory: &Path) -> Result<impl Iterator<Item = PathBuf>> {
    let read = match fs::read_dir(directory) {
        Ok(read) => Some(read),
        Err(error) => match error.raw_os_error() {
            Some(libc::ENOENT | libc::ESRCH | libc::EACCES | libc::EPERM) => None,
            _ => return Err(Error::io(directory.display().to_string())(error)),
        },
    };
    let read = read.into_iter().flatten();
    Ok(read.filter_map(|entry| Some(entry.ok()?.path())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounted_namespaces() {
        let found = |line: &[u8]| inode(&mounts::parse(line)[0]);
        let line = b"512 26 0:4 net:[4026532281] /run/netns/blue rw shared:22 - nsfs nsfs rw";
        assert_eq!(found(line), Some(4_026_532_281));
        let other = b"26 1 0:24 / /run rw,nosuid shared:12 - tmpfs tmpfs rw,size=10%";
        assert_eq!(found(other), None);
        let mnt = b"513 26 0:4 mnt:[4026532282] /run/snapd/ns/lxd.mnt rw - nsfs nsfs rw";
        assert_eq!(found(mnt), None);
        for (path, name) in [
            ("/run/netns/blue", Some("blue")),
            ("/var/run/netns/h1 sp ace", Some("h1 sp ace")),
            ("/run/docker/netns/blue", None),
        ] {
            assert_eq!(netns_name(path.as_ref()), name.map(OsStr::new), "{path}");
        }
    }

    #[test]
    fn another_namespace_is_not_entered() {
        let here = crate::default::netns().unwrap();
        let mut found = Namespaces::find().unwrap().get(here);
        assert!(found.run(|| Ok(())).is_ok() || !nix::unistd::geteuid().is_root());
        found.inode += 1;
        let error = found.run(|| Ok(())).unwrap_err().to_string();
        assert!(error.contains("another namespace"), "{error}");
        // A FIFO without a writer: a blocking open would not return.
        let fifo = std::env::temp_dir().join(format!("lisa-fifo-{}", std::process::id()));
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
        found.path = Some(fifo.clone());
        let error = found.run(|| Ok(())).unwrap_err().to_string();
        fs::remove_file(&fifo).unwrap();
        assert!(error.contains("another namespace"), "{error}");
    }

    #[test]
    fn this_process_is_in_its_namespace() {
        let here = crate::default::netns().unwrap();
        let found = Namespaces::find().unwrap().get(here);
        assert!(found.can_be_entered(), "{found:?}");
        assert!(found.process.is_some(), "{found:?}");
    }
}
