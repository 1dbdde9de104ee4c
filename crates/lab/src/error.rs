//! Errors of the lab, each with its remedy.

use std::io;
use std::path::PathBuf;

/// Why a network could not be built or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Making a network namespace was refused.
    #[error(
        "no permission to make a network namespace: run as root (CAP_SYS_ADMIN, CAP_NET_ADMIN)"
    )]
    Privilege,
    /// The TUN driver is missing.
    #[error("/dev/net/tun is missing: load the driver with `modprobe tun` (CONFIG_TUN)")]
    NoTun,
    /// The kernel has no MPTCP.
    #[error(
        "this kernel has no MPTCP (no sysctl net.mptcp.enabled): boot one built with CONFIG_MPTCP=y"
    )]
    NoMptcp,
    /// A specification without a path, or with more paths than MPTCP can use.
    #[error("{0} paths: a network has 1 to 9, one for each subflow that Linux allows")]
    Paths(usize),
    /// An impossible network.
    #[error(transparent)]
    Topology(#[from] topology::Error),
    /// A scenario without a possible draw.
    #[error(transparent)]
    Scenario(#[from] scenario::Error),
    /// The scenario has a feature that the lab's endpoints lack.
    #[error(
        "{place}: the lab does not support {what} ({reason}): run it in the simulator, with `--on sim`"
    )]
    Unsupported {
        /// Place in the scenario: `topology`, `connection \`download\``.
        place: String,
        /// The missing feature.
        what: &'static str,
        /// The cause, as a phrase.
        reason: &'static str,
    },
    /// The network runs already, or does not run.
    #[error("the network {0}")]
    State(&'static str),
    /// A setting of the namespace was refused.
    #[error("sysctl {name} = {value}: {source} (is /proc/sys writable here?)")]
    Sysctl {
        /// The sysctl, with dots.
        name: String,
        /// The refused value.
        value: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// An algorithm could not be loaded or watched.
    #[error(transparent)]
    Algorithm(#[from] kernel::Error),
    /// The topology manager or its agent failed.
    #[error("network assistance: {0}")]
    Assistance(String),
    /// Neither lisa nor the kernel has an algorithm of this name.
    #[error("no congestion control `{0}`: neither lisa nor this kernel has it")]
    UnknownAlgorithm(String),
    /// An MPTCP connection has fallen back to TCP.
    #[error(
        "the connection fell back to plain TCP: is net.mptcp.enabled 1 and nothing in between?"
    )]
    FellBack,
    /// The run was interrupted.
    #[error("interrupted")]
    Interrupted,
    /// QEMU is not installed.
    #[error("no {0}: install qemu-system-x86, or run `make setup`")]
    NoQemu(&'static str),
    /// No kernel for the VM.
    #[error("no kernel for the VM in {}: fetch it with `make setup`, or name one with --kernel", .0.display())]
    NoVmKernel(PathBuf),
    /// The VM's kernel has no TUN driver.
    #[error(
        "no TUN driver: beside the folder of the kernel's vmlinuz there must be its package's lib/modules"
    )]
    NoModules,
    /// The VM's architecture differs from that of this program.
    #[error(
        "the VM is for x86-64, and this program is not: run it on this kernel, with `--on host`"
    )]
    VmProcessor,
    /// The guest could not run the scenario.
    #[error("in the VM: {0}")]
    InGuest(String),
    /// The guest ended without an answer.
    #[error("the VM died: {0}")]
    GuestDied(String),
    /// The guest exceeded its time limit.
    #[error("the VM hangs: {0}")]
    GuestHangs(String),
    /// A request to the kernel failed.
    #[error("{what}: {source}")]
    Kernel {
        /// The request.
        what: String,
        /// The kernel's error.
        source: io::Error,
    },
}

impl Error {
    /// For `map_err`: the kernel refused `what`.
    pub(crate) fn kernel<E: Into<io::Error>>(what: impl Into<String>) -> impl FnOnce(E) -> Self {
        move |source| Self::Kernel {
            what: what.into(),
            source: source.into(),
        }
    }
}
