//! Settings of TCP (net.ipv4, Documentation/networking/ip-sysctl.rst) that change what an algorithm can do.

use super::{Finding, Settings, Topic};
use std::fs;

/// The settings of this network namespace.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts(Settings);

const NAMES: [&str; 10] = [
    "tcp_congestion_control",
    "tcp_available_congestion_control",
    "tcp_no_metrics_save",
    "tcp_no_ssthresh_metrics_save",
    "tcp_slow_start_after_idle",
    "tcp_sack",
    "tcp_timestamps",
    "tcp_window_scaling",
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

    /// The largest size of a buffer: the third number.
    fn largest(&self, name: &str) -> Option<u64> {
        self.get(name)?.split(' ').nth(2)?.parse().ok()
    }
}

/// Buffers below this hold less than 80 Mbit/s at 100 ms, for all subflows of a connection together.
const SMALL: u64 = 2 << 20;

pub(super) fn findings(facts: &Facts) -> Vec<Finding> {
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
            "a subflow has at most 64 KB in flight",
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
    for (name, what) in [("tcp_rmem", "receive"), ("tcp_wmem", "send")] {
        let Some(bytes) = facts.largest(name) else {
            continue;
        };
        // A buffer has room for its packets' overhead, too: about a half is data (tcp_adv_win_scale).
        let mbit = bytes as f64 / 2.0 * 8.0 / 0.1 / 1e6;
        let size = format!("{:.1} MB", bytes as f64 / 1e6);
        let text = format!(
            "{what} buffers of a connection, all subflows: {size}, about {mbit:.0} Mbit/s at 100 ms"
        );
        found.push(if bytes < SMALL {
            let remedy = format!("`sysctl -w net.ipv4.{name}='4096 131072 6291456'`, or more");
            Tcp.warn(name, text, remedy)
        } else {
            Tcp.ok(name, text)
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::super::tests::{not_ok, one, parsed};
    use super::*;

    /// Linux 6.12.
    const USUAL: &str = "tcp_congestion_control=cubic\ntcp_available_congestion_control=reno cubic\ntcp_no_metrics_save=0\n\
        tcp_no_ssthresh_metrics_save=1\ntcp_slow_start_after_idle=1\ntcp_sack=1\ntcp_timestamps=1\ntcp_window_scaling=1\n\
        tcp_rmem=4096 131072 6291456\ntcp_wmem=4096 16384 4194304";

    #[test]
    fn usual_settings() {
        let found = findings(&Facts(parsed(USUAL)));
        assert_eq!(not_ok(&found), []);
        let text = &one(&found, "tcp_rmem").text;
        assert!(
            text.ends_with("6.3 MB, about 252 Mbit/s at 100 ms"),
            "{text}"
        );
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
            ("6291456", "212992", "tcp_rmem"),
            ("4194304", "212992", "tcp_wmem"),
        ] {
            let changed = USUAL.replace(from, to);
            assert_eq!(
                not_ok(&findings(&Facts(parsed(&changed)))),
                [(check, Level::Warn)],
                "{to}"
            );
        }
    }

    #[test]
    fn no_metrics_at_all() {
        let changed = USUAL
            .replace("ssthresh_metrics_save=1", "ssthresh_metrics_save=0")
            .replace("no_metrics_save=0", "no_metrics_save=1");
        assert_eq!(not_ok(&findings(&Facts(parsed(&changed)))), []);
    }

    #[test]
    fn settings_that_a_kernel_lacks() {
        assert_eq!(not_ok(&findings(&Facts::default())), []);
    }
}
