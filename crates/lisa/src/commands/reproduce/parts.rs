//! Parts of the page: texts, verdicts, identifiers.

use maud::{Markup, html};
use reproduce::{DayResult, EXPLAINED, FigureResult, PaperResult, Verdict};

use super::sensitivity;

/// A text in which backticks stand around code.
pub fn prose(text: &str) -> Markup {
    html! {
        @for (number, part) in text.split('`').enumerate() {
            @if number % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// A verdict in its colour.
pub fn badge(verdict: Verdict) -> Markup {
    html! { span class=(format!("verdict {}", sensitivity::class(verdict))) { (verdict.name()) } }
}

/// The verdict of a day, and whether a setting explains it.
pub fn day_badge(day: &DayResult<'_>) -> Markup {
    html! {
        (badge(day.assessment.verdict))
        @if day.cause().is_some() { " " span.verdict.explained { (EXPLAINED) } }
    }
}

/// Identifier of the section of a figure.
pub fn anchor(paper: &PaperResult<'_>, figure: &FigureResult<'_>) -> String {
    format!("{}-{}", paper.paper.id, figure.figure.id)
}
