//! The only instance of the service: a lock, and a record of its work.
//!
//! The file is locked while the service runs. After the service was killed, the next one reads from it what the earlier one has
//! loaded and set, and removes what its own file does not name any more.

use crate::{Error, Result};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Directory of the file. systemd creates it for the unit (RuntimeDirectory=).
const DIRECTORY: &str = "/run/lisa";
/// The file.
const FILE: &str = "/run/lisa/service";

/// What the service has loaded and set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Record {
    /// The process.
    pub(super) pid: u32,
    /// Names of the loaded algorithms.
    pub(super) algorithms: BTreeSet<String>,
    /// Inode number of the network namespace of the service, if the service has set its default.
    pub(super) own: Option<u32>,
    /// Named network namespaces whose default it has set.
    pub(super) namespaces: BTreeMap<String, String>,
}

/// The right to be the only instance.
pub(super) struct Instance {
    file: Flock<File>,
    written: Record,
}

/// The record in the file; an empty one if the file was not written whole.
fn read(file: &mut File) -> io::Result<Record> {
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(toml::from_str(&text).unwrap_or_default())
}

impl Instance {
    /// Takes the lock. Also returns the record of an instance that was killed.
    ///
    /// # Errors
    /// [`Error::ServiceRuns`].
    pub(super) fn begin() -> Result<(Self, Record)> {
        fs::create_dir_all(DIRECTORY).map_err(Error::io(DIRECTORY))?;
        Self::lock(Path::new(FILE))
    }

    fn lock(path: &Path) -> Result<(Self, Record)> {
        let failed = |error: io::Error| Error::io(format!("locking {}", path.display()))(error);
        // Only root can open it: whoever can read a file can hold a lock on it.
        let mut options = File::options();
        options.read(true).write(true).create(true).mode(0o600);
        let file = options
            .custom_flags(libc::O_NOFOLLOW)
            .open(path)
            .map_err(failed)?;
        // Under the lock, the record is that of an instance that has ended.
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(mut file) => {
                let record = read(&mut file).map_err(failed)?;
                let written = Record::default();
                Ok((Self { file, written }, record))
            }
            Err((mut file, Errno::EWOULDBLOCK)) => {
                let pid = read(&mut file).map_err(failed)?.pid;
                Err(Error::ServiceRuns((pid != 0).then_some(pid)))
            }
            Err((_, errno)) => Err(failed(errno.into())),
        }
    }

    /// Replaces the record.
    pub(super) fn write(&mut self, record: Record) -> Result<()> {
        if record == self.written {
            return Ok(());
        }
        let text = toml::to_string(&record).expect("plain data");
        let mut write = || {
            self.file.rewind()?;
            self.file.set_len(0)?;
            self.file.write_all(text.as_bytes())
        };
        write().map_err(Error::io(format!("writing {FILE}")))?;
        self.written = record;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Two threads that alternate as instances each read the record that the other one wrote last.
    #[test]
    fn the_record_is_that_of_the_last_instance() {
        let path = std::env::temp_dir().join(format!("lisa-instance-{}", std::process::id()));
        const EACH: u32 = 2000;
        let begun = AtomicU32::new(0);
        let run = || {
            while begun.load(Ordering::Relaxed) < EACH {
                let (mut instance, before) = match Instance::lock(&path) {
                    Ok(begun) => begun,
                    Err(Error::ServiceRuns(_)) => {
                        std::thread::yield_now(); // the other one runs
                        continue;
                    }
                    Err(error) => panic!("{error}"),
                };
                let count = begun.fetch_add(1, Ordering::Relaxed);
                assert_eq!(before.pid, count, "an older record");
                let pid = count + 1;
                instance
                    .write(Record {
                        pid,
                        ..Record::default()
                    })
                    .expect("written");
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(run);
            scope.spawn(run);
        });
        fs::remove_file(&path).expect("removed");
    }
}
