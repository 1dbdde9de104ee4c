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
    use WarningKind::{
        LowConSsthresh, SmallReceiveBuffer, SmallSendBuffer, UnusedKey, UnusedPaths,
    };
    assert_eq!(kinds(&["connection.a.subflows=2"]), [UnusedPaths]);
    assert_eq!(kinds(&["rate_phase=2s"]), [UnusedKey]);
    assert_eq!(kinds(&["rate_phase=0s"]), []);
    let css = "connection.a.algorithm=css";
    assert_eq!(kinds(&[css]), [LowConSsthresh]);
    assert_eq!(kinds(&[css, "connection.a.initial_ssthresh=500KB"]), []);
    assert_eq!(
        kinds(&[css, "connection.a.settings={ con_ssthresh = 345 }"]),
        []
    );
    // 100 KB never reach the bandwidth-delay product of 750 KB.
    assert_eq!(kinds(&[css, "connection.a.bytes=100KB"]), []);
    // By hand: 160 of 256 parts of 1.2 MB are 750 KB, and 2896 of 3792 bytes of three times 327 KB.
    let small = "connection.a.receive_window=1190KB";
    assert_eq!(kinds(&[small]), [SmallReceiveBuffer]);
    assert_eq!(kinds(&["connection.a.receive_window=1210KB"]), []);
    let small = "connection.a.send_buffer=325KB";
    assert_eq!(kinds(&[small]), [SmallSendBuffer]);
    assert_eq!(kinds(&["connection.a.send_buffer=330KB"]), []);
    // The buffer that holds less limits.
    let smaller = "connection.a.receive_window=400KB";
    assert_eq!(kinds(&[small, smaller]), [SmallReceiveBuffer]);
}

/// By hand: 50 Mbit/s × 40 ms are 250 000 bytes a path, and 750 000 of three; 45 segments are 65 160. Beside two TCP connections on
/// each path a third is left, 250 000, and 4 × 65 160 is more. TCP on one path leaves the others.
#[test]
fn only_connections_on_the_same_links_share_a_bottleneck() {
    let with = |others: &str| {
        let text = format!("{TEXT}algorithm = 'css'\n{others}").replace("algorithm = 'lisa'\n", "");
        let scenario = Scenario::parse(&text, "a.toml").unwrap();
        let warnings = scenario.warnings(1).unwrap();
        warnings
            .iter()
            .any(|w| w.kind == WarningKind::LowConSsthresh)
    };
    let beside = |path: u32, count: u32| {
        format!("[[connection]]\nname = 'path {path}'\npath = {path}\ncount = {count}\n")
    };
    let all = |count| [1, 2, 3].map(|path| beside(path, count)).concat();
    assert!(with(""));
    assert!(!with(&all(2)));
    assert!(with(&beside(1, 100)), "two paths are left");
    // Connections in sequence are one at a time.
    let arrivals = "bytes = 1\narrivals = { count = 100, gap = '1s' }\n";
    assert!(with(
        &[1, 2, 3].map(|path| beside(path, 1) + arrivals).concat()
    ));
}

#[test]
fn initial_ssthresh_of_the_paths() {
    let css = "connection.a.algorithm=css";
    assert_eq!(kinds(&[css, "connection.a.initial_ssthresh=bdp"]), []);
    // The setting has precedence, as in the algorithm.
    let setting = "connection.a.settings={ con_ssthresh = 45 }";
    let both = kinds(&[css, "connection.a.initial_ssthresh=bdp", setting]);
    assert_eq!(both, [WarningKind::LowConSsthresh]);
}

/// One of three paths is down from the start, and the last subflow of a transfer of 10 KB joins after the data: both tell nothing about
/// three paths.
#[test]
fn subflows_that_sent_nothing() {
    let idle = |change: &[&str]| {
        let scenario = Scenario::parse_with(TEXT, "a.toml", change).unwrap();
        let outcome = crate::simulate(&scenario, 1, false).unwrap().outcome;
        let mut warnings = outcome.warnings.into_iter();
        let warning = warnings.find(|warning| warning.kind == WarningKind::IdleSubflows)?;
        Some(warning.text.split(':').next()?.to_owned())
    };
    assert_eq!(idle(&[]), None);
    let down = "topology.down=[[], [], { from = '0s' }]";
    let text = idle(&[down, "connection.a.bytes=10KB"]);
    let joined = text
        .as_deref()
        .and_then(|text| text.split_once(" of 3 subflows"));
    assert!(
        joined.is_some_and(|(_, rest)| rest == " were established"),
        "{text:?}"
    );
    let short = idle(&["connection.a.bytes=10KB"]);
    assert!(short.is_some(), "{short:?}");
    // No connection at all.
    let none = idle(&["stop=10ms"]);
    assert_eq!(none.as_deref(), Some("0 of 3 subflows were established"));
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
        Some("connection `a`: 1 of 1 transfer did not finish before `stop`")
    );
}
