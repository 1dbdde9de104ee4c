//! Congestion windows over time: a panel for each run, or the runs of several backends over each other.

mod axes;
pub mod format;
mod legend;
mod series;

use plotters::prelude::*;
use scenario::trace::{Credit, Loss, Row};

use self::axes::{Limits, axes};
use self::series::{cwnd_before, reductions, steps, subflows, sums};

pub use self::legend::{Entry, Mark, legend};

/// The caption of a figure of two subflows.
pub const CAPTION: &str = "Blue: first subflow; orange: second; grey: sum of both. A dashed green line is a credit: it goes \
    from the lender's window down to the new subflow's, and the number is the segments that were moved; until the \
    lender's next ACK the sum counts them twice. A red cross is a reduction. A tick at the foot is a segment that the \
    simulated network lost.";

/// Colours of the subflows, which colour-blind readers can distinguish (Okabe and Ito). A seventh subflow has the first
/// colour again.
pub const SUBFLOWS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(0, 0, 0),
];
/// Colour of the sum of the windows.
pub const SUM: RGBColor = RGBColor(150, 150, 150);
/// Colour of a credit.
pub const CREDIT: RGBColor = RGBColor(0, 130, 90);
/// Colour of a reduction.
pub const REDUCTION: RGBColor = RGBColor(200, 30, 30);

/// Colour of a subflow, by its number from 0.
pub fn colour(subflow: usize) -> RGBColor {
    SUBFLOWS[subflow % SUBFLOWS.len()]
}

/// A connection of one run.
pub struct Panel<'a> {
    /// The line above the panel.
    pub caption: String,
    /// The connection's rows, in order of time.
    pub rows: Vec<&'a Row>,
    /// The connection's credits.
    pub credits: Vec<&'a Credit>,
    /// The connection's segments that the network lost.
    pub losses: Vec<&'a Loss>,
}

/// A connection that ran with one seed on several backends.
pub struct Overlay<'a> {
    /// The line above the panel.
    pub caption: String,
    /// The rows of each backend, in order of time.
    pub runs: Vec<Vec<&'a Row>>,
}

pub type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
pub type Drawn = Result<(), Box<dyn std::error::Error>>;

/// Number of subflows of the panels' connections.
pub fn most_subflows<'a>(runs: impl IntoIterator<Item = &'a Vec<&'a Row>>) -> usize {
    let all = runs.into_iter().map(|rows| subflows(rows));
    all.max().unwrap_or(0)
}

/// Draws panels in this number of columns, all with the same axes.
pub fn windows(area: &Area<'_>, panels: &[Panel<'_>], columns: usize) -> Drawn {
    let rows = || panels.iter().flat_map(|panel| &panel.rows);
    let sums = panels.iter().flat_map(|panel| sums(&panel.rows));
    let limits = Limits {
        end: rows().map(|row| row.time).fold(0.1, f64::max),
        most: sums.map(|(_, sum)| sum).max().unwrap_or(10),
    };
    let areas = area.split_evenly((panels.len().div_ceil(columns), columns));
    for (area, panel) in areas.iter().zip(panels) {
        draw(area, panel, limits)?;
    }
    Ok(())
}

/// Line of a backend in an overlay.
pub fn stroke(backend: usize, colour: RGBColor) -> Mark {
    match backend {
        0 => Mark::Line(colour.mix(0.35).stroke_width(5)),
        1 => Mark::Line(colour.stroke_width(1)),
        _ => Mark::Dashes(colour.stroke_width(1)),
    }
}

/// Draws the windows of each subflow, the backends over each other, in this number of columns, all with the same axes.
pub fn overlays(area: &Area<'_>, panels: &[Overlay<'_>], columns: usize) -> Drawn {
    let rows = || panels.iter().flat_map(|panel| panel.runs.iter().flatten());
    let limits = Limits {
        end: rows().map(|row| row.time).fold(0.1, f64::max),
        most: rows().map(|row| row.cwnd).max().unwrap_or(10),
    };
    let areas = area.split_evenly((panels.len().div_ceil(columns), columns));
    for (area, panel) in areas.iter().zip(panels) {
        let mut chart = axes(area, &panel.caption, limits)?;
        for (backend, rows) in panel.runs.iter().enumerate() {
            for subflow in 0..subflows(rows) {
                let rows = rows.iter().filter(|row| row.subflow == subflow);
                let line = steps(rows.map(|row| (row.time, row.cwnd)));
                match stroke(backend, colour(subflow)) {
                    Mark::Dashes(style) => {
                        chart.draw_series(DashedLineSeries::new(line, 4, 3, style))?;
                    }
                    Mark::Line(style) | Mark::Cross(style) | Mark::Tick(style) => {
                        chart.draw_series(LineSeries::new(line, style))?;
                    }
                }
            }
        }
    }
    Ok(())
}

fn draw(area: &Area<'_>, panel: &Panel<'_>, limits: Limits) -> Drawn {
    let Limits { end, most } = limits;
    let mut chart = axes(area, &panel.caption, limits)?;
    let subflows = subflows(&panel.rows);
    if subflows > 1 {
        chart.draw_series(LineSeries::new(sums(&panel.rows), SUM.stroke_width(1)))?;
    }
    for subflow in 0..subflows {
        let colour = colour(subflow);
        let all = panel.rows.iter().copied();
        let rows = || all.clone().filter(|row| row.subflow == subflow);
        let line = steps(rows().map(|row| (row.time, row.cwnd)));
        chart.draw_series(LineSeries::new(line, colour.stroke_width(2)))?;
        let reductions = reductions(rows()).map(|at| Cross::new(at, 5, REDUCTION.stroke_width(2)));
        chart.draw_series(reductions)?;
        // The ticks of the subflows stand above each other, because they would hide each other.
        let losses = panel.losses.iter().filter(|loss| loss.subflow == subflow);
        let tick = most.div_ceil(30);
        chart.draw_series(losses.map(|loss| {
            let foot = tick * subflow as u32;
            let ends = vec![(loss.time, foot), (loss.time, foot + tick)];
            PathElement::new(ends, colour.stroke_width(1))
        }))?;
    }
    let settled = |credit: &&&Credit| credit.settled.is_some();
    for credit in panel.credits.iter().filter(settled) {
        let lender = cwnd_before(&panel.rows, credit.from, credit.taken);
        let ends = [(credit.taken, lender), (credit.taken, credit.segments)];
        let dashes = DashedLineSeries::new(ends, 5, 3, CREDIT.stroke_width(2));
        chart.draw_series(dashes)?;
        chart.draw_series(ends.map(|at| Circle::new(at, 4, CREDIT.filled())))?;
        let label = (
            credit.taken + end * 0.012,
            (lender + credit.segments) / 2 + 1,
        );
        let style = ("sans-serif", 15).into_font().color(&CREDIT);
        chart.draw_series([Text::new(credit.segments.to_string(), label, style)])?;
    }
    Ok(())
}
