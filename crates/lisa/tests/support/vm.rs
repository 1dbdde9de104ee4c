//! Tests in the VM, on the kernels that `make setup` fetched.

use lab::Error;
use serde::{Serialize, de::DeserializeOwned};
use socket2::{Domain, Socket, Type};
use std::fs;
use std::os::fd::AsRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Arguments that make this program run the test `guest`, as the first process of the VM.
pub const GUEST: &str = "--exact guest --ignored --nocapture --test-threads=1";

/// The folder of a kernel; prints if it is not there.
pub fn fetched(version: &str) -> Option<PathBuf> {
    let cache = std::env::var("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.unwrap_or(PathBuf::from(std::env::var("HOME").unwrap()).join(".cache"));
    let found = cache.join("lisa/kernels").join(version);
    if !found.exists() {
        eprintln!("skipped: no kernel for the VM in {}", found.display());
        return None;
    }
    Some(found)
}

/// The vmlinuz of a kernel's folder.
pub fn vmlinuz(kernel: &Path) -> PathBuf {
    let mut boot = fs::read_dir(kernel.join("boot")).unwrap();
    boot.next().expect("a kernel").unwrap().path()
}

/// The body of the test `guest`: answers the job that [`lab::Vm::call`] gave. Outside the VM it does nothing.
pub fn guest<J: DeserializeOwned, A: Serialize>(work: impl FnOnce(J) -> A) {
    if std::process::id() != 1 {
        return;
    }
    lab::vm::serve(|job| {
        // A panic is a finding here.
        std::panic::set_hook(Box::new(|panic| eprintln!("{panic}")));
        lab::vm::ready_for_hosts().expect("modules");
        work(job)
    });
}

/// Result of some work, or the message of its panic.
pub fn found<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let done = catch_unwind(AssertUnwindSafe(work));
    done.map_err(|panic| {
        let text = panic.downcast::<String>().map(|text| *text);
        text.unwrap_or_else(|panic| match panic.downcast::<&str>() {
            Ok(text) => (*text).into(),
            Err(_) => "a panic without a message".into(),
        })
    })
}

/// Switches the loopback of the calling thread's namespace on or off. (There is no `ip` in the VM.)
pub fn set_loopback(up: bool) {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).expect("a socket");
    // SAFETY: an ifreq of zeros is valid, and the ioctl reads it alone.
    unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
            *to = *from as libc::c_char;
        }
        let flags = if up { libc::IFF_UP } else { 0 };
        request.ifr_ifru.ifru_flags = flags as libc::c_short;
        let done = libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &request);
        assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
    }
}

/// The guest's answer. `None`, with the reason printed, where no VM can run; panics on any other error.
pub fn answer<A>(version: &str, answer: Result<A, Error>) -> Option<A> {
    match answer {
        Ok(answer) => Some(answer),
        Err(error @ (Error::NoQemu(_) | Error::VmProcessor)) => {
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("Linux {version}: {error}"),
    }
}
