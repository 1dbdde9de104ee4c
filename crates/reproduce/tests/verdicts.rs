//! Every verdict of the chapters (docs/papers) follows the printed rule from the printed values. The tables are those of
//! `lisa reproduce`; here their texts are read as a reader does.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use lisa_reproduce::{EXPLAINED, EXPLAINED_RULE, Library, SIGN, Verdict};

fn chapter(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/papers/{name}.md"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The numbers of a text.
fn numbers(text: &str) -> Vec<f64> {
    let text = text.replace('−', "-").replace("..", " ");
    let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
    let parts = text.split(|c| !is_part(c));
    parts
        .filter_map(|part| part.trim_end_matches('.').parse().ok())
        .collect()
}

/// The number after a word.
fn after(text: &str, word: &str) -> usize {
    let rest = text
        .split_once(word)
        .unwrap_or_else(|| panic!("`{word}` in {text}"))
        .1;
    numbers(rest)[0] as usize
}

/// A printed mean and half of its interval.
fn mean(text: &str) -> (f64, Option<f64>) {
    let text = text.rsplit_once("mean ").map_or(text, |(_, mean)| mean);
    let (mean, half) = match text.split_once('±') {
        Some((mean, half)) => (mean, Some(numbers(half)[0])),
        None => (text, None),
    };
    (numbers(mean)[0], half)
}

/// The verdict that the rule gives to a printed value.
fn ruled(published: &str, by: &str, printed: &str) -> &'static str {
    let limits = numbers(by);
    let confirmed = match by {
        _ if by.ends_with("or more") => mean(printed).0 >= limits[0],
        _ if by.contains(" to ") => (limits[0]..=limits[1]).contains(&mean(printed).0),
        _ => {
            // Nine of ten points, and those of the value: on a kernel it has fewer of them.
            let [lower, higher] = match printed.contains("lower at ") {
                true => ["lower at ", "higher at "].map(|word| after(printed, word)),
                false => [0, 0],
            };
            let all = after(printed, " of ");
            let most = (9 * all).div_ceil(10);
            let at_one_of_ten = by.contains("at most");
            match by {
                _ if by.starts_with("neither") => lower < most && higher < most,
                _ if by.starts_with("similar") => after(printed, "similar at ") >= most,
                _ if by.starts_with("higher or similar") => {
                    after(printed, "higher or similar at ") >= most
                }
                _ if by.starts_with("lower") && at_one_of_ten => {
                    10 * lower >= all && 10 * higher <= all
                }
                _ if by.starts_with("lower") => lower >= most,
                _ if by.starts_with("higher") => higher >= most,
                _ => panic!("{by}"),
            }
        }
    };
    let (mean, half) = mean(printed);
    let is_clear = half.is_some_and(|half| mean.abs() > half);
    let is_sign = |sign: &str| published.starts_with(sign);
    let direction = match () {
        () if is_sign("lower") => -1.0,
        () if is_sign("larger") => 1.0,
        () if is_sign("similar") || is_sign("no clear trend") => 0.0,
        // A number has a direction if it is a difference.
        () => numbers(published)[0],
    };
    // Equal runs have an interval of 0, which is not printed either, and signs.
    let has_sign = printed.contains("lower at ") && !printed.contains("lower at 0, higher at 0 of");
    let is_single = printed.contains("mean ") && half.is_none() && !has_sign;
    match confirmed {
        true if !(is_single && by.starts_with("neither")) => "confirmed",
        _ if is_single => "undecided",
        _ if is_clear && mean * direction > 0.0 => "direction only",
        _ => "not",
    }
}

#[test]
fn every_printed_verdict_follows_the_printed_rule() {
    let library = Library::new().unwrap();
    let figures = library.papers.iter().flat_map(|paper| &paper.figures);
    let claims = figures.flat_map(|figure| figure.claims.iter().map(move |claim| (figure, claim)));
    let compared = claims.filter(|(_, claim)| claim.comparison.is_some());
    let (mut differences, mut predicted) = (BTreeSet::new(), BTreeSet::new());
    for (figure, claim) in compared {
        differences.insert(claim.name());
        let line = figure.lines.iter().find(|line| line.name == claim.of);
        if line.is_some_and(|line| line.theory.is_some()) {
            predicted.insert(claim.name());
        }
    }
    let mut held = 0;
    for paper in ["lisa", "css", "lia-olia", "nmcc"] {
        for row in chapter(paper).lines().filter(|line| line.starts_with('|')) {
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            let [_, claim, published, first, second] = cells[..] else {
                continue;
            };
            let Some((published, by)) = published.split_once("; confirmed: ") else {
                continue;
            };
            for cell in [first, second] {
                let Some((verdict, value)) = cell.split_once(": ") else {
                    assert_eq!(cell, "not run", "{row}");
                    continue;
                };
                let (value, cause) = match value.split_once("; **explained**: ") {
                    Some((value, cause)) => (value, Some(cause)),
                    None => (value, None),
                };
                let exact = match predicted.contains(claim) {
                    true => format!("{value} ± 0"),
                    false => value.to_owned(),
                };
                let mut expected = ruled(published, by, &exact);
                // A number that is no difference has no direction.
                if expected == "direction only"
                    && !by.contains(" at ")
                    && !differences.contains(claim)
                {
                    expected = "not";
                }
                assert_eq!(
                    verdict, expected,
                    "{paper}, {claim}: {published}, confirmed by {by}: {cell}"
                );
                if cause.is_some() {
                    assert!(value.contains('±'), "{claim}: explained by one run: {cell}");
                    assert!(
                        !by.contains("1 of 1 point"),
                        "{claim}: explained by one point: {cell}"
                    );
                }
                held += 1;
            }
        }
    }
    assert!(held > 200, "{held}");
}

/// The page of the papers has the rule in the words of the report.
#[test]
fn the_rule_is_printed_once() {
    let page = chapter("README");
    let rules = Verdict::ALL.map(|verdict| (verdict.name(), verdict.rule()));
    for (name, rule) in rules.into_iter().chain([(EXPLAINED, EXPLAINED_RULE)]) {
        assert!(
            page.contains(&format!("| {name} | {rule} |")),
            "{name}: {rule}"
        );
    }
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&page).contains(&words(SIGN)), "{SIGN}");
}
