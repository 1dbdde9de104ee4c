//! The lines and marks of a panel of windows.

use plotters::prelude::*;

use super::collect::Connection;
use crate::figure::canvas::{Align, Area, Canvas, width};
use crate::figure::envelope::{Envelope, Form, Range};
use crate::figure::legend::Mark;
use crate::figure::palette::{self, CREDIT, REDUCTION, SUM};
use crate::figure::panel::{Axis, Panel};
use crate::figure::scale::{Scale, short};

/// Opacity of a band.
pub const BAND: f64 = 0.28;
/// Least distance of marks of one subflow, pixels.
const APART: f64 = 9.0;
/// The same if there are more than [`CROWDED`].
const FAR_APART: f64 = 36.0;
/// Pixels of a time that a line distinguishes.
const GRAIN: f64 = 2.0;
/// Number of marks of a subflow from which on not all are drawn.
const CROWDED: usize = 24;

/// Line of a backend in an overlay.
pub fn stroke(backend: usize, colour: RGBAColor) -> Mark {
    match backend {
        0 => Mark::Line(colour.mix(0.35), 5, None),
        1 => Mark::Line(colour, 1, None),
        _ => Mark::Line(colour, 1, Some(4.0)),
    }
}

/// Whether the ranges of a line are wide against its values in many places.
fn is_wide(ranges: &[Range], most: f64) -> bool {
    let wide = |range: &&Range| range.most - range.least > 0.04 * most;
    ranges.iter().filter(wide).count() * 5 > ranges.len()
}

/// Whether a line is drawn as a band in a panel of this width, pixels.
pub fn is_dense(line: &Envelope, width: f64) -> bool {
    let most = line.values().map_or(0.0, |(_, most)| most);
    match line.form((width / GRAIN) as usize) {
        Form::Points(_) => false,
        Form::Ranges(ranges) => is_wide(&ranges, most),
    }
}

/// Whether not all of this number of marks are drawn.
pub fn is_crowded(marks: usize) -> bool {
    marks > CROWDED
}

/// Draws a line: its points, or where they are dense a band with the mean.
pub fn line(canvas: &mut Canvas<'_>, panel: &Panel, envelope: &Envelope, mark: Mark) {
    let Mark::Line(colour, width, dash) = mark else {
        return;
    };
    let times = (panel.plot.width / GRAIN) as usize;
    let points: Vec<(f64, f64)> = match envelope.form(times) {
        Form::Points(points) => points.iter().map(|&(x, y)| panel.at(x, y)).collect(),
        Form::Ranges(ranges) => {
            let most = envelope.values().map_or(0.0, |(_, most)| most);
            if is_wide(&ranges, most) {
                let upper = ranges.iter().map(|range| panel.at(range.time, range.most));
                let lower = ranges.iter().rev();
                let lower = lower.map(|range| panel.at(range.time, range.least));
                canvas.polygon(upper.chain(lower), colour.mix(BAND));
                ranges
                    .iter()
                    .map(|range| panel.at(range.time, range.mean))
                    .collect()
            } else {
                let ends = |range: &Range| {
                    [range.least, range.most].map(|value| panel.at(range.time, value))
                };
                ranges.iter().flat_map(ends).collect()
            }
        }
    };
    match dash {
        Some(dash) => canvas.dashes(&points, colour, width, dash),
        None => canvas.line(points, colour, width),
    }
}

/// Those of the marks, in order of time, that are apart from each other.
fn apart(panel: &Panel, marks: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let distance = match is_crowded(marks.len()) {
        true => FAR_APART,
        false => APART,
    };
    let mut shown: Vec<(f64, f64)> = Vec::new();
    for at in marks.iter().map(|&(x, y)| panel.at(x, y)) {
        if shown.last().is_none_or(|last| at.0 - last.0 >= distance) {
            shown.push(at);
        }
    }
    shown
}

/// Draws a panel.
pub fn panel(
    canvas: &mut Canvas<'_>,
    area: Area,
    panel: &super::Panel<'_>,
    (x, y): (Scale, Scale),
) {
    let axes = (Axis::Scale(x), Axis::Scale(y));
    let plot = Panel::draw(canvas, area, &panel.caption, axes, true);
    if let [connection] = panel.runs[..] {
        return single(canvas, &plot, connection);
    }
    for (backend, connection) in panel.runs.iter().enumerate() {
        for (number, subflow) in &connection.subflows {
            let mark = stroke(backend, palette::series(*number).into());
            line(canvas, &plot, &subflow.window, mark);
        }
    }
}

fn single(canvas: &mut Canvas<'_>, plot: &Panel, connection: &Connection) {
    if let Some(sum) = &connection.sum {
        line(canvas, plot, sum, Mark::Line(SUM.into(), 2, None));
    }
    for (number, subflow) in &connection.subflows {
        let colour = palette::series(*number);
        let mark = Mark::Line(colour.into(), 2, palette::dash(*number));
        line(canvas, plot, &subflow.window, mark);
    }
    let mark = match plot.plot.width < 400.0 {
        true => 3.0,
        false => 4.0,
    };
    for (number, subflow) in &connection.subflows {
        for at in apart(plot, &subflow.reductions) {
            canvas.cross(at, mark, REDUCTION.into());
        }
        for at in apart(plot, &subflow.exits) {
            canvas.triangle(
                (at.0, at.1 - mark - 3.0),
                mark + 1.0,
                palette::series(*number).into(),
            );
        }
        // The ticks of the subflows stand above each other, because they would hide each other.
        let strip = plot.plot.bottom() - plot.at(0.0, 0.0).1;
        let tick = (strip / connection.subflows.len().min(6) as f64).min(6.0);
        let foot = plot.plot.bottom() - tick * (number % 6) as f64;
        let mut last = f64::NEG_INFINITY;
        for time in &subflow.losses {
            let at = plot.at(*time, 0.0).0.round();
            if at > last {
                canvas.line(
                    [(at, foot), (at, foot - (tick - 1.0).max(1.0))],
                    palette::series(*number).into(),
                    1,
                );
                last = at;
            }
        }
    }
    let mut last = f64::NEG_INFINITY;
    for credit in &connection.credits {
        let lender = connection.subflows.get(&credit.from);
        let lender = lender.and_then(|subflow| subflow.window.at(credit.time));
        let ends = [lender.unwrap_or(0.0), credit.segments];
        let ends = ends.map(|window| plot.at(credit.time, window));
        if ends[0].0 - last < APART {
            continue;
        }
        last = ends[0].0;
        canvas.dashes(&ends, CREDIT.into(), 2, 4.0);
        for at in ends {
            canvas.circle(at, 3, CREDIT.into(), true);
        }
        let label = short(credit.segments);
        let x = ends[0].0 + 6.0;
        if x + width(&label, 11.0) < plot.plot.right() {
            let middle = (ends[0].1 + ends[1].1) / 2.0;
            canvas.text(&label, (x, middle), 11.0, Align::Left, CREDIT);
        }
    }
}
