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
    use crate::time::{NS_PER_S, Time};

    /// Real time: `CLOCK_MONOTONIC`, counted from the clock's creation.
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
            Self {
                origin: monotonic(),
            }
        }

        /// `CLOCK_MONOTONIC` at `time`, nanoseconds.
        #[must_use]
        pub fn monotonic_nanos(&self, time: Time) -> u64 {
            self.origin + time.as_nanos()
        }
    }

    impl Clock for RealClock {
        fn now(&self) -> Time {
            Time::from_nanos(monotonic() - self.origin)
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
    use crate::time::NS_PER_S;

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
}
