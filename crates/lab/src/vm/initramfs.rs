//! The guest's files: this program, its shared libraries, and the kernel's modules.
//!
//! The guest runs the same program as the host, so that they cannot differ. A statically linked program has no libraries.

use std::ffi::{CStr, c_int, c_void};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cpio::newc::{Builder, trailer};

use super::kernel_image::KernelImage;
use crate::error::Error;

/// Path of the program, the guest's first process.
pub(crate) const PROGRAM: &str = "/lisa";
/// Folder of libraries.
pub(crate) const LIBRARIES: &str = "/lib";
/// Folder of modules.
pub(crate) const MODULES: &str = "/modules";

/// Writes the archive. `files` are further files of the host, at the same paths in the guest.
pub(crate) fn write(
    kernel: &KernelImage,
    files: &[PathBuf],
    to: &mut impl Write,
) -> Result<(), Error> {
    archive(kernel, files, to).map_err(Error::kernel("making the VM's initramfs"))
}

fn archive(kernel: &KernelImage, files: &[PathBuf], to: &mut impl Write) -> io::Result<()> {
    let program = fs::read("/proc/self/exe")?;
    let Elf { interpreter, end } = Elf::read(&program)
        .ok_or_else(|| io::Error::other("this program is no ELF file of 64 bits"))?;
    let mut archive = Archive { to, entries: 0 };
    for folder in ["/dev", "/proc", "/sys", LIBRARIES, MODULES] {
        archive.folder(Path::new(folder))?;
    }
    // Without symbols, which are most of the file and are not loaded.
    archive.file(Path::new(PROGRAM), &program[..end])?;
    if let Some(interpreter) = interpreter {
        archive.at_same_path(Path::new(&interpreter))?;
        for library in libraries() {
            archive.in_folder(LIBRARIES, &library)?;
        }
    }
    for module in &kernel.modules {
        archive.in_folder(MODULES, module)?;
    }
    for file in files {
        archive.at_same_path(file)?;
    }
    trailer(archive.to)?;
    Ok(())
}

/// An archive in cpio's newc format, which the kernel unpacks.
struct Archive<'a, W> {
    to: &'a mut W,
    entries: u32,
}

impl<W: Write> Archive<'_, W> {
    fn folder(&mut self, path: &Path) -> io::Result<()> {
        self.entry(path, libc::S_IFDIR | 0o755, &[])
    }

    fn file(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.entry(path, libc::S_IFREG | 0o755, bytes)
    }

    /// A file of the host, in a folder of the guest.
    fn in_folder(&mut self, folder: &str, file: &Path) -> io::Result<()> {
        let name = file.file_name().unwrap_or(file.as_os_str());
        self.file(&Path::new(folder).join(name), &fs::read(file)?)
    }

    /// A file of the host, at the same path in the guest.
    fn at_same_path(&mut self, file: &Path) -> io::Result<()> {
        let parents: Vec<&Path> = file.ancestors().skip(1).collect();
        for folder in parents.into_iter().rev().skip(1) {
            self.folder(folder)?;
        }
        self.file(file, &fs::read(file)?)
    }

    fn entry(&mut self, path: &Path, mode: u32, bytes: &[u8]) -> io::Result<()> {
        self.entries += 1;
        let size = u32::try_from(bytes.len()).map_err(io::Error::other)?;
        let name = path.to_string_lossy();
        let entry = Builder::new(name.trim_start_matches('/'))
            .ino(self.entries)
            .mode(mode);
        let mut writer = entry.write(&mut *self.to, size);
        writer.write_all(bytes)?;
        writer.finish()?;
        Ok(())
    }
}

/// The loaded parts of a 64-bit ELF file (elf(5)).
struct Elf {
    /// Path of the dynamic loader; `None` for a static program.
    interpreter: Option<String>,
    /// End of the last loaded segment.
    end: usize,
}

impl Elf {
    fn read(file: &[u8]) -> Option<Self> {
        let number = |at: usize, bytes: usize| -> Option<usize> {
            let mut number = [0; 8];
            number[..bytes].copy_from_slice(file.get(at..at + bytes)?);
            usize::try_from(u64::from_le_bytes(number)).ok()
        };
        // Magic number, 64-bit class, little-endian.
        if file.get(..6)? != b"\x7fELF\x02\x01" {
            return None;
        }
        // e_phoff, e_phentsize, e_phnum
        let (table, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
        let mut elf = Self {
            interpreter: None,
            end: table + size * count,
        };
        for header in (0..count).map(|n| table + n * size) {
            // p_type, p_offset, p_filesz
            let (kind, from, bytes) = (
                number(header, 4)?,
                number(header + 8, 8)?,
                number(header + 32, 8)?,
            );
            match u32::try_from(kind).ok()? {
                libc::PT_LOAD => elf.end = elf.end.max(from + bytes),
                libc::PT_INTERP => {
                    let text = CStr::from_bytes_until_nul(file.get(from..from + bytes)?).ok()?;
                    elf.interpreter = Some(text.to_str().ok()?.into());
                }
                _ => {}
            }
        }
        (elf.end <= file.len()).then_some(elf)
    }
}

/// Paths of the libraries that this process has loaded.
fn libraries() -> Vec<PathBuf> {
    unsafe extern "C" fn visit(
        object: *mut libc::dl_phdr_info,
        _: libc::size_t,
        found: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader passes an object whose name is a string, and the pointer that was passed to `dl_iterate_phdr`.
        let (name, found) = unsafe {
            (
                CStr::from_ptr((*object).dlpi_name),
                &mut *found.cast::<Vec<PathBuf>>(),
            )
        };
        // Without the program, which has no name, and the kernel's vDSO, which is no file.
        let path = PathBuf::from(name.to_string_lossy().into_owned());
        if path.is_absolute() {
            found.push(path);
        }
        0
    }
    let mut found: Vec<PathBuf> = Vec::new();
    // SAFETY: `visit` does not unwind unless memory is exhausted, and `found` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut found).cast()) };
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The symbols of this program are behind its last loaded segment.
    #[test]
    fn symbols_are_not_loaded() {
        let program = fs::read("/proc/self/exe").unwrap();
        let elf = Elf::read(&program).unwrap();
        assert!(elf.end < program.len(), "this program has symbols");
        assert!(elf.interpreter.is_none_or(|path| Path::new(&path).exists()));
        assert!(Elf::read(b"#!/bin/sh").is_none());
    }
}
