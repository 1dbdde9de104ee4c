//! The clock is a parameter: the same links serve real time (the lab) and virtual time (a
//! simulation, a test).

use nix::time::{ClockId, clock_gettime};

use crate::time::{NS_PER_S, Time};

/// Says what time it is.
pub trait Clock {
    /// Now; never earlier than it said before.
    fn now(&self) -> Time;
}

/// Real time: `CLOCK_MONOTONIC`, counted from the clock's creation.
///
/// It is the clock of the kernel's own timestamps (`bpf_ktime_get_ns`, timerfd), so a trace of the
/// kernel and one of the network can be laid side by side.
#[derive(Clone, Copy, Debug)]
pub struct RealClock {
    origin: u64,
}

impl RealClock {
    /// A clock that starts now.
    #[must_use]
    pub fn start() -> Self {
        Self {
            origin: monotonic(),
        }
    }

    /// What `CLOCK_MONOTONIC` shows at `time`, in nanoseconds.
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
    // Both are never negative on this clock.
    now.tv_sec() as u64 * NS_PER_S + now.tv_nsec() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

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
