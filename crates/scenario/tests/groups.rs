//! Groups: subflows of different groups are not coupled, and a change of groups takes effect on the next ACK.

use lisa_scenario::trace::Row;
use lisa_scenario::{Run, Scenario, simulate};

/// Two different paths, each with occasional losses.
fn run(algorithm: &str, keys: &str, seed: u64) -> Run {
    let text = format!(
        "stop = '20s'\nrtt_spread = '10%'\n[topology]\nkind = 'non-shared-bottleneck'\nrate = ['5Mbit', '3Mbit']\n\
         rtt = ['40ms', '70ms']\nqueue = 20\n[[connection]]\nname = 'x'\nprotocol = 'mptcp'\n\
         algorithm = '{algorithm}'\n{keys}\n"
    );
    let scenario = Scenario::parse(&text, "groups.toml").unwrap_or_else(|error| panic!("{error}"));
    simulate(&scenario, seed, true).unwrap()
}

/// A run as JSON, without the name of the algorithm and the elapsed time.
fn bytes(run: &Run) -> String {
    let mut outcome = run.outcome.clone();
    outcome.connections[0].algorithm.clear();
    outcome.wall_seconds = None;
    let mut rows = run.rows.clone();
    for row in &mut rows {
        row.published = None; // an algorithm's own
    }
    format!("{outcome:?} {rows:?}")
}

/// Algorithms whose uncoupled subflows are Reno. Not CSS, whose slow start differs from TCP's, and not wVegas, which reacts to
/// delay.
const RENO_ALONE: [&str; 8] = [
    "lisa",
    "lisa_reno",
    "nmcc",
    "lia",
    "olia",
    "balia",
    "lisa_olia",
    "lisa_balia",
];

#[test]
fn in_a_group_of_its_own_each_subflow_is_reno_to_the_byte() {
    for seed in 1..=3 {
        let reno = run("reno", "", seed);
        assert!(
            reno.outcome.connections[0]
                .subflows
                .iter()
                .all(|s| s.losses > 2)
        );
        for algorithm in RENO_ALONE {
            let apart = run(algorithm, "groups = [3, 11]", seed);
            assert_eq!(bytes(&apart), bytes(&reno), "{algorithm}, seed {seed}");
            assert!(apart.credits.is_empty());
            let together = run(algorithm, "", seed);
            assert_ne!(bytes(&together), bytes(&reno), "{algorithm}, seed {seed}");
        }
    }
}

#[test]
fn the_number_of_a_common_group_has_no_effect() {
    for algorithm in mpcc::Algorithm::all() {
        // Coupled CUBIC uses evidence in group 0. In any other group all subflows share a queue.
        let needs_evidence = algorithm.avoidance() == "coupled_cubic";
        let algorithm = algorithm.name();
        let keys = if needs_evidence {
            "groups = [5, 5]"
        } else {
            ""
        };
        let together = bytes(&run(algorithm, keys, 1));
        for keys in [
            if needs_evidence {
                "groups = [1, 1]"
            } else {
                "groups = [0, 0]"
            },
            "groups = [238, 238]",
            "groups = [1, 2]\nregroup = { at = '0s', groups = [5, 5] }",
        ] {
            assert_eq!(
                bytes(&run(algorithm, keys, 1)),
                together,
                "{algorithm}, {keys}"
            );
        }
    }
}

/// First row in which two runs differ.
fn first_difference<'a>(one: &'a Run, other: &'a Run) -> Option<(&'a Row, &'a Row)> {
    let mut pairs = one.rows.iter().zip(&other.rows);
    pairs.find(|(a, b)| format!("{a:?}") != format!("{b:?}"))
}

#[test]
fn a_change_takes_effect_on_the_next_ack() {
    for algorithm in ["lisa", "nmcc", "lia", "olia", "balia", "css"] {
        let together = run(algorithm, "", 1);
        let changed = run(algorithm, "regroup = { at = '7s', groups = [0, 1] }", 1);
        let difference = first_difference(&together, &changed);
        let (before, after) = difference.unwrap_or_else(|| panic!("{algorithm} is as before"));
        assert!(
            (7.0..9.0).contains(&after.time),
            "{algorithm}: {before:?}, {after:?}"
        );
        // A change that is undone before an ACK arrives has no effect.
        let keys =
            "regroup = [{ at = '7s', groups = [0, 1] }, { at = '7000000001ns', groups = [0, 0] }]";
        assert_eq!(
            bytes(&run(algorithm, keys, 1)),
            bytes(&together),
            "{algorithm}"
        );
    }
}

/// The first subflow lends to the second when it joins. A change of groups before the settlement makes the credit void.
#[test]
fn a_credit_that_is_open_when_one_of_the_two_moves_is_void() {
    let paid = run("lisa", "", 1);
    let credit = &paid.credits[0];
    let settled = credit.settled.as_ref().expect("it is paid");
    let counts = |run: &Run| {
        let connection = &run.outcome.connections[0];
        let subflows = connection.subflows.iter();
        let of_subflows = subflows.map(|s| [s.credits_taken, s.credits_paid, s.credits_void]);
        let (taken, paid) = (connection.credits_taken, connection.credits_paid);
        (
            [taken, paid, connection.credits_void],
            of_subflows.collect::<Vec<_>>(),
        )
    };
    assert_eq!(counts(&paid), ([1, 1, 0], vec![[0, 1, 0], [1, 0, 0]]));
    assert!(
        settled.time > credit.taken && credit.segments == 10,
        "{credit:?}"
    );
    let window = |run: &Run, subflow: usize, at: f64| {
        let shown = |row: &&Row| row.subflow == subflow && row.time <= at;
        run.rows.iter().rfind(shown).expect("a row").cwnd
    };
    let at = (credit.taken + settled.time) / 2.0;
    for groups in ["[1, 0]", "[0, 1]"] {
        let void = run(
            "lisa",
            &format!(
                "regroup = {{ at = '{}ns', groups = {groups} }}",
                (at * 1e9) as u64
            ),
            1,
        );
        assert_eq!(void.credits[0].taken, credit.taken);
        assert_eq!(
            window(&void, 1, at),
            credit.segments,
            "what was taken is kept"
        );
        let later = settled.time + 1e-9;
        if groups == "[1, 0]" {
            // The lender changes its group on the ACK that would settle the credit, and its window grows by that ACK.
            assert!(void.credits[0].settled.is_none(), "{:?}", void.credits[0]);
            assert_eq!(counts(&void), ([1, 0, 1], vec![[0, 0, 1], [1, 0, 0]]));
            let (kept, gave) = (window(&void, 0, later), window(&paid, 0, later));
            assert!((10..13).contains(&(kept - gave)), "{kept}, {gave}");
        } else {
            // The borrower's next ACK arrives a round trip later, after the lender's settlement.
            assert_eq!(window(&void, 0, later), window(&paid, 0, later));
            assert!(void.credits[0].settled.is_some());
        }
    }
}

/// Share of the multipath connection at a bottleneck beside a Reno flow, percent, mean of three seeds.
fn share(keys: &str) -> f64 {
    let of = |seed| {
        let text = format!(
            "warmup = '20s'\nstop = '140s'\nrtt_spread = '10%'\n[topology]\nkind = 'shared-bottleneck'\nrate = '10Mbit'\n\
             rtt = '80ms'\nqueue = {{ kind = 'red' }}\n[[connection]]\nprotocol = 'mptcp'\nalgorithm = 'lia'\n{keys}\n\
             [[connection]]\nalgorithm = 'reno'\nstart = {{ from = '0s', to = '1s' }}\n"
        );
        let run = simulate(&Scenario::parse(&text, "share.toml").unwrap(), seed, false).unwrap();
        let goodput = |i: usize| run.outcome.connections[i].goodput_mbps.unwrap();
        100.0 * goodput(0) / (goodput(0) + goodput(1))
    };
    (1..=3).map(of).sum::<f64>() / 3.0
}

/// The use of network assistance: subflows in separate groups are TCP flows, two of three at this bottleneck. In one group they
/// take half of it together.
#[test]
fn one_group_takes_half_of_a_shared_bottleneck() {
    let apart = share("groups = [0, 1]");
    let together = share("");
    let learnt = share("groups = [0, 1]\nregroup = { at = '20s', groups = [0, 0] }");
    eprintln!("apart {apart:.1} %, together {together:.1} %, told after 20 s {learnt:.1} %");
    assert!(apart > 60.0, "{apart}");
    assert!((45.0..58.0).contains(&together), "{together}");
    assert!((learnt - together).abs() < 5.0, "{learnt}, {together}");
}
