//! The report: one page with its figures in it.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use reproduce::words::claim;
use reproduce::{
    ClaimResult, Counts, EXPLAINED, EXPLAINED_RULE, FigureResult, Kernel, PaperResult, Report,
    SIGN, TODAY, Verdict,
};

use super::over_time::TimeFigure;
use super::parts::{anchor, badge, day_badge, prose};
use super::section::section;
use super::text;
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
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "The papers, reproduced" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "The papers, reproduced" }
                (introduction(report))
                (contents(report))
                h2 #rules { "Verdicts" }
                (rules())
                (totals(report))
                h2 #claims { "Claims" }
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
                None => { "Claims run with the endpoints of a kernel, too, with " code { "--on vm" } "." },
                Some(kernel) => {
                    (text::part(kernel)) " The simulator's result with the same points and seeds stands below the kernel's; of claims about "
                    "single points, three seeds seldom show a difference."
                }
            }
        }
    }
}

/// The table of contents.
fn contents(report: &Report<'_>) -> Markup {
    html! {
        nav aria-label="contents" {
            h2 { "Contents" }
            ul {
                li { a href="#rules" { "Verdicts" } }
                li { a href="#claims" { "Claims" } }
                @for paper in &report.papers {
                    li {
                        a href=(format!("#{}", paper.paper.id)) { (paper.paper.title) }
                        ul { @for figure in &paper.figures {
                            li { a href=(format!("#{}", anchor(paper, figure))) { (figure.figure.id) ": " (figure.figure.title) } }
                        } }
                    }
                }
            }
        }
    }
}

/// The rule of each verdict.
fn rules() -> Markup {
    html! {
        dl {
            @for verdict in Verdict::ALL {
                dt { (badge(verdict)) }
                dd { (verdict.rule()) "." }
            }
            dt { span.verdict.explained { (EXPLAINED) } }
            dd { (EXPLAINED_RULE) "." }
        }
        p { (SIGN) }
    }
}

fn totals(report: &Report<'_>) -> Markup {
    const SHARE: &str = "confirmed or explained, of the decided ones";
    let heads = [
        "confirmed",
        "explained",
        "direction only",
        "not",
        "undecided",
        "not stated",
        "not run",
    ];
    let line = |name: &str, counts: Counts| {
        let numbers = [
            counts.confirmed,
            counts.explained,
            counts.direction_only,
            counts.not,
            counts.undecided,
            counts.not_stated,
            counts.not_run,
        ];
        html! {
            tr {
                th scope="row" { (name) }
                @for (head, number) in heads.iter().zip(numbers) { td.number data-label=(head) { (number) } }
                td.number data-label=(SHARE) { @if let Some(share) = counts.share() { (format!("{:.0} %", 100.0 * share)) } }
            }
        }
    };
    html! {
        table {
            thead { tr { th { "" } @for head in heads { th.number { (head) } } th.number { (SHARE) } } }
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

/// The verdicts of all claims; their values are in the sections of the figures.
fn matrix(report: &Report<'_>) -> Markup {
    let kernel = report.kernel.as_ref().map(Kernel::name);
    html! {
        table.matrix {
            thead { tr { th { "figure" } th { "claim" } th { "paper's day" } th { "today's Linux" } @if let Some(kernel) = &kernel { th { (kernel) } } } }
            tbody {
                @for paper in &report.papers { @for figure in &paper.figures { @for claim in &figure.claims {
                    (verdicts(paper, figure, claim, kernel.as_deref()))
                } } }
            }
        }
    }
}

fn verdicts(
    paper: &PaperResult<'_>,
    figure: &FigureResult<'_>,
    result: &ClaimResult<'_>,
    kernel: Option<&str>,
) -> Markup {
    html! {
        tr {
            td { a href=(format!("#{}", anchor(paper, figure))) { (paper.paper.id) "/" (text::figure_name(figure, result)) } }
            td { (claim(result)) }
            @for (day, of) in result.days.iter().zip(&paper.paper.days) { td data-label=(of.name) { (day_badge(day)) } }
            @if let Some(kernel) = kernel { td data-label=(kernel) { (badge(result.kernel.assessment.verdict)) } }
        }
    }
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
            h2 id=(result.paper.id) { (result.paper.title) }
            p.source { (result.paper.source) }
            p { (prose(&result.paper.about)) }
            @for figure in &figures { (figure) }
        }
    })
}
