//! What held connections and subflows back, as shares of their time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transport::LimitedTimes;

/// Shares of the time of an open subflow, by what held it back; none without such a time, as for UDP. Their sum is 1. Of a
/// connection: of the time of all its subflows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limited {
    /// Share of its time in which the congestion window held it back, or loss recovery.
    pub limited_congestion_window: Option<f64>,
    /// Share of its time in which data waited for the receive window.
    pub limited_receive_window: Option<f64>,
    /// Share of its time in which the application had data that the send buffer had no room for.
    pub limited_send_buffer: Option<f64>,
    /// Share of its time in which the scheduler had given all data to other subflows.
    pub limited_scheduler: Option<f64>,
    /// Share of its time in which the application had no more data.
    pub limited_application: Option<f64>,
}

/// A cause other than the congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    ReceiveWindow,
    SendBuffer,
    Scheduler,
    Application,
}

impl Cause {
    /// Whether it is one of the two buffers.
    pub(crate) const fn is_buffer(self) -> bool {
        matches!(self, Self::ReceiveWindow | Self::SendBuffer)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::ReceiveWindow => "receive window",
            Self::SendBuffer => "send buffer",
            Self::Scheduler => "scheduler",
            Self::Application => "application",
        }
    }
}

impl Limited {
    /// The shares of these times.
    #[must_use]
    pub fn of(times: &LimitedTimes) -> Self {
        let total = times.total().as_secs_f64();
        let share = |time: netsim::Span| (total > 0.0).then(|| time.as_secs_f64() / total);
        Self {
            limited_congestion_window: share(times.congestion_window),
            limited_receive_window: share(times.receive_window),
            limited_send_buffer: share(times.send_buffer),
            limited_scheduler: share(times.scheduler),
            limited_application: share(times.application),
        }
    }

    /// The cause other than the congestion window with the largest share, if that is larger than the congestion window's.
    pub(crate) fn cause(&self) -> Option<(Cause, f64)> {
        let all = [
            (Cause::ReceiveWindow, self.limited_receive_window),
            (Cause::SendBuffer, self.limited_send_buffer),
            (Cause::Scheduler, self.limited_scheduler),
            (Cause::Application, self.limited_application),
        ];
        let shares = all
            .into_iter()
            .filter_map(|(cause, share)| Some((cause, share?)));
        let largest = shares.max_by(|a, b| a.1.total_cmp(&b.1))?;
        (largest.1 > self.limited_congestion_window?).then_some(largest)
    }

    /// What held it back if not the congestion window: `held back by the send buffer in 62 % of the time`.
    #[must_use]
    pub fn line(&self) -> Option<String> {
        let (cause, share) = self.cause()?;
        let percent = 100.0 * share;
        Some(format!(
            "held back by the {} in {percent:.0} % of the time",
            cause.name()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netsim::Span;

    /// By hand: 6 s of 10 s in the send buffer.
    #[test]
    fn shares_of_times_and_their_line() {
        let times = LimitedTimes {
            congestion_window: Span::from_secs(3),
            send_buffer: Span::from_secs(6),
            application: Span::from_secs(1),
            ..LimitedTimes::default()
        };
        let limited = Limited::of(&times);
        assert_eq!(limited.limited_send_buffer, Some(0.6));
        assert_eq!(limited.limited_receive_window, Some(0.0));
        let line = "held back by the send buffer in 60 % of the time";
        assert_eq!(limited.line().as_deref(), Some(line));
        // The congestion window needs no word.
        let window = LimitedTimes {
            congestion_window: Span::from_secs(7),
            ..times
        };
        assert_eq!(Limited::of(&window).line(), None);
        assert_eq!(Limited::of(&LimitedTimes::default()), Limited::default());
    }
}
