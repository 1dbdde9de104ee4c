use super::*;

const TEXT: &str = "stop = '60s'\n[topology]\nkind = 'non-shared-bottleneck'\nrate = ['50Mbit', '50Mbit', '50Mbit']\nrtt = '40ms'\n\
    queue = 100\n[[connection]]\nname = 'a'\nprotocol = 'mptcp'\nalgorithm = 'lisa'\nsubflows = 3\nbytes = '10MB'\n";

fn kinds(change: &[&str]) -> Vec<WarningKind> {
    let scenario = Scenario::parse_with(TEXT, "a.toml", change).unwrap();
    let warnings = scenario.warnings(1).unwrap();
    warnings.iter().map(|warning| warning.kind).collect()
}

#[test]
fn a_sound_scenario_has_no_warning() {
    assert_eq!(kinds(&[]), []);
}

#[test]
fn each_rule_of_a_scenario() {
    use WarningKind::{LowConSsthresh, SmallReceiveBuffer, UnusedPaths};
    assert_eq!(kinds(&["connection.a.subflows=2"]), [UnusedPaths]);
    let css = "connection.a.algorithm=css";
    assert_eq!(kinds(&[css]), [LowConSsthresh]);
    assert_eq!(kinds(&[css, "connection.a.initial_ssthresh=500KB"]), []);
    assert_eq!(
        kinds(&[css, "connection.a.settings={ con_ssthresh = 345 }"]),
        []
    );
    // 100 KB never reach the bandwidth-delay product of 750 KB.
    assert_eq!(kinds(&[css, "connection.a.bytes=100KB"]), []);
    assert_eq!(
        kinds(&["connection.a.receive_window=700KB"]),
        [SmallReceiveBuffer]
    );
    assert_eq!(kinds(&["connection.a.receive_window=800KB"]), []);
}

#[test]
fn seeds_that_draw_nothing() {
    let warns = |change: &[&str]| {
        let scenario = Scenario::parse_with(TEXT, "a.toml", change).unwrap();
        scenario.warning_of_seeds().unwrap().is_some()
    };
    assert!(warns(&[]));
    assert!(!warns(&["rtt_spread=10%"]));
    assert!(!warns(&["connection.a.start={ from = '0s', to = '1s' }"]));
}

#[test]
fn a_transfer_that_does_not_finish() {
    let scenario = Scenario::parse_with(TEXT, "a.toml", &["stop=1s"]).unwrap();
    let outcome = crate::simulate(&scenario, 1, false).unwrap().outcome;
    assert_eq!(outcome.warnings[0].kind, WarningKind::UnfinishedTransfers);
    assert_eq!(
        outcome.warnings[0].to_string().split(';').next(),
        Some("connection `a`: transfers did not finish before `stop`")
    );
}
