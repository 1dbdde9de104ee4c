//! Linked slow start over CUBIC, and HyStart++, with the scenario files of docs/algorithms/cubic.md and hystartpp.md.

use std::path::Path;

use lisa_scenario::outcome::ConnectionOutcome;
use lisa_scenario::trace::Phase;
use lisa_scenario::{Run, Scenario, simulate};

fn run(file: &str, set: &[&str], seed: u64, traced: bool) -> Run {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/cubic");
    let scenario = Scenario::load_with(path.join(file), set);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    simulate(&scenario, seed, traced).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Windows of a subflow after a reduction, by RFC 9438, 4.2, 4.3 and 4.7.
struct Epoch {
    start: f64,
    window: f64,
    w_max: f64,
}

impl Epoch {
    fn at(&self, time: f64, rtt: f64) -> f64 {
        let (t, k) = (
            time - self.start,
            ((self.w_max - self.window).max(0.0) / 0.4).cbrt(),
        );
        let reno = self.window + 3.0 * 0.3 / 1.7 * t / rtt;
        (0.4 * (t - k).powi(3) + self.w_max.max(self.window)).max(reno)
    }
}

/// A join takes ten segments from the existing subflow: the sum of the windows does not change. Then each subflow follows
/// CUBIC's curve after each loss.
#[test]
fn lisa_cubic_takes_from_the_old_subflow_and_continues_as_cubic() {
    let run = run("epoch.toml", &["stop=40s"], 1, true);
    let [credit] = &run.credits[..] else {
        panic!("{:?}", run.credits)
    };
    let settled = credit.settled.as_ref().expect("it is settled");
    assert_eq!((credit.from, credit.to, credit.segments), (0, 1, 10));
    assert_eq!(settled.sum_before, settled.sum_after);

    for subflow in 0..2 {
        let rows: Vec<_> = run.rows.iter().filter(|r| r.subflow == subflow).collect();
        let (mut w_max, mut epoch, mut epochs, mut compared) = (0.0, None::<Epoch>, 0, 0);
        for pair in rows.windows(2) {
            let (before, row) = (pair[0], pair[1]);
            let cwnd = f64::from(row.cwnd);
            match (before.phase, row.phase) {
                (Phase::Avoidance, Phase::Recovery) => {
                    let last = f64::from(before.cwnd);
                    w_max = if last < w_max { 0.85 * last } else { last };
                    epoch = None;
                }
                (Phase::Recovery, Phase::Avoidance) => {
                    assert!((cwnd / f64::from(row.ssthresh.unwrap()) - 1.0).abs() < 0.01);
                    let (start, window) = (row.time, cwnd);
                    epoch = Some(Epoch {
                        start,
                        window,
                        w_max,
                    });
                    epochs += 1;
                }
                _ => {}
            }
            if let Some(epoch) = &epoch {
                // The queue holds 48 ms; W_est counts RTTs.
                let [most, least] = [0.1, 0.148].map(|rtt| epoch.at(row.time, rtt));
                assert!(
                    (0.97 * least..1.03 * most).contains(&cwnd),
                    "{row:?}: {least} to {most}"
                );
                compared += 1;
            }
        }
        assert!(epochs >= 4 && compared > 10_000, "{epochs} {compared}");
    }
}

/// Mean of ten seeds, of the first connection.
fn mean(file: &str, algorithm: &str, queue: u32, of: impl Fn(&ConnectionOutcome) -> f64) -> f64 {
    let set = [
        format!("connection.download.algorithm={algorithm}"),
        format!("topology.queue={queue}"),
    ];
    let set = [&set[0][..], &set[1][..]];
    let one = |seed| of(&run(file, &set, seed, false).outcome.connections[0]);
    (1..=10).map(one).sum::<f64>() / 10.0
}

/// Two uncoupled slow starts overflow a short queue; coupled ones have a fraction of the losses and complete as early.
#[test]
fn coupled_slow_starts_lose_less_than_cubic_s_own() {
    for queue in [9, 17] {
        let [cubic, lisa, css] = ["cubic", "lisa_cubic", "css_cubic"].map(|algorithm| {
            let lost = |c: &ConnectionOutcome| c.retransmits_slow_start as f64;
            let time = |c: &ConnectionOutcome| c.completion_s.unwrap();
            (
                mean("join.toml", algorithm, queue, lost),
                mean("join.toml", algorithm, queue, time),
            )
        });
        for coupled in [lisa, css] {
            assert!(coupled.0 < 0.3 * cubic.0, "{queue}: {coupled:?}, {cubic:?}");
            assert!(coupled.1 < 1.1 * cubic.1, "{queue}: {coupled:?}, {cubic:?}");
        }
    }
}

/// With a queue of twice the path, HyStart++ detects the delay one round before the queue is full, and has less than half the
/// losses of doubling. With a queue of half the path, the queue is full before the first samples of a round show a delay.
#[test]
fn hystartpp_detects_long_queues_and_not_short_ones() {
    let lost = |algorithm, queue| mean("start.toml", algorithm, queue, |c| c.retransmits as f64);
    let (long, doubling) = (lost("hystartpp_cubic", 340), lost("reno", 340));
    assert!(long < 0.5 * doubling, "{long}, Reno {doubling}");
    let (short, train) = (lost("hystartpp_cubic", 85), lost("cubic", 85));
    assert!(short > 5.0 * train, "{short}, HyStart {train}");
}
