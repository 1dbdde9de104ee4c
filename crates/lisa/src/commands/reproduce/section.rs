//! The section of a figure in the report.

use maud::{Markup, PreEscaped, html};
use reproduce::value;
use reproduce::words::{claim, measured, published};
use reproduce::{
    ClaimResult, DayResult, Figure, FigureResult, Kernel, PaperResult, Parameter, Report, Series,
    Tried, Verdict,
};

use super::over_time::TimeFigure;
use super::parts::{anchor, badge, day_badge, prose};
use super::{draw, sensitivity};
use crate::output::{Failure, counted};

/// The section with drawings, claims, and what changes a verdict.
pub fn section(
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
    Ok(html! {
        article id=(anchor(paper, result)) {
            h3 { (figure.id) ": " (figure.title) }
            @if let Some(reason) = &figure.not_run {
                p { (badge(Verdict::NotRun)) " " (prose(reason)) }
            } @else {
                p.source { code { "experiments/" (paper.paper.id) "/" (figure.scenario) } ", " (counted(figure.seeds as usize, "seed")) " a point"
                    @if figure.pool.len() > 1 { " and each of " (figure.pool.len()) " variants" }
                    @if let Some(runs) = runs_on_kernel(result) { "; on the kernel " (counted(runs, "run")) " a point" }
                    "."
                }
                (parameters(paper.paper.parameters(figure)))
            }
            @if let Some(note) = &figure.note { p { (prose(note)) } }
            div.figures { @for svg in &drawings { figure { (PreEscaped(svg)) } } }
            @if figure.x.is_none() && figure.not_run.is_none() {
                @for (number, series) in result.days.iter().enumerate() {
                    (values(result, &paper.paper.days[number].name, series))
                }
                @if let (Some(kernel), Some(series), Some(_)) = (&report.kernel, &result.kernel, runs_on_kernel(result)) {
                    (values(result, &kernel.name(), series))
                }
            }
            (claims(report, paper, result))
            @for claim in &result.claims { @for (number, day) in claim.days.iter().enumerate() {
                (causes(result, claim, day, &paper.paper.days[number].name))
            } }
        }
    })
}

/// What the paper states of the parameters, and which settings stand for those that it does not state.
fn parameters<'a>(all: impl Iterator<Item = &'a Parameter>) -> Markup {
    let (stated, open): (Vec<&Parameter>, Vec<&Parameter>) =
        all.partition(|one| one.stated.is_some());
    let unstated: Vec<String> = (open.iter())
        .map(|one| format!("{} ({})", one.title, one.default))
        .collect();
    html! {
        @for one in stated {
            p.source { "Stated in the paper: " (one.title) ", " (one.stated.as_deref().unwrap_or_default()) ". Here: " (one.default) "." }
        }
        @if !unstated.is_empty() { p.source { "Not stated in the paper: " (unstated.join("; ")) "." } }
    }
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
            thead { tr { th { "" } @for line in &series.lines { th.number { (line.name) @if line.is_theory { " (theory)" } } } } }
            tbody {
                @for (point, of) in series.points.iter().enumerate() { @for (measure, name) in result.figure.measures.iter().enumerate() {
                    tr {
                        th scope="row" { @if !of.name.is_empty() { (of.name) ": " } (name.label) @if !name.unit.is_empty() { ", " (name.unit) } }
                        @for line in &series.lines {
                            td.number data-label=(line.name) { @match line.mean(measure, point) { Some(mean) => (value(&mean, "")), None => "–" } }
                        }
                    }
                } }
            }
        }
    }
}

fn claims(report: &Report<'_>, paper: &PaperResult<'_>, result: &FigureResult<'_>) -> Markup {
    let kernel = report.kernel.as_ref().map(Kernel::name);
    html! {
        @if !result.claims.is_empty() {
            table.claims {
                thead { tr {
                    th { "claim" } th { "published" } th { "confirmed by" }
                    @for day in &paper.paper.days { th { (day.name) } }
                    @if let Some(kernel) = &kernel { th { (kernel) } }
                } }
                tbody {
                    @for of in &result.claims {
                        tr {
                            td { (claim(of)) }
                            td data-label="published" { (published(of)) }
                            td data-label="confirmed by" { @match of.confirmed_by().as_str() { "" => "–", limits => (limits) } }
                            @for (day, name) in of.days.iter().zip(&paper.paper.days) {
                                td data-label=(name.name) { (day_badge(day)) br; (measured(result.figure, of, &day.assessment)) }
                            }
                            @if let Some(kernel) = &kernel { td data-label=(kernel) { (on_kernel(result.figure, of)) } }
                        }
                    }
                }
            }
        }
    }
}

/// Verdict and value on the kernel, and beside it in the simulator.
fn on_kernel(figure: &Figure, claim: &ClaimResult<'_>) -> Markup {
    let result = &claim.kernel;
    html! {
        (badge(result.assessment.verdict)) br;
        @if result.not_run.is_empty() { (measured(figure, claim, &result.assessment)) } @else { (prose(&result.not_run)) }
        @if let Some(same) = &result.simulated {
            br; "simulated: " (same.verdict.name()) ", " (measured(figure, claim, same))
        }
    }
}

/// The sensitivity of a claim that is not confirmed, and its likeliest cause.
fn causes(
    result: &FigureResult<'_>,
    of: &ClaimResult<'_>,
    day: &DayResult<'_>,
    name: &str,
) -> Markup {
    let at_a_point = || day.tried.iter().find(|tried| tried.restores());
    html! {
        @if !day.tried.is_empty() {
            details open[day.cause().is_none()] {
                summary {
                    (name) ", " (claim(of)) ": " (day.assessment.verdict.name())
                    @match (day.cause(), at_a_point()) {
                        (Some(tried), _) => { "; confirmed with " b { (tried.name()) } }
                        (None, Some(tried)) => { "; confirmed with " (tried.name()) ", from one point, which explains nothing" }
                        (None, None) => "; no setting that was tried confirms it"
                    }
                    (pairs(&day.tried, ""))
                    (pairs(&day.screened, " at a part of the points"))
                }
                (sensitivity::plot(result.figure, of, day))
            }
        }
    }
}

/// How many pairs of settings were tried at these points.
fn pairs(tried: &[Tried<'_>], place: &str) -> Markup {
    let pairs = tried.iter().filter(|tried| tried.choices.len() > 1);
    let confirm = pairs.clone().filter(|tried| tried.restores()).count();
    html! {
        @match pairs.count() {
            0 => {},
            number => { ". Pairs of settings that were tried" (place) ": " (number) ", of which confirm it: " (confirm) }
        }
    }
}
