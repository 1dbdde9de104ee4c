use super::*;
use proptest::prelude::*;

fn values(text: &str) -> Vec<String> {
    Vary::parse(&format!("a.b={text}")).unwrap().values
}

#[test]
fn ranges_and_lists() {
    assert_eq!(values("9,17,30"), ["9", "17", "30"]);
    assert_eq!(values("1..4"), ["1", "2", "3", "4"]);
    assert_eq!(values("1..34/10"), ["1", "11", "21", "31"]);
    assert_eq!(values("5..5"), ["5"]);
    assert_eq!(values("1..2, 20..40/10"), ["1", "2", "20", "30", "40"]);
    assert_eq!(values("0.1..0.3/0.1"), ["0.1", "0.2", "0.3"]);
    assert_eq!(
        values("0.5Mbit..1.5Mbit/0.5"),
        ["0.5Mbit", "1Mbit", "1.5Mbit"]
    );
    assert_eq!(values("10..30ms/10ms"), ["10ms", "20ms", "30ms"]);
    let queues = "{ kind = \"red\", packets = 9 },17";
    assert_eq!(values(queues), ["{ kind = \"red\", packets = 9 }", "17"]);
    assert_eq!(
        values("../nets/a.gml,\"b,c\""),
        ["../nets/a.gml", "\"b,c\""]
    );
    assert_eq!(values("a=b"), ["a=b"]);
}

#[test]
fn errors_have_the_problem() {
    let wrong = |text: &str| Vary::parse(text).unwrap_err();
    assert!(wrong("stop").contains("KEY=VALUES"));
    assert!(wrong("=1").contains("KEY=VALUES"));
    assert!(wrong("stop=").contains("KEY=VALUES"));
    assert!(wrong("stop=1..").contains("`` is not a number"));
    assert!(wrong("stop=1..x").contains("`x` is not a number"));
    assert!(wrong("stop=1..9/").contains("`` is not a number"));
    assert_eq!(wrong("q=1..9/0"), "`1..9/0`: a step must be more than 0");
    assert_eq!(wrong("q=9..1"), "`9..1`: a range must not descend");
    assert_eq!(wrong("q=1s..9ms"), "`1s..9ms`: use one unit");
    assert!(wrong("q=1..99999999").contains("at most"));
    assert!(wrong("q=1..18446744073709551615/1").contains("at most"));
    assert!(wrong("q=0.1..18446744073709551615").contains("too long"));
    assert!(wrong("q=1,,2").contains("between two commas"));
}

#[test]
fn numbers_are_in_base_units() {
    let numbers = |text: &str| Vary::parse(&format!("a={text}")).unwrap().numbers();
    assert_eq!(numbers("9,17"), Numbers::Integers(vec![9, 17]));
    assert_eq!(
        numbers("50KB,1MiB"),
        Numbers::Integers(vec![50_000, 1 << 20])
    );
    assert_eq!(numbers("2.5Mbit"), Numbers::Integers(vec![2_500_000]));
    assert_eq!(numbers("0.5,1"), Numbers::Floats(vec![0.5, 1.0]));
    assert_eq!(numbers("40ms,1s"), Numbers::Floats(vec![0.04, 1.0]));
    assert_eq!(numbers("10%"), Numbers::Floats(vec![0.1]));
    assert_eq!(numbers("0,50KB"), Numbers::Integers(vec![0, 50_000]));
    assert_eq!(numbers("0,10%"), Numbers::Floats(vec![0.0, 0.1]));
    assert_eq!(numbers("0,10ms"), Numbers::Texts);
    assert_eq!(numbers("lisa,css"), Numbers::Texts);
    assert_eq!(numbers("9,inf"), Numbers::Texts);
}

#[test]
fn the_last_key_changes_fastest() {
    let varied = [
        Vary::parse("a=1..2").unwrap(),
        Vary::parse("b=1..3").unwrap(),
    ];
    assert_eq!(combinations(&varied), Some(6));
    let all: Vec<_> = (0..6).map(|number| combination(&varied, number)).collect();
    assert_eq!(all, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
    assert_eq!(varied[1].set(2), "b=3");
    assert_eq!(combinations(&[]), Some(1));
}

#[test]
fn a_table_has_points() {
    let table = "topology.rate, topology.rtt\n2Mbit,\"[\"\"10ms\"\",\"\"20ms\"\"]\"\n3Mbit,40ms\n";
    let varied = points(table.as_bytes()).unwrap();
    assert_eq!(varied[0].values, ["2Mbit", "3Mbit"]);
    assert_eq!(varied[1].key, "topology.rtt");
    assert_eq!(varied[1].set(0), r#"topology.rtt=["10ms","20ms"]"#);
    for (table, problem) in [
        ("", "a key in the first line is empty"),
        ("a,\n1,2\n", "a key in the first line is empty"),
        ("a,b\n", "there is no point"),
        ("a,b\n1,2\n3\n", "line: 3"),
    ] {
        let error = points(table.as_bytes()).unwrap_err();
        assert!(error.contains(problem), "{table}: {error}");
    }
}

proptest! {
    #[test]
    fn anything_is_read_or_refused(text in "[0-9.,/=a-cs{}\\[\\]\" ]{0,20}|\\PC{0,12}") {
        if let Ok(vary) = Vary::parse(&text) {
            prop_assert!(!vary.values.is_empty());
            let _ = vary.numbers();
        }
    }
}
