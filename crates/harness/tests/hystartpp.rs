//! HyStart++ compared with RFC 9406, with its sequence numbers and windows with fractions.

use mpcc::Algorithm;
use mpcc_harness::ffi;
use mpcc_harness::{Machine, Native, empty, fresh_tcp};
use proptest::prelude::*;

/// RFC 9406, 4.2 and 4.3, in segments and microseconds.
struct Rfc {
    /// Segments that an ACK counts for: 8 for a sender that does not pace, else without a limit.
    l: u32,
    cwnd: f64,
    window_end: u64,
    last_round: f64,
    this_round: f64,
    samples: u32,
    baseline: f64,
    /// Rounds of conservative slow start that are complete; `None` in standard slow start.
    conservative: Option<u32>,
}

impl Rfc {
    fn new(cwnd: u32, paced: bool) -> Self {
        Self {
            l: if paced { u32::MAX } else { 8 },
            cwnd: cwnd.into(),
            // SND.NXT when the first ACK arrives: the initial window was sent.
            window_end: cwnd.into(),
            last_round: f64::INFINITY,
            this_round: f64::INFINITY,
            samples: 0,
            baseline: f64::INFINITY,
            conservative: None,
        }
    }

    /// Processes an ACK up to `una`, with data sent up to `nxt`. False when congestion avoidance begins.
    fn ack(&mut self, acked: u32, una: u64, nxt: u64, rtt: f64) -> bool {
        self.this_round = self.this_round.min(rtt);
        self.samples += 1;
        if self.samples >= 8 {
            let thresh = (self.last_round / 8.0).floor().clamp(4e3, 16e3);
            match self.conservative {
                None if self.last_round.is_finite()
                    && self.this_round >= self.last_round + thresh =>
                {
                    self.baseline = self.this_round;
                    self.conservative = Some(0);
                }
                Some(_) if self.this_round < self.baseline => {
                    self.baseline = f64::INFINITY;
                    self.conservative = None;
                }
                _ => {}
            }
        }
        if una >= self.window_end {
            self.window_end = nxt;
            self.last_round = self.this_round;
            self.this_round = f64::INFINITY;
            self.samples = 0;
            if let Some(rounds) = &mut self.conservative {
                *rounds += 1;
                if *rounds >= 5 {
                    return false;
                }
            }
        }
        let divisor = if self.conservative.is_some() {
            4.0
        } else {
            1.0
        };
        self.cwnd += f64::from(acked.min(self.l)) / divisor;
        true
    }
}

/// RTTs of a queue that grows and shrinks: a level for about each round, and a little jitter.
fn rtts() -> impl Strategy<Value = Vec<(u32, u32)>> {
    let level = prop_oneof![Just(0u32), 0u32..3, 0u32..40, Just(1000)];
    proptest::collection::vec((level, 1u32..60), 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]
    #[test]
    fn each_ack_follows_the_rfc(
        base_ms in 1u32..300, levels in rtts(), acks in proptest::collection::vec(1u32..13, 50), jitter_us in 0u32..500,
        paced: bool,
    ) {
        let mut harness = empty(Algorithm::find("hystartpp_cubic").unwrap());
        harness.tcp[0] = fresh_tcp();
        harness.tcp[0].paced = paced.into();
        harness.operation = ffi::mpcc_operation::MPCC_DO_INIT;
        harness.argument = 1;
        Native.step(&mut harness);
        harness.operation = ffi::mpcc_operation::MPCC_DO_ACK;
        let mut rfc = Rfc::new(harness.tcp[0].cwnd, paced);
        let (mut una, mut nxt) = (0, u64::from(harness.tcp[0].cwnd));
        let rtts = levels.iter().flat_map(|&(level, times)| std::iter::repeat_n(base_ms + level, times as usize));
        for (number, rtt_ms) in rtts.enumerate() {
            let acked = acks[number % acks.len()].min((nxt - una) as u32);
            una += u64::from(acked);
            let rtt_us = rtt_ms * 1000 + number as u32 * 7919 % (jitter_us + 1);
            harness.argument = acked;
            harness.tcp[0].flight = (nxt - una) as u32;
            harness.tcp[0].rtt_us = rtt_us;
            Native.step(&mut harness);
            let slow = rfc.ack(acked, una, nxt, rtt_us.into());
            let tcp = &harness.tcp[0];
            prop_assert_eq!(slow, tcp.cwnd < tcp.ssthresh, "ACK {}: ended or not", number);
            if !slow {
                break;
            }
            prop_assert_eq!(f64::from(tcp.cwnd), rfc.cwnd.floor(), "ACK {}", number);
            prop_assert!(harness.subflow[0].growth as f64 / ffi::MPCC_ONE as f64 == rfc.cwnd.fract());
            nxt = una + u64::from(tcp.cwnd);
        }
    }
}
