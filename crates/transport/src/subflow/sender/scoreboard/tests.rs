use super::*;
use proptest::prelude::*;

const MSS: u64 = 1000;

/// A scoreboard with entries of these numbers of full segments.
fn sent(counts: &[u32]) -> Scoreboard {
    let mut scoreboard = Scoreboard::default();
    for &count in counts {
        let seq = scoreboard.nxt();
        scoreboard.push(Skb {
            seq,
            end: seq + u64::from(count) * MSS,
            sent_at: seq,
            dsn: 7 + seq,
            count,
            segment: MSS as u16,
            flags: flag::PUSH | flag::MAPPING,
        });
    }
    scoreboard
}

/// Number of segments of each entry.
fn counts(scoreboard: &Scoreboard) -> Vec<u32> {
    scoreboard.iter().map(|skb| skb.count).collect()
}

#[test]
fn a_split_keeps_the_mapping_and_the_push_flag() {
    let mut scoreboard = sent(&[3]);
    assert!(scoreboard.split(2 * MSS));
    assert!(!scoreboard.split(3 * MSS), "no entry begins at the end");
    assert_eq!(counts(&scoreboard), [2, 1]);
    let [first, second] = [0, 1].map(|index| *scoreboard.at(index));
    assert_eq!((first.dsn, second.dsn), (7, 7 + 2 * MSS));
    assert_eq!((first.flags, second.flags), (flag::MAPPING, flag::PUSH));
    let before = scoreboard.memory();
    let acked = scoreboard.acknowledge(MSS).unwrap();
    assert_eq!((acked.seq, acked.end, acked.count), (0, MSS, 1));
    assert!(scoreboard.acknowledge(MSS).is_none());
    assert_eq!(scoreboard.memory(), before - MSS);
    let first = scoreboard.at(0);
    assert_eq!((first.seq, first.dsn, first.flags), (MSS, 7 + MSS, 0));
    scoreboard.acknowledge(2 * MSS);
    assert_eq!(scoreboard.memory(), MSS + OVERHEAD);
}

#[test]
fn a_retransmission_counts_as_in_flight_and_a_loss_probe_does_not() {
    let mut scoreboard = sent(&[2, 1]);
    scoreboard.mark_lost(0);
    assert_eq!(scoreboard.in_flight(), 1);
    scoreboard.retransmit(0, 9, false);
    assert_eq!((scoreboard.in_flight(), scoreboard.retrans_out()), (3, 2));
    scoreboard.retransmit(1, 9, true);
    assert_eq!((scoreboard.in_flight(), scoreboard.retrans_out()), (3, 2));
    // The retransmission is lost, too.
    scoreboard.mark_lost(0);
    assert_eq!((scoreboard.in_flight(), scoreboard.lost_out()), (1, 2));
    scoreboard.retransmit(0, 10, false);
    scoreboard.sack(0);
    assert_eq!((scoreboard.in_flight(), scoreboard.retrans_out()), (1, 0));
    scoreboard.check(true);
}

#[derive(Clone, Debug)]
enum Step {
    Push(u32),
    Acknowledge(u64),
    Split(u64),
    Lose(usize),
    Retransmit(usize, bool),
    Sack(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (1u32..6).prop_map(Step::Push),
        (0u64..9).prop_map(Step::Acknowledge),
        (0u64..20).prop_map(Step::Split),
        (0usize..9).prop_map(Step::Lose),
        (0usize..9, any::<bool>()).prop_map(|(index, probe)| Step::Retransmit(index, probe)),
        (0usize..9).prop_map(Step::Sack),
    ]
}

proptest! {
    /// The counters agree with the entries, which are consecutive, after any steps that a sender may take.
    #[test]
    fn counters_agree_with_the_entries(steps in proptest::collection::vec(step(), 1..80)) {
        let mut scoreboard = Scoreboard::default();
        let mut now = 0;
        for step in steps {
            now += 1;
            let known = |index: usize| scoreboard.iter().nth(index).map_or(u8::MAX, |skb| skb.flags);
            match step {
                Step::Push(count) => {
                    let seq = scoreboard.nxt();
                    let end = seq + u64::from(count) * MSS;
                    scoreboard.push(Skb { seq, end, sent_at: now, dsn: seq, count, segment: MSS as u16, flags: 0 });
                }
                Step::Acknowledge(segments) => {
                    let ack = (scoreboard.una() + segments * MSS).min(scoreboard.nxt());
                    while scoreboard.una() < ack && scoreboard.acknowledge(ack).is_some() {}
                    prop_assert_eq!(scoreboard.una(), ack);
                }
                Step::Split(segment) => {
                    let seq = scoreboard.una() + segment * MSS;
                    let begins = scoreboard.split(seq);
                    prop_assert_eq!(begins, seq < scoreboard.nxt());
                }
                Step::Lose(index) if known(index) & flag::SACKED == 0 => scoreboard.mark_lost(index),
                Step::Retransmit(index, probe) if known(index) & (flag::SACKED | flag::RETRANS) == 0 => {
                    scoreboard.retransmit(index, now, probe);
                }
                Step::Sack(index) if known(index) & flag::SACKED == 0 => {
                    scoreboard.sack(index);
                    if scoreboard.join(index) {
                        scoreboard.join_next(index - 1, MSS);
                    }
                }
                _ => {}
            }
            scoreboard.check(true);
        }
    }
}
