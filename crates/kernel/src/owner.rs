//! The process that an algorithm is loaded for, if it is loaded for the lifetime of a process only.

use crate::contract::lisa_settings;
use crate::{Error, Result, text};
use std::fs;

/// A process, distinct from later processes with the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Process id.
    pub pid: u32,
    /// Start time in clock ticks since boot (field 22 of `/proc/PID/stat`, proc(5)).
    pub start: u64,
}

impl Owner {
    /// This process.
    pub fn this() -> Self {
        let pid = std::process::id();
        Self {
            pid,
            start: start_of(pid).ok().flatten().unwrap_or(0),
        }
    }

    pub(crate) fn of(settings: &lisa_settings) -> Option<Self> {
        (settings.owner_pid != 0).then_some(Self {
            pid: settings.owner_pid,
            start: settings.owner_start,
        })
    }

    /// Whether the process still runs.
    ///
    /// # Errors
    /// If /proc cannot be read.
    pub fn is_alive(&self) -> Result<bool> {
        Ok(start_of(self.pid)? == Some(self.start))
    }
}

/// The start time of a process; `None` if it has ended.
fn start_of(pid: u32) -> Result<Option<u64>> {
    const OWN: &str = "/proc/self/stat";
    let path = format!("/proc/{pid}/stat");
    match text::read(&path) {
        Ok(stat) => Ok(start_in(&stat)),
        // ESRCH: it has ended after the file was opened.
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ESRCH)) => {
            fs::metadata(OWN).map_err(Error::io(OWN))?; // /proc is there
            Ok(None)
        }
        Err(error) => Err(Error::io(path)(error)),
    }
}

fn start_in(stat: &str) -> Option<u64> {
    // The second field is the command in brackets, with any characters; the third field follows the last bracket.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    (state != "Z" && state != "X")
        .then(|| fields.nth(18))??
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::process::{Command, Stdio};

    #[test]
    fn this_process_is_alive_and_an_earlier_one_is_not() {
        let this = Owner::this();
        assert!(this.start > 0 && this.is_alive().unwrap());
        assert!(
            !Owner {
                start: this.start - 1,
                ..this
            }
            .is_alive()
            .unwrap()
        );
        assert!(
            !Owner {
                pid: u32::MAX,
                ..this
            }
            .is_alive()
            .unwrap()
        );
    }

    /// A command's name (`/proc/PID/comm`) can have any byte but a slash.
    #[test]
    fn processes_with_any_name() {
        let folder = std::env::temp_dir().join(format!("lisa-owner-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for name in [&b"a b) S 1 (c"[..], b"bytes\xff\xfe"] {
            let program = folder.join(OsStr::from_bytes(name));
            fs::copy("/usr/bin/cat", &program).unwrap();
            let mut cat = Command::new(&program);
            let mut cat = cat.stdin(Stdio::piped()).spawn().unwrap();
            let start = start_of(cat.id()).unwrap();
            drop(cat.stdin.take());
            cat.wait().unwrap();
            assert!(start.is_some_and(|start| start > 0), "{name:?}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
