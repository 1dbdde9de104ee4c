//! The number of events that the agent reports to its caller.

use std::time::Duration;

use tokio::time::Instant;

/// Events for the log: at most this many at once, and one more each second. A manager that changes its mind all the time must not fill a disk.
const EVENTS: u64 = 10_000;

/// Number of events that may still be reported.
pub(crate) struct Budget {
    /// Time at which it is full again.
    full_at: Instant,
    omitted: u64,
}

impl Budget {
    /// A full one.
    pub(crate) fn new() -> Self {
        Self {
            full_at: Instant::now(),
            omitted: 0,
        }
    }

    /// Takes one. Returns the number of those that were refused before, or nothing if there is none left.
    pub(crate) fn take(&mut self) -> Option<u64> {
        let now = Instant::now();
        let after = self.full_at.max(now) + Duration::from_secs(1);
        if after > now + Duration::from_secs(EVENTS) {
            self.omitted += 1;
            return None;
        }
        self.full_at = after;
        Some(std::mem::take(&mut self.omitted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn events_have_a_budget() {
        let mut budget = Budget::new();
        let taken = (0..2 * EVENTS).filter(|_| budget.take().is_some()).count() as u64;
        assert!((EVENTS..EVENTS + 5).contains(&taken), "{taken}");
        assert_eq!(budget.omitted, 2 * EVENTS - taken);
    }
}
