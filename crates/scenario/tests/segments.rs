//! Data segments of a run from the sender to their end.

use std::collections::BTreeMap;

use lisa_scenario::trace::Fate;
use lisa_scenario::{Scenario, Watch, simulate_watched};

const FILE: &str = "stop = '30s'\n[topology]\nkind = 'shared-bottleneck'\nrate = '5Mbit'\nrtt = ['40ms', '60ms']\nqueue = 12
    [[connection]]\nname = 'download'\nprotocol = 'mptcp'\nalgorithm = 'lisa'\nbytes = '600KB'
    [[connection]]\nname = 'rival'\nbytes = '200KB'\nstart = '300ms'\n";

/// Each lost segment is one of the trace's losses. Segments that were sent again are the outcome's retransmissions. The payload that arrives,
/// each byte once, is the transfer.
#[test]
fn segments_agree_with_losses_retransmissions_and_bytes() {
    let scenario = Scenario::parse(FILE, "a.toml").unwrap();
    let watch = Watch {
        trace: true,
        segments: true,
        ..Watch::default()
    };
    let run = simulate_watched(&scenario, 3, watch).unwrap();
    let losses: Vec<_> = (run.segments.iter())
        .filter(|segment| matches!(segment.fate, Fate::Lost(_)))
        .collect();
    assert!(!losses.is_empty());
    assert_eq!(losses.len(), run.losses.len());
    for connection in &run.outcome.connections {
        let own = || (run.segments.iter()).filter(|s| *s.connection == connection.name);
        let mut first: BTreeMap<(usize, u32), usize> = BTreeMap::new();
        for segment in own() {
            *first.entry((segment.subflow, segment.seq)).or_default() += 1;
        }
        let again: usize = first.values().map(|sent| sent - 1).sum();
        assert_eq!(again as u64, connection.retransmits);
        let arrived: BTreeMap<u32, u64> = own()
            .filter(|segment| matches!(segment.fate, Fate::Arrived(_)))
            .map(|segment| (segment.data, segment.len.into()))
            .collect();
        assert_eq!(arrived.values().sum::<u64>(), connection.bytes);
    }
    for segment in &run.segments {
        if let Fate::Arrived(at) = segment.fate {
            // Half of the shortest RTT.
            assert!(at - segment.sent >= 0.02, "{segment:?}");
        }
    }
}

#[test]
fn recording_changes_no_outcome() {
    let scenario = Scenario::parse(FILE, "a.toml").unwrap();
    let json = |segments| {
        let watch = Watch {
            segments,
            ..Watch::default()
        };
        let mut run = simulate_watched(&scenario, 3, watch).unwrap();
        assert_eq!(run.segments.is_empty(), !segments);
        assert!(run.capture.is_none());
        run.outcome.wall_seconds = None;
        serde_json::to_string(&run.outcome).unwrap()
    };
    assert_eq!(json(true), json(false));
}
