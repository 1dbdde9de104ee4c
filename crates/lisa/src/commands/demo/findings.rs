//! The findings of the demo, in sentences.

use scenario::statistics::Mean;

use super::cells::{Cell, METRICS_SHOWN, by_bottleneck};
use super::contenders::{BASELINE, LISA};
use super::sides::Side;

/// The changes from MPTCP LIA to LISA on the kernel, and the credits.
pub fn findings(cells: &[Cell]) -> Vec<String> {
    let mut findings = Vec::new();
    for metric in &METRICS_SHOWN[..2] {
        let (mut less, mut more, mut unclear) = (Vec::new(), Vec::new(), 0);
        for group in by_bottleneck(cells) {
            let base = group[BASELINE].mean(Side::Kernel, metric);
            let base = base.map_or(0.0, |mean| mean.mean);
            match group[LISA].difference(&group[BASELINE], Side::Kernel, metric) {
                Some(Mean {
                    mean,
                    ci95: Some(half),
                    ..
                }) if mean.abs() > half && base > 0.0 => {
                    let change = format!("{:+.0} % ({})", 100.0 * mean / base, group[0].bottleneck);
                    let list = if mean < 0.0 { &mut less } else { &mut more };
                    list.push(change);
                }
                _ => unclear += 1,
            }
        }
        let joined = |list: &[String]| match list {
            [] => "nowhere".into(),
            list => list.join("; "),
        };
        let bottlenecks = by_bottleneck(cells).count();
        let (lower, higher) = (joined(&less), joined(&more));
        findings.push(format!("{}, lower: {lower}.", metric.title));
        findings.push(format!("{}, higher: {higher}.", metric.title));
        findings.push(format!(
            "{}, no clear difference: {unclear} of {bottlenecks} bottlenecks.",
            metric.title
        ));
    }
    findings.push(credits(cells));
    findings
}

/// The number of credits, and whether they kept the sum of the windows.
fn credits(cells: &[Cell]) -> String {
    let runs = cells.iter().flat_map(|cell| &cell.kernel);
    let credits: Vec<_> = runs.flat_map(|run| &run.credits).collect();
    let settled: Vec<_> = credits.iter().filter_map(|c| c.settled.as_ref()).collect();
    let conserved = settled
        .iter()
        .filter(|s| s.sum_before == s.sum_after)
        .count();
    format!(
        "credits: {} taken, {} settled, {} void; Σ cwnd unchanged in {conserved} of {} settled.",
        credits.len(),
        settled.len(),
        credits.len() - settled.len(),
        settled.len()
    )
}
