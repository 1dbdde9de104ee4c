//! Values of a subflow as short texts.

use std::net::SocketAddr;

use kernel::status::Subflow;

/// The group of a subflow, and the requested group if it differs: `1`, `0 → 1`; `off` while coupling is switched off.
pub fn group(subflow: &Subflow) -> String {
    if subflow.uncoupled {
        return "off".into();
    }
    match subflow.group_asked {
        Some(requested) => format!("{} → {requested}", subflow.group),
        None => subflow.group.to_string(),
    }
}

/// Credits that the subflow took and gave.
pub fn credit(subflow: &Subflow) -> String {
    let mut credit = Vec::new();
    if let Some(from) = subflow.credit_from {
        credit.push(format!("took {} from {from}", subflow.credit));
    }
    if subflow.credits_settled > 0 {
        credit.push(format!("gave {}", subflow.credits_settled));
    }
    if subflow.debit > 0 {
        credit.push(format!("owes {}", subflow.debit));
    }
    if subflow.credits_void > 0 {
        credit.push(format!("{} void", subflow.credits_void));
    }
    credit.join(", ")
}

/// Three digits and a prefix, at most 5 characters: `812`, `12.3k`, `1.23M`.
pub fn short(number: f64) -> String {
    if number < 999.5 {
        return format!("{number:.0}");
    }
    let (mut number, mut prefix) = (number, "");
    for next in ["k", "M", "G", "T"] {
        if number < 999.5 {
            break;
        }
        (number, prefix) = (number / 1e3, next);
    }
    match number {
        n if n < 9.995 => format!("{n:.2}{prefix}"),
        n if n < 99.95 => format!("{n:.1}{prefix}"),
        n => format!("{n:.0}{prefix}"),
    }
}

/// A throughput, bits/s, as [`short`].
pub fn rate(bps: Option<f64>) -> String {
    bps.map_or("–".into(), short)
}

/// A number of segments: exact up to five digits.
pub fn segments(number: u32) -> String {
    match number {
        0..=99_999 => number.to_string(),
        _ => short(number.into()),
    }
}

/// A smoothed RTT, at most 6 characters.
pub fn srtt(us: Option<f64>) -> String {
    match us.map(|us| us / 1e3) {
        None => "–".into(),
        Some(ms) if ms < 9.995 => format!("{ms:.2}ms"),
        Some(ms) if ms < 99.95 => format!("{ms:.1}ms"),
        Some(ms) if ms < 999.5 => format!("{ms:.0}ms"),
        Some(ms) => format!("{:.1}s", ms / 1e3),
    }
}

/// A phase in at most 5 characters.
pub fn phase(name: &str) -> &str {
    match name {
        "slow start" => "start",
        "avoidance" => "avoid",
        "recovery" => "recov",
        "standby" => "stand",
        other => other,
    }
}

/// Both ends of a subflow in at most `width` characters. The service's port stays: the lower one. Then addresses lose their middle.
pub fn ends(subflow: &Subflow, width: usize) -> String {
    let (Some(local), Some(remote)) = (subflow.local, subflow.remote) else {
        return cut(&format!("slot {}", subflow.slot), width);
    };
    let full = format!("{local} → {remote}");
    if length(&full) <= width {
        return full;
    }
    let (left, right) = match local.port() < remote.port() {
        true => (local.to_string(), address(remote)),
        false => (address(local), remote.to_string()),
    };
    if length(&left) + length(&right) + 3 <= width {
        return format!("{left} → {right}");
    }
    let room = width.saturating_sub(1);
    let (short, long) = (room / 2, room - room / 2);
    // A short end leaves its room to the other one.
    let left_width = long.max(room.saturating_sub(length(&right)));
    let left = middle_cut(&left, left_width);
    let right = middle_cut(&right, (room - length(&left).min(room)).max(short));
    format!("{left}→{right}")
}

/// An address without its port, in brackets if it is IPv6 and stands beside one with a port.
fn address(end: SocketAddr) -> String {
    end.ip().to_string()
}

/// Number of characters.
pub fn length(text: &str) -> usize {
    text.chars().count()
}

/// The first characters of a text; `…` stands for the rest.
pub fn cut(text: &str, width: usize) -> String {
    if length(text) <= width {
        return text.into();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    kept + "…"
}

/// The begin and the end of a text; `…` stands for its middle.
fn middle_cut(text: &str, width: usize) -> String {
    let all = length(text);
    if all <= width || width == 0 {
        return cut(text, width);
    }
    let end = (width - 1) / 2;
    let begin = width - 1 - end;
    let mut kept: String = text.chars().take(begin).collect();
    kept.push('…');
    kept.extend(text.chars().skip(all - end));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (number, text) in [
            (0.0, "0"),
            (812.4, "812"),
            (999.6, "1.00k"),
            (12_345.0, "12.3k"),
            (123_456.0, "123k"),
            (999_600.0, "1.00M"),
            (1_234_000.0, "1.23M"),
            (99.96e6, "100M"),
            (4.5e9, "4.50G"),
            (7e12, "7.00T"),
        ] {
            assert_eq!(short(number), text);
        }
        assert_eq!(rate(None), "–");
        assert_eq!(segments(99_999), "99999");
        assert_eq!(segments(123_456), "123k");
    }

    #[test]
    fn times_are_short() {
        for (us, text) in [
            (40.0, "0.04ms"),
            (1234.0, "1.23ms"),
            (20_100.0, "20.1ms"),
            (99_960.0, "100ms"),
            (1_500_000.0, "1.5s"),
        ] {
            assert_eq!(srtt(Some(us)), text);
        }
    }

    fn subflow(local: &str, remote: &str) -> Subflow {
        let mut subflow = Subflow::default();
        (subflow.local, subflow.remote) = (local.parse().ok(), remote.parse().ok());
        subflow
    }

    #[test]
    fn addresses_lose_the_port_of_the_client_and_then_their_middle() {
        let client = subflow("10.7.0.1:50000", "10.7.0.2:443");
        assert_eq!(ends(&client, 40), "10.7.0.1:50000 → 10.7.0.2:443");
        assert_eq!(ends(&client, 25), "10.7.0.1 → 10.7.0.2:443");
        let server = subflow("10.7.0.2:443", "10.7.0.1:50000");
        assert_eq!(ends(&server, 25), "10.7.0.2:443 → 10.7.0.1");
        let longest = subflow("192.168.100.100:50000", "192.168.200.200:40443");
        assert_eq!(
            ends(&longest, 39),
            "192.168.100.100 → 192.168.200.200:40443"
        );
        let v6 = subflow(
            "[2001:db8:1111:2222:3333:4444:5555:6666]:50000",
            "[2001:db8::9]:443",
        );
        assert_eq!(ends(&v6, 38), "2001:db8:1…5555:6666→[2001:db8::9]:443");
        for width in 20..100 {
            for subflow in [&client, &server, &longest, &v6] {
                let text = ends(subflow, width);
                assert!(length(&text) <= width, "{width}: {text}");
            }
        }
        let unknown = Subflow::default();
        assert_eq!(ends(&unknown, 20), "slot 0");
    }
}
