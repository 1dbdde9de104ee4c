//! One flow with losses, compared with the mean windows of RFC 9438 and with its rules in exact terms.
//! ACKs arrive evenly over an RTT, and a loss is detected at once, as the RFC's formulas assume.

use mpcc::{Algorithm, Connection, Subflow, Tcp};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

trait Flow {
    /// The window in segments.
    fn window(&self) -> f64;
    /// A segment is acknowledged at this time, in seconds.
    fn ack(&mut self, now: f64);
    fn lose(&mut self);
}

/// The algorithm of `cc/`.
struct Fixed {
    connection: Connection,
    subflow: Subflow,
    tcp: Tcp,
}

impl Fixed {
    fn new(algorithm: &str, rtt: f64, cwnd: f64) -> Self {
        let mut connection = Connection::new(Algorithm::find(algorithm).unwrap());
        let mut tcp = Tcp {
            cwnd: cwnd as u32,
            cwnd_clamp: u32::MAX,
            ssthresh: 2, // the formulas have no slow start
            srtt8: (rtt * 8e6) as u32,
            rtt_us: (rtt * 1e6) as u32,
            cwnd_limited: 1,
            ..Tcp::default()
        };
        let (subflow, _) = connection.open(&mut tcp, 0);
        Self {
            connection,
            subflow,
            tcp,
        }
    }
}

impl Flow for Fixed {
    fn window(&self) -> f64 {
        self.tcp.cwnd.into()
    }

    fn ack(&mut self, now: f64) {
        self.tcp.now = (now * 1e9) as u64;
        self.tcp.flight = self.tcp.cwnd - 1;
        self.connection.on_ack(&mut self.subflow, &mut self.tcp, 1);
    }

    fn lose(&mut self) {
        let (ssthresh, _) = self.connection.ssthresh(&mut self.subflow, &mut self.tcp);
        (self.tcp.ssthresh, self.tcp.cwnd) = (ssthresh, ssthresh);
    }
}

/// RFC 9438, 4.2, 4.3, 4.6 and 4.7, with fractions of segments.
struct Exact {
    rtt: f64,
    cwnd: f64,
    w_max: f64,
    epoch: Option<(f64, f64, f64)>, // start, K, W(K)
    w_est: f64,
}

impl Flow for Exact {
    fn window(&self) -> f64 {
        self.cwnd
    }

    fn ack(&mut self, now: f64) {
        let cwnd = self.cwnd;
        let (start, k, origin) = *self.epoch.get_or_insert_with(|| {
            self.w_est = cwnd;
            let k = ((self.w_max - cwnd).max(0.0) / 0.4).cbrt();
            (now, k, self.w_max.max(cwnd))
        });
        let w = |t: f64| 0.4 * (t - k).powi(3) + origin;
        self.w_est += 3.0 * 0.3 / 1.7 / cwnd;
        self.cwnd += (w(now - start + self.rtt).clamp(cwnd, 1.5 * cwnd) - cwnd) / cwnd;
        if w(now - start) < self.w_est {
            self.cwnd = self.cwnd.max(self.w_est);
        }
    }

    fn lose(&mut self) {
        let less = if self.cwnd < self.w_max { 0.85 } else { 1.0 };
        self.w_max = self.cwnd * less;
        self.cwnd *= 0.7;
        self.epoch = None;
    }
}

/// Mean window over this number of losses, each after `until_loss` segments.
fn mean_window(
    flow: &mut impl Flow,
    rtt: f64,
    losses: u32,
    clock: &mut f64,
    mut until_loss: impl FnMut() -> u32,
) -> f64 {
    let (start, mut segments) = (*clock, 0);
    for _ in 0..losses {
        let period = until_loss();
        for _ in 0..period {
            *clock += rtt / flow.window();
            flow.ack(*clock);
        }
        segments += u64::from(period);
        flow.lose();
    }
    segments as f64 * rtt / (*clock - start)
}

/// RFC 9438, 5.1: (C (3 + β) / (4 (1 − β)))^¼ · (RTT / p)^¾.
fn cubic(rtt: f64, p: f64) -> f64 {
    (0.4_f64 * 3.7 / (4.0 * 0.3)).powf(0.25) * (rtt / p).powf(0.75)
}

/// √(α (1 + β) / (2 (1 − β) p)): the same for CUBIC's α and β as for Reno's 1 and 1/2 (RFC 9438, 4.3).
fn reno(p: f64) -> f64 {
    (1.5 / p).sqrt()
}

/// The formula describes an epoch that begins with a loss and ends with a loss at t = K: this test starts there. (A loss
/// some segments earlier or later hardly changes W_max, because W(t) is flat there; over many losses of
/// one period the means depend on the initial W_max, in Linux up to 15 % above.)
#[test]
fn where_cubic_rules_the_mean_window_is_that_of_the_formula() {
    for rtt in [0.05, 0.1, 0.2, 0.5] {
        for period in [3_000, 10_000, 30_000, 100_000, 300_000] {
            let p = 1.0 / f64::from(period);
            let formula = cubic(rtt, p);
            if formula < 1.5 * reno(p) {
                continue;
            }
            // The mean over an epoch is (3 + β) / 4 of W_max.
            let mut flow = Fixed::new("cubic", rtt, formula * 4.0 / 3.7);
            flow.lose();
            let found = mean_window(&mut flow, rtt, 1, &mut 0.0, || period);
            assert!(
                (found / formula - 1.0).abs() < 0.05,
                "{rtt} s, 1/{period}: {found}, not {formula}"
            );
        }
    }
}

/// The window approaches W_est within an RTT, as in Linux, and is whole: about a segment below the formula.
#[test]
fn where_reno_rules_the_mean_window_is_reno_s() {
    for rtt in [0.001, 0.01, 0.03] {
        for period in [1_000, 3_000, 10_000] {
            let p = 1.0 / f64::from(period);
            let formula = reno(p);
            if formula < 1.5 * cubic(rtt, p) {
                continue;
            }
            let mut flow = Fixed::new("cubic", rtt, formula);
            let clock = &mut 0.0;
            mean_window(&mut flow, rtt, 20, clock, || period);
            let found = mean_window(&mut flow, rtt, 50, clock, || period);
            assert!(
                (found / formula - 1.0).abs() < 0.05,
                "{rtt} s, 1/{period}: {found}, not {formula}"
            );
        }
    }
}

/// Segments lost at random, the same for both: with fast convergence, and between the two regions.
#[test]
fn under_random_loss_the_mean_window_is_that_of_the_rfc() {
    for rtt in [0.01, 0.03, 0.1, 0.2] {
        for period in [1_000.0, 3_000.0, 10_000.0] {
            let random = || {
                let mut random = Pcg64Mcg::seed_from_u64(9438);
                move || {
                    let uniform = (f64::from(random.next_u32()) + 0.5) / 2f64.powi(32);
                    (-uniform.ln() * period).ceil() as u32
                }
            };
            let mut exact = Exact {
                rtt,
                cwnd: 20.0,
                w_max: 0.0,
                epoch: None,
                w_est: 0.0,
            };
            let exact = mean_window(&mut exact, rtt, 500, &mut 0.0, random());
            let mut flow = Fixed::new("cubic", rtt, 20.0);
            let found = mean_window(&mut flow, rtt, 500, &mut 0.0, random());
            assert!(
                (found / exact - 1.0).abs() < 0.05,
                "{rtt} s, 1/{period}: {found}, not {exact}"
            );
        }
    }
}
