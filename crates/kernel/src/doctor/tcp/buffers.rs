//! Sizes of TCP's buffers (tcp_rmem, tcp_wmem), for a path.

use super::super::{Finding, Path, Topic};
use super::Facts;

/// Sizes of a buffer, bytes. All subflows of a connection share one.
#[derive(Clone, Copy)]
struct Buffer {
    least: u64,
    /// Size at the start.
    first: u64,
    most: u64,
}

impl Facts {
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

/// Buffers below this hold less than 80 Mbit/s at 100 ms.
const SMALL: u64 = 2 << 20;

/// Receive buffers below this cost MPTCP a round trip at the start of a transfer (docs/doctor.md, Receive buffers).
const FIRST_WANTED: u64 = 512 << 10;
/// First size that is recommended.
const FIRST_GOOD: u64 = 1 << 20;

/// Largest receive buffer that costs nothing, in bandwidth-delay products: about a half of it is data, and as much as is in flight may
/// wait for a retransmission.
const WANTED_BDP: f64 = 4.0;

/// The largest buffer that is recommended, bytes: whole MiB within the limit of tcp_rmem and tcp_wmem, INT_MAX
/// (proc_dointvec_minmax). About a half of it is data: as much as the largest window, 65535 · 2^14 bytes (RFC 7323, 2.3).
const LARGEST: u64 = 2047 << 20;

/// RTT of the examples.
const EXAMPLE_RTT: f64 = 0.1;

/// Bytes in flight that a receive buffer of this size permits: it has room for the packets' overhead, too, and about a half is data
/// (tcp_adv_win_scale, scaling_ratio).
fn in_flight(bytes: u64) -> f64 {
    bytes as f64 / 2.0
}

/// Bytes in flight that a send buffer of this size permits: beside a burst of at least two segments of 1448 bytes it holds 896 for a
/// struct sk_buff.
fn sent_in_flight(bytes: u64) -> f64 {
    bytes as f64 * 2896.0 / 3792.0
}

/// A size, and the rate whose bandwidth-delay product it is: `6.3 MB, about 252 Mbit/s at 100 ms`.
fn reach(bytes: u64, in_flight: f64) -> String {
    let rate = in_flight * 8.0 / EXAMPLE_RTT / 1e6;
    format!("{}, about {rate:.0} Mbit/s at 100 ms", size(bytes as f64))
}

/// That this buffer limits a path, which the other one would allow more.
fn limits(path: Path, here: f64, there: Option<f64>) -> String {
    if here >= path.bdp() || there.is_some_and(|there| there < here) {
        return String::new();
    }
    let rate = here * 8.0 / path.rtt.as_secs_f64() / 1e6;
    format!("; of both buffers this one limits the path, to about {rate:.0} Mbit/s")
}

/// `131 KB`, `6.3 MB`.
fn size(bytes: f64) -> String {
    match bytes < 1e6 {
        true => format!("{:.0} KB", bytes / 1e3),
        false => format!("{:.1} MB", bytes / 1e6),
    }
}

/// Size of a buffer that costs a path nothing, or the largest one: whole MiB.
fn wanted(path: Option<Path>) -> u64 {
    let bytes = path.map_or(0.0, |path| WANTED_BDP * path.bdp());
    let mebibytes = (bytes / f64::from(1 << 20)).ceil() as u64;
    mebibytes.min(LARGEST >> 20) << 20
}

/// The receive buffer of a connection, for what this host receives.
pub(super) fn receive(facts: &Facts, path: Option<Path>) -> Vec<Finding> {
    use Topic::Tcp;
    let Some(buffer) = facts.buffer("tcp_rmem") else {
        return Vec::new();
    };
    let Buffer { least, first, most } = buffer;
    let mut found = Vec::new();
    // The sizes that all remedies set, so that each of them is enough.
    let good_first = first.max(FIRST_GOOD);
    let good_most = most.max(wanted(path)).max(6 << 20).max(good_first);
    let remedy = format!("`sysctl -w net.ipv4.tcp_rmem='{least} {good_first} {good_most}'`");
    if facts.is_off("tcp_moderate_rcvbuf") {
        found.push(Tcp.warn(
            "tcp_moderate_rcvbuf",
            format!(
                "receive buffers do not grow (tcp_moderate_rcvbuf=0): they stay at {}",
                reach(first, in_flight(first))
            ),
            "`sysctl -w net.ipv4.tcp_moderate_rcvbuf=1`",
        ));
    }
    let holds_path = path.is_some_and(|path| path.bdp() <= in_flight(first));
    let text = format!(
        "receive buffers start at {}",
        reach(first, in_flight(first))
    );
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
        reach(most, in_flight(most))
    );
    if let Some(path) = path {
        text += &format!(
            "; this path has {} in flight, the buffer is {:.1} times that (wanted: {WANTED_BDP})",
            size(path.bdp()),
            most as f64 / path.bdp()
        );
        let sends = facts
            .buffer("tcp_wmem")
            .map(|buffer| sent_in_flight(buffer.most));
        text += &limits(path, in_flight(most), sends);
        if path.bdp() > in_flight(LARGEST) {
            let rate = in_flight(LARGEST) * 8.0 / path.rtt.as_secs_f64() / 1e9;
            text += &format!("; TCP's largest window, 1 GiB, allows {rate:.1} Gbit/s");
        }
    }
    let wanted = path.map_or(0.0, |path| WANTED_BDP * path.bdp());
    let is_small = path.map_or(most < SMALL, |_| (most as f64) < wanted.min(LARGEST as f64));
    found.push(match is_small {
        true => Tcp.warn("tcp_rmem", text, remedy),
        false => Tcp.ok("tcp_rmem", text),
    });
    found
}

/// The send buffers of a connection's subflows.
pub(super) fn send(facts: &Facts, path: Option<Path>) -> Option<Finding> {
    let Buffer { least, first, most } = facts.buffer("tcp_wmem")?;
    let mut text = format!(
        "send buffers, one for each subflow: at most {}",
        reach(most, sent_in_flight(most))
    );
    if let Some(path) = path {
        let receives = facts
            .buffer("tcp_rmem")
            .map(|buffer| in_flight(buffer.most));
        text += &limits(path, sent_in_flight(most), receives);
    }
    let needed = path.map(|path| path.bdp().min(in_flight(LARGEST)));
    let is_small = needed.map_or(most < SMALL, |needed| sent_in_flight(most) < needed);
    let good = most.max(wanted(path)).max(4 << 20);
    let remedy = format!("`sysctl -w net.ipv4.tcp_wmem='{least} {first} {good}'`");
    Some(match is_small {
        true => Topic::Tcp.warn("tcp_wmem", text, remedy),
        false => Topic::Tcp.ok("tcp_wmem", text),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::Level;
    use super::super::super::tests::{not_ok, one};
    use super::super::tests::{FIRST, USUAL, examined, path};

    /// By hand: 1 Gbit/s at 80 ms are 10 MB, of which the buffer has 0.6; four times that are 38.1 MiB.
    #[test]
    fn a_path_that_the_buffers_do_not_hold() {
        let found = examined(USUAL, path(1000, 80));
        let both = [FIRST, ("tcp_rmem", Level::Warn), ("tcp_wmem", Level::Warn)];
        assert_eq!(not_ok(&found), both);
        let most = one(&found, "tcp_rmem");
        let text = "this path has 10.0 MB in flight, the buffer is 0.6 times that (wanted: 4)";
        assert!(most.text.contains(text), "{}", most.text);
        for (check, remedy) in [
            ("tcp_rmem_first", "tcp_rmem='4096 1048576 40894464'"),
            ("tcp_rmem", "tcp_rmem='4096 1048576 40894464'"),
            ("tcp_wmem", "tcp_wmem='4096 16384 40894464'"),
        ] {
            let remedy = format!("`sysctl -w net.ipv4.{remedy}`");
            assert_eq!(one(&found, check).remedy.as_ref(), Some(&remedy), "{check}");
        }
    }

    /// By hand: 6 MiB hold 3.15 MB of received data, 4 MiB hold 3.20 MB of sent data, and 2 MiB 1.60 MB; 1 Gbit/s at 80 ms are 10 MB.
    #[test]
    fn the_buffer_that_limits_a_path_is_named() {
        let limit = |settings: &str, check: &str| {
            let found = examined(settings, path(1000, 80));
            let text = one(&found, check).text.clone();
            let (_, limit) =
                text.split_once("of both buffers this one limits the path, to about ")?;
            Some(limit.to_owned())
        };
        assert_eq!(limit(USUAL, "tcp_rmem").as_deref(), Some("315 Mbit/s"));
        assert_eq!(limit(USUAL, "tcp_wmem"), None);
        let small = USUAL.replace("4194304", "2097152");
        assert_eq!(limit(&small, "tcp_wmem").as_deref(), Some("160 Mbit/s"));
        assert_eq!(limit(&small, "tcp_rmem"), None);
    }

    /// What the remedies set is enough for the path.
    #[test]
    fn remedies_suffice() {
        for (mbit, rtt_ms) in [
            (1000, 80),
            (100, 10),
            (5, 100),
            (10_000, 300),
            (100_000, 300),
        ] {
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

    /// By hand: 30 GB in flight, of which the largest window has 1 073 217 536 bytes, 0.86 Gbit/s at 10 s.
    #[test]
    fn a_path_that_no_window_holds() {
        let found = examined(USUAL, path(24_000, 10_000));
        for (check, remedy) in [
            ("tcp_rmem", "tcp_rmem='4096 1048576 2146435072'"),
            ("tcp_wmem", "tcp_wmem='4096 16384 2146435072'"),
        ] {
            let remedy = format!("`sysctl -w net.ipv4.{remedy}`");
            assert_eq!(one(&found, check).remedy.as_ref(), Some(&remedy), "{check}");
        }
        let text = &one(&found, "tcp_rmem").text;
        let rate = "; TCP's largest window, 1 GiB, allows 0.9 Gbit/s";
        assert!(text.ends_with(rate), "{text}");
    }
}
