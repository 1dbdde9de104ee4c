//! Verdicts of values written down by hand.

use super::*;
use crate::series::SeriesOfLine;

/// A figure with lines A and B over x = 1 … n.
fn figure(points: usize, claim: &str) -> Figure {
    let text = format!(
        r#"
        id = "fig"
        title = "A figure"
        scenario = "none.toml"
        connections = []
        seeds = 2
        x = {{ label = "x", vary = "topology.queue=1..{points}" }}
        lines = [{{ name = "A" }}, {{ name = "B" }}]
        measures = [{{ name = "value", label = "value", metric = "goodput_mbps", connection = "c" }}]
        claims = [{{ condition = "", metric = "", algorithm = "", of = "A", {claim} }}]
        "#
    );
    toml::from_str(&text).unwrap_or_else(|error| panic!("{error}"))
}

/// Two samples at each point, one tenth around the values.
fn series(figure: &Figure, a: &[f64], b: &[f64]) -> Series {
    let line = |name: &str, values: &[f64]| SeriesOfLine {
        name: name.into(),
        is_theory: false,
        measures: vec![
            values
                .iter()
                .map(|value| vec![Some(value - 0.1), Some(value + 0.1)])
                .collect(),
        ],
    };
    Series {
        points: figure.points().unwrap(),
        lines: vec![line("A", a), line("B", b)],
    }
}

fn verdict(claim: &str, expected: Expected, a: &[f64], b: &[f64]) -> Verdict {
    let figure = figure(a.len(), claim);
    assess(&figure, &figure.claims[0], expected, &series(&figure, a, b)).verdict
}

#[test]
fn a_number() {
    let number = |claim: &str, value| verdict(claim, Expected::Number(5.0), &[value], &[1.0]);
    // Without a limit of its own, a fifth: 4 to 6.
    assert_eq!(number("", 4.0), Verdict::Confirmed);
    assert_eq!(number("", 3.9), Verdict::Not);
    assert_eq!(number("within = 0.5", 5.5), Verdict::Confirmed);
    assert_eq!(number("within = 0.5", 5.6), Verdict::Not);
    assert_eq!(number("factor = 2", 2.5), Verdict::Confirmed);
    assert_eq!(number("factor = 2", 10.5), Verdict::Not);
    assert_eq!(number("at_least = true", 50.0), Verdict::Confirmed);
    assert_eq!(
        verdict("", Expected::Range(5.0, 7.0), &[7.0], &[1.0]),
        Verdict::Confirmed
    );
    assert_eq!(
        verdict("", Expected::Unpublished, &[7.0], &[1.0]),
        Verdict::NotStated
    );
}

/// The differences to B are the same in both samples, so that their intervals are 0 wide.
#[test]
fn a_comparison() {
    let less = |published, a, b| {
        verdict(
            r#"than = "B", as = "less-percent""#,
            Expected::Number(published),
            &[a],
            &[b],
        )
    };
    // 20 % less than 10.
    assert_eq!(less(20.0, 8.0, 10.0), Verdict::Confirmed);
    assert_eq!(less(50.0, 8.0, 10.0), Verdict::DirectionOnly);
    assert_eq!(less(20.0, 12.0, 10.0), Verdict::Not);
    // 10 % and 30 % are 20 % on average, and at most 30.
    let (a, b) = ([9.0, 7.0], [10.0, 10.0]);
    let over = |over: &str, published| {
        let claim = format!(r#"than = "B", as = "less-percent", over = "{over}""#);
        verdict(&claim, Expected::Number(published), &a, &b)
    };
    assert_eq!(over("mean", 20.0), Verdict::Confirmed);
    assert_eq!(over("max", 30.0), Verdict::Confirmed);
}

#[test]
fn signs() {
    let b = [10.0; 10];
    let sign = |expected, a: &[f64]| verdict(r#"than = "B""#, expected, a, &b[..a.len()]);
    let mut a = [8.0; 10];
    assert_eq!(sign(Expected::Lower, &a), Verdict::Confirmed);
    assert_eq!(sign(Expected::Higher, &a), Verdict::Not);
    assert_eq!(sign(Expected::Similar, &a), Verdict::Not);
    assert_eq!(sign(Expected::NoTrend, &a), Verdict::Not);
    // Nine of ten still are nearly all; eight are not.
    a[0] = 12.0;
    assert_eq!(sign(Expected::Lower, &a), Verdict::Confirmed);
    a[1] = 12.0;
    assert_eq!(sign(Expected::Lower, &a), Verdict::DirectionOnly);
    assert_eq!(sign(Expected::NoTrend, &a), Verdict::Confirmed);
    // 9.5 is lower and similar.
    assert_eq!(sign(Expected::Similar, &[9.5; 10]), Verdict::Confirmed);
    assert_eq!(
        sign(Expected::HigherOrSimilar, &[9.5; 10]),
        Verdict::Confirmed
    );
    assert_eq!(sign(Expected::HigherOrSimilar, &[8.0; 10]), Verdict::Not);
}

/// LISA's figure 8c with the paper's day: lower at 4 of 18 points and higher at 5, but clearly lower on average. The rule says "direction
/// only": the sign of the mean decides, and not which sign holds at more points.
#[test]
fn the_mean_decides_the_direction() {
    let mut a = [10.0; 18];
    a[..4].fill(5.0);
    a[4..9].fill(10.5);
    let figure = figure(18, r#"than = "B""#);
    let series = series(&figure, &a, &[10.0; 18]);
    let assessed = assess(&figure, &figure.claims[0], Expected::Lower, &series);
    let signs = assessed.signs.expect("signs");
    let mean = assessed.measured.expect("a mean");
    assert_eq!((signs.lower, signs.higher, signs.of), (4, 5, 18));
    assert!(mean.mean < 0.0 && mean.mean.abs() > mean.ci95.unwrap());
    assert_eq!(assessed.verdict, Verdict::DirectionOnly);
}

/// Lower at most points, but the mean's interval includes zero: 20 % less at two points, and 20 ± 127 % more at the third.
#[test]
fn a_mean_without_a_clear_sign_is_no_direction() {
    let figure = figure(3, r#"than = "B""#);
    let mut series = series(&figure, &[8.0, 8.0, 12.0], &[10.0; 3]);
    series.lines[0].measures[0][2] = vec![Some(11.0), Some(13.0)];
    let assessed = assess(&figure, &figure.claims[0], Expected::Lower, &series);
    let signs = assessed.signs.expect("signs");
    assert!(signs.lower > signs.higher, "{signs:?}");
    assert_eq!(assessed.verdict, Verdict::Not);
}

/// One run has no interval: neither a sign at a point nor the direction of a number.
#[test]
fn one_run_has_no_sign() {
    let of_one = |claim: &str, expected| {
        let figure = figure(1, claim);
        let mut series = series(&figure, &[5.0], &[10.0]);
        for line in &mut series.lines {
            line.measures[0][0].truncate(1);
        }
        assess(&figure, &figure.claims[0], expected, &series)
    };
    let sign = of_one(r#"than = "B""#, Expected::Lower);
    assert_eq!(sign.signs.expect("signs").lower, 0);
    assert_eq!(sign.verdict, Verdict::Undecided);
    let trend = of_one(r#"than = "B""#, Expected::NoTrend);
    assert_eq!(trend.verdict, Verdict::Undecided);
    let less = of_one(r#"than = "B", as = "less-percent""#, Expected::Number(10.0));
    assert_eq!(less.verdict, Verdict::Not);
    // A number itself needs no interval.
    let number = of_one("", Expected::Number(5.0));
    assert_eq!(number.verdict, Verdict::Confirmed);
}

/// A verdict follows the printed number: 5.504 is printed as 5.50, the limit.
#[test]
fn a_number_is_judged_as_it_is_printed() {
    let claim = "within = 0.5";
    let at = |value| verdict(claim, Expected::Number(5.0), &[value], &[1.0]);
    assert_eq!(at(5.504), Verdict::Confirmed);
    assert_eq!(at(5.506), Verdict::Not);
}

/// Five points are lower and similar, three lower, two higher: larger or similar at seven of ten.
#[test]
fn larger_or_similar_counts_each_point_once() {
    let mut a = [9.5; 10];
    a[5..8].fill(8.0);
    a[8..].fill(12.0);
    let figure = figure(10, r#"than = "B""#);
    let series = series(&figure, &a, &[10.0; 10]);
    let expected = Expected::HigherOrSimilar;
    let assessed = assess(&figure, &figure.claims[0], expected, &series);
    let signs = assessed.signs.expect("signs");
    assert_eq!((signs.lower, signs.higher, signs.similar), (8, 2, 5));
    assert_eq!(signs.higher_or_similar, 7);
}

/// At three of ten points lower and at one higher: somewhere. At two higher: not nearly without exception.
#[test]
fn a_sign_somewhere() {
    let somewhere = |higher: usize| {
        let mut a = [10.0; 10];
        a[..3].fill(8.0);
        a[3..3 + higher].fill(12.0);
        verdict(
            r#"than = "B", somewhere = true"#,
            Expected::Lower,
            &a,
            &[10.0; 10],
        )
    };
    assert_eq!(somewhere(1), Verdict::Confirmed);
    assert_eq!(somewhere(2), Verdict::DirectionOnly);
}

#[test]
fn points_outside_of_the_range_do_not_count() {
    let a = [8.0, 8.0, 12.0, 12.0];
    let lower = |claim: &str| {
        verdict(
            &format!(r#"than = "B", {claim}"#),
            Expected::Lower,
            &a,
            &[10.0; 4],
        )
    };
    assert_eq!(lower("to = 2"), Verdict::Confirmed);
    assert_eq!(lower("from = 3"), Verdict::Not);
}

/// The same line at two points: 8 at x = 3 is 20 % less than 10 at x = 1.
#[test]
fn a_change_along_a_line() {
    let claim = r#"than = "A", point = "3", than_point = "1", as = "less-percent""#;
    let change = verdict(claim, Expected::Number(20.0), &[10.0, 9.0, 8.0], &[0.0; 3]);
    assert_eq!(change, Verdict::Confirmed);
}

#[test]
fn without_values_there_is_no_run() {
    let figure = figure(1, "");
    let empty = Series {
        points: figure.points().unwrap(),
        lines: Vec::new(),
    };
    assert_eq!(
        assess(&figure, &figure.claims[0], Expected::Number(1.0), &empty).verdict,
        Verdict::NotRun
    );
}
