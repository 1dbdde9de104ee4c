//! Settings of TCP (net.ipv4, Documentation/networking/ip-sysctl.rst) that change what an algorithm can do.

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

    /// Sizes of a buffer, from its three numbers.
    fn buffer(&self, name: &str) -> Option<Buffer> {
        let mut numbers = self.get(name)?.split(' ').map(|number| number.parse().ok());
        Some(Buffer {
            least: numbers.next()??,
            first: numbers.next()??,
            most: numbers.next()??,
        })
    }
}

/// Sizes of a buffer, bytes. All subflows of a connection share one.
#[derive(Clone, Copy)]
struct Buffer {
    least: u64,
    /// Size at the start.
    first: u64,
    most: u64,
}

/// Buffers below this hold less than 80 Mbit/s at 100 ms.
const SMALL: u64 = 2 << 20;

/// Receive buffers below this cost MPTCP a round trip at the start of a transfer (docs/doctor.md, Receive buffers).
const FIRST_WANTED: u64 = 512 << 10;
/// First size that is recommended.
const FIRST_GOOD: u64 = 1 << 20;

/// Largest receive buffer that costs nothing, in bandwidth-delay products: about a half of it is data, and as much as is in flight may
/// wait for a retransmission.
const WANTED_BDP: f64 = 4.0;

/// RTT of the examples.
const EXAMPLE_RTT: f64 = 0.1;

/// Bytes in flight that a buffer of this size permits: it has room for the packets' overhead, too, and about a half is data
/// (tcp_adv_win_scale, scaling_ratio).
fn in_flight(bytes: u64) -> f64 {
    bytes as f64 / 2.0
}

/// A size, and the rate at which that many bytes are in flight: `6.3 MB, about 252 Mbit/s at 100 ms`.
fn reach(bytes: u64) -> String {
    let rate = in_flight(bytes) * 8.0 / EXAMPLE_RTT / 1e6;
    format!("{}, about {rate:.0} Mbit/s at 100 ms", size(bytes as f64))
}

/// `131 KB`, `6.3 MB`.
fn size(bytes: f64) -> String {
    match bytes < 1e6 {
        true => format!("{:.0} KB", bytes / 1e3),
        false => format!("{:.1} MB", bytes / 1e6),
    }
}

/// The least multiple of a MiB that is not less.
fn whole_mebibytes(bytes: f64) -> u64 {
    ((bytes / f64::from(1 << 20)).ceil() as u64) << 20
}

/// The receive buffer of a connection, for what this host receives.
fn receive_buffer(facts: &Facts, path: Option<Path>) -> Vec<Finding> {
    use Topic::Tcp;
    let Some(buffer) = facts.buffer("tcp_rmem") else {
        return Vec::new();
    };
    let Buffer { least, first, most } = buffer;
    let mut found = Vec::new();
    let wanted = path.map_or(0.0, |path| WANTED_BDP * path.bdp());
    // The sizes that all remedies set, so that each of them is enough.
    let good_first = first.max(FIRST_GOOD);
    let good_most = most
        .max(whole_mebibytes(wanted))
        .max(6 << 20)
        .max(good_first);
    let remedy = format!("`sysctl -w net.ipv4.tcp_rmem='{least} {good_first} {good_most}'`");
    if facts.is_off("tcp_moderate_rcvbuf") {
        found.push(Tcp.warn(
            "tcp_moderate_rcvbuf",
            format!(
                "receive buffers do not grow (tcp_moderate_rcvbuf=0): they stay at {}",
                reach(first)
            ),
            "`sysctl -w net.ipv4.tcp_moderate_rcvbuf=1`",
        ));
    }
    let holds_path = path.is_some_and(|path| path.bdp() <= in_flight(first));
    let text = format!("receive buffers start at {}", reach(first));
    found.push(if first < FIRST_WANTED && !holds_path {
        let text = format!(
            "{text}: MPTCP then takes about a round trip longer to receive from {} on",
            size(in_flight(first))
        );
        Tcp.warn("tcp_rmem_first", text, remedy.clone())
    } else {
        Tcp.ok("tcp_rmem_first", text)
    });
    let mut text = format!(
        "receive buffers of a connection, all subflows: at most {}",
        reach(most)
    );
    if let Some(path) = path {
        text += &format!(
            "; this path has {} in flight, the buffer is {:.1} times that (wanted: {WANTED_BDP})",
            size(path.bdp()),
            most as f64 / path.bdp()
        );
    }
    let is_small = path.map_or(most < SMALL, |_| (most as f64) < wanted);
    found.push(match is_small {
        true => Tcp.warn("tcp_rmem", text, remedy),
        false => Tcp.ok("tcp_rmem", text),
    });
    found
}

/// The send buffer of a connection.
fn send_buffer(facts: &Facts, path: Option<Path>) -> Option<Finding> {
    let Buffer { least, first, most } = facts.buffer("tcp_wmem")?;
    let text = format!(
        "send buffers of a connection, all subflows: at most {}",
        reach(most)
    );
    let is_small = path.map_or(most < SMALL, |path| in_flight(most) < path.bdp());
    let wanted = path.map_or(0.0, |path| WANTED_BDP * path.bdp());
    let good = most.max(whole_mebibytes(wanted)).max(4 << 20);
    let remedy = format!("`sysctl -w net.ipv4.tcp_wmem='{least} {first} {good}'`");
    Some(match is_small {
        true => Topic::Tcp.warn("tcp_wmem", text, remedy),
        false => Topic::Tcp.ok("tcp_wmem", text),
    })
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
    found.extend(receive_buffer(facts, path));
    found.extend(send_buffer(facts, path));
    found
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::super::tests::{not_ok, one, parsed};
    use super::*;
    use std::time::Duration;

    /// Linux 6.12.
    const USUAL: &str = "tcp_congestion_control=cubic\ntcp_available_congestion_control=reno cubic\ntcp_no_metrics_save=0\n\
        tcp_no_ssthresh_metrics_save=1\ntcp_slow_start_after_idle=1\ntcp_sack=1\ntcp_timestamps=1\ntcp_window_scaling=1\n\
        tcp_moderate_rcvbuf=1\ntcp_rmem=4096 131072 6291456\ntcp_wmem=4096 16384 4194304";

    /// The only warning of Linux's settings.
    const FIRST: (&str, Level) = ("tcp_rmem_first", Level::Warn);

    fn examined(settings: &str, path: Option<Path>) -> Vec<Finding> {
        findings(&Facts(parsed(settings)), path)
    }

    fn path(mbit: u64, rtt_ms: u64) -> Option<Path> {
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

    /// By hand: 1 Gbit/s at 80 ms are 10 MB, of which the buffer has 0.6; four times that are 38.1 MiB.
    #[test]
    fn a_path_that_the_buffers_do_not_hold() {
        let found = examined(USUAL, path(1000, 80));
        let both = [FIRST, ("tcp_rmem", Level::Warn), ("tcp_wmem", Level::Warn)];
        assert_eq!(not_ok(&found), both);
        let most = one(&found, "tcp_rmem");
        let text = "this path has 10.0 MB in flight, the buffer is 0.6 times that (wanted: 4)";
        assert!(most.text.ends_with(text), "{}", most.text);
        for (check, remedy) in [
            ("tcp_rmem_first", "tcp_rmem='4096 1048576 40894464'"),
            ("tcp_rmem", "tcp_rmem='4096 1048576 40894464'"),
            ("tcp_wmem", "tcp_wmem='4096 16384 40894464'"),
        ] {
            let remedy = format!("`sysctl -w net.ipv4.{remedy}`");
            assert_eq!(one(&found, check).remedy.as_ref(), Some(&remedy), "{check}");
        }
    }

    /// What the remedies set is enough for the path.
    #[test]
    fn remedies_suffice() {
        for (mbit, rtt_ms) in [(1000, 80), (100, 10), (5, 100), (10_000, 300)] {
            let path = path(mbit, rtt_ms);
            let mut settings = USUAL.to_owned();
            for finding in examined(USUAL, path) {
                let set = finding.remedy.as_deref().unwrap_or_default();
                let set = set.trim_matches('`').strip_prefix("sysctl -w net.ipv4.");
                let Some((name, value)) = set.and_then(|set| set.split_once('=')) else {
                    continue;
                };
                let kept = settings.lines().filter(|line| !line.starts_with(name));
                let line = format!("{name}={}", value.trim_matches('\''));
                settings = kept
                    .map(String::from)
                    .chain([line])
                    .collect::<Vec<_>>()
                    .join("\n");
            }
            assert_eq!(not_ok(&examined(&settings, path)), [], "{mbit} {rtt_ms}");
        }
    }

    /// 5 Mbit/s at 100 ms are 62.5 KB, within the first buffer; 1 MB at most would be enough, too.
    #[test]
    fn a_path_that_the_buffers_hold() {
        assert_eq!(not_ok(&examined(USUAL, path(5, 100))), []);
        let small = USUAL.replace("6291456", "1048576");
        assert_eq!(not_ok(&examined(&small, path(5, 100))), []);
        assert_eq!(
            not_ok(&examined(&small, None)),
            [FIRST, ("tcp_rmem", Level::Warn)]
        );
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
