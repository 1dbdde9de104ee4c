//! The tables of the terminal.

use reproduce::words::{claim, measured, published};
use reproduce::{
    ClaimResult, Counts, DayResult, Figure, FigureResult, Kernel, KernelResult, Report, Sample,
    Verdict,
};

use super::Arguments;
use crate::tables::{row, table};

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

/// The published value, and what confirms it.
fn with_limits(result: &ClaimResult<'_>) -> String {
    match result.confirmed_by().as_str() {
        "" => published(result),
        limits => format!("{}; confirmed: {limits}", published(result)),
    }
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
        "{} confirmed, {} explained{share}, {} direction only, {} not, {} undecided, {} not stated, {} not run",
        counts.confirmed,
        counts.explained,
        counts.direction_only,
        counts.not,
        counts.undecided,
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
                    with_limits(result),
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
