//! The cgroup v2 hierarchy, and this process's cgroup in it (cgroups(7)).
//!
//! The mount point differs: /sys/fs/cgroup, or /sys/fs/cgroup/unified beside version 1. `ip netns exec` hides both under a new
//! /sys; root then finds them in the mounts of process 1.

use std::fs;
use std::path::PathBuf;

/// A mount of cgroup v2.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    /// The mounted cgroup, by its name in /proc/PID/cgroup.
    cgroup: String,
    directory: PathBuf,
}

/// The directory of this process's cgroup, if it is mounted.
pub(super) fn own() -> Option<PathBuf> {
    let cgroups = fs::read_to_string("/proc/thread-self/cgroup").ok()?;
    let own = own_cgroup(&cgroups)?;
    mounts()
        .filter_map(|mount| mount.directory_of(own))
        .find(|directory| directory.is_dir())
}

/// The directory of the topmost cgroup that can be reached.
pub(super) fn root() -> Option<PathBuf> {
    mounts()
        .min_by_key(|mount| mount.cgroup.len())
        .map(|mount| mount.directory)
}

fn mounts() -> impl Iterator<Item = Mount> {
    ["thread-self", "1"].into_iter().flat_map(|process| {
        let mounts = fs::read_to_string(format!("/proc/{process}/mountinfo"));
        let mounts: Vec<_> = mounts.iter().flat_map(|text| parse(text)).collect();
        let root = format!("/proc/{process}/root");
        mounts.into_iter().map(move |mount| Mount {
            directory: PathBuf::from(format!("{root}{}", mount.directory.display())),
            ..mount
        })
    })
}

/// The path after "0::", the number of version 2.
fn own_cgroup(cgroups: &str) -> Option<&str> {
    cgroups.lines().find_map(|line| line.strip_prefix("0::"))
}

/// The mounts of cgroup v2 in a /proc/PID/mountinfo (proc_pid_mountinfo(5)).
fn parse(mountinfo: &str) -> impl Iterator<Item = Mount> {
    mountinfo.lines().filter_map(|line| {
        let (mount, filesystem) = line.split_once(" - ")?;
        filesystem.strip_prefix("cgroup2 ")?;
        let mut fields = mount.split(' ').skip(3);
        Some(Mount {
            cgroup: fields.next()?.into(),
            directory: fields.next()?.replace("\\040", " ").into(),
        })
    })
}

impl Mount {
    fn directory_of(&self, cgroup: &str) -> Option<PathBuf> {
        let below = cgroup.strip_prefix(self.cgroup.trim_end_matches('/'))?;
        match below.strip_prefix('/') {
            Some(below) => Some(self.directory.join(below)),
            None => below.is_empty().then(|| self.directory.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(mountinfo: &str, cgroups: &str) -> Option<PathBuf> {
        parse(mountinfo).find_map(|mount| mount.directory_of(own_cgroup(cgroups)?))
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
    }
}
