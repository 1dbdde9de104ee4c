//! Measured values and claims in words, and the tables of the terminal.

use reproduce::{
    Assessment, ClaimResult, Comparison, Counts, DayResult, Expected, Figure, FigureResult, Kernel,
    KernelResult, Report, Sample, Verdict,
};
use scenario::statistics::Mean;

use super::Arguments;
use crate::tables::{row, table};

/// A claim in one line.
pub fn claim(result: &ClaimResult<'_>) -> String {
    let claim = result.claim;
    match claim.condition.as_str() {
        "" | "same" => format!("{} ({})", claim.metric, claim.algorithm),
        condition => format!("{condition}: {} ({})", claim.metric, claim.algorithm),
    }
}

/// The published value.
pub fn published(result: &ClaimResult<'_>) -> String {
    let Some(row) = result.row else {
        return "–".into();
    };
    let unit = if row.unit.is_empty() {
        String::new()
    } else {
        format!(" {}", row.unit)
    };
    let note = if row.note.is_empty() {
        String::new()
    } else {
        format!(" ({})", row.note)
    };
    format!("{}{unit}{note}", row.value)
}

/// The measured value.
pub fn measured(figure: &Figure, result: &ClaimResult<'_>, assessment: &Assessment) -> String {
    let Some(mean) = assessment.measured else {
        return "–".into();
    };
    match assessment.signs {
        None => value(&mean, &unit(figure, result)),
        Some(signs) => {
            let count = match result.expected {
                Expected::Similar => format!("similar at {} of {}", signs.similar, signs.of),
                _ => format!(
                    "lower at {}, higher at {} of {}",
                    signs.lower, signs.higher, signs.of
                ),
            };
            format!("{count}; mean {}", signed(&mean))
        }
    }
}

fn signed(mean: &Mean) -> String {
    let sign = if mean.mean > 0.0 { "+" } else { "" };
    format!("{sign}{}", value(mean, "%"))
}

/// Unit of the measured value of a claim.
pub fn unit(figure: &Figure, result: &ClaimResult<'_>) -> String {
    let percent = [Comparison::LessPercent, Comparison::MorePercent];
    match result.claim.comparison {
        Some(comparison) if percent.contains(&comparison) => "%".into(),
        _ => figure
            .measure(result.claim)
            .map_or(String::new(), |measure| {
                figure.measures[measure].unit.clone()
            }),
    }
}

/// A mean with its interval, with as many decimals as its size needs.
pub fn value(mean: &Mean, unit: &str) -> String {
    let decimals = match mean.mean.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 0.1 => 2,
        _ => 3,
    };
    let number = |value: f64| format!("{value:.decimals$}").replace('-', "−");
    let unit = if unit.is_empty() {
        String::new()
    } else {
        format!(" {unit}")
    };
    match mean.ci95 {
        Some(ci95) => format!("{} ± {}{unit}", number(mean.mean), number(ci95)),
        None => format!("{}{unit}", number(mean.mean)),
    }
}

/// The result of a claim on the kernel, beside that of the simulator with the same points and seeds.
fn on_kernel(figure: &Figure, result: &ClaimResult<'_>) -> String {
    let KernelResult {
        assessment,
        not_run,
        simulated,
    } = &result.kernel;
    let verdict = assessment.verdict.name();
    if !not_run.is_empty() {
        return format!("{verdict}: {not_run}");
    }
    let value = measured(figure, result, assessment);
    let same = simulated.as_ref().map_or(String::new(), |one| {
        format!(" (simulated {})", measured(figure, result, one))
    });
    format!("{verdict}: {value}{same}")
}

/// Which part of the figures ran on the kernel.
pub fn part(kernel: &Kernel) -> String {
    match kernel.sample {
        None => format!("On {}: all points, lines and seeds.", kernel.name()),
        Some(Sample {
            seeds,
            points,
            warmup,
            counted,
            long,
        }) => format!(
            "On {}: claims with a published value, at most {points} points of each, from the first to the last. Scenarios with a warm-up run at most \
             {warmup} s of it and {counted} s after it. Each runs with {seeds} seeds, or with one if it has a warm-up and then stops later than {long} s.",
            kernel.name()
        ),
    }
}

/// The verdict of a claim with a cause.
pub fn verdict(day: &DayResult<'_>) -> String {
    match day.cause() {
        Some(_) => format!("{}, explained", day.assessment.verdict.name()),
        None => day.assessment.verdict.name().into(),
    }
}

/// The figure of the paper that a claim is about.
pub fn figure_name<'a>(figure: &'a FigureResult<'_>, result: &'a ClaimResult<'_>) -> &'a str {
    result.claim.figure.as_deref().unwrap_or(&figure.figure.id)
}

/// Numbers of verdicts in words.
pub fn counts(counts: &Counts) -> String {
    let share = counts
        .share()
        .map_or(String::new(), |share| format!(" ({:.0} %)", 100.0 * share));
    format!(
        "{} confirmed, {} explained{share}, {} direction only, {} not, {} not stated, {} not run",
        counts.confirmed,
        counts.explained,
        counts.direction_only,
        counts.not,
        counts.not_stated,
        counts.not_run
    )
}

/// The tables of the terminal.
pub fn text(report: &Report<'_>, arguments: &Arguments) -> String {
    let mut text = String::new();
    for paper in &report.papers {
        text += &format!("{}\n", paper.paper.title);
        let days: Vec<&str> = paper
            .paper
            .days
            .iter()
            .map(|day| day.name.as_str())
            .collect();
        let kernel = report.kernel.as_ref().map(Kernel::name);
        let real: Vec<&str> = kernel.as_deref().into_iter().collect();
        let heading = [&["figure", "claim", "published"][..], &days, &real].concat();
        let mut lines = table(&heading, heading.len()).repeating(2).with_lines();
        for figure in &paper.figures {
            for result in &figure.claims {
                let mut cells = vec![
                    figure_name(figure, result).into(),
                    claim(result),
                    published(result),
                ];
                cells.extend(result.days.iter().map(|day| match day.assessment.verdict {
                    Verdict::NotRun => verdict(day),
                    _ => format!(
                        "{}: {}",
                        verdict(day),
                        measured(figure.figure, result, &day.assessment)
                    ),
                }));
                if !real.is_empty() {
                    cells.push(on_kernel(figure.figure, result));
                }
                lines.add_row(row(heading.len(), cells));
            }
        }
        text += &format!("{lines}\n");
        for (number, day) in paper.paper.days.iter().enumerate() {
            text += &format!(
                "{}: {}\n",
                day.name,
                counts(&report.counts(number, Some(paper.paper)))
            );
        }
        if let Some(kernel) = &kernel {
            let [real, same] = [
                report.kernel_counts(Some(paper.paper)),
                report.same_counts(Some(paper.paper)),
            ];
            text += &format!("{kernel}: {}\n", counts(&real));
            text += &format!(
                "the simulator with its points and seeds: {}\n",
                counts(&same)
            );
        }
        text += "\n";
    }
    if let Some(kernel) = &report.kernel {
        text += &format!("{}\n", part(kernel));
    }
    if let Some(folder) = &arguments.output {
        text += &format!("The report is {}.\n", folder.join("report.html").display());
    }
    text
}
