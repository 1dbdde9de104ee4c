//! What can go wrong when the lab is set up, each with what to do about it.

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
    /// A specification with no path, or with more than MPTCP can use.
    #[error("{0} paths: a network has 1 to 9, one for each subflow that Linux allows")]
    Paths(usize),
    /// A network that cannot be.
    #[error(transparent)]
    Topology(#[from] topology::Error),
    /// A scenario that cannot be drawn.
    #[error(transparent)]
    Scenario(#[from] scenario::Error),
    /// Real endpoints here do not do what a scenario asks for.
    #[error("{place}: the lab does not do {what}: run it in the simulator, with `--on sim`")]
    Unsupported {
        /// Where in the scenario: `topology`, `connection \`download\``.
        place: String,
        /// What it does not do.
        what: &'static str,
    },
    /// The network runs already, or does not run.
    #[error("the network {0}")]
    State(&'static str),
    /// A setting of the namespace was refused.
    #[error("sysctl {name} = {value}: {source} (is /proc/sys writable here?)")]
    Sysctl {
        /// The sysctl, with dots.
        name: String,
        /// What it was to become.
        value: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// An algorithm could not be loaded or watched.
    #[error(transparent)]
    Algorithm(#[from] kernel::Error),
    /// Neither lisa nor the kernel has an algorithm of this name.
    #[error("no congestion control `{0}`: neither lisa nor this kernel has it")]
    UnknownAlgorithm(String),
    /// The connection was to use MPTCP and does not.
    #[error(
        "the connection fell back to plain TCP: is net.mptcp.enabled 1 and nothing in between?"
    )]
    FellBack,
    /// Somebody asked for an end.
    #[error("interrupted")]
    Interrupted,
    /// No QEMU.
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
    /// The guest would have to run another program than this.
    #[error(
        "the VM is for x86-64, and this program is not: run it on this kernel, with `--on host`"
    )]
    VmProcessor,
    /// The guest's host could not run the scenario.
    #[error("in the VM: {0}")]
    InGuest(String),
    /// The guest ended before it had answered.
    #[error("the VM died: {0}")]
    GuestDied(String),
    /// The guest does not end.
    #[error("the VM hangs: {0}")]
    GuestHangs(String),
    /// A request to the kernel failed.
    #[error("{what}: {source}")]
    Kernel {
        /// What was asked, and of whom.
        what: String,
        /// The kernel's answer.
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
