//! Sequence numbers and timestamps: 64 bits wide at the endpoints, narrower in packets.

use netsim::Time;

/// Timestamp in packets, µs. It wraps after 71 minutes.
#[inline]
pub(crate) fn micros(now: Time) -> u32 {
    (now.as_nanos() / 1000) as u32
}

/// Elapsed time as shown by timestamps of millisecond resolution, µs. `ago`: the elapsed time, µs (tcp_rtt_tsopt_us).
#[inline]
pub(crate) fn in_milliseconds(now: u32, ago: u32) -> u32 {
    (ago.saturating_add(999 - now % 1000)) / 1000 * 1000
}

/// The number nearest to `near` whose low 32 bits are `wire`.
#[inline]
pub(crate) fn widen(near: u64, wire: u32) -> u64 {
    near.wrapping_add(wire.wrapping_sub(near as u32) as i32 as i64 as u64)
}

/// Bits of an echoed timestamp in an ACK. They wrap after 17 minutes, more than eight times the longest retransmission timeout.
pub(crate) const ECHO_BITS: u32 = 30;

/// Elapsed time since an echoed timestamp, µs.
pub(crate) fn since_echo(now_us: u32, echo_us: u32) -> u32 {
    now_us.wrapping_sub(echo_us) & ((1 << ECHO_BITS) - 1)
}

/// Whether an echoed timestamp is before a time, µs.
pub(crate) fn is_echo_before(echo_us: u32, time_us: u32) -> bool {
    let ago = since_echo(time_us, echo_us);
    ago > 0 && ago < 1 << (ECHO_BITS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elapsed_time_has_the_milliseconds_of_the_clock() {
        for (now, ago, shown) in [
            (5000, 0, 0),
            (5000, 1, 1000),
            (5999, 999, 0),
            (5999, 1000, 1000),
            (5300, 75_600, 76_000),
        ] {
            assert_eq!(in_milliseconds(now, ago), shown, "{now} {ago}");
            if ago <= now {
                let difference = now / 1000 * 1000 - (now - ago) / 1000 * 1000;
                assert_eq!(difference, shown, "{now} {ago}");
            }
        }
    }

    #[test]
    fn echoed_timestamps_wrap() {
        const ALL: u32 = (1 << ECHO_BITS) - 1;
        for now in [0, 5, ALL - 3, ALL, u32::MAX - 7, u32::MAX] {
            for ago in [0, 1, 77, 1 << 28] {
                let echo = now.wrapping_sub(ago) & ALL;
                assert_eq!(since_echo(now, echo), ago, "{now} {ago}");
                assert_eq!(is_echo_before(echo, now), ago > 0, "{now} {ago}");
                assert!(!is_echo_before(now & ALL, now.wrapping_sub(ago)));
            }
        }
    }

    #[test]
    fn sequence_numbers_wrap() {
        for near in [0, 5, u64::from(u32::MAX), 1 << 32, (1 << 40) + 3] {
            for step in [0u64, 1, 77, 1 << 30] {
                assert_eq!(widen(near, (near + step) as u32), near + step);
                assert_eq!(widen(near + step, near as u32), near);
            }
        }
    }
}
