//! Data that a server writes, and its times.

use netsim::{Span, Time};
use transport::Application;

/// The data of a connection.
#[derive(Debug)]
pub(crate) struct Source {
    application: Application,
    /// Bytes of a write at a pace.
    mss: u32,
    /// Bytes written so far if the socket takes all.
    available: u64,
    /// Time of the next write at a pace, or of the next reply; none: nothing is due at a time.
    next: Option<Time>,
    is_done: bool,
}

impl Source {
    /// The data of a connection whose server can write from `start` on.
    pub(crate) fn new(application: Application, mss: u32, start: Time) -> Self {
        let (available, next) = match &application {
            Application::Endless => (u64::MAX, None),
            Application::File(bytes) | Application::Requests { bytes, .. } => (*bytes, None),
            Application::Paced(_) => (0, Some(start)),
        };
        Self {
            application,
            mss,
            available,
            next,
            is_done: false,
        }
    }

    /// Number of bytes that are to be written by now, from the first one on; `acknowledged` of them have arrived. To be called when
    /// [`next`](Self::next) has come, and after ACKs.
    pub(crate) fn advance(&mut self, now: Time, acknowledged: u64) -> u64 {
        match &mut self.application {
            Application::Endless => {}
            Application::File(bytes) => self.is_done = acknowledged == *bytes,
            Application::Paced(pace) => {
                // By the times of the writes, not by `now`: a late write does not delay the next ones.
                while let Some(due) = self.next.filter(|due| *due <= now) {
                    let (writes, wait) = pace.tick(due, self.mss);
                    self.available += if writes { self.mss.into() } else { 0 };
                    self.next = Some(due + wait);
                }
            }
            Application::Requests { bytes, later } => match self.next {
                Some(due) if due <= now => {
                    self.available += *bytes;
                    self.next = None;
                }
                None if acknowledged == self.available => match later.pop_front() {
                    Some(reply) => {
                        *bytes = reply.bytes;
                        self.next = Some(now + reply.gap);
                    }
                    None => self.is_done = true,
                },
                _ => {}
            },
        }
        self.available
    }

    /// Time at which more data is due.
    pub(crate) fn next(&self) -> Option<Time> {
        self.next
    }

    /// Whether all data has arrived.
    pub(crate) fn is_done(&self) -> bool {
        self.is_done
    }
}

/// Number of bytes of all data; none: endless.
pub(crate) fn total(application: &Application) -> Option<u64> {
    match application {
        Application::Endless | Application::Paced(_) => None,
        Application::File(bytes) => Some(*bytes),
        Application::Requests { bytes, later } => {
            Some(bytes + later.iter().map(|reply| reply.bytes).sum::<u64>())
        }
    }
}

/// Time until the next data of a source is due, at most `longest`.
pub(crate) fn until(next: Option<Time>, now: Time, longest: Span) -> Span {
    next.map_or(longest, |next| next.since(now).min(longest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use netsim::Rate;
    use transport::{Pace, Reply};

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// The gap runs from the ACK of the last byte of a reply.
    #[test]
    fn a_reply_follows_the_ack_of_the_one_before() {
        let later = [Reply {
            gap: Span::from_millis(20),
            bytes: 500,
        }];
        let requests = Application::Requests {
            bytes: 1000,
            later: later.into(),
        };
        assert_eq!(total(&requests), Some(1500));
        let mut source = Source::new(requests, 1448, at(0));
        let mut advance = |now, acknowledged| {
            let available = source.advance(at(now), acknowledged);
            (available, source.next(), source.is_done())
        };
        assert_eq!(advance(10, 999), (1000, None, false));
        assert_eq!(advance(30, 1000), (1000, Some(at(50)), false));
        assert_eq!(advance(49, 1000), (1000, Some(at(50)), false));
        assert_eq!(advance(50, 1000), (1500, None, false));
        assert_eq!(advance(60, 1500), (1500, None, true));
    }

    /// By hand: 1500 bytes at 2 Mbit/s take 6 ms. The writes of a server that was late are made up for.
    #[test]
    fn a_late_write_does_not_delay_the_next_ones() {
        let pace = Pace::new(Rate::from_bits_per_second(2_000_000), None);
        let mut source = Source::new(Application::Paced(pace), 1500, at(100));
        assert_eq!(source.advance(at(99), 0), 0);
        assert_eq!(source.advance(at(100), 0), 1500);
        assert_eq!(source.next(), Some(at(106)));
        assert_eq!(source.advance(at(119), 0), 4 * 1500);
        assert_eq!(
            until(source.next(), at(119), Span::from_millis(1)),
            Span::from_millis(1)
        );
        assert_eq!(
            until(source.next(), at(124), Span::from_millis(1)),
            Span::ZERO
        );
    }
}
