//! Rates at which congestion avoidance comes to rest ([`fixed_point`]).
//!
//! At rest a window grows as much by its ACKs as it shrinks by its losses: increase = p · decrease (the loss–throughput formula of
//! each algorithm). The loss probability of a link is what keeps the load at the capacity, or 0 below it. The iteration moves the
//! logarithms of windows and loss probabilities towards both conditions, as a primal-dual controller does (Srikant, "The Mathematics
//! of Internet Congestion Control", 2004, chapter 3), and where an algorithm switches between two rules it averages over both.

use crate::law::{Change, Law, PathState};
use crate::{Error, Network};

/// Rates at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedPoint {
    /// Rate of each user, Mbit/s.
    pub rates_mbps: Vec<f64>,
    /// Loss probability of each link.
    pub losses: Vec<f64>,
}

/// Step of a window's logarithm.
const WINDOW_STEP: f64 = 0.02;
/// Step of a loss probability's logarithm. Below half of [`WINDOW_STEP`] the two do not oscillate.
const LOSS_STEP: f64 = 0.008;
/// Steps of the first round. Rates are averages over a round, and each round is twice as long as the one before, so that
/// switching between two rules averages out.
const FIRST_ROUND: usize = 4_000;
/// Rounds after which the iteration ends without a result: 2 million steps.
const ROUNDS: usize = 9;
/// Largest change of a user's rate between two rounds at rest, relative to its rate.
const REST: f64 = 1e-3;
/// Smallest window, segments: TCP has no smaller one.
const LEAST_WINDOW: f64 = 1.0;
/// Loss probability that counts as none.
const NO_LOSS: f64 = 1e-8;

/// Rates of the users if all of them follow `law`.
///
/// A user with one path is a TCP Reno in each case.
///
/// # Errors
/// [`Error::Restless`].
pub fn fixed_point(network: &Network, law: Law) -> Result<FixedPoint, Error> {
    let mut state = State::new(network);
    let mut former: Option<Vec<f64>> = None;
    let mut change = f64::INFINITY;
    for round in 0..ROUNDS {
        let round = state.round(network, law, FIRST_ROUND << round);
        if let Some(former) = &former {
            let relative =
                (round.rates_mbps.iter().zip(former)).map(|(now, then)| (now / then - 1.0).abs());
            change = relative.fold(0.0, f64::max);
            if change < REST {
                return Ok(round);
            }
        }
        former = Some(round.rates_mbps);
    }
    Err(Error::Restless {
        law: law.name(),
        change: 100.0 * change,
    })
}

struct State {
    paths: Vec<PathState>,
    changes: Vec<Change>,
    losses: Vec<f64>,
}

impl State {
    fn new(network: &Network) -> State {
        let start = |path: &crate::Path| PathState {
            window: 10.0,
            rtt_s: path.rtt_s,
            loss: 0.0,
        };
        let paths: Vec<PathState> = network.paths().map(start).collect();
        State {
            changes: vec![Change::default(); paths.len()],
            paths,
            losses: vec![0.01; network.links.len()],
        }
    }

    /// Average of this many steps.
    fn round(&mut self, network: &Network, law: Law, steps: usize) -> FixedPoint {
        let mut rates_mbps = vec![0.0; network.users.len()];
        let mut losses = vec![0.0; network.links.len()];
        for _ in 0..steps {
            let rates = self.step(network, law);
            let mut rates = rates.iter();
            for (user, sum) in network.users.iter().zip(&mut rates_mbps) {
                *sum += rates.by_ref().take(user.paths.len()).sum::<f64>() / steps as f64;
            }
            for (loss, sum) in self.losses.iter().zip(&mut losses) {
                *sum += loss / steps as f64;
            }
        }
        for loss in &mut losses {
            if *loss <= 2.0 * NO_LOSS {
                *loss = 0.0;
            }
        }
        FixedPoint { rates_mbps, losses }
    }

    /// One step. Returns the rate of each path, Mbit/s.
    fn step(&mut self, network: &Network, law: Law) -> Vec<f64> {
        for (state, path) in self.paths.iter_mut().zip(network.paths()) {
            state.loss = path.links.iter().map(|link| self.losses[*link]).sum();
        }
        let mut first = 0;
        for user in &network.users {
            let own = first..first + user.paths.len();
            first = own.end;
            law.changes(&self.paths[own.clone()], &mut self.changes[own]);
        }
        for (state, change) in self.paths.iter_mut().zip(&self.changes) {
            let lost = state.loss * change.decrease;
            let drift = (change.increase - lost) / (change.increase.abs() + lost);
            state.window = f64::max(LEAST_WINDOW, state.window * (WINDOW_STEP * drift).exp());
        }
        let rates: Vec<f64> = (self.paths.iter().zip(network.paths()))
            .map(|(state, path)| state.window * path.segment_mbps())
            .collect();
        let loads = network.loads(&rates);
        for ((loss, load), link) in self.losses.iter_mut().zip(loads).zip(&network.links) {
            let excess = (load / link.capacity_mbps - 1.0).clamp(-1.0, 1.0);
            *loss = (*loss * (LOSS_STEP * excess).exp()).clamp(NO_LOSS, 0.5);
        }
        rates
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Link, Path, Probing, User, optimum};

    const RTT: f64 = 0.15;

    fn links(capacities: &[f64]) -> Vec<Link> {
        let link = |capacity: &f64| Link {
            name: String::new(),
            capacity_mbps: *capacity,
        };
        capacities.iter().map(link).collect()
    }

    /// `count` users with these paths.
    fn users(name: &str, count: u32, paths: &[&[usize]]) -> Vec<User> {
        let paths: Vec<Path> = (paths.iter())
            .map(|links| Path::new(links.iter().copied(), RTT))
            .collect();
        let user = |number| User {
            name: name.into(),
            number,
            paths: paths.clone(),
        };
        (1..=count).map(user).collect()
    }

    /// Draft, section 4: R1 in front of the server, R2 the access point.
    fn scenario_a(n1: u32) -> Network {
        let mut all = users("type 1", n1, &[&[0], &[0, 1]]);
        all.extend(users("type 2", 10, &[&[1]]));
        Network {
            links: links(&[f64::from(n1), 10.0]),
            users: all,
        }
    }

    /// Draft, section 6.
    fn scenario_c(n1: u32) -> Network {
        let mut all = users("multipath", n1, &[&[0], &[1]]);
        all.extend(users("single", 10, &[&[1]]));
        Network {
            links: links(&[f64::from(n1), 10.0]),
            users: all,
        }
    }

    fn ends(rates: &[f64]) -> (f64, f64) {
        (rates[0], rates[rates.len() - 1])
    }

    fn near(value: f64, expected: f64, tolerance: f64) {
        assert!(
            (value - expected).abs() <= tolerance,
            "{value}, expected {expected} ± {tolerance}"
        );
    }

    /// The draft's predictions for LIA: type 2 gets 0.74 and 0.50 in A; 1.3 and 0.7, 1.17 and 0.48 in C.
    #[test]
    fn lia_is_where_the_draft_predicts() {
        for (n1, type_2) in [(10, 0.74), (30, 0.50)] {
            let found = fixed_point(&scenario_a(n1), Law::Lia).unwrap();
            let (one, two) = ends(&found.rates_mbps);
            near(one, 1.0, 0.01);
            near(two, type_2, 0.02);
        }
        for (n1, multipath, single) in [(10, 1.3, 0.7), (30, 1.17, 0.48)] {
            let found = fixed_point(&scenario_c(n1), Law::Lia).unwrap();
            let (one, two) = ends(&found.rates_mbps);
            near(one, multipath, 0.02);
            near(two, single, 0.02);
        }
    }

    /// RFC 5681 on each path: equal windows at one link.
    #[test]
    fn reno_shares_a_link_by_paths() {
        let mut all = users("two paths", 1, &[&[0], &[0]]);
        all.extend(users("one path", 1, &[&[0]]));
        let network = Network {
            links: links(&[9.0]),
            users: all,
        };
        let found = fixed_point(&network, Law::Reno).unwrap();
        near(found.rates_mbps[0], 6.0, 0.01);
        near(found.rates_mbps[1], 3.0, 0.01);
        // w = √(2/p): 3 Mbit/s are 37.5 segments in 150 ms.
        near(found.losses[0], 2.0 / (37.5 * 37.5), 1e-5);
        for law in [Law::Lia, Law::Olia, Law::Balia] {
            let found = fixed_point(&network, law).unwrap();
            near(found.rates_mbps[0], 4.5, 0.05);
        }
        // Two windows of √(2/(2p)) each are √2 of one: NMCC grows as one TCP does, and a loss halves one of the two windows.
        let found = fixed_point(&network, Law::Nmcc).unwrap();
        let share = 2.0f64.sqrt();
        near(found.rates_mbps[0], 9.0 * share / (1.0 + share), 0.01);
    }

    /// The draft's theorem for OLIA: only the best paths are used, the others carry a segment a round trip.
    #[test]
    fn olia_is_at_the_optimum_with_probing() {
        for network in [
            scenario_a(10),
            scenario_a(30),
            scenario_c(10),
            scenario_c(30),
        ] {
            let optimum = ends(&optimum(&network, Probing::Segment).unwrap());
            let found = ends(&fixed_point(&network, Law::Olia).unwrap().rates_mbps);
            near(found.0, optimum.0, 0.005);
            near(found.1, optimum.1, 0.005);
        }
    }

    /// A path with ten times the RTT weighs 1/100 in m² (NMCC), and its windows are the same.
    #[test]
    fn nmcc_weighs_paths_by_their_growth() {
        let fast = Path::new([0], 0.02);
        let slow = Path::new([1], 0.2);
        let user = |paths| User {
            name: String::new(),
            number: 1,
            paths,
        };
        let network = Network {
            links: links(&[4.0, 4.0]),
            users: vec![user(vec![fast.clone(), slow]), user(vec![fast])],
        };
        let found = fixed_point(&network, Law::Nmcc).unwrap();
        // At the first link w = √(2/(p·1.01)) against √(2/p): 4·√(1/1.01)/(1 + √(1/1.01)), and all of the second.
        let share = (1.0f64 / 1.01).sqrt();
        near(found.rates_mbps[0], 4.0 + 4.0 * share / (1.0 + share), 0.01);
    }
}
