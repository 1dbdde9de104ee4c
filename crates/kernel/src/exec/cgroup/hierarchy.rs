//! The cgroup v2 hierarchy, and this process's cgroup in it (cgroups(7)).
//!
//! The mount point differs: /sys/fs/cgroup, or /sys/fs/cgroup/unified beside version 1. `ip netns exec` hides both under a new
//! /sys; root then finds them in the mounts of process 1.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::mounts;

/// A mount of cgroup v2.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    /// The mounted cgroup, by its name in /proc/PID/cgroup.
    cgroup: PathBuf,
    directory: PathBuf,
}

/// The directory of this process's cgroup, if it is mounted.
pub(crate) fn own() -> Option<PathBuf> {
    let cgroups = fs::read("/proc/thread-self/cgroup").ok()?;
    let own = own_cgroup(&cgroups)?;
    mounts()
        .filter_map(|mount| mount.directory_of(own))
        .find(|directory| directory.is_dir())
}

/// The directory of the topmost cgroup that can be reached.
pub(super) fn root() -> Option<PathBuf> {
    mounts()
        .min_by_key(|mount| mount.cgroup.as_os_str().len())
        .map(|mount| mount.directory)
}

fn mounts() -> impl Iterator<Item = Mount> {
    ["thread-self", "1"].into_iter().flat_map(|process| {
        let root = PathBuf::from(format!("/proc/{process}/root"));
        let mounts = of_version_2(mounts::of(process).unwrap_or_default());
        mounts.map(move |mount| Mount {
            directory: root.join(
                mount
                    .directory
                    .strip_prefix("/")
                    .unwrap_or(&mount.directory),
            ),
            ..mount
        })
    })
}

/// The path after "0::", the number of version 2. Nothing is escaped in it (proc_cgroup_show).
fn own_cgroup(cgroups: &[u8]) -> Option<&Path> {
    let mut lines = cgroups.split(|byte| *byte == b'\n');
    let path = lines.find_map(|line| line.strip_prefix(b"0::"))?;
    Some(Path::new(OsStr::from_bytes(path)))
}

fn of_version_2(mounts: Vec<mounts::Mount>) -> impl Iterator<Item = Mount> {
    let mounts = mounts.into_iter().filter(|mount| mount.kind == "cgroup2");
    mounts.map(|mount| Mount {
        cgroup: mount.root.into(),
        directory: mount.at,
    })
}

impl Mount {
    fn directory_of(&self, cgroup: &Path) -> Option<PathBuf> {
        let below = cgroup.strip_prefix(&self.cgroup).ok()?;
        Some(self.directory.join(below))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(mountinfo: &str, cgroups: &str) -> Option<PathBuf> {
        let mut mounts = of_version_2(mounts::parse(mountinfo.as_bytes()));
        mounts.find_map(|mount| mount.directory_of(own_cgroup(cgroups.as_bytes())?))
    }

    #[test]
    fn places_of_the_hierarchy() {
        let hybrid = "37 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n\
                      38 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw\n";
        let cgroups = "9:name=systemd:/x\n0::/a/b\n";
        let found = directory(hybrid, cgroups);
        assert_eq!(found, Some("/sys/fs/cgroup/unified/a/b".into()));
        let found = directory(hybrid, "0::/\n");
        assert_eq!(found, Some("/sys/fs/cgroup/unified/".into()));

        // A container in which only a part of the hierarchy is mounted.
        let part = "9 8 0:28 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
        assert_eq!(
            directory(part, "0::/docker/1/x\n"),
            Some("/sys/fs/cgroup/x".into())
        );
        assert_eq!(
            directory(part, "0::/docker/1\n"),
            Some("/sys/fs/cgroup".into())
        );
        for elsewhere in ["0::/docker/10\n", "0::/user.slice\n", "1:cpu:/\n", ""] {
            assert_eq!(directory(part, elsewhere), None, "{elsewhere}");
        }

        // Only mountinfo has escapes.
        let named = r"9 8 0:28 /a\040b\134c /mnt/cgroup\011x ro - cgroup2 cgroup rw";
        let found = directory(named, "0::/a b\\c/d e\n");
        assert_eq!(found, Some("/mnt/cgroup\tx/d e".into()));
    }
}
