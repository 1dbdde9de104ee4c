//! Properties of LIA, OLIA, Balia, NMCC and wVegas, in small networks with a known result.
//!
//! The profile is that of the papers, whose scheduler gives each segment to a subflow with room in its window. Linux's
//! scheduler gives 32 KB at a time: where a window stays at one segment, as with OLIA, the other subflows soon wait for the
//! data of that path, and the windows no longer determine the rates.

use std::path::Path;

use lisa_scenario::outcome::Outcome;
use lisa_scenario::{Scenario, simulate};

fn run(file: &str, set: &[&str], seed: u64) -> Outcome {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../experiments")
        .join(file);
    let scenario = Scenario::load_with(file, set).unwrap_or_else(|error| panic!("{error}"));
    simulate(&scenario, seed, false).unwrap().outcome
}

/// Mean goodput of the connections of this name, Mbit/s.
fn goodput(outcome: &Outcome, name: &str) -> f64 {
    let of_name = |c: &&lisa_scenario::outcome::ConnectionOutcome| c.name.starts_with(name);
    let all: Vec<f64> = outcome
        .connections
        .iter()
        .filter(of_name)
        .map(|c| c.goodput_mbps.unwrap())
        .collect();
    assert!(!all.is_empty(), "no {name}");
    all.iter().sum::<f64>() / all.len() as f64
}

const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;

fn mean(of: impl Fn(u64) -> f64) -> f64 {
    SEEDS.map(of).sum::<f64>() / SEEDS.count() as f64
}

/// Share of N subflows at a bottleneck with RED, beside one Reno flow.
fn share(algorithm: &str, subflows: u32) -> f64 {
    let algorithm = format!("connection.multipath.algorithm={algorithm}");
    let subflows = format!("connection.multipath.subflows={subflows}");
    mean(|seed| {
        let outcome = run("avoidance/fair.toml", &[&algorithm, &subflows], seed);
        let ours = goodput(&outcome, "multipath");
        ours / (ours + goodput(&outcome, "reno"))
    })
}

/// Together the subflows take the share of one Reno flow, a half, within a tenth. LIA with eight subflows takes up to 0.60:
/// crates/harness/tests/share.rs and docs/algorithms/properties.md have the reason.
#[test]
fn subflows_are_fair_to_one_flow() {
    for algorithm in ["lia", "olia", "balia", "lisa", "lisa_olia", "lisa_balia"] {
        let most = match algorithm {
            "lia" | "olia" | "balia" => 8,
            _ => 2, // their congestion avoidance is that of the others
        };
        for subflows in [2, 4, 8].into_iter().filter(|n| *n <= most) {
            let share = share(algorithm, subflows);
            let fair = if (algorithm, subflows) == ("lia", 8) {
                0.50..0.60
            } else {
                0.45..0.55
            };
            assert!(
                fair.contains(&share),
                "{algorithm}, {subflows}: {share}, not {fair:?}"
            );
        }
    }
}

/// N uncoupled subflows take N/(N + 1). With NMCC they take √N/(√N + 1), since the losses of each are independent.
#[test]
fn without_coupling_each_subflow_takes_a_share_and_nmcc_takes_the_root() {
    for subflows in [2, 8] {
        let n = f64::from(subflows);
        for (algorithm, flows) in [("reno", n), ("nmcc", n.sqrt())] {
            let (share, expected) = (share(algorithm, subflows), flows / (flows + 1.0));
            assert!(
                (share / expected - 1.0).abs() < 0.1,
                "{algorithm}, {subflows}: {share}, not {expected}"
            );
        }
    }
}

/// φ's windows are proportional to (1/p)^(1/φ), for the loss rate p of a path. Here the second path has four
/// times the loss rate of the first.
#[test]
fn phi_divides_by_loss_rates() {
    for (phi, expected) in [(200, 2.0), (150, 4_f64.powf(1.0 / 1.5)), (100, 4.0)] {
        let set = format!("connection.multipath.settings.phi={phi}");
        let ratio = mean(|seed| {
            let outcome = run("avoidance/phi.toml", &[&set, "stop=400s"], seed);
            let subflows = &outcome.connections[0].subflows;
            subflows[0].goodput_mbps.unwrap() / subflows[1].goodput_mbps.unwrap()
        });
        assert!(
            (ratio / expected - 1.0).abs() < 0.2,
            "φ = {phi} %: {ratio}, not {expected}"
        );
    }
}

const EQUAL: [&str; 2] = ["topology.rate=10Mbit", "topology.rtt=40ms"];

/// Two disjoint paths, of 10 and 4 Mbit/s or of 10 Mbit/s each, are filled, except for the time in which a halved window is
/// smaller than the path (1448 of 1500 bytes are payload). wVegas fills neither, but exceeds Reno on the better path.
#[test]
fn two_paths_give_at_least_the_goodput_of_the_best() {
    for (network, both) in [(&[][..], 13.52), (&EQUAL, 19.31)] {
        let rate = |set: &[&str]| {
            let set = [network, set].concat();
            goodput(&run("avoidance/two-paths.toml", &set, 1), "multipath")
        };
        let alone = rate(&[
            "connection.multipath.subflows=1",
            "connection.multipath.algorithm=reno",
        ]);
        assert!((9.4..9.66).contains(&alone), "Reno alone: {alone}");
        for algorithm in ["reno", "lia", "olia", "balia", "nmcc", "wvegas"] {
            let sum = rate(&[&format!("connection.multipath.algorithm={algorithm}")]);
            let least = if algorithm == "wvegas" {
                alone
            } else {
                0.97 * both
            };
            assert!(
                (least..both).contains(&sum),
                "{algorithm}: {sum}, not {least} to {both}"
            );
        }
    }
}

/// With random losses that keep windows smaller than the paths, a connection has at least the goodput of Reno on the better of
/// two paths with one RTT, and up to a sixth less with RTTs of 40 and 80 ms (docs/algorithms/properties.md). wVegas is
/// compared with wVegas on one path.
#[test]
fn with_random_losses_two_paths_give_about_the_goodput_of_the_best() {
    for (network, least) in [(&["topology.rate=10Mbit"][..], 0.83), (&EQUAL, 0.93)] {
        let rate = |algorithm: &str, set: &[&str]| {
            let algorithm = format!("connection.multipath.algorithm={algorithm}");
            let lossy = ["topology.loss=0.5%", "stop=130s", &algorithm];
            let set = [network, &lossy, set].concat();
            mean(|seed| goodput(&run("avoidance/two-paths.toml", &set, seed), "multipath"))
        };
        let alone = |algorithm| rate(algorithm, &["connection.multipath.subflows=1"]);
        let (reno, wvegas) = (alone("reno"), alone("wvegas"));
        for (algorithm, alone, least) in [
            ("lia", reno, least),
            ("olia", reno, least),
            ("balia", reno, least),
            ("nmcc", reno, 1.2),
            ("reno", reno, 1.4),
            ("wvegas", wvegas, 1.4),
        ] {
            let sum = rate(algorithm, &[]);
            assert!(
                sum > least * alone,
                "{algorithm}: {sum}, alone {alone}, {least}"
            );
        }
    }
}

/// wVegas has no losses, and its queues stay below ten segments for the connection plus the growth of slow start in one round
/// trip. Reno and LIA fill all 50 packets.
#[test]
fn wvegas_keeps_queues_short_and_loses_nothing() {
    let outcome = run(
        "avoidance/two-paths.toml",
        &["connection.multipath.algorithm=wvegas"],
        1,
    );
    assert_eq!(outcome.connections[0].retransmits, 0);
    for link in &outcome.links {
        assert_eq!(link.drops, 0, "{}", link.name);
        assert!(
            link.queue_max_packets <= 20 && link.queue_mean_packets < 5.0,
            "{link:?}"
        );
    }
    let lia = run(
        "avoidance/two-paths.toml",
        &["connection.multipath.algorithm=lia"],
        1,
    );
    assert!(lia.links.iter().any(|link| link.queue_max_packets == 50));
}

/// Tables 1, 3, 4 and 6 of draft-khalili-mptcp-performance-issues-04: rates of users with one path beside users with two. With
/// LIA they are near its fixed point (0.74, 0.50; 0.7, 0.48); with OLIA they are higher, and with Balia near LIA's.
#[test]
fn olia_leaves_more_to_users_of_a_single_path_than_lia() {
    for (file, users, n1, fixed_point) in [
        ("scenario-a", "type 2", 10, 0.74),
        ("scenario-a", "type 2", 30, 0.50),
        ("scenario-c", "single-path", 10, 0.70),
        ("scenario-c", "single-path", 30, 0.48),
    ] {
        let rate = |algorithm: &str| {
            let set = [
                "stop=60s",
                &format!("topology.n1={n1}"),
                &format!("connection.1.algorithm={algorithm}"),
            ];
            mean(|seed| {
                let file = format!("lia-olia/{file}.toml");
                goodput(&run(&file, &set, seed), users)
            })
        };
        let (lia, olia, balia) = (rate("lia"), rate("olia"), rate("balia"));
        let what = format!("{file}, N1 = {n1}: LIA {lia}, OLIA {olia}, Balia {balia}");
        assert!((lia - fixed_point).abs() < 0.11, "{what}");
        assert!(olia > 1.1 * lia, "{what}");
        assert!((0.97 * lia..olia).contains(&balia), "{what}");
    }
}

/// Tables 2 and 5: all rates fall when red users upgrade to a second path. The sum falls by 13 % with LIA (14 % at its fixed
/// point), and by 3 % at the optimum with probing. OLIA is between the two.
#[test]
fn an_upgrade_to_two_paths_costs_less_with_olia_than_with_lia() {
    let single = [
        "connection.red.protocol=tcp",
        "connection.red.path=1",
        "connection.red.algorithm=reno",
    ];
    let rates = |algorithm: &str, red: &[&str]| {
        let blue = format!("connection.blue.algorithm={algorithm}");
        let set = [&["stop=60s", &blue], red].concat();
        let outcomes = SEEDS.map(|seed| run("lia-olia/scenario-b.toml", &set, seed));
        let outcomes: Vec<Outcome> = outcomes.collect();
        ["blue", "red"].map(|users| {
            let sum: f64 = outcomes.iter().map(|o| goodput(o, users)).sum();
            sum / outcomes.len() as f64
        })
    };
    let [lia, olia] = ["lia", "olia"].map(|algorithm| {
        let upgraded = format!("connection.red.algorithm={algorithm}");
        let (before, after) = (rates(algorithm, &single), rates(algorithm, &[&upgraded]));
        let what = format!("{algorithm}: blue and red {before:?}, then {after:?}");
        assert!(before[0] > after[0] && before[1] > after[1], "{what}");
        println!("{what}");
        1.0 - (after[0] + after[1]) / (before[0] + before[1])
    });
    assert!((0.09..0.15).contains(&lia), "LIA: {lia}");
    assert!(
        (0.02..0.75 * lia).contains(&olia),
        "OLIA: {olia}, LIA: {lia}"
    );
}
