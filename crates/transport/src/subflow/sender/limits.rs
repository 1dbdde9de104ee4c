//! Limits of a subflow over time: what held it back (Linux: tcp_chrono, which counts the receive window and the send
//! buffer).

use netsim::{Span, Time};

/// What holds a subflow back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Limit {
    /// The congestion window is full, or segments wait for a burst or for the end of a timeout.
    CongestionWindow,
    /// Unsent data lies beyond the receive window.
    ReceiveWindow,
    /// The application has data that the send buffer has no room for.
    SendBuffer,
    /// Data waits for other subflows.
    Scheduler,
    /// The application has no more data.
    #[default]
    Application,
}

/// Number of limits.
const LIMITS: usize = 5;

/// Times that a subflow was held back, by limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitedTimes {
    /// By the congestion window.
    pub congestion_window: Span,
    /// By the receive window.
    pub receive_window: Span,
    /// By the send buffer.
    pub send_buffer: Span,
    /// By the scheduler, which gave the data to other subflows.
    pub scheduler: Span,
    /// By the application, which had no more data.
    pub application: Span,
}

impl LimitedTimes {
    /// Sum of all times.
    #[must_use]
    pub fn total(&self) -> Span {
        let windows = self.congestion_window + self.receive_window;
        windows + self.send_buffer + self.scheduler + self.application
    }

    /// Times since an earlier moment.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        // Estimates from samples may become smaller.
        let since = |now: Span, before: Span| now - now.min(before);
        Self {
            congestion_window: since(self.congestion_window, earlier.congestion_window),
            receive_window: since(self.receive_window, earlier.receive_window),
            send_buffer: since(self.send_buffer, earlier.send_buffer),
            scheduler: since(self.scheduler, earlier.scheduler),
            application: since(self.application, earlier.application),
        }
    }

    /// Sums of the times of several subflows.
    #[must_use]
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        all.into_iter().fold(Self::default(), |sum, one| Self {
            congestion_window: sum.congestion_window + one.congestion_window,
            receive_window: sum.receive_window + one.receive_window,
            send_buffer: sum.send_buffer + one.send_buffer,
            scheduler: sum.scheduler + one.scheduler,
            application: sum.application + one.application,
        })
    }
}

/// Record of the limits of a subflow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    /// Limit since `since`.
    current: Limit,
    since: Time,
    /// Whether the subflow is open.
    is_open: bool,
    /// Times until `since`, by number of the limit.
    times: [Span; LIMITS],
}

impl Limits {
    /// The subflow opens; the application has not written yet.
    pub(crate) fn open(&mut self, now: Time) {
        (self.is_open, self.since) = (true, now);
    }

    /// The subflow closes.
    pub(crate) fn close(&mut self, now: Time) {
        self.add_until(now);
        self.is_open = false;
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, now: Time, limit: Limit) {
        if limit != self.current {
            self.change(now, limit);
        }
    }

    #[cold]
    fn change(&mut self, now: Time, limit: Limit) {
        self.add_until(now);
        self.current = limit;
    }

    fn add_until(&mut self, now: Time) {
        if self.is_open {
            let times = &mut self.times[self.current as usize];
            *times = *times + now.since(self.since);
            self.since = now;
        }
    }

    /// Times until now, or until the subflow closed.
    pub(crate) fn times(mut self, now: Time) -> LimitedTimes {
        self.add_until(now);
        let [
            congestion_window,
            receive_window,
            send_buffer,
            scheduler,
            application,
        ] = self.times;
        LimitedTimes {
            congestion_window,
            receive_window,
            send_buffer,
            scheduler,
            application,
        }
    }
}
