//! `assistance = true`: the links of the scenario decide the groups, also when they fail and return.

use lisa_scenario::{Run, Scenario, simulate};

fn run(topology: &str, keys: &str) -> Run {
    let text = format!(
        "stop = '20s'\n[topology]\n{topology}\n[[connection]]\nname = 'x'\nprotocol = 'mptcp'\n\
         algorithm = 'lia'\nsubflows = 2\n{keys}\n"
    );
    let scenario = Scenario::parse(&text, "a.toml").unwrap_or_else(|error| panic!("{error}"));
    simulate(&scenario, 1, true).unwrap()
}

/// A run as text, without the elapsed time.
fn bytes(mut run: Run) -> String {
    run.outcome.wall_seconds = None;
    format!("{:?} {:?}", run.outcome, run.rows)
}

#[track_caller]
fn same(topology: &str, decided: &str) {
    let assisted = bytes(run(topology, "assistance = true"));
    assert!(
        assisted == bytes(run(topology, decided)),
        "not as with `{decided}`"
    );
}

const DISJOINT: &str =
    "kind = 'non-shared-bottleneck'\nrate = ['5Mbit', '3Mbit']\nrtt = ['40ms', '70ms']\nqueue = 20";

#[test]
fn disjoint_paths_are_separated() {
    same(DISJOINT, "groups = [0, 1]");
    let apart = bytes(run(DISJOINT, "groups = [0, 1]"));
    assert!(
        apart != bytes(run(DISJOINT, "")),
        "groups have an effect here"
    );
}

#[test]
fn a_shared_bottleneck_couples() {
    let shared = "kind = 'shared-bottleneck'\nrate = '5Mbit'\nrtt = ['40ms', '70ms']\nqueue = 20";
    same(shared, "");
    let apart = bytes(run(shared, "groups = [0, 1]"));
    assert!(
        apart != bytes(run(shared, "")),
        "groups have an effect here"
    );
}

/// Without a path a subflow is coupled, and separated again when the link returns; a second outage has no end.
#[test]
fn links_that_fail_and_return() {
    let failing =
        format!("{DISJOINT}\ndown = [[], [{{ from = '5s', to = '8s' }}, {{ from = '15s' }}]]");
    same(
        &failing,
        "groups = [0, 1]\nregroup = [{ at = '5s', groups = [0, 0] }, { at = '8s', groups = [0, 1] }, { at = '15s', groups = [0, 0] }]",
    );
}

/// A link that both paths share couples up to 3/2 of the widest other link: 7.5 of 5 Mbit/s.
#[test]
fn a_wide_shared_link_couples_up_to_the_condition() {
    let graph = |rate: &str| {
        format!(
            "kind = 'graph'\nhosts = ['a', 'b']\nrouters = ['r', 's', 't']\n\
             paths = {{ both = [['a', 't', 'r', 'b'], ['a', 't', 's', 'b']] }}\n\
             [[topology.link]]\nfrom = 'a'\nto = 't'\nrate = '{rate}'\ndelay = '5ms'\nqueue = 30\n\
             [[topology.link]]\nfrom = 't'\nto = 'r'\nrate = '5Mbit'\ndelay = '10ms'\nqueue = 20\n\
             [[topology.link]]\nfrom = 't'\nto = 's'\nrate = '3Mbit'\ndelay = '10ms'\nqueue = 20\n\
             [[topology.link]]\nfrom = 'r'\nto = 'b'\ndelay = '1ms'\n\
             [[topology.link]]\nfrom = 's'\nto = 'b'\ndelay = '1ms'\n"
        )
    };
    same(&graph("7.5Mbit"), "");
    same(&graph("7.6Mbit"), "groups = [0, 1]");
}
