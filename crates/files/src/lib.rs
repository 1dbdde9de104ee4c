//! Regular files: read within a bound, and replaced in one step.
//!
//! Opening a FIFO without a writer blocks, and a device such as /dev/zero never ends: both are refused. A new file gets its name when it
//! is complete; a link of this name is replaced and not followed.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// Opens a regular file for reading.
///
/// # Errors
/// For everything else than a regular file, without waiting for it.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    set_flags(options.read(true), NO_WAIT);
    let file = options.open(path)?;
    check_regular(&file)?;
    Ok(file)
}

/// Opens or creates a regular file of this path for reading and writing. A link is not followed: anybody may have put it into a folder of
/// several users.
///
/// # Errors
/// For everything else than a regular file.
pub fn open_or_create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    set_flags(&mut options, NO_WAIT | NO_LINK);
    let file = options
        .open(path)
        .map_err(|error| match path.is_symlink() {
            true => io::Error::other("a link; remove the link"),
            false => error,
        })?;
    check_regular(&file)?;
    Ok(file)
}

/// Opening a FIFO does not wait for its other end.
#[cfg(unix)]
const NO_WAIT: i32 = libc::O_NONBLOCK;
#[cfg(unix)]
const NO_LINK: i32 = libc::O_NOFOLLOW;

#[cfg(unix)]
fn set_flags(options: &mut OpenOptions, flags: i32) {
    use std::os::unix::fs::OpenOptionsExt;
    options.custom_flags(flags);
}

// A page in a browser has no FIFO and no link.
#[cfg(not(unix))]
const NO_WAIT: i32 = 0;
#[cfg(not(unix))]
const NO_LINK: i32 = 0;

#[cfg(not(unix))]
fn set_flags(_: &mut OpenOptions, _: i32) {}

/// Refuses directories, FIFOs, devices and sockets.
///
/// # Errors
/// That it is not a regular file.
pub fn check_regular(file: &File) -> io::Result<()> {
    match file.metadata()?.is_file() {
        true => Ok(()),
        false => Err(io::Error::other("not a regular file")),
    }
}

/// Reads to the end, at most `most` bytes.
///
/// # Errors
/// For more bytes.
pub fn read_from(from: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("longer than {most} bytes")));
    }
    Ok(bytes)
}

/// Reads a regular file of at most `most` bytes.
///
/// # Errors
/// As [`open`] and [`read_from`].
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_from(open(path)?, most)
}

/// Reads a regular file of UTF-8 text.
///
/// # Errors
/// As [`read`], and for other text.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, most)?).map_err(|_| io::Error::other("not UTF-8 text"))
}

/// A file that gets its name once it is complete: until then a file of this name stays. Without [`finish`](Self::finish) nothing is left.
#[derive(Debug)]
pub struct NewFile {
    file: BufWriter<File>,
    temporary: PathBuf,
    path: PathBuf,
}

impl NewFile {
    /// Creates the file under the name `NAME.tmp`.
    ///
    /// # Errors
    /// If it cannot be created in this directory.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut temporary: OsString = path.into();
        temporary.push(".tmp");
        let temporary = PathBuf::from(temporary);
        match fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {} // of a process that was killed, or a link to anywhere
        }
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary)?;
        Ok(Self {
            file: BufWriter::new(file),
            temporary,
            path: path.into(),
        })
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// If the last bytes cannot be written, or if another process has begun to write the same file.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()?;
        if !self.has_temporary() {
            return Err(io::Error::other("another process writes this file, too"));
        }
        fs::rename(&self.temporary, &self.path)
    }

    /// Whether the temporary name is that of this file. Another process may have replaced it by a file of its own.
    #[cfg(unix)]
    fn has_temporary(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        let found = fs::symlink_metadata(&self.temporary);
        let own = self.file.get_ref().metadata();
        found.is_ok_and(|found| {
            own.is_ok_and(|own| (found.dev(), found.ino()) == (own.dev(), own.ino()))
        })
    }

    #[cfg(not(unix))]
    fn has_temporary(&self) -> bool {
        self.temporary.exists()
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // Gone after `finish`; else half a file.
        if self.has_temporary() {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Writes a file, or replaces it, in one step.
///
/// # Errors
/// As [`NewFile`].
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = NewFile::create(path)?;
    file.write_all(bytes.as_ref())?;
    file.finish()
}

#[cfg(all(test, unix))]
mod tests;
