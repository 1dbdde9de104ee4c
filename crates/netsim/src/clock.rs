//! Clocks: real time (the lab) and virtual time (a simulation, a test) for the same links.

use crate::time::Time;

#[cfg(unix)]
pub use real::RealClock;

/// A source of the present time.
pub trait Clock {
    /// The present time; never decreasing.
    fn now(&self) -> Time;
}

#[cfg(unix)]
mod real {
    use nix::time::{ClockId, clock_gettime};

    use super::Clock;
    use crate::time::{NS_PER_S, Span, Time};

    /// Real time: `CLOCK_MONOTONIC`, counted from a start that may be in the future.
    ///
    /// The kernel's own timestamps (`bpf_ktime_get_ns`, timerfd) are of this clock, so a trace of the kernel and a trace of the
    /// network are comparable.
    #[derive(Clone, Copy, Debug)]
    pub struct RealClock {
        origin: u64,
    }

    impl RealClock {
        /// A clock that starts at zero now.
        #[must_use]
        pub fn start() -> Self {
            Self::start_in(Span::ZERO)
        }

        /// A clock that starts in `lead`, and is at zero until then.
        #[must_use]
        pub fn start_in(lead: Span) -> Self {
            Self {
                origin: monotonic() + lead.as_nanos(),
            }
        }

        /// Real time until `time`, also before the start; zero if it has passed.
        #[must_use]
        pub fn until(&self, time: Time) -> Span {
            Span::from_nanos(self.monotonic_nanos(time).saturating_sub(monotonic()))
        }

        /// `CLOCK_MONOTONIC` at `time`, nanoseconds.
        #[must_use]
        pub fn monotonic_nanos(&self, time: Time) -> u64 {
            self.origin + time.as_nanos()
        }
    }

    impl Clock for RealClock {
        fn now(&self) -> Time {
            Time::from_nanos(monotonic().saturating_sub(self.origin))
        }
    }

    fn monotonic() -> u64 {
        let now = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("CLOCK_MONOTONIC always exists");
        // Neither is negative on this clock.
        now.tv_sec() as u64 * NS_PER_S + now.tv_nsec() as u64
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::time::{NS_PER_S, Span};

    #[test]
    fn real_time_passes_and_starts_at_zero() {
        let clock = RealClock::start();
        let first = clock.now();
        assert!(clock.now() >= first);
        assert!(first.as_nanos() < NS_PER_S);
        assert_eq!(
            clock.monotonic_nanos(Time::from_nanos(5)) - clock.monotonic_nanos(Time::ZERO),
            5
        );
    }

    /// A wait for a time is as long as if the clock counted before its start.
    #[test]
    fn a_clock_is_at_zero_until_its_start() {
        let lead = Span::from_millis(3_600_000);
        let clock = RealClock::start_in(lead);
        assert_eq!(clock.now(), Time::ZERO);
        let after = Span::from_millis(5);
        let (first, then) = (clock.until(Time::ZERO), clock.until(Time::ZERO + after));
        assert!(first <= lead && first > Span::from_millis(3_500_000));
        assert!(then > first && then <= lead + after);
        let running = RealClock::start();
        while running.now() == Time::ZERO {}
        assert_eq!(running.until(Time::ZERO), Span::ZERO);
    }
}
