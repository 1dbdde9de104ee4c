//! Impairments of a link: random loss, reordering, jitter, outages, detours.

use serde::{Deserialize, Serialize};

use crate::random::{Purpose, RandomStream};
use crate::time::{Span, Time};

/// Random loss at the entrance of a link, before its queue.
///
/// A chain of two states (Gilbert, "Capacity of a burst-noise channel", 1960, and Elliott, 1963). Each packet is lost with the
/// probability of the present state; then the state may change. A link starts in the good state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// Probability of a change from the good to the bad state, after a packet.
    to_bad: f64,
    /// Probability of a change from the bad to the good state, after a packet.
    to_good: f64,
    /// Probability of loss in the good state.
    in_good: f64,
    /// Probability of loss in the bad state.
    in_bad: f64,
}

impl Loss {
    /// Each packet is lost with probability `p`, independently of the others.
    ///
    /// # Panics
    /// If `p` is no probability.
    #[must_use]
    pub fn random(p: f64) -> Self {
        Self::gilbert_elliott(0.0, 1.0, p, 0.0)
    }

    /// A fraction `loss` of all packets is lost, in bursts of `burst` packets on average.
    ///
    /// # Panics
    /// If `loss` is no fraction below 1, or `burst` is less than 1 or, for a `loss` above one half, less than
    /// `loss / (1 - loss)`.
    #[must_use]
    pub fn bursty(loss: f64, burst: f64) -> Self {
        assert!(burst >= 1.0, "a burst has at least one packet");
        assert!((0.0..1.0).contains(&loss), "{loss} is no share of packets");
        // The stationary probability of the bad state is to_bad / (to_bad + to_good).
        Self::gilbert_elliott(loss / (burst * (1.0 - loss)), 1.0 / burst, 0.0, 1.0)
    }

    /// The general chain: probabilities of a change to the bad and to the good state after a packet, and of loss in the good and
    /// in the bad state (netem's `gemodel` p, r, 1-k, 1-h).
    ///
    /// # Panics
    /// If one of them is no probability.
    #[must_use]
    pub fn gilbert_elliott(to_bad: f64, to_good: f64, in_good: f64, in_bad: f64) -> Self {
        for p in [to_bad, to_good, in_good, in_bad] {
            assert!((0.0..=1.0).contains(&p), "{p} is no probability");
        }
        Self {
            to_bad,
            to_good,
            in_good,
            in_bad,
        }
    }
}

/// A fraction of packets that arrive later than the others, and so out of order. (netem's `reorder` sends the fraction early.)
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorder {
    share: f64,
    extra: Span,
}

impl Reorder {
    /// Each packet has the additional delay `extra` with probability `share`.
    ///
    /// # Panics
    /// If `share` is no probability.
    #[must_use]
    pub fn new(share: f64, extra: Span) -> Self {
        assert!((0.0..=1.0).contains(&share), "{share} is no probability");
        Self { share, extra }
    }
}

/// An additional delay of each packet that does not change their order: the delay of a shared medium, of a scheduler or of a busy router.
///
/// The delay is uniform from zero to `longest`. A packet that would overtake the one before arrives at the same instant as that
/// one. Packets that follow one another faster than the jitter therefore arrive in bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    longest: Span,
}

impl Jitter {
    /// Each packet has an additional delay of up to `longest`.
    #[must_use]
    pub const fn new(longest: Span) -> Self {
        Self { longest }
    }
}

/// A time during which packets take a longer route: those whose last bit is sent in a half-open interval arrive later.
///
/// After the end a packet overtakes those that are still on the longer route, as after a change of a real route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detour {
    from: Time,
    /// `None`: the route stays the longer one.
    to: Option<Time>,
    extra: Span,
}

impl Detour {
    /// Packets take `extra` longer from `from` on.
    #[must_use]
    pub const fn new(from: Time, extra: Span) -> Self {
        Self {
            from,
            to: None,
            extra,
        }
    }

    /// Until `to`.
    ///
    /// # Panics
    /// If `to` is not after the start.
    #[must_use]
    pub fn until(self, to: Time) -> Self {
        assert!(
            self.from < to,
            "a detour from {} does not end at {to}",
            self.from
        );
        Self {
            to: Some(to),
            ..self
        }
    }

    /// Additional delay during the detour.
    #[must_use]
    pub const fn delay(&self) -> Span {
        self.extra
    }

    /// Additional delay of a packet whose last bit is sent at `departure`.
    pub(crate) fn extra(&self, departure: Time) -> Span {
        if self.from <= departure && self.to.is_none_or(|to| departure < to) {
            self.extra
        } else {
            Span::ZERO
        }
    }
}

/// A time during which a link is down: a half-open interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outage {
    from: Time,
    /// `None`: the link never comes up again.
    to: Option<Time>,
}

impl Outage {
    /// Down at `from`, up again at `to`.
    ///
    /// # Panics
    /// If `to` is not after `from`.
    #[must_use]
    pub fn new(from: Time, to: Time) -> Self {
        assert!(from < to, "an outage from {from} does not end at {to}");
        Self { from, to: Some(to) }
    }

    /// Down at `from`, and never up again.
    #[must_use]
    pub const fn for_good(from: Time) -> Self {
        Self { from, to: None }
    }

    /// When the link goes down.
    #[must_use]
    pub const fn from(&self) -> Time {
        self.from
    }

    /// When it comes up again; none: never.
    #[must_use]
    pub const fn to(&self) -> Option<Time> {
        self.to
    }

    /// Whether the link is down at this time.
    #[must_use]
    pub fn contains(&self, time: Time) -> bool {
        self.from <= time && self.to.is_none_or(|to| time < to)
    }

    /// Whether it ends before `other` begins, or at that instant.
    pub(crate) fn precedes(&self, other: &Self) -> bool {
        self.to.is_some_and(|to| to <= other.from)
    }
}

/// Random loss of one link.
#[derive(Debug)]
pub(crate) struct Losses {
    loss: Loss,
    bad: bool,
    random: RandomStream,
}

impl Losses {
    pub(crate) fn new(loss: Loss, seed: u64, stream: u64) -> Self {
        let random = RandomStream::new(seed, stream, Purpose::Loss);
        Self {
            loss,
            bad: false,
            random,
        }
    }

    /// Whether the next packet is lost.
    pub(crate) fn next(&mut self) -> bool {
        let loss = &self.loss;
        let (here, away) = if self.bad {
            (loss.in_bad, loss.to_good)
        } else {
            (loss.in_good, loss.to_bad)
        };
        let lost = self.random.chance(here);
        self.bad ^= self.random.chance(away);
        lost
    }
}

/// Random reordering of one link.
#[derive(Debug)]
pub(crate) struct Reordering {
    reorder: Reorder,
    random: RandomStream,
}

impl Reordering {
    pub(crate) fn new(reorder: Reorder, seed: u64, stream: u64) -> Self {
        let random = RandomStream::new(seed, stream, Purpose::Reorder);
        Self { reorder, random }
    }

    /// Additional delay of the next packet.
    pub(crate) fn next(&mut self) -> Span {
        if self.random.chance(self.reorder.share) {
            self.reorder.extra
        } else {
            Span::ZERO
        }
    }
}

/// Jitter of one link.
#[derive(Debug)]
pub(crate) struct Jittering {
    jitter: Jitter,
    /// Arrival of the packet before.
    latest: Time,
    random: RandomStream,
}

impl Jittering {
    pub(crate) fn new(jitter: Jitter, seed: u64, stream: u64) -> Self {
        let random = RandomStream::new(seed, stream, Purpose::Jitter);
        Self {
            jitter,
            latest: Time::ZERO,
            random,
        }
    }

    /// Arrival of the next packet, which arrives at `earliest` without jitter.
    pub(crate) fn next(&mut self, earliest: Time) -> Time {
        let arrival = earliest + self.random.span(self.jitter.longest);
        self.latest = self.latest.max(arrival);
        self.latest
    }
}

/// Outages of one link, in order.
#[derive(Debug)]
pub(crate) struct Outages {
    list: Vec<Outage>,
    /// Index of the first outage that is not over.
    next: usize,
}

impl Outages {
    pub(crate) const fn new(list: Vec<Outage>) -> Self {
        Self { list, next: 0 }
    }

    /// Whether the link is down. `now` must not decrease from one call to the next.
    pub(crate) fn is_down(&mut self, now: Time) -> bool {
        let over = |outage: &Outage| outage.to.is_some_and(|to| to <= now);
        while self.next().is_some_and(over) {
            self.next += 1;
        }
        self.next().is_some_and(|outage| outage.from <= now)
    }

    /// Start of the first outage that is not over.
    pub(crate) fn begin(&self) -> Option<Time> {
        self.next().map(|outage| outage.from)
    }

    fn next(&self) -> Option<&Outage> {
        self.list.get(self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fraction of lost packets, and mean length of a run of losses.
    fn sample(loss: Loss) -> (f64, f64) {
        const PACKETS: usize = 1_000_000;
        let mut losses = Losses::new(loss, 1, 0);
        let (mut lost, mut bursts, mut before) = (0, 0, false);
        for _ in 0..PACKETS {
            let now = losses.next();
            lost += usize::from(now);
            bursts += usize::from(now && !before);
            before = now;
        }
        (lost as f64 / PACKETS as f64, lost as f64 / bursts as f64)
    }

    fn assert_near(value: f64, expected: f64) {
        assert!(
            (value / expected - 1.0).abs() < 0.05,
            "{value} is not near {expected}"
        );
    }

    #[test]
    fn random_losses_are_independent() {
        let (share, burst) = sample(Loss::random(0.02));
        assert_near(share, 0.02);
        // After a loss, the next packet is lost with the same probability: 1 / (1 - p).
        assert_near(burst, 1.0 / 0.98);
    }

    #[test]
    fn bursts_have_the_requested_share_and_length() {
        let (share, burst) = sample(Loss::bursty(0.02, 5.0));
        assert_near(share, 0.02);
        assert_near(burst, 5.0);
        let (share, burst) = sample(Loss::bursty(0.6, 1.5));
        assert_near(share, 0.6);
        assert_near(burst, 1.5);
    }

    #[test]
    fn the_general_chain_loses_in_both_states() {
        // A quarter of the time bad: 0.75 · 0.01 + 0.25 · 0.2.
        let (share, _) = sample(Loss::gilbert_elliott(0.01, 0.03, 0.01, 0.2));
        assert_near(share, 0.0575);
    }

    #[test]
    fn a_share_of_packets_is_late() {
        let extra = Span::from_millis(3);
        let mut reordering = Reordering::new(Reorder::new(0.25, extra), 1, 0);
        let late = (0..100_000).filter(|_| reordering.next() == extra).count();
        assert_near(late as f64, 25_000.0);
    }

    #[test]
    fn jitter_is_uniform() {
        let longest = Span::from_millis(4);
        let mut jittering = Jittering::new(Jitter::new(longest), 1, 0);
        // Packets that are further apart than the jitter, so that none waits for another one.
        let delays: Vec<u64> = (1..100_000)
            .map(|i| Time::ZERO + Span::from_millis(5 * i))
            .map(|at| jittering.next(at).since(at).as_nanos())
            .collect();
        let mean = delays.iter().sum::<u64>() as f64 / delays.len() as f64;
        assert_near(mean, 2e6);
        let below = |limit| delays.iter().filter(|delay| **delay < limit).count();
        assert_near(below(1_000_000) as f64, 25_000.0);
        assert_near(below(3_000_000) as f64, 75_000.0);
        assert!(delays.iter().all(|delay| *delay <= longest.as_nanos()));
    }

    #[test]
    fn the_shortest_jitter_has_two_values() {
        let mut jittering = Jittering::new(Jitter::new(Span::from_nanos(1)), 1, 0);
        let late = (1..1000)
            .map(|i| Time::from_nanos(2 * i))
            .filter(|at| jittering.next(*at) > *at)
            .count();
        assert!((430..570).contains(&late), "{late}");
    }

    #[test]
    fn outages_end_or_do_not() {
        let at = Time::from_nanos;
        let list = vec![
            Outage::new(at(2), at(4)),
            Outage::new(at(4), at(5)),
            Outage::new(at(6), at(7)),
            Outage::for_good(at(9)),
        ];
        assert!(list.is_sorted_by(Outage::precedes));
        assert!(!list[3].precedes(&list[0]) && !list[1].precedes(&list[0]));
        let mut outages = Outages::new(list);
        let seen = (0..12).map(|ns| (outages.is_down(at(ns)), outages.begin()));
        let (down, begin): (Vec<bool>, Vec<Option<Time>>) = seen.unzip();
        let expected = [0, 0, 1, 1, 1, 0, 1, 0, 0, 1, 1, 1];
        assert_eq!(down, expected.map(|down| down == 1));
        let expected = [2, 2, 2, 2, 4, 6, 6, 9, 9, 9, 9, 9];
        assert_eq!(begin, expected.map(|ns| Some(at(ns))));
        // After the last outage, if it ends.
        let mut outages = Outages::new(vec![Outage::new(at(1), at(2))]);
        assert!(!outages.is_down(at(3)) && outages.begin().is_none());
    }

    #[test]
    #[should_panic(expected = "1.5 is no probability")]
    fn a_probability_above_1_is_an_error() {
        let _ = Loss::random(1.5);
    }
}
