//! The report: one page with its figures in it.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use reproduce::{
    ClaimResult, Counts, DayResult, Figure, FigureResult, Kernel, PaperResult, Report, Series,
    TODAY, Verdict,
};

use super::over_time::TimeFigure;
use super::{draw, sensitivity, text};
use crate::output::Failure;

const STYLE: &str = include_str!("style.css");

/// The page.
pub fn html(report: &Report<'_>, over_time: &[TimeFigure]) -> Result<String, Failure> {
    let papers = report
        .papers
        .iter()
        .map(|one| paper(report, one, over_time))
        .collect::<Result<Vec<Markup>, Failure>>()?;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { "The papers, reproduced" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "The papers, reproduced" }
                (introduction(report))
                h2 { "Verdicts" }
                (totals(report))
                h2 { "Claims" }
                (matrix(report))
                @for paper in &papers { (paper) }
            }
        }
    };
    Ok(page.into_string())
}

fn introduction(report: &Report<'_>) -> Markup {
    html! {
        p {
            "Each published value or claim of the papers beside what the simulator measures. The endpoints of " b { "the paper's day" }
            " are simulated (Linux 3.14 with MPTCP 0.89, or ns-3's NewReno) and were never held against those systems; "
            b { "today's Linux" } " is held against Linux 6.12 (docs/agreement.md). "
            @match &report.kernel {
                None => "No claim was run with the endpoints of a kernel: `--on vm` does.",
                Some(kernel) => {
                    (text::part(kernel)) " The simulator's result with the same points and seeds stands below the kernel's; of claims about "
                    "single points, three seeds seldom show a difference."
                }
            }
        }
        dl {
            dt { (badge(Verdict::Confirmed)) }
            dd { "The published value within a fifth of it, or within the limit that the claim names; a sign at nine of ten points, where the 95 % interval of the difference excludes zero." }
            dt { (badge(Verdict::DirectionOnly)) }
            dd { "The published sign, but not the value, or not at nine of ten points." }
            dt { (badge(Verdict::Not)) }
            dd { "Neither." }
            dt { (badge(Verdict::NotStated)) }
            dd { "The paper's value is not at hand: the measured one stands alone." }
            dt { span.verdict.explained { "explained" } }
            dd { "Not confirmed, but the published value or sign comes out with another setting of a parameter that the paper does not state, or of two. The settings are a possible cause, not a proof." }
        }
    }
}

fn badge(verdict: Verdict) -> Markup {
    html! { span class=(format!("verdict {}", sensitivity::class(verdict))) { (verdict.name()) } }
}

fn day_badge(day: &DayResult<'_>) -> Markup {
    html! {
        (badge(day.assessment.verdict))
        @if day.cause().is_some() { " " span.verdict.explained { "explained" } }
    }
}

fn totals(report: &Report<'_>) -> Markup {
    let line = |name: &str, counts: Counts| {
        html! {
            tr {
                td { (name) }
                @for number in [counts.confirmed, counts.explained, counts.direction_only, counts.not, counts.not_stated, counts.not_run] {
                    td.number { (number) }
                }
                td.number { @if let Some(share) = counts.share() { (format!("{:.0} %", 100.0 * share)) } }
            }
        }
    };
    html! {
        table {
            thead { tr {
                th { "" } th { "confirmed" } th { "explained" } th { "direction only" } th { "not" } th { "not stated" } th { "not run" }
                th { "confirmed or explained, of those with a value and a run" }
            } }
            tbody {
                @for one in &report.papers {
                    @for (number, day) in one.paper.days.iter().enumerate() {
                        (line(&format!("{}, {}", one.paper.id, day.name), report.counts(number, Some(one.paper))))
                    }
                    @if let Some(kernel) = &report.kernel {
                        (line(&format!("{}, {}", one.paper.id, kernel.name()), report.kernel_counts(Some(one.paper))))
                        (line(&format!("{}, simulated, its points and seeds", one.paper.id), report.same_counts(Some(one.paper))))
                    }
                }
                @if report.papers.len() > 1 {
                    (line("all, paper's day", report.counts(0, None)))
                    (line("all, today's Linux", report.counts(TODAY, None)))
                    @if let Some(kernel) = &report.kernel {
                        (line(&format!("all, {}", kernel.name()), report.kernel_counts(None)))
                        (line("all, simulated, its points and seeds", report.same_counts(None)))
                    }
                }
            }
        }
    }
}

fn matrix(report: &Report<'_>) -> Markup {
    html! {
        table.matrix {
            thead { tr { th { "figure" } th { "claim" } th { "published" } th { "paper's day" } th { "today's Linux" } th { (kernel_name(report)) } } }
            tbody {
                @for paper in &report.papers { @for figure in &paper.figures { @for claim in &figure.claims {
                    tr {
                        td { a href=(format!("#{}", anchor(paper, figure))) { (paper.paper.id) "/" (text::figure_name(figure, claim)) } }
                        td { (text::claim(claim)) }
                        td { (text::published(claim)) }
                        @for day in &claim.days { td { (day_badge(day)) br; (text::measured(figure.figure, claim, &day.assessment)) } }
                        td { (on_kernel(figure.figure, claim)) }
                    }
                } } }
            }
        }
    }
}

/// Heading of the column of the kernel.
fn kernel_name(report: &Report<'_>) -> String {
    report
        .kernel
        .as_ref()
        .map_or("kernel in the VM".into(), Kernel::name)
}

/// Verdict and value on the kernel, and beside it in the simulator.
fn on_kernel(figure: &Figure, claim: &ClaimResult<'_>) -> Markup {
    let result = &claim.kernel;
    html! {
        (badge(result.assessment.verdict)) br;
        @if result.not_run.is_empty() { (text::measured(figure, claim, &result.assessment)) } @else { (result.not_run) }
        @if let Some(same) = &result.simulated {
            br; "simulated: " (same.verdict.name()) ", " (text::measured(figure, claim, same))
        }
    }
}

fn anchor(paper: &PaperResult<'_>, figure: &FigureResult<'_>) -> String {
    format!("{}-{}", paper.paper.id, figure.figure.id)
}

fn paper(
    report: &Report<'_>,
    result: &PaperResult<'_>,
    over_time: &[TimeFigure],
) -> Result<Markup, Failure> {
    let figures = result
        .figures
        .iter()
        .map(|figure| section(report, result, figure, over_time));
    let figures = figures.collect::<Result<Vec<Markup>, Failure>>()?;
    Ok(html! {
        section {
            h2 { (result.paper.title) }
            p.source { (result.paper.source) }
            p { (result.paper.about) }
            @for figure in &figures { (figure) }
        }
    })
}

fn section(
    report: &Report<'_>,
    paper: &PaperResult<'_>,
    result: &FigureResult<'_>,
    over_time: &[TimeFigure],
) -> Result<Markup, Failure> {
    let figure = result.figure;
    let is_of = |one: &&TimeFigure| one.paper == paper.paper.id && one.figure == figure.id;
    let mut drawings: Vec<String> = (over_time.iter().filter(is_of))
        .map(|one| one.svg.clone())
        .collect();
    for measure in 0..figure.measures.len() {
        for day in 0..result.days.len() {
            drawings.extend(draw::svg(paper.paper, result, measure, day)?);
        }
    }
    let stated = paper.paper.parameters(figure);
    let unstated: Vec<String> = stated
        .map(|one| format!("{} ({})", one.title, one.default))
        .collect();
    Ok(html! {
        article id=(anchor(paper, result)) {
            h3 { (figure.id) ": " (figure.title) }
            @if let Some(reason) = &figure.not_run {
                p { (badge(Verdict::NotRun)) " " (reason) }
            } @else {
                p.source { "experiments/" (paper.paper.id) "/" (figure.scenario) ", " (figure.seeds) " seeds a point" @if figure.pool.len() > 1 { " and each of " (figure.pool.len()) " variants" }
                    @if let Some(runs) = runs_on_kernel(result) { "; on the kernel " (runs) @if runs == 1 { " run" } @else { " runs" } " a point" }
                    "."
                }
                @if !unstated.is_empty() { p.source { "Not stated in the paper: " (unstated.join("; ")) "." } }
            }
            @if let Some(note) = &figure.note { p { (note) } }
            div.figures { @for svg in &drawings { figure { (PreEscaped(svg)) } } }
            @if figure.x.is_none() && figure.not_run.is_none() {
                @for (number, series) in result.days.iter().enumerate() {
                    (values(result, &paper.paper.days[number].name, series))
                }
                @if let Some(series) = result.kernel.as_ref().filter(|_| runs_on_kernel(result).is_some()) {
                    (values(result, &kernel_name(report), series))
                }
            }
            (claims(report, paper, result))
            @for claim in &result.claims { @for (number, day) in claim.days.iter().enumerate() {
                (cause(result, claim, day, &paper.paper.days[number].name))
            } }
        }
    })
}

/// Number of runs of a point on the kernel; none of a figure without a run.
fn runs_on_kernel(result: &FigureResult<'_>) -> Option<usize> {
    let lines = result.kernel.iter().flat_map(|series| &series.lines);
    let real = lines.filter(|line| !line.is_theory);
    let points = real.flat_map(|line| line.measures.iter().flatten());
    points
        .map(|samples| samples.iter().flatten().count())
        .max()
        .filter(|runs| *runs > 0)
}

/// The values of a table.
fn values(result: &FigureResult<'_>, day: &str, series: &Series) -> Markup {
    html! {
        table {
            caption { (day) }
            thead { tr { th { "" } @for line in &series.lines { th { (line.name) @if line.is_theory { " (theory)" } } } } }
            tbody {
                @for (point, of) in series.points.iter().enumerate() { @for (measure, name) in result.figure.measures.iter().enumerate() {
                    tr {
                        td { @if !of.name.is_empty() { (of.name) ": " } (name.label) @if !name.unit.is_empty() { ", " (name.unit) } }
                        @for line in &series.lines {
                            td.number { @match line.mean(measure, point) { Some(mean) => (text::value(&mean, "")), None => "–" } }
                        }
                    }
                } }
            }
        }
    }
}

fn claims(report: &Report<'_>, paper: &PaperResult<'_>, result: &FigureResult<'_>) -> Markup {
    html! {
        @if !result.claims.is_empty() {
            table {
                thead { tr { th { "claim" } th { "published" } @for day in &paper.paper.days { th { (day.name) } } th { (kernel_name(report)) } } }
                tbody {
                    @for claim in &result.claims {
                        tr {
                            td { (text::claim(claim)) }
                            td { (text::published(claim)) }
                            @for day in &claim.days { td { (day_badge(day)) br; (text::measured(result.figure, claim, &day.assessment)) } }
                            td { (on_kernel(result.figure, claim)) }
                        }
                    }
                }
            }
        }
    }
}

/// The sensitivity of a claim that is not confirmed, and its likeliest cause.
fn cause(
    result: &FigureResult<'_>,
    claim: &ClaimResult<'_>,
    day: &DayResult<'_>,
    name: &str,
) -> Markup {
    html! {
        @if !day.tried.is_empty() {
            details open[day.cause().is_none()] {
                summary {
                    (name) ", " (text::claim(claim)) ": " (day.assessment.verdict.name())
                    @match day.cause() {
                        Some(tried) => { "; confirmed with " b { (tried.name()) } }
                        None => "; no setting that was tried restores it"
                    }
                    @match day.screened.len() {
                        0 => {},
                        number => { ". Pairs of settings that were tried at a part of the points: " (number) ", of which restore it there: "
                            (day.screened.iter().filter(|tried| tried.restores()).count()) }
                    }
                }
                (sensitivity::plot(result.figure, claim, day))
            }
        }
    }
}
