//! Tests in the VM, on the kernels that `make setup` fetched.

use lab::Error;
use serde::{Serialize, de::DeserializeOwned};
use std::fs;
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
