//! MPTCP's settings (net.mptcp, Documentation/networking/mptcp-sysctl.rst). Older kernels lack some of them.

use super::{Finding, Settings, Topic, settings};

/// The settings of this network namespace.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts(Settings);

impl Facts {
    pub(super) fn gather() -> Self {
        Self(settings("mptcp"))
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Whether limits and endpoints of the kernel's path manager apply.
    pub(super) fn uses_kernel_path_manager(&self) -> bool {
        let is_new = self.get("path_manager").is_none_or(|name| name == "kernel");
        !self.0.is_empty() && is_new && self.get("pm_type").is_none_or(|kind| kind == "0")
    }
}

pub(super) fn findings(facts: &Facts) -> Vec<Finding> {
    use Topic::Mptcp;
    let mut found = Vec::new();
    match facts.get("enabled") {
        None => {
            return vec![Mptcp.fail(
                "enabled",
                "this kernel has no MPTCP",
                "boot a kernel with CONFIG_MPTCP=y, as those of Debian and Ubuntu",
            )];
        }
        Some("0") => found.push(Mptcp.fail(
            "enabled",
            "MPTCP is off in this network namespace",
            "`sysctl -w net.mptcp.enabled=1` turns it on",
        )),
        Some(_) => found.push(Mptcp.ok("enabled", "MPTCP is on")),
    }
    if !facts.uses_kernel_path_manager() {
        found.push(Mptcp.warn(
            "path_manager",
            "a program has to manage the paths (net.mptcp.pm_type): without one nothing joins",
            "run mptcpd, or `sysctl -w net.mptcp.pm_type=0` for the kernel's path manager",
        ));
    }
    if facts.get("stale_loss_cnt") == Some("0") {
        found.push(Mptcp.warn(
            "stale_loss_cnt",
            "a path that is down is never given up (net.mptcp.stale_loss_cnt=0)",
            "`sysctl -w net.mptcp.stale_loss_cnt=4` restores the kernel's default",
        ));
    }
    if facts.get("allow_join_initial_addr_port") == Some("0") {
        found.push(Mptcp.warn(
            "allow_join_initial_addr_port",
            "peers may not join at the address of the first subflow",
            "`sysctl -w net.mptcp.allow_join_initial_addr_port=1`, unless a load balancer needs 0",
        ));
    }
    let settings = [
        ("scheduler", "scheduler", ""),
        ("path_manager", "path manager", ""),
        ("checksum_enabled", "checksums", ""),
        ("add_addr_timeout", "ADD_ADDR again after", " s"),
        ("stale_loss_cnt", "stale after", " timeouts"),
        ("close_timeout", "close timeout", " s"),
    ];
    let settings = settings.iter().filter_map(|(name, words, unit)| {
        let value = match (*name, facts.get(name)?) {
            ("checksum_enabled", "0") => "off",
            ("checksum_enabled", _) => "on",
            (_, value) => value,
        };
        Some(format!("{words} {value}{unit}"))
    });
    let settings: Vec<String> = settings.collect();
    if !settings.is_empty() {
        found.push(Mptcp.ok("settings", settings.join(", ")));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::super::tests::{not_ok, one, parsed};
    use super::*;

    /// Linux 6.1.0-56.
    const OLD: &str = "add_addr_timeout=120\nallow_join_initial_addr_port=1\nchecksum_enabled=0\nenabled=1\npm_type=0\nstale_loss_cnt=4";

    /// Linux 6.18.44.
    const NEW: &str = "add_addr_timeout=120\nallow_join_initial_addr_port=1\navailable_path_managers=kernel userspace\n\
        available_schedulers=default\nblackhole_timeout=3600\nchecksum_enabled=0\nclose_timeout=60\nenabled=1\npath_manager=kernel\n\
        pm_type=0\nscheduler=default\nstale_loss_cnt=4\nsyn_retrans_before_tcp_fallback=2";

    fn facts(text: &str) -> Facts {
        Facts(parsed(text))
    }

    #[test]
    fn settings_of_two_kernels() {
        let text = |settings| {
            let found = findings(&facts(settings));
            assert_eq!(not_ok(&found), []);
            one(&found, "settings").text.clone()
        };
        assert_eq!(
            text(OLD),
            "checksums off, ADD_ADDR again after 120 s, stale after 4 timeouts"
        );
        assert_eq!(
            text(NEW),
            "scheduler default, path manager kernel, checksums off, ADD_ADDR again after 120 s, stale after 4 timeouts, \
             close timeout 60 s"
        );
    }

    #[test]
    fn settings_that_prevent_or_limit() {
        assert_eq!(not_ok(&findings(&facts(""))), [("enabled", Level::Fail)]);
        for (from, to, check, level) in [
            ("enabled=1", "enabled=0", "enabled", Level::Fail),
            ("pm_type=0", "pm_type=1", "path_manager", Level::Warn),
            (
                "path_manager=kernel",
                "path_manager=userspace",
                "path_manager",
                Level::Warn,
            ),
            (
                "stale_loss_cnt=4",
                "stale_loss_cnt=0",
                "stale_loss_cnt",
                Level::Warn,
            ),
            (
                "allow_join_initial_addr_port=1",
                "allow_join_initial_addr_port=0",
                "allow_join_initial_addr_port",
                Level::Warn,
            ),
        ] {
            let changed = NEW.replace(from, to);
            assert_eq!(
                not_ok(&findings(&facts(&changed))),
                [(check, level)],
                "{to}"
            );
        }
    }
}
