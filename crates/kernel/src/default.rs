//! The default congestion control of this network namespace.

use crate::{Error, Result};
use std::{fs, os::unix::fs::MetadataExt};

const SYSCTL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// The default algorithm of this network namespace.
pub fn get() -> Result<String> {
    fs::read_to_string(SYSCTL)
        .map(|name| name.trim().into())
        .map_err(Error::io(SYSCTL))
}

/// Makes `name` the default of this network namespace, for sockets that are opened from now on.
pub fn set(name: &str) -> Result<()> {
    fs::write(SYSCTL, name).map_err(Error::io(format!("{SYSCTL} = {name}")))
}

/// The inode number of this network namespace, as `ls -l /proc/self/ns/net` shows it.
pub fn netns() -> Result<u32> {
    let path = "/proc/thread-self/ns/net";
    fs::metadata(path)
        .map(|metadata| metadata.ino() as u32)
        .map_err(Error::io(path))
}
