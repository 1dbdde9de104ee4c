//! Settings of TCP (net.ipv4, Documentation/networking/ip-sysctl.rst) that change what an algorithm can do.

mod buffers;

use super::{Finding, Path, Settings, Topic};
use std::fs;

/// The settings of this network namespace.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts(Settings);

const NAMES: [&str; 11] = [
    "tcp_congestion_control",
    "tcp_available_congestion_control",
    "tcp_no_metrics_save",
    "tcp_no_ssthresh_metrics_save",
    "tcp_slow_start_after_idle",
    "tcp_sack",
    "tcp_timestamps",
    "tcp_window_scaling",
    "tcp_moderate_rcvbuf",
    "tcp_rmem",
    "tcp_wmem",
];

impl Facts {
    pub(super) fn gather() -> Self {
        let value = |name: &str| {
            let text = fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).ok()?;
            Some((
                name.into(),
                text.split_whitespace().collect::<Vec<_>>().join(" "),
            ))
        };
        Self(NAMES.iter().filter_map(|name| value(name)).collect())
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn is_off(&self, name: &str) -> bool {
        self.get(name) == Some("0")
    }
}

pub(super) fn findings(facts: &Facts, path: Option<Path>) -> Vec<Finding> {
    use Topic::Tcp;
    let mut found = Vec::new();
    if let (Some(default), Some(available)) = (
        facts.get("tcp_congestion_control"),
        facts.get("tcp_available_congestion_control"),
    ) {
        found.push(Tcp.ok(
            "default",
            format!("default of this network namespace: {default} (the kernel has {available})"),
        ));
    }
    for (name, cost) in [
        (
            "tcp_sack",
            "every loss of several segments takes several RTTs",
        ),
        (
            "tcp_timestamps",
            "retransmissions give no RTT, and old segments are not recognised",
        ),
        (
            "tcp_window_scaling",
            "a subflow has at most 64 KB in flight, 5 Mbit/s at 100 ms",
        ),
    ] {
        if facts.is_off(name) {
            let remedy = format!("`sysctl -w net.ipv4.{name}=1` turns it on");
            found.push(Tcp.warn(name, format!("{name} is off: {cost}"), remedy));
        }
    }
    // The kernel saves ssthresh only if both are 0 (tcp_update_metrics).
    let saves = facts.is_off("tcp_no_metrics_save") && facts.is_off("tcp_no_ssthresh_metrics_save");
    found.push(if saves {
        Tcp.warn(
            "metrics",
            "slow start of a new subflow ends at the ssthresh of an earlier connection to that host",
            "`sysctl -w net.ipv4.tcp_no_ssthresh_metrics_save=1`, then `ip tcp_metrics flush`",
        )
    } else {
        Tcp.ok("metrics", "subflows start without the ssthresh of earlier connections")
    });
    found.extend(facts.get("tcp_slow_start_after_idle").map(|value| {
        let text = match value {
            "0" => "subflows keep their window while they are idle",
            _ => "idle subflows start again with an initial window (tcp_slow_start_after_idle=1)",
        };
        Tcp.ok("idle", text)
    }));
    found.extend(buffers::receive(facts, path));
    found.extend(buffers::send(facts, path));
    found
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::super::tests::{not_ok, one, parsed};
    use super::*;
    use std::time::Duration;

    /// Linux 6.12.
    pub(super) const USUAL: &str = "tcp_congestion_control=cubic\ntcp_available_congestion_control=reno cubic\ntcp_no_metrics_save=0\n\
        tcp_no_ssthresh_metrics_save=1\ntcp_slow_start_after_idle=1\ntcp_sack=1\ntcp_timestamps=1\ntcp_window_scaling=1\n\
        tcp_moderate_rcvbuf=1\ntcp_rmem=4096 131072 6291456\ntcp_wmem=4096 16384 4194304";

    /// The only warning of Linux's settings.
    pub(super) const FIRST: (&str, Level) = ("tcp_rmem_first", Level::Warn);

    pub(super) fn examined(settings: &str, path: Option<Path>) -> Vec<Finding> {
        findings(&Facts(parsed(settings)), path)
    }

    pub(super) fn path(mbit: u64, rtt_ms: u64) -> Option<Path> {
        Some(Path {
            rate: mbit * 1_000_000,
            rtt: Duration::from_millis(rtt_ms),
        })
    }

    #[test]
    fn usual_settings() {
        let found = examined(USUAL, None);
        assert_eq!(not_ok(&found), [FIRST]);
        let text = &one(&found, "tcp_rmem").text;
        assert!(
            text.ends_with("6.3 MB, about 252 Mbit/s at 100 ms"),
            "{text}"
        );
        let first = one(&found, "tcp_rmem_first");
        let text = &first.text;
        assert!(
            text.contains("start at 131 KB, about 5 Mbit/s at 100 ms")
                && text.ends_with("from 66 KB on"),
            "{text}"
        );
        let remedy = "`sysctl -w net.ipv4.tcp_rmem='4096 1048576 6291456'`";
        assert_eq!(first.remedy.as_deref(), Some(remedy));
    }

    #[test]
    fn settings_that_limit() {
        for (from, to, check) in [
            ("tcp_sack=1", "tcp_sack=0", "tcp_sack"),
            ("tcp_timestamps=1", "tcp_timestamps=0", "tcp_timestamps"),
            (
                "tcp_window_scaling=1",
                "tcp_window_scaling=0",
                "tcp_window_scaling",
            ),
            (
                "ssthresh_metrics_save=1",
                "ssthresh_metrics_save=0",
                "metrics",
            ),
            (
                "tcp_moderate_rcvbuf=1",
                "tcp_moderate_rcvbuf=0",
                "tcp_moderate_rcvbuf",
            ),
            ("6291456", "212992", "tcp_rmem"),
            ("4194304", "212992", "tcp_wmem"),
        ] {
            let changed = USUAL.replace(from, to);
            let mut expected = [(check, Level::Warn), FIRST];
            if ["tcp_rmem", "tcp_wmem"].contains(&check) {
                expected.reverse();
            }
            assert_eq!(not_ok(&examined(&changed, None)), expected, "{to}");
        }
    }

    #[test]
    fn no_metrics_at_all() {
        let changed = USUAL
            .replace("ssthresh_metrics_save=1", "ssthresh_metrics_save=0")
            .replace("no_metrics_save=0", "no_metrics_save=1");
        assert_eq!(not_ok(&examined(&changed, None)), [FIRST]);
    }

    #[test]
    fn settings_that_a_kernel_lacks() {
        assert_eq!(not_ok(&findings(&Facts::default(), None)), []);
    }
}
