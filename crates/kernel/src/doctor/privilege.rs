//! Capabilities of the caller.

use super::{Finding, Topic};
use crate::text;

/// Texts of /proc/self.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// /proc/self/status.
    status: String,
    /// /proc/self/uid_map.
    uid_map: String,
}

impl Facts {
    pub(super) fn gather() -> Self {
        let read = |path: &str| text::read(path).unwrap_or_default();
        Self {
            status: read("/proc/self/status"),
            uid_map: read("/proc/self/uid_map"),
        }
    }

    /// Effective capabilities, bit by bit (capabilities(7)).
    fn effective(&self) -> u64 {
        let lines = &mut self.status.lines();
        let hex = lines.find_map(|line| line.strip_prefix("CapEff:"));
        hex.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())
            .unwrap_or(0)
    }

    /// Whether the kernel lets the caller load programs, as far as capabilities decide.
    pub(super) fn may_load(&self) -> bool {
        self.is_in_first_user_namespace() && self.missing().is_empty()
    }

    /// What the caller lacks.
    fn missing(&self) -> Vec<&'static (&'static str, u32, &'static str)> {
        let effective = self.effective();
        // CAP_SYS_ADMIN includes CAP_BPF and CAP_PERFMON.
        let is_admin = effective >> 21 & 1 == 1;
        let has = |bit: u32| effective >> bit & 1 == 1 || (is_admin && matches!(bit, 38 | 39));
        NEEDED.iter().filter(|(_, bit, _)| !has(*bit)).collect()
    }

    /// Whether the caller is in the first user namespace, whose capabilities BPF needs.
    fn is_in_first_user_namespace(&self) -> bool {
        let map: Vec<&str> = self.uid_map.split_whitespace().collect();
        map == ["0", "0", "4294967295"]
    }
}

/// A capability, its bit (linux/capability.h), and what needs it.
const NEEDED: [(&str, u32, &str); 4] = [
    ("CAP_BPF", 39, "load"),
    ("CAP_PERFMON", 38, "load, status, top"),
    ("CAP_NET_ADMIN", 12, "load, default"),
    (
        "CAP_SYS_ADMIN",
        21,
        "load, unload, status, top, default, group",
    ),
];

const REMEDY: &str = "run `lisa kernel` with sudo; `exec`, `algorithms` and `doctor` need no root";

pub(super) fn findings(facts: &Facts) -> Vec<Finding> {
    use Topic::Privilege;
    if !facts.is_in_first_user_namespace() {
        return vec![Privilege.warn(
            "user_namespace",
            "this is a user namespace (a container): its root has no BPF",
            "load on the host; commands in the container can use what is loaded there",
        )];
    }
    let missing = facts.missing().into_iter();
    let missing: Vec<String> = missing
        .map(|(name, _, uses)| format!("{name} ({uses})"))
        .collect();
    vec![if missing.is_empty() {
        Privilege.ok("capabilities", "the caller may load, watch and unload")
    } else {
        let text = format!("the caller lacks {}", missing.join(", "));
        Privilege.warn("capabilities", text, REMEDY)
    }]
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::super::tests::not_ok;
    use super::*;

    fn facts(capabilities: u64) -> Facts {
        Facts {
            status: format!(
                "Name:\tlisa\nCapPrm:\t0000000000000000\nCapEff:\t{capabilities:016x}\n"
            ),
            uid_map: "         0          0 4294967295\n".into(),
        }
    }

    #[test]
    fn capabilities() {
        assert_eq!(not_ok(&findings(&facts(0x1ff_ffff_ffff))), []);
        // CAP_SYS_ADMIN and CAP_NET_ADMIN alone.
        assert_eq!(not_ok(&findings(&facts(1 << 21 | 1 << 12))), []);
        let found = findings(&facts(0));
        assert_eq!(not_ok(&found), [("capabilities", Level::Warn)]);
        assert!(found[0].text.contains("CAP_BPF (load)"), "{found:?}");
        let found = findings(&facts(1 << 39 | 1 << 38 | 1 << 12));
        assert!(found[0].text.starts_with("the caller lacks CAP_SYS_ADMIN"));
        assert!(!found[0].text.contains("CAP_BPF"));
    }

    #[test]
    fn roots_of_containers_have_no_bpf() {
        let mut container = facts(0x1ff_ffff_ffff);
        container.uid_map = "         0     100000      65536\n".into();
        assert_eq!(
            not_ok(&findings(&container)),
            [("user_namespace", Level::Warn)]
        );
    }
}
