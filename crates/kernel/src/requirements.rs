//! Requirements of the host, checked before a load.

use crate::kernel_fs::{PROC, SYS, read_proc};
use crate::{Error, Result, capabilities};
use libbpf_rs::btf::{Btf, types};
use nix::sys::utsname::uname;
use std::{ffi::OsStr, fs::File, path::Path, sync::OnceLock};

/// The oldest supported kernel: its BPF reads MPTCP's structures by name (CO-RE) and frees map entries in any context.
pub const OLDEST: (u32, u32) = (6, 1);

/// The running kernel's release, as `uname -r` prints it.
pub fn release() -> String {
    uname().map_or(String::new(), |name| {
        name.release().to_string_lossy().into_owned()
    })
}

/// Checks that algorithms can be loaded on this host.
///
/// # Errors
/// The first missing requirement.
pub fn check() -> Result<()> {
    check_release(&release())?;
    check_btf()?;
    check_mptcp()?;
    if !capabilities::missing().is_empty() {
        return Err(Error::not_permitted("loading an algorithm"));
    }
    match Facts::read()?.struct_ops {
        true => Ok(()),
        false => Err(no_struct_ops()),
    }
}

const VMLINUX: &str = "/sys/kernel/btf/vmlinux";

/// The running kernel's type information.
///
/// # Errors
/// Those of [`check_btf`], [`Error::Bpf`].
pub(crate) fn kernel_btf() -> Result<Btf<'static>> {
    check_btf()?;
    Btf::from_vmlinux().map_err(Error::bpf(VMLINUX))
}

/// Checks that the running kernel's type information can be read. libbpf searches other places after any failure, and reports that
/// of the last place.
///
/// # Errors
/// [`Error::Missing`], [`Error::NotMounted`], [`Error::Io`].
pub(crate) fn check_btf() -> Result<()> {
    match SYS.has(VMLINUX)? {
        true => File::open(VMLINUX).map(drop).map_err(Error::io(VMLINUX)),
        false => Err(Error::Missing {
            what: "type information (/sys/kernel/btf/vmlinux)",
            remedy: "it needs CONFIG_DEBUG_INFO_BTF=y, as the kernels of Debian and Ubuntu have",
        }),
    }
}

/// What the running kernel's BTF says. Reading it takes milliseconds, and it cannot change.
struct Facts {
    /// BPF programs can be congestion controls.
    struct_ops: bool,
    /// See [`has_tx_start_callback`].
    tx_start_apart: bool,
}

impl Facts {
    fn read() -> Result<&'static Self> {
        static FACTS: OnceLock<Facts> = OnceLock::new();
        if let Some(facts) = FACTS.get() {
            return Ok(facts);
        }
        let btf = kernel_btf()?;
        let operations = btf.type_by_name::<types::Struct<'_>>("bpf_struct_ops_tcp_congestion_ops");
        let facts = Self {
            struct_ops: operations.is_some(),
            tx_start_apart: reports_tx_start_apart(&btf),
        };
        Ok(FACTS.get_or_init(|| facts))
    }
}

/// Whether this kernel reports CA_EVENT_TX_START by a callback of its own (`cwnd_event_tx_start`, since Linux 7.1) instead of
/// by `cwnd_event`.
pub(crate) fn has_tx_start_callback() -> Result<bool> {
    Ok(Facts::read()?.tx_start_apart)
}

fn reports_tx_start_apart(btf: &Btf<'_>) -> bool {
    let operations = btf.type_by_name::<types::Struct<'_>>("tcp_congestion_ops");
    operations.is_some_and(|operations| {
        let mut members = operations.iter();
        members.any(|member| member.name == Some(OsStr::new("cwnd_event_tx_start")))
    })
}

/// Functions of the kernel that a pair with Linux's own CUBIC calls (bpf/lisa.bpf.c).
fn cubic_functions(tx_start_apart: bool) -> [&'static str; 7] {
    [
        "cubictcp_init",
        "cubictcp_recalc_ssthresh",
        "cubictcp_cong_avoid",
        "cubictcp_state",
        "cubictcp_acked",
        match tx_start_apart {
            true => "cubictcp_cwnd_event_tx_start",
            false => "cubictcp_cwnd_event",
        },
        "tcp_reno_undo_cwnd",
    ]
}

/// Checks that this kernel has the functions of its own CUBIC.
pub(crate) fn check_cubic() -> Result<()> {
    let btf = kernel_btf()?;
    let missing = missing_cubic(&btf);
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
    Err(Error::NoCubic {
        functions: names.join(", "),
    })
}

/// The functions of its own CUBIC that this kernel does not have. libbpf finds the functions of a module.
pub(crate) fn missing_cubic(btf: &Btf<'_>) -> Vec<&'static str> {
    let has_module = Path::new("/sys/kernel/btf/tcp_cubic").exists();
    let has = |name: &str| {
        let built_in = btf.type_by_name::<types::Func<'_>>(name).is_some();
        built_in || (has_module && name.starts_with("cubictcp_"))
    };
    let names = cubic_functions(reports_tx_start_apart(btf)).into_iter();
    names.filter(|name| !has(name)).collect()
}

/// Error of a kernel whose BTF has no struct_ops for congestion control.
pub(crate) fn no_struct_ops() -> Error {
    Error::Missing {
        what: "BPF congestion control (struct_ops)",
        remedy: "it needs CONFIG_BPF_JIT=y and CONFIG_BPF_SYSCALL=y",
    }
}

/// Checks that this network namespace has MPTCP.
///
/// # Errors
/// [`Error::Missing`]; the reason why that cannot be known.
pub fn check_mptcp() -> Result<()> {
    const ENABLED: &str = "/proc/sys/net/mptcp/enabled";
    if !PROC.has(ENABLED)? {
        return Err(Error::Missing {
            what: "MPTCP",
            remedy: "it needs CONFIG_MPTCP=y, as the kernels of Debian and Ubuntu have",
        });
    }
    match read_proc(ENABLED)?.trim() {
        "0" => Err(Error::Missing {
            what: "MPTCP enabled in this network namespace",
            remedy: "`sysctl -w net.mptcp.enabled=1` turns it on",
        }),
        _ => Ok(()),
    }
}

/// Major and minor number of a release: `7.1.0-rc3+` is 7 and 1, `10.0` is 10 and 0, `7-custom` is 7 and 0. Both are 0 if the
/// release does not begin with a number.
pub fn version(release: &str) -> (u32, u32) {
    let digits = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_digit());
        text[..end.unwrap_or(text.len())].parse().unwrap_or(0)
    };
    let mut parts = release.splitn(3, '.');
    let major = parts.next().unwrap_or("");
    match major.bytes().all(|byte| byte.is_ascii_digit()) {
        true => (digits(major), parts.next().map_or(0, digits)),
        false => (digits(major), 0),
    }
}

fn check_release(release: &str) -> Result<()> {
    if version(release) < OLDEST {
        return Err(Error::KernelTooOld {
            release: release.into(),
        });
    }
    Ok(())
}

/// Whether a BPF call failed for lack of privilege.
pub(crate) fn is_denied(error: &libbpf_rs::Error) -> bool {
    error.kind() == libbpf_rs::ErrorKind::PermissionDenied
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        assert_eq!(version("6.18.44-fc-v595"), (6, 18));
        assert_eq!(version("7.1-rc3+"), (7, 1));
        assert_eq!(version("7-rc3.1"), (7, 0));
        assert_eq!(version("10.0"), (10, 0));
    }

    /// Linux 7.1 renamed one function of CUBIC. The two lists differ in that name alone.
    #[test]
    fn cubic_has_one_callback_of_a_transmission_start() {
        let (before, since) = (cubic_functions(false), cubic_functions(true));
        assert!(before.contains(&"cubictcp_cwnd_event"));
        assert!(since.contains(&"cubictcp_cwnd_event_tx_start"));
        assert!(!since.contains(&"cubictcp_cwnd_event"));
        assert_eq!(
            before.iter().filter(|name| !since.contains(name)).count(),
            1
        );
    }

    #[test]
    fn releases() {
        for good in [
            "6.1.0-44-cloud-amd64",
            "6.12.48+deb13-amd64",
            "6.18.44",
            "7.0-rc1",
            "7.1-rc3+",
            "7.1.0-rc3-00012-gabcdef",
            "7.3.4+deb13-cloud-amd64",
            "7-custom",
            "10.0",
            "10.0.1-1-pve",
        ] {
            assert!(check_release(good).is_ok(), "{good}");
        }
        for old in ["5.15.0-91-generic", "6.0.19", "4.9", "6-custom", "", "x.7"] {
            let message = check_release(old).unwrap_err().to_string();
            assert!(message.contains("too old: 6.1"), "{message}");
        }
    }
}
