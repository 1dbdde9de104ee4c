//! Expiry of Linux's timers (kernel/time/timer.c: calc_wheel_index). A timer never fires early, and fires at a tick.
//! The wheel has levels: a long timer fires at every eighth tick, a longer one at every 64th, and so on.

use netsim::{Span, Time};

/// Ticks from which on a timer is not in the first level (LVL_START(1)).
const LVL_START_1: u64 = 63;

/// Granularity of a level relative to the one before, as a shift (LVL_CLK_SHIFT).
const LVL_CLK_SHIFT: u32 = 3;

/// The tick for which a timer is set at `set` to wait for `wait` (timer_list.expires). It fires at a later one. Ticks
/// are counted from the start of the run.
pub(crate) fn expires(tick: Span, set: Time, wait: Span) -> Time {
    let tick = tick.as_nanos();
    Time::from_nanos((set.as_nanos() / tick + wait.as_nanos().div_ceil(tick)) * tick)
}

/// Time from `now` until `expires`, in whole ticks.
pub(crate) fn remaining(tick: Span, expires: Time, now: Time) -> Span {
    let now = now.as_nanos() / tick.as_nanos() * tick.as_nanos();
    expires.since(Time::from_nanos(now))
}

/// Time at which a timer fires that was set at `set` to wait for `wait`.
pub(crate) fn fires_at(tick: Span, set: Time, wait: Span) -> Time {
    let expires = expires(tick, set, wait).as_nanos() / tick.as_nanos();
    let ticks = wait.as_nanos().div_ceil(tick.as_nanos());
    let mut shift = 0;
    while ticks >= LVL_START_1 << shift {
        shift += LVL_CLK_SHIFT;
    }
    Time::from_nanos((((expires >> shift) + 1) << shift) * tick.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time at which a timer fires, with ticks of 4 ms. All times are in ms.
    fn after(set: u64, wait: u64) -> u64 {
        let set = Time::ZERO + Span::from_millis(set);
        fires_at(Span::from_millis(4), set, Span::from_millis(wait)).as_nanos() / 1_000_000
    }

    #[test]
    fn a_short_timer_fires_at_the_tick_after_its_expiry() {
        assert_eq!(after(0, 4), 8);
        assert_eq!(after(3, 4), 8);
        assert_eq!(after(4, 4), 12);
        assert_eq!(after(4, 5), 16);
        assert_eq!(after(0, 62 * 4), 63 * 4);
    }

    #[test]
    fn the_remaining_time_is_in_whole_ticks() {
        let ms = |ms| Time::ZERO + Span::from_millis(ms);
        let tick = Span::from_millis(4);
        let remaining = |set, wait, now| {
            let expires = expires(tick, ms(set), Span::from_millis(wait));
            remaining(tick, expires, ms(now)).as_nanos() / 1_000_000
        };
        assert_eq!(
            (remaining(0, 5, 0), remaining(3, 5, 3), remaining(3, 5, 4)),
            (8, 8, 4)
        );
        assert_eq!(
            (remaining(0, 5, 7), remaining(0, 5, 8), remaining(0, 5, 12)),
            (4, 0, 0)
        );
    }

    #[test]
    fn a_long_timer_fires_with_the_granularity_of_its_level() {
        assert_eq!(after(0, 63 * 4), 64 * 4);
        assert_eq!(after(0, 64 * 4), 72 * 4);
        assert_eq!(after(0, 71 * 4), 72 * 4);
        assert_eq!(after(0, 504 * 4), 512 * 4);
        assert_eq!(after(0, 512 * 4), 576 * 4);
    }

    #[test]
    fn no_timer_is_early_or_later_than_an_eighth_of_its_wait() {
        for wait in [1, 7, 250, 1000, 3333, 120_000] {
            for set in 0..300 {
                let late = after(set, wait) - (set + wait);
                assert!(late <= 8 + wait / 7, "{set} {wait} {late}");
            }
        }
    }
}
