//! Round-trip time and retransmission timeout, as in Linux (tcp_rtt_estimator): RFC 6298 in integer microseconds, with
//! a variance that follows the largest deviation of each round trip and is never below the minimum timeout.

use netsim::Span;

/// RTT estimator of a subflow.
#[derive(Clone, Debug)]
pub(crate) struct Rtt {
    /// Smoothed RTT, eighths of a microsecond; 0: no sample (srtt_us).
    pub(crate) srtt8: u32,
    /// Mean deviation, quarters of a microsecond (mdev_us).
    mdev4: u32,
    /// Largest mean deviation of this round trip, quarters of a microsecond (mdev_max_us).
    mdev_max4: u32,
    /// Part of the timeout beyond the smoothed RTT, µs (rttvar_us).
    rttvar: u32,
    /// The round trip ends when this byte is acknowledged (rtt_seq).
    rtt_seq: u64,
    /// Minimum RTT of the connection, µs; `u32::MAX` before the first sample.
    pub(crate) min_rtt: u32,
    /// Minimum of `rttvar`, µs (TCP_RTO_MIN).
    rto_min_us: u32,
    /// Timeout without back-off (icsk_rto).
    rto: Span,
    /// Number of doublings (icsk_backoff).
    backoff: u32,
    /// Maximum timeout (TCP_RTO_MAX).
    rto_max: Span,
}

impl Rtt {
    /// An estimator without samples, whose timeout is `initial`.
    pub(crate) fn new(initial: Span, rto_min: Span, rto_max: Span) -> Self {
        Self {
            srtt8: 0,
            mdev4: 0,
            mdev_max4: 0,
            rttvar: 0,
            rtt_seq: 0,
            min_rtt: u32::MAX,
            rto_min_us: (rto_min.as_nanos() / 1000) as u32,
            rto: initial,
            backoff: 0,
            rto_max,
        }
    }

    /// Adds a sample of a segment that was sent once, µs. `una` and `nxt`: snd_una and snd_nxt.
    #[inline]
    pub(crate) fn sample(&mut self, us: u32, una: u64, nxt: u64) {
        // 2^28 µs is more than any path has, and eight times it fits into 32 bits.
        let us = us.clamp(1, 1 << 28);
        self.min_rtt = self.min_rtt.min(us);
        if self.srtt8 == 0 {
            self.srtt8 = us << 3;
            self.mdev4 = us << 1;
            self.rttvar = self.mdev4.max(self.rto_min_us);
            self.mdev_max4 = self.rttvar;
            self.rtt_seq = nxt;
        } else {
            let error = us as i64 - i64::from(self.srtt8 >> 3);
            self.srtt8 = (i64::from(self.srtt8) + error) as u32;
            let mut change = error.abs() - i64::from(self.mdev4 >> 2);
            // A fall of the RTT raises the deviation by an eighth as much as a rise.
            if error < 0 && change > 0 {
                change >>= 3;
            }
            self.mdev4 = (i64::from(self.mdev4) + change) as u32;
            if self.mdev4 > self.mdev_max4 {
                self.mdev_max4 = self.mdev4;
                self.rttvar = self.rttvar.max(self.mdev_max4);
            }
            if una > self.rtt_seq {
                if self.mdev_max4 < self.rttvar {
                    self.rttvar -= (self.rttvar - self.mdev_max4) >> 2;
                }
                self.rtt_seq = nxt;
                self.mdev_max4 = self.rto_min_us;
            }
        }
        self.rto = Span::from_micros(u64::from(self.srtt8 >> 3) + u64::from(self.rttvar));
        self.backoff = 0;
    }

    /// Smoothed RTT, µs.
    #[inline]
    pub(crate) fn srtt(&self) -> u32 {
        self.srtt8 >> 3
    }

    /// Retransmission timeout with back-off.
    #[inline]
    pub(crate) fn rto(&self) -> Span {
        if self.backoff == 0 {
            return self.rto.min(self.rto_max);
        }
        let ns = self
            .rto
            .as_nanos()
            .saturating_mul(1 << self.backoff.min(20));
        Span::from_nanos(ns.min(self.rto_max.as_nanos()))
    }

    /// Doubles the timeout after the timer has fired (RFC 6298, 5.5).
    pub(crate) fn back_off(&mut self) {
        self.backoff += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linux() -> Rtt {
        let ms = Span::from_millis;
        Rtt::new(ms(1000), ms(200), ms(120_000))
    }

    #[test]
    fn the_timeout_of_a_steady_path_is_its_rtt_plus_200_ms() {
        let mut rtt = linux();
        assert_eq!(rtt.rto(), Span::from_millis(1000));
        for i in 0..100 {
            rtt.sample(40_000, i, i + 1);
        }
        assert_eq!(rtt.srtt(), 40_000);
        assert_eq!(rtt.rto(), Span::from_millis(240));
    }

    #[test]
    fn back_off_doubles_up_to_two_minutes_and_ends_with_a_sample() {
        let mut rtt = linux();
        rtt.sample(40_000, 0, 1);
        let first = rtt.rto();
        rtt.back_off();
        assert_eq!(rtt.rto().as_nanos(), 2 * first.as_nanos());
        (0..40).for_each(|_| rtt.back_off());
        assert_eq!(rtt.rto(), Span::from_millis(120_000));
        rtt.sample(40_000, 1, 2);
        assert!(rtt.rto() <= first);
    }

    #[test]
    fn a_jump_of_the_rtt_raises_the_timeout_at_once() {
        let mut rtt = linux();
        for i in 0..100 {
            rtt.sample(40_000, i, i + 1);
        }
        for i in 100..110 {
            rtt.sample(400_000, i, i + 1);
        }
        assert!(rtt.rto() > Span::from_millis(500), "{rtt:?}");
    }

    #[test]
    fn the_variance_decays_by_a_quarter_each_round_trip() {
        let mut rtt = linux();
        (0..100).for_each(|i| rtt.sample(40_000, i, i + 1));
        (100..104).for_each(|i| rtt.sample(800_000, i, i + 1));
        let high = rtt.rto();
        assert!(high > Span::from_millis(800), "{high:?}");
        // Each round trip removes an eighth of the error of the mean, and a quarter of the deviation above 200 ms.
        (104..180).for_each(|i| rtt.sample(40_000, 2 * i, 2 * i + 1));
        assert!(rtt.rto() < Span::from_millis(250), "{rtt:?}");
    }
}
