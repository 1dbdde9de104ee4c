//! What the host must have, said before anything is tried.

use crate::{Error, Result};
use libbpf_rs::btf::{Btf, types};
use nix::sys::utsname::uname;
use std::{fs, path::Path};

/// The oldest kernel: its BPF reads MPTCP's structures by name (CO-RE) and frees map entries from any context.
pub const OLDEST: (u32, u32) = (6, 1);

/// The running kernel's release, as `uname -r` prints it.
pub fn release() -> String {
    uname().map_or(String::new(), |name| {
        name.release().to_string_lossy().into_owned()
    })
}

/// Says in one line what keeps an algorithm from being loaded here, if anything does.
pub fn check() -> Result<()> {
    check_release(&release())?;
    if !Path::new("/sys/kernel/btf/vmlinux").exists() {
        return Err(Error::Missing {
            what: "type information (/sys/kernel/btf/vmlinux)",
            remedy: "it needs CONFIG_DEBUG_INFO_BTF=y, as the kernels of Debian and Ubuntu have",
        });
    }
    check_mptcp()?;
    if !nix::unistd::geteuid().is_root() {
        return Err(Error::NotPermitted {
            what: "loading an algorithm",
        });
    }
    let btf = Btf::from_vmlinux().map_err(Error::bpf("/sys/kernel/btf/vmlinux"))?;
    if btf
        .type_by_name::<types::Struct<'_>>("bpf_struct_ops_tcp_congestion_ops")
        .is_none()
    {
        return Err(no_struct_ops());
    }
    Ok(())
}

/// Says in one line if the kernel has no CUBIC that BPF can call.
pub(crate) fn check_cubic() -> Result<()> {
    let btf = Btf::from_vmlinux().map_err(Error::bpf("/sys/kernel/btf/vmlinux"))?;
    if btf
        .type_by_name::<types::Func<'_>>("cubictcp_acked")
        .is_some()
        || Path::new("/sys/kernel/btf/tcp_cubic").exists()
    {
        return Ok(());
    }
    Err(Error::Missing {
        what: "CUBIC to go on with after slow start",
        remedy: "it needs CONFIG_TCP_CONG_CUBIC=y, as the kernels of Debian and Ubuntu have",
    })
}

/// The kernel's BTF does not know TCP's congestion control as BPF's operations.
pub(crate) fn no_struct_ops() -> Error {
    Error::Missing {
        what: "BPF congestion control (struct_ops)",
        remedy: "it needs CONFIG_BPF_JIT=y and CONFIG_BPF_SYSCALL=y",
    }
}

/// Says in one line what keeps MPTCP from being used in this network namespace, if anything does.
pub fn check_mptcp() -> Result<()> {
    match fs::read_to_string("/proc/sys/net/mptcp/enabled") {
        Ok(enabled) if enabled.trim() == "0" => Err(Error::Missing {
            what: "MPTCP enabled in this network namespace",
            remedy: "`sysctl -w net.mptcp.enabled=1` turns it on",
        }),
        Ok(_) => Ok(()),
        Err(_) => Err(Error::Missing {
            what: "MPTCP",
            remedy: "it needs CONFIG_MPTCP=y, as the kernels of Debian and Ubuntu have",
        }),
    }
}

fn check_release(release: &str) -> Result<()> {
    let mut numbers = release
        .split(|c: char| !c.is_ascii_digit())
        .map(|n| n.parse().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version < OLDEST {
        return Err(Error::KernelTooOld {
            release: release.into(),
        });
    }
    Ok(())
}

/// Whether a BPF call failed for want of privilege.
pub(crate) fn is_denied(error: &libbpf_rs::Error) -> bool {
    error.kind() == libbpf_rs::ErrorKind::PermissionDenied
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases() {
        for good in [
            "6.1.0-44-cloud-amd64",
            "6.12.48+deb13-amd64",
            "6.18.44",
            "7.0-rc1",
        ] {
            assert!(check_release(good).is_ok(), "{good}");
        }
        for old in ["5.15.0-91-generic", "6.0.19", "4.9", ""] {
            let message = check_release(old).unwrap_err().to_string();
            assert!(message.contains("too old: 6.1"), "{message}");
        }
    }
}
