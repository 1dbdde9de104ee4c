//! The two sides of the demo: a kernel and the simulator.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use lab::{Error, Runner};

use crate::output::Failure;
use crate::runs::execute::cores;

/// A side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Kernel,
    Simulator,
}

/// The sides, in the order of the tables.
pub const SIDES: [Side; 2] = [Side::Kernel, Side::Simulator];

impl Side {
    /// Name in the names of files.
    pub fn name(self) -> &'static str {
        match self {
            Side::Kernel => "kernel",
            Side::Simulator => "simulator",
        }
    }

    /// Name in tables.
    pub fn label(self, kernel: &Kernel) -> String {
        match self {
            Side::Kernel => kernel.label(),
            Side::Simulator => self.name().into(),
        }
    }
}

/// A kernel.
pub struct Kernel {
    /// As `uname -r` prints it.
    pub release: String,
    /// Whether it runs in a VM in virtual time; else it is this host's.
    pub in_vm: bool,
}

/// A kernel with its runner.
pub struct Found {
    pub kernel: Kernel,
    pub runner: Runner,
    /// The reason for a VM.
    pub obstacle: Option<Error>,
}

impl Kernel {
    /// The kernel of this host; if it cannot run scenarios, the kernel of a VM.
    pub fn find(cancelled: &Arc<AtomicBool>) -> Result<Found, Failure> {
        // On the host each run is idle most of the time; a VM has one processor.
        let threads = cores();
        let (runner, obstacle) = match Runner::host(threads, cancelled.clone()) {
            Ok(host) => (host, None),
            Err(why) => match Runner::vm(None, threads, cancelled.clone()) {
                Ok(vm) => (vm, Some(why)),
                Err(error) => return Err(Failure::new(format!("{why}; and in a VM: {error}"))),
            },
        };
        let kernel = Self {
            release: runner.release().unwrap_or_default(),
            in_vm: obstacle.is_some(),
        };
        Ok(Found {
            kernel,
            runner,
            obstacle,
        })
    }

    /// Name in tables: `Linux 6.12 in a VM`.
    pub fn label(&self) -> String {
        let version: Vec<&str> = self.release.split(['.', '-']).take(2).collect();
        let place = if self.in_vm { " in a VM" } else { "" };
        format!("Linux {}{place}", version.join("."))
    }
}
