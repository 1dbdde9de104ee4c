use super::*;
use crate::{Scenario, Watch, simulate_watched};

fn outcome(seed: u64) -> Finished {
    let file = "stop = \"1s\"\nrtt_spread = 0.1\n[topology]\nkind = \"shared-bottleneck\"\nrate = \"5Mbit\"\nrtt = \"40ms\"\n\
                queue = 17\n[[connection]]\nbytes = 30000\nalgorithm = \"reno\"";
    let watch = Watch {
        sample: Some(netsim::Span::from_millis(10)),
        ..Watch::default()
    };
    let run = simulate_watched(&Scenario::parse(file, "a.toml").unwrap(), seed, watch);
    let run = run.unwrap();
    Finished {
        outcome: Outcome {
            wall_seconds: None,
            ..run.outcome
        },
        samples: run.samples,
    }
}

fn json(outcome: &Finished) -> String {
    serde_json::to_string(outcome).unwrap()
}

fn identity(seeds: &str) -> Identity {
    let mut identity = Identity::default();
    identity.add("seeds", seeds);
    identity.add("scenario file", "x".repeat(1000) + seeds);
    identity
}

/// Every end of the file that a killed process can leave is a journal of the complete records before the end.
#[test]
fn a_torn_record_is_cut_off() {
    let path = std::env::temp_dir().join(format!("lisa-journal-{}", std::process::id()));
    let mut journal = Journal::create(&path, &identity("1..9"), 9).unwrap();
    let mut ends = vec![journal.end];
    for number in [2, 0, 5] {
        journal.append(number, &outcome(number as u64 + 1)).unwrap();
        ends.push(journal.end);
    }
    let whole = std::fs::read(&path).unwrap();
    assert_eq!(whole.len() as u64, journal.end);
    for length in (ends[0] as usize..=whole.len())
        .step_by(7)
        .chain([whole.len()])
    {
        std::fs::write(&path, &whole[..length]).unwrap();
        let complete = ends.iter().filter(|end| **end <= length as u64).count() - 1;
        let mut journal = Journal::resume(&path, &identity("1..9"), 9).unwrap();
        assert_eq!(journal.finished(), complete, "{length}");
        assert_eq!(journal.has(2), complete > 0);
        journal.append(8, &outcome(9)).unwrap();
        let journal = Journal::resume(&path, &identity("1..9"), 9).unwrap();
        assert_eq!(journal.finished(), complete + 1);
        assert_eq!(json(&journal.read(8).unwrap()), json(&outcome(9)));
    }
    // A damaged byte ends the journal, too.
    let mut damaged = whole.clone();
    damaged[ends[1] as usize + 40] ^= 1;
    std::fs::write(&path, &damaged).unwrap();
    let journal = Journal::resume(&path, &identity("1..9"), 9).unwrap();
    assert_eq!(journal.finished(), 1);
    assert_eq!(json(&journal.read(2).unwrap()), json(&outcome(3)));
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn another_sweep_does_not_continue_it() {
    let path = std::env::temp_dir().join(format!("lisa-other-{}", std::process::id()));
    drop(Journal::create(&path, &identity("1..9"), 9).unwrap());
    let mut longer = identity("1..9");
    longer.add("shard", "1/3");
    let mut other = Identity::default();
    other.add("seeds", "1..9");
    other.add("scenario file", "y".repeat(1000));
    for (identity, difference) in [
        (
            identity("1..8"),
            "seeds `1..9`, not `1..8`; --force begins anew",
        ),
        (longer, "no shard; "),
        (other, "other scenario file; "),
    ] {
        let error = Journal::resume(&path, &identity, 9)
            .unwrap_err()
            .to_string();
        assert!(error.contains(difference), "{error}");
    }
    std::fs::write(&path, "rows,of,another,kind\n").unwrap();
    let error = Journal::resume(&path, &identity("1..9"), 9).unwrap_err();
    assert!(
        error.to_string().ends_with("not a journal of `lisa sweep`"),
        "{error}"
    );
    std::fs::remove_file(&path).unwrap();
}
