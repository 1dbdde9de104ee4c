//! The kernel: its version, BPF, and what forbids or limits BPF.

use super::{Finding, Topic, counted};
use crate::exec::cgroup::hierarchy;
use crate::requirements::{self, OLDEST, version};
use libbpf_rs::btf::{Btf, types};
use std::fs;
use std::path::Path;

/// What the kernel has.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    release: String,
    /// Whether there is type information.
    btf: bool,
    /// Whether BPF programs can be congestion controls.
    struct_ops: bool,
    /// net.core.bpf_jit_enable; only the first network namespace shows it.
    jit: Option<String>,
    /// Functions of Linux's CUBIC that BPF programs cannot call.
    missing_cubic: Vec<&'static str>,
    /// Text of /sys/kernel/security/lockdown.
    lockdown: Option<String>,
    /// Least memory limit of the caller's cgroup and those above it, bytes.
    memory_limit: Option<u64>,
}

impl Facts {
    pub(super) fn gather() -> Self {
        let read = |path: &str| fs::read_to_string(path).ok();
        let btf = Btf::from_vmlinux().ok();
        let has_struct = |name: &str| {
            let btf = btf.as_ref();
            btf.is_some_and(|btf| btf.type_by_name::<types::Struct<'_>>(name).is_some())
        };
        let missing = btf.as_ref().map(requirements::missing_cubic);
        Self {
            release: requirements::release(),
            btf: btf.is_some(),
            struct_ops: has_struct("bpf_struct_ops_tcp_congestion_ops"),
            jit: read("/proc/sys/net/core/bpf_jit_enable"),
            missing_cubic: missing.unwrap_or_default(),
            lockdown: read("/sys/kernel/security/lockdown"),
            memory_limit: hierarchy::own().and_then(|cgroup| memory_limit(&cgroup)),
        }
    }
}

/// Least memory limit of the cgroup with this directory and of those above it.
fn memory_limit(cgroup: &Path) -> Option<u64> {
    let all = cgroup.ancestors();
    all.filter_map(|path| fs::read_to_string(path.join("memory.max")).ok())
        .filter_map(|limit| limit.trim().parse().ok()) // `max` is no limit
        .min()
}

/// Memory of the maps of one algorithm at its standard size, and of the programs while they are loaded: an upper bound.
const NEEDED: u64 = 128 << 20;

pub(super) fn findings(facts: &Facts) -> Vec<Finding> {
    use Topic::Kernel;
    let mut found = Vec::new();
    let (major, minor) = OLDEST;
    found.push(if version(&facts.release) >= OLDEST {
        Kernel.ok("release", format!("Linux {}", facts.release))
    } else {
        let text = format!("Linux {} is too old", facts.release);
        Kernel.fail(
            "release",
            text,
            format!("boot Linux {major}.{minor} or later"),
        )
    });
    if !facts.btf {
        found.push(Kernel.fail(
            "btf",
            "no type information (/sys/kernel/btf/vmlinux)",
            "boot a kernel with CONFIG_DEBUG_INFO_BTF=y, as those of Debian and Ubuntu",
        ));
        return found;
    }
    found.push(if facts.struct_ops {
        let text = "type information (BTF); BPF programs can be congestion controls";
        Kernel.ok("struct_ops", text)
    } else {
        Kernel.fail(
            "struct_ops",
            "BPF programs cannot be congestion controls (struct_ops)",
            "boot a kernel with CONFIG_BPF_SYSCALL=y and CONFIG_BPF_JIT=y",
        )
    });
    found.extend(facts.jit.as_deref().map(|jit| match jit.trim() {
        "0" => Kernel.fail(
            "jit",
            "the BPF compiler (JIT) is off",
            "`sysctl -w net.core.bpf_jit_enable=1` turns it on",
        ),
        _ => Kernel.ok("jit", "the BPF compiler (JIT) is on"),
    }));
    found.extend(facts.lockdown.as_deref().map(lockdown));
    found.push(match facts.missing_cubic.as_slice() {
        [] => Kernel.ok(
            "cubic",
            "Linux's CUBIC can be called (lisa_cubic and other pairs with CUBIC)",
        ),
        missing => Kernel.warn(
            "cubic",
            format!(
                "pairs with CUBIC cannot be loaded: the kernel lacks {}",
                missing.join(", ")
            ),
            "`modprobe tcp_cubic`, or boot a kernel with CONFIG_TCP_CONG_CUBIC=y",
        ),
    });
    let limit = facts.memory_limit.filter(|limit| *limit < NEEDED);
    found.extend(limit.map(|limit| {
        Kernel.warn(
            "memory",
            format!(
                "the caller's cgroup is limited to {} of memory",
                counted(limit >> 20, "MiB")
            ),
            "load from outside of this cgroup, or with a smaller --max-connections",
        )
    }));
    found
}

/// Lockdown (kernel_lockdown(7)): the mode in brackets is the chosen one.
fn lockdown(text: &str) -> Finding {
    let mode = text.split_whitespace().find_map(|mode| {
        let mode = mode.strip_prefix('[')?;
        mode.strip_suffix(']')
    });
    match mode {
        Some("confidentiality") => Topic::Kernel.fail(
            "lockdown",
            "lockdown mode `confidentiality` forbids BPF programs to read the kernel's memory",
            "boot with lockdown=integrity, or without lockdown",
        ),
        mode => {
            let mode = mode.unwrap_or("none");
            let text = format!("lockdown mode `{mode}` permits BPF");
            Topic::Kernel.ok("lockdown", text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::super::tests::{not_ok, one};
    use super::*;

    fn facts() -> Facts {
        Facts {
            release: "6.12.117+deb12-cloud-amd64".into(),
            btf: true,
            struct_ops: true,
            jit: Some("1\n".into()),
            missing_cubic: Vec::new(),
            lockdown: Some("[none] integrity confidentiality\n".into()),
            memory_limit: None,
        }
    }

    #[test]
    fn a_usual_kernel() {
        let found = findings(&facts());
        assert_eq!(not_ok(&found), []);
    }

    #[test]
    fn what_is_missing() {
        let old = Facts {
            release: "5.15.0-91-generic".into(),
            ..facts()
        };
        assert_eq!(not_ok(&findings(&old)), [("release", Level::Fail)]);
        let without_btf = Facts {
            btf: false,
            ..facts()
        };
        assert_eq!(not_ok(&findings(&without_btf)), [("btf", Level::Fail)]);
        let without_jit = Facts {
            struct_ops: false,
            jit: Some("0\n".into()),
            ..facts()
        };
        let expected = [("struct_ops", Level::Fail), ("jit", Level::Fail)];
        assert_eq!(not_ok(&findings(&without_jit)), expected);
        let without_cubic = Facts {
            missing_cubic: vec!["cubictcp_init", "cubictcp_acked"],
            ..facts()
        };
        let found = findings(&without_cubic);
        assert_eq!(not_ok(&found), [("cubic", Level::Warn)]);
        assert!(
            one(&found, "cubic")
                .text
                .ends_with("cubictcp_init, cubictcp_acked")
        );
    }

    #[test]
    fn other_network_namespaces_do_not_show_the_compiler() {
        let hidden = Facts {
            jit: None,
            ..facts()
        };
        assert!(
            findings(&hidden)
                .iter()
                .all(|finding| finding.check != "jit")
        );
    }

    #[test]
    fn lockdown_modes() {
        for (text, level) in [
            ("[none] integrity confidentiality\n", Level::Ok),
            ("none [integrity] confidentiality\n", Level::Ok),
            ("none integrity [confidentiality]\n", Level::Fail),
        ] {
            let lockdown = Some(text.into());
            let found = findings(&Facts {
                lockdown,
                ..facts()
            });
            assert_eq!(one(&found, "lockdown").level, level, "{text}");
        }
    }

    #[test]
    fn a_small_cgroup() {
        let memory_limit = Some(64 << 20);
        let found = findings(&Facts {
            memory_limit,
            ..facts()
        });
        assert_eq!(not_ok(&found), [("memory", Level::Warn)]);
        assert!(one(&found, "memory").text.contains("64 MiB"));
    }
}
