//! The demo's figure: the windows of each contender's subflows over time, credits marked.

use crate::demo::{CONTENDERS, Cell};
use lab::Run;
use plotters::prelude::*;
use scenario::trace::Row;

/// What the marks mean.
pub const LEGEND: &str = "Blue: first subflow; orange: second; grey: both together. A dashed green line is a credit: \
    it goes from the lender's window down to the new subflow's, and the number is the segments that were moved; until the lender's next ACK the sum \
    shows them twice. A red \
    cross is a reduction.";

const SIZE: (u32, u32) = (1120, 640);
/// Okabe and Ito's colours, which the colour-blind can tell apart.
const SUBFLOWS: [RGBColor; 2] = [RGBColor(0, 114, 178), RGBColor(213, 94, 0)];
const SUM: RGBColor = RGBColor(150, 150, 150);
const CREDIT: RGBColor = RGBColor(0, 130, 90);
const REDUCTION: RGBColor = RGBColor(200, 30, 30);

/// One panel for each contender, all on the same axes, from the first run of each.
pub fn windows(group: &[Cell]) -> String {
    let runs: Vec<(&str, &Run)> = group
        .iter()
        .filter_map(|cell| Some((CONTENDERS[cell.contender].name, cell.runs.first()?)))
        .collect();
    let end = runs
        .iter()
        .flat_map(|(_, run)| run.rows.last())
        .map(|row| row.time)
        .fold(0.1, f64::max);
    let most = runs
        .iter()
        .flat_map(|(_, run)| sums(&run.rows))
        .map(|(_, sum)| sum)
        .max()
        .unwrap_or(10);
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        let drawn = root.fill(&WHITE).is_ok()
            && root
                .split_evenly((2, 2))
                .iter()
                .zip(&runs)
                .all(|(area, (name, run))| panel(area, name, run, end, most).is_ok());
        debug_assert!(drawn, "drawing into a string cannot fail");
    }
    svg
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

fn panel(area: &Area<'_>, name: &str, run: &Run, end: f64, most: u32) -> Drawn {
    let completion = run.outcome.connections[0].completion_s;
    let caption = completion.map_or(name.into(), |s| format!("{name}, {s:.2} s"));
    let mut chart = ChartBuilder::on(area)
        .caption(caption, ("sans-serif", 20))
        .margin(8)
        .x_label_area_size(34)
        .y_label_area_size(44)
        .build_cartesian_2d(0.0..end * 1.02, 0u32..most * 11 / 10 + 1)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.1))
        .x_desc("seconds since the first SYN")
        .y_desc("cwnd, segments")
        .label_style(("sans-serif", 13))
        .x_label_formatter(&|x| format!("{x:.1}"))
        .draw()?;
    if run.outcome.connections[0].subflows.len() > 1 {
        chart.draw_series(LineSeries::new(sums(&run.rows), SUM.stroke_width(1)))?;
    }
    for (subflow, colour) in SUBFLOWS.iter().enumerate() {
        let rows = || run.rows.iter().filter(|row| row.subflow == subflow);
        let line = steps(rows().map(|row| (row.time, row.cwnd)));
        chart.draw_series(LineSeries::new(line, colour.stroke_width(2)))?;
        let reductions = reductions(rows()).map(|at| Cross::new(at, 5, REDUCTION.stroke_width(2)));
        chart.draw_series(reductions)?;
    }
    for credit in run.credits.iter().filter(|credit| credit.settled.is_some()) {
        let lender = cwnd_before(&run.rows, credit.from, credit.taken);
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

/// A line that stays until it changes.
fn steps(points: impl Iterator<Item = (f64, u32)>) -> Vec<(f64, u32)> {
    let mut line: Vec<(f64, u32)> = Vec::new();
    for (time, cwnd) in points {
        if let Some(&(_, last)) = line.last() {
            line.push((time, last));
        }
        line.push((time, cwnd));
    }
    line
}

/// Both subflows' windows together.
fn sums(rows: &[Row]) -> Vec<(f64, u32)> {
    let mut windows = [0u32; 16];
    steps(rows.iter().map(|row| {
        windows[row.subflow % 16] = row.cwnd;
        (row.time, windows.iter().sum())
    }))
}

/// Where a subflow starts to reduce its window: its threshold has fallen.
fn reductions<'r>(rows: impl Iterator<Item = &'r Row>) -> impl Iterator<Item = (f64, u32)> {
    let mut before = None;
    rows.filter_map(move |row| {
        let fell = row.ssthresh.is_some() && row.ssthresh != before;
        before = row.ssthresh;
        fell.then_some((row.time, row.cwnd))
    })
}

fn cwnd_before(rows: &[Row], subflow: usize, time: f64) -> u32 {
    let earlier = rows
        .iter()
        .rfind(|row| row.subflow == subflow && row.time <= time);
    earlier.map_or(0, |row| row.cwnd)
}
