//! The file of the database.

use std::fs;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, Flock, FlockArg, fallocate};
use redb::StorageBackend;

/// Mode of the file.
const PRIVATE: u32 = 0o600;

/// A file that this process alone has open. Its length has space on the disk: a full disk is an error when the file grows, and never when
/// its pages are written, so that a database opens again on a full disk.
#[derive(Clone, Debug)]
pub(super) struct File(Arc<Flock<fs::File>>);

impl File {
    /// Opens a file and makes it readable by its owner only: it contains addresses, and hashes of tokens.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Self::locked(fs::OpenOptions::new().read(true).write(true), path)
    }

    /// Creates a file.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        Self::locked(
            fs::OpenOptions::new()
                .read(true)
                .write(true)
                .create_new(true),
            path,
        )
    }

    pub(super) fn is_empty(&self) -> io::Result<bool> {
        Ok(self.0.metadata()?.len() == 0)
    }

    fn locked(options: &mut fs::OpenOptions, path: &Path) -> io::Result<Self> {
        let file = options
            .mode(PRIVATE)
            .custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW)
            .open(path)?;
        files::check_regular(&file)?;
        file.set_permissions(fs::Permissions::from_mode(PRIVATE))?;
        let locked = Flock::lock(file, FlockArg::LockExclusiveNonblock);
        let locked = locked.map_err(|(_, error)| match error {
            Errno::EWOULDBLOCK => io::Error::other("another manager has it open"),
            error => error.into(),
        })?;
        Ok(Self(Arc::new(locked)))
    }
}

/// The lock stays while redb opens a database again.
impl StorageBackend for File {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        self.0.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let now = self.len()?;
        if len > now {
            let [offset, more] = [now, len - now].map(|bytes| bytes as i64);
            match fallocate(&**self.0, FallocateFlags::empty(), offset, more) {
                // A file system without this call.
                Err(Errno::EOPNOTSUPP) => {}
                result => return Ok(result?),
            }
        }
        self.0.set_len(len)
    }

    fn sync_data(&self, _eventual: bool) -> io::Result<()> {
        self.0.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write_all_at(data, offset)
    }
}
