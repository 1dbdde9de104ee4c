//! Windows over time, credits marked: a panel for each run.

use plotters::coord::types::{RangedCoordf64, RangedCoordu32};
use plotters::prelude::*;
use scenario::trace::{Credit, Loss, Phase, Row};

/// What the marks mean, where there are two subflows.
pub const LEGEND: &str = "Blue: first subflow; orange: second; grey: both together. A dashed green line is a credit: \
    it goes from the lender's window down to the new subflow's, and the number is the segments that were moved; until the lender's next ACK the sum \
    shows them twice. A red \
    cross is a reduction. Ticks at the foot are segments that the simulated network lost.";

/// Okabe and Ito's colours, which the colour-blind can tell apart; further subflows begin again.
pub const SUBFLOWS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(0, 0, 0),
];
const SUM: RGBColor = RGBColor(150, 150, 150);
const CREDIT: RGBColor = RGBColor(0, 130, 90);
const REDUCTION: RGBColor = RGBColor(200, 30, 30);

/// A connection of a run.
pub struct Panel<'a> {
    /// What stands above it.
    pub caption: String,
    /// Its rows, in order of time.
    pub rows: Vec<&'a Row>,
    /// Its credits.
    pub credits: Vec<&'a Credit>,
    /// What the network lost of it.
    pub losses: Vec<&'a Loss>,
}

/// A connection that ran several times with one seed, on different backends.
pub struct Overlay<'a> {
    /// What stands above it.
    pub caption: String,
    /// The rows of each backend, in order of time.
    pub runs: Vec<Vec<&'a Row>>,
}

pub type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
pub type Drawn = Result<(), Box<dyn std::error::Error>>;

/// Panels in so many columns, all on the same axes.
pub fn windows(area: &Area<'_>, panels: &[Panel<'_>], columns: usize) -> Drawn {
    let rows = || panels.iter().flat_map(|panel| &panel.rows);
    let end = rows().map(|row| row.time).fold(0.1, f64::max);
    let sums = panels.iter().flat_map(|panel| sums(&panel.rows));
    let most = sums.map(|(_, sum)| sum).max().unwrap_or(10);
    let areas = area.split_evenly((panels.len().div_ceil(columns), columns));
    for (area, panel) in areas.iter().zip(panels) {
        draw(area, panel, end, most)?;
    }
    Ok(())
}

/// Panels in so many columns, all on the same axes: each subflow's windows, the backends' over each other. The first
/// backend's line is wide and pale, the second's thin, a third's dashed.
pub fn overlays(area: &Area<'_>, panels: &[Overlay<'_>], columns: usize) -> Drawn {
    let rows = || panels.iter().flat_map(|panel| panel.runs.iter().flatten());
    let end = rows().map(|row| row.time).fold(0.1, f64::max);
    let most = rows().map(|row| row.cwnd).max().unwrap_or(10);
    let areas = area.split_evenly((panels.len().div_ceil(columns), columns));
    for (area, panel) in areas.iter().zip(panels) {
        let mut chart = axes(area, &panel.caption, end, most)?;
        for (backend, rows) in panel.runs.iter().enumerate() {
            for subflow in 0..subflows(rows) {
                let colour = SUBFLOWS[subflow % SUBFLOWS.len()];
                let rows = rows.iter().filter(|row| row.subflow == subflow);
                let line = steps(rows.map(|row| (row.time, row.cwnd)));
                match backend {
                    0 => {
                        let wide = colour.mix(0.35).stroke_width(5);
                        chart.draw_series(LineSeries::new(line, wide))?;
                    }
                    1 => {
                        chart.draw_series(LineSeries::new(line, colour.stroke_width(1)))?;
                    }
                    _ => {
                        let dashes = DashedLineSeries::new(line, 4, 3, colour.stroke_width(1));
                        chart.draw_series(dashes)?;
                    }
                }
            }
        }
    }
    Ok(())
}

type Axes<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordu32>>;

/// Windows over time.
fn axes<'a>(
    area: &Area<'a>,
    caption: &str,
    end: f64,
    most: u32,
) -> Result<Axes<'a>, Box<dyn std::error::Error>> {
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
        .x_desc("seconds since the run began")
        .y_desc("cwnd, segments")
        .label_style(("sans-serif", 13))
        .x_label_formatter(&|x| format!("{x:.*}", if end < 0.6 { 2 } else { 1 }))
        .draw()?;
    Ok(chart)
}

fn subflows(rows: &[&Row]) -> usize {
    let subflows = rows.iter().map(|row| row.subflow + 1).max();
    subflows.unwrap_or(0)
}

fn draw(area: &Area<'_>, panel: &Panel<'_>, end: f64, most: u32) -> Drawn {
    let mut chart = axes(area, &panel.caption, end, most)?;
    let subflows = subflows(&panel.rows);
    if subflows > 1 {
        chart.draw_series(LineSeries::new(sums(&panel.rows), SUM.stroke_width(1)))?;
    }
    for subflow in 0..subflows {
        let colour = SUBFLOWS[subflow % SUBFLOWS.len()];
        let rows = || {
            panel
                .rows
                .iter()
                .copied()
                .filter(|row| row.subflow == subflow)
        };
        let line = steps(rows().map(|row| (row.time, row.cwnd)));
        chart.draw_series(LineSeries::new(line, colour.stroke_width(2)))?;
        let reductions = reductions(rows()).map(|at| Cross::new(at, 5, REDUCTION.stroke_width(2)));
        chart.draw_series(reductions)?;
        // Above each other, or the lower ones would be hidden.
        let losses = panel.losses.iter().filter(|loss| loss.subflow == subflow);
        let tick = most.div_ceil(30);
        chart.draw_series(losses.map(|loss| {
            let foot = tick * subflow as u32;
            let ends = vec![(loss.time, foot), (loss.time, foot + tick)];
            PathElement::new(ends, colour.stroke_width(1))
        }))?;
    }
    for credit in panel
        .credits
        .iter()
        .filter(|credit| credit.settled.is_some())
    {
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

/// All subflows' windows together.
fn sums(rows: &[&Row]) -> Vec<(f64, u32)> {
    let mut windows = Vec::new();
    steps(rows.iter().map(|row| {
        if windows.len() <= row.subflow {
            windows.resize(row.subflow + 1, 0);
        }
        windows[row.subflow] = row.cwnd;
        (row.time, windows.iter().sum())
    }))
}

/// Where a subflow starts to reduce its window: a recovery begins, or it has another threshold than before. The one that it
/// begins with is none. A kernel tells of the threshold first, and of the recovery after that.
fn reductions<'r>(rows: impl Iterator<Item = &'r Row>) -> impl Iterator<Item = (f64, u32)> {
    let mut before: Option<(Option<u32>, bool)> = None;
    rows.filter_map(move |row| {
        let recovers = row.phase == Phase::Recovery;
        let (other, told) = before.map_or((false, true), |(ssthresh, told)| {
            (ssthresh != row.ssthresh, told)
        });
        before = Some((row.ssthresh, recovers || other));
        let starts = other || recovers && !told;
        (starts && row.ssthresh.is_some()).then_some((row.time, row.cwnd))
    })
}

fn cwnd_before(rows: &[&Row], subflow: usize, time: f64) -> u32 {
    let earlier = rows
        .iter()
        .rfind(|row| row.subflow == subflow && row.time <= time);
    earlier.map_or(0, |row| row.cwnd)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(rows: &[(f64, u32, Option<u32>, Phase)]) -> Vec<(f64, u32)> {
        let row = |&(time, cwnd, ssthresh, phase)| Row {
            time,
            connection: "".into(),
            subflow: 0,
            cwnd,
            ssthresh,
            srtt: 0.0,
            flight: 0,
            phase,
        };
        let rows: Vec<Row> = rows.iter().map(row).collect();
        reductions(rows.iter()).collect()
    }

    #[test]
    fn a_threshold_to_begin_with_is_no_reduction() {
        for first in [None, Some(64)] {
            let rows = [
                (0.0, 10, first, Phase::SlowStart),
                (0.1, 20, first, Phase::SlowStart),
                (0.2, 19, Some(10), Phase::Recovery),
                (0.3, 18, Some(10), Phase::Recovery),
            ];
            assert_eq!(marks(&rows), [(0.2, 19)]);
        }
    }

    #[test]
    fn a_recovery_to_the_same_threshold_is_a_reduction() {
        let rows = [
            (0.1, 20, Some(10), Phase::Avoidance),
            (0.2, 19, Some(10), Phase::Recovery),
            (0.3, 10, Some(10), Phase::Avoidance),
        ];
        assert_eq!(marks(&rows), [(0.2, 19)]);
        let of_a_kernel = [
            (0.1, 20, None, Phase::SlowStart),
            (0.2, 20, Some(10), Phase::SlowStart),
            (0.201, 20, Some(10), Phase::Recovery),
            (0.3, 10, Some(10), Phase::Avoidance),
            (0.4, 12, Some(6), Phase::Avoidance),
            (0.401, 12, Some(6), Phase::Recovery),
        ];
        assert_eq!(marks(&of_a_kernel), [(0.2, 20), (0.4, 12)]);
    }
}
