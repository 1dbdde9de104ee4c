use super::*;
use proptest::prelude::*;

#[test]
fn values_are_exact() {
    let nanos = |text| parse_time(text).map(Span::as_nanos);
    for (text, expected) in [
        ("40ms", 40_000_000),
        ("1.5s", 1_500_000_000),
        ("10us", 10_000),
        ("10µs", 10_000),
        ("0s", 0),
        ("0.1ms", 100_000),
        ("1 min", 60_000_000_000),
        (" 2h ", 7_200_000_000_000),
        ("1.000000001s", 1_000_000_001),
        ("1.0ns", 1),
    ] {
        assert_eq!(nanos(text), Ok(expected), "{text}");
    }
    let bits = |text| parse_rate(text).map(Rate::bits_per_second);
    assert_eq!(bits("5Mbit"), Ok(5_000_000));
    assert_eq!(bits("2.5Mbit"), Ok(2_500_000));
    assert_eq!(bits("500kbit"), Ok(500_000));
    assert_eq!(bits("100Gbit"), Ok(100_000_000_000));
    assert_eq!(bits("11.7Mbit"), Ok(11_700_000));
    assert_eq!(parse_bytes("300KB"), Ok(300_000));
    assert_eq!(parse_bytes("300kB"), Ok(300_000));
    assert_eq!(parse_bytes("4MiB"), Ok(4 << 20));
    assert_eq!(parse_bytes("0.5KiB"), Ok(512));
    assert_eq!(parse_share("10%"), Ok(0.1));
    assert_eq!(parse_share("0.5 %"), Ok(0.005));
    assert_eq!(check_share(1.0), Ok(1.0));
}

#[test]
fn errors_have_the_problem() {
    let time = |text: &str| parse_time(text).unwrap_err();
    assert_eq!(
        time("40"),
        "`40` has no unit: write it like `40ms`; units are ns, us, µs, ms, s, min, h, d"
    );
    assert_eq!(time("-4ms"), "`-4ms` is negative: a time must not be");
    assert_eq!(time("soon"), "`soon` is not a time: write it like `40ms`");
    assert_eq!(time(""), "`` is not a time: write it like `40ms`");
    assert_eq!(
        time("1.2.3s"),
        "`1.2.3s` is not a time: write it like `40ms`"
    );
    assert_eq!(time(".5s"), "`.5s` is not a time: write it like `40ms`");
    assert_eq!(
        time("0.5ns"),
        "`0.5ns` is not a whole number of nanoseconds"
    );
    assert_eq!(time("1000000d"), "`1000000d` is too much");
    assert_eq!(
        time("4sm"),
        "`4sm`: no unit `sm`, did you mean `ms`?; units are ns, us, µs, ms, s, min, h, d"
    );
    let digits = "9".repeat(38);
    assert!(time(&format!("{digits}s")).contains("too much"));
    assert!(time(&"9".repeat(100_000)).len() < 200);
    assert_eq!(
        parse_rate("0Mbit").unwrap_err(),
        "`0Mbit`: a rate must be more than 0"
    );
    assert!(parse_rate("5Mbps").unwrap_err().contains("no unit `Mbps`"));
    assert!(
        parse_bytes("1.5B")
            .unwrap_err()
            .contains("not a whole number of bytes")
    );
    for share in ["", "%", "10", "-1%", "nan%", "1e3%", "101%"] {
        assert!(parse_share(share).is_err(), "{share}");
    }
    for share in [f64::NAN, f64::INFINITY, -0.1, 1.1] {
        assert!(check_share(share).is_err());
    }
}

#[test]
fn values_are_shown_short() {
    let time = |nanos| show_time(Span::from_nanos(nanos));
    assert_eq!(time(0), "0s");
    assert_eq!(time(40_000_000), "40ms");
    assert_eq!(time(1_500_000_000), "1.5s");
    assert_eq!(time(10_000), "10us");
    assert_eq!(time(90_000_000_000), "90s");
    assert_eq!(time(60_000_000_000), "1min");
    assert_eq!(time(366 * 86_400_000_000_000), "366d");
    let rate = |bits| show_rate(Rate::from_bits_per_second(bits));
    assert_eq!(rate(2_500_000), "2.5Mbit");
    assert_eq!(rate(64_001), "64.001kbit");
    assert_eq!(show_bytes(300_000), "300KB");
    assert_eq!(show_bytes(4 << 20), "4MiB");
    assert_eq!(show_bytes(1), "1B");
    assert_eq!(show_bytes(0), "0B");
}

proptest! {
    #[test]
    fn displayed_values_parse_to_the_same(value: u64, shift in 0..64u32) {
        let value = value >> shift;
        prop_assert_eq!(parse_time(&show_time(Span::from_nanos(value))), Ok(Span::from_nanos(value)));
        prop_assert_eq!(parse_bytes(&show_bytes(value)), Ok(value));
        let rate = Rate::from_bits_per_second(value.max(1));
        prop_assert_eq!(parse_rate(&show_rate(rate)), Ok(rate));
    }

    #[test]
    fn anything_is_read_or_refused(text in "[0-9.a-zµ% -]{0,12}|\\PC{0,12}") {
        let _ = (parse_time(&text), parse_rate(&text), parse_bytes(&text), parse_share(&text));
    }
}
