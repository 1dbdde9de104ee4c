//! The kernel of the VM, and its modules for a run.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// The default kernel: a folder in the cache, which `scripts/setup.sh` fills.
const DEFAULT: &str = "6.12";

/// Offset and value of the header's mark in Linux's boot protocol for x86 (Documentation/arch/x86/boot.rst).
const MARK: (usize, &[u8]) = (0x202, b"HdrS");
/// Offset of the pointer to the version, which is relative to the end of the first sector.
const VERSION: usize = 0x20e;
const SECTOR: usize = 0x200;

/// A kernel image.
#[derive(Debug)]
pub(crate) struct KernelImage {
    pub(crate) path: PathBuf,
    /// Release, as `uname -r` prints it.
    pub(crate) release: String,
    /// Modules of TUN, of congestion controls and of fq, as files of the kernel's package; none if they are built in.
    pub(crate) modules: Vec<PathBuf>,
}

impl KernelImage {
    /// The kernel in this file, or else the one that `make setup` has fetched.
    pub(crate) fn of(path: Option<&Path>) -> Result<Self, Error> {
        path.map_or_else(Self::fetched, Self::open)
    }

    /// The kernel in this file. Its modules are searched where packages have them: beside its folder, in `lib/modules/RELEASE`, or
    /// beside the file.
    fn open(path: &Path) -> Result<Self, Error> {
        let refused = |problem: String| Error::Kernel {
            what: format!("the VM's kernel {}", path.display()),
            source: std::io::Error::other(problem),
        };
        let image = fs::read(path).map_err(|error| refused(error.to_string()))?;
        let release = release(&image).ok_or_else(|| {
            refused("this is no bzImage for x86-64: name a vmlinuz, as of a package".into())
        })?;
        Ok(Self {
            modules: modules(path, &release),
            path: path.into(),
            release,
        })
    }

    /// The kernel that `make setup` has fetched.
    fn fetched() -> Result<Self, Error> {
        let folder = cache().join("kernels").join(DEFAULT);
        let boot = fs::read_dir(folder.join("boot"));
        let images = boot.into_iter().flatten().flatten();
        match images.map(|entry| entry.path()).max() {
            Some(path) => Self::open(&path),
            None => Err(Error::NoVmKernel(folder)),
        }
    }
}

/// Cache folder of this project (XDG Base Directory Specification).
pub fn cache() -> PathBuf {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty());
    match (set("XDG_CACHE_HOME"), set("HOME")) {
        (Some(cache), _) => PathBuf::from(cache),
        (None, Some(home)) => PathBuf::from(home).join(".cache"),
        (None, None) => PathBuf::from("/var/cache"),
    }
    .join("lisa")
}

/// The release of a kernel's image, as `uname -r` prints it.
fn release(image: &[u8]) -> Option<String> {
    let (at, mark) = MARK;
    if image.get(at..at + mark.len())? != mark {
        return None;
    }
    let pointer = image.get(VERSION..VERSION + 2)?;
    let from = SECTOR + usize::from(u16::from_le_bytes([pointer[0], pointer[1]]));
    let text = image.get(from..)?.split(|&byte| byte <= b' ').next()?;
    Some(String::from_utf8_lossy(text).into_owned())
}

/// The existing modules of a kernel.
fn modules(image: &Path, release: &str) -> Vec<PathBuf> {
    let beside = image.parent().unwrap_or(Path::new(""));
    let root = beside.parent().unwrap_or(beside);
    let lib = |lib: &str| root.join(lib).join("modules").join(release);
    let mut found = Vec::new();
    for place in [lib("lib"), lib("usr/lib"), beside.into()] {
        let folder = place.join("kernel");
        let wanted = |folder: PathBuf, prefix: &str| -> Vec<PathBuf> {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let is_wanted = |entry: &fs::DirEntry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                name.starts_with(prefix) && name.contains(".ko")
            };
            entries
                .filter(is_wanted)
                .map(|entry| entry.path())
                .collect()
        };
        found.extend(wanted(folder.join("drivers/net"), "tun.ko"));
        found.extend(wanted(folder.join("net/ipv4"), "tcp_"));
        found.extend(wanted(folder.join("net/sched"), "sch_fq.ko"));
        if !found.is_empty() {
            break; // `lib` and `usr/lib` may be the same
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_has_its_release() {
        let mut image = vec![0; 0x400];
        image[0x202..0x206].copy_from_slice(b"HdrS");
        image[0x20e..0x210].copy_from_slice(&0x100u16.to_le_bytes());
        image[0x300..0x318].copy_from_slice(b"6.12.117+deb12-cloud-amd");
        image[0x318] = b' ';
        assert_eq!(release(&image).as_deref(), Some("6.12.117+deb12-cloud-amd"));
        image[0x202] = 0;
        assert_eq!(release(&image), None);
        assert_eq!(release(b"MZ"), None);
    }

    #[test]
    fn modules_are_found_where_packages_have_them() {
        let root = env::temp_dir().join(format!("lisa-modules-{}", std::process::id()));
        for (image, place) in [
            ("a/boot/vmlinuz-6.1", "a/lib/modules/6.1"),
            ("b/boot/vmlinuz-6.1", "b/usr/lib/modules/6.1"),
            ("c/usr/lib/modules/6.1/vmlinuz", "c/usr/lib/modules/6.1"),
        ] {
            let folder = root.join(place).join("kernel/drivers/net");
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("tun.ko.xz"), "").unwrap();
            fs::write(folder.join("tunnel.txt"), "").unwrap();
            assert_eq!(
                modules(&root.join(image), "6.1"),
                [folder.join("tun.ko.xz")]
            );
        }
        fs::remove_dir_all(root).unwrap();
    }
}
