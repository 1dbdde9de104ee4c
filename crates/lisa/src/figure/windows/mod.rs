//! Congestion windows over time: a panel for each connection, or the runs of several backends over each other.

mod collect;
mod draw;
mod reductions;

use plotters::prelude::*;
use scenario::Run;

pub use self::collect::{Connection, Interval, State, Windows, is_wanted};
pub use self::draw::{is_dense, line};
use super::canvas::{Area, Canvas};
use super::legend::{Entry, Mark};
use super::palette::{self, CREDIT, GREY, REDUCTION, SUM};
use super::scale::Scale;

/// The caption of a figure of two subflows.
pub const CAPTION: &str = "Blue: first subflow; orange: second; grey: sum of both. A dashed green line is a credit: it goes \
    from the lender's window down to the new subflow's, and the number is the segments that were moved; until the \
    lender's next ACK the sum counts them twice. A red cross is a reduction, a triangle the end of slow start. A tick at the \
    foot is a segment that the simulated network lost.";

/// Least width and height of a panel, pixels.
pub const LEAST: (f64, f64) = (190.0, 130.0);
/// Height of a panel in a figure without a size, pixels.
pub const HEIGHT: f64 = 260.0;

/// Height of the panels in this number of rows.
pub fn height(rows: usize) -> f64 {
    match rows {
        ..=2 => HEIGHT,
        _ => 200.0,
    }
}

/// A panel: a connection of one run, or the same connection on several backends.
pub struct Panel<'a> {
    /// The line above the panel.
    pub caption: String,
    /// The connection on each backend.
    pub runs: Vec<&'a Connection>,
}

/// The windows of a run.
pub fn of_run(run: &Run, interval: Interval, wanted: &[String], most: usize) -> Windows {
    let mut windows = Windows::new(interval, wanted, most);
    for row in &run.rows {
        let state = State {
            time: row.time,
            cwnd: row.cwnd.into(),
            ssthresh: row.ssthresh.map(f64::from),
            phase: row.phase,
        };
        windows.add(&row.connection, row.subflow, state);
    }
    for loss in &run.losses {
        windows.lost(&loss.connection, loss.subflow, loss.time);
    }
    for credit in &run.credits {
        windows.lent(credit);
    }
    windows.finish(run.rows.last().map(|row| row.time));
    let names: Vec<&str> = run
        .outcome
        .connections
        .iter()
        .map(|c| c.name.as_str())
        .collect();
    windows.order(&names);
    windows
}

/// Draws panels in these areas, all with the same axes.
pub fn draw(canvas: &mut Canvas<'_>, areas: &[Area], panels: &[Panel<'_>], interval: Interval) {
    let (x, y) = scales(panels, interval);
    for (area, panel) in areas.iter().zip(panels) {
        draw::panel(canvas, *area, panel, (x.clone(), y.clone()));
    }
}

/// The axes of time and windows.
fn scales(panels: &[Panel<'_>], interval: Interval) -> (Scale, Scale) {
    let all = || panels.iter().flat_map(|panel| &panel.runs);
    let subflows = || all().flat_map(|connection| connection.subflows.values());
    let ends = subflows().filter_map(|subflow| subflow.window.end());
    let end = ends.fold(0.0f64, f64::max);
    let from = interval.from.max(0.0);
    let to = match interval.to.is_finite() {
        true => interval.to,
        false => end.max(from + 1e-3) + 0.02 * (end - from).max(0.0),
    };
    let sums = all().filter(|_| panels.iter().all(|panel| panel.runs.len() == 1));
    let sums = sums.filter_map(|connection| connection.sum.as_ref());
    let lines = subflows().map(|subflow| &subflow.window).chain(sums);
    let most = lines.filter_map(|line| line.values()).map(|(_, most)| most);
    let x = Scale::new(from, to, "time since the run began", "s");
    let most = most.fold(1.0, f64::max);
    let mut y = Scale::over([0.0, most], true, "cwnd", "segments");
    // Losses have a strip below zero.
    if subflows_of(panels).any(|subflow| !subflow.losses.is_empty()) {
        y.low = -y.high * 0.09;
    }
    (x, y)
}

fn subflows_of<'a>(panels: &'a [Panel<'_>]) -> impl Iterator<Item = &'a collect::Subflow> {
    let all = panels
        .iter()
        .filter(|panel| panel.runs.len() == 1)
        .flat_map(|panel| &panel.runs);
    all.flat_map(|connection| connection.subflows.values())
}

/// The legend of these panels: only marks that occur. `names` are those of the paths of the subflows.
///
/// `width` is that of a panel, pixels.
pub fn legend(
    panels: &[Panel<'_>],
    backends: &[String],
    names: &[Option<String>],
    width: f64,
) -> Vec<Entry> {
    let all = || panels.iter().flat_map(|panel| &panel.runs);
    let numbers = all().flat_map(|connection| connection.subflows.keys());
    let most = numbers.max().map_or(0, |most| most + 1);
    let mut entries: Vec<Entry> = (0..most.min(2 * palette::COLOURS))
        .map(|subflow| {
            let mark = Mark::Line(palette::series(subflow).into(), 2, palette::dash(subflow));
            let number = subflow + 1;
            let text = match names.get(subflow) {
                Some(Some(name)) => format!("subflow {number}, {name}"),
                _ => format!("subflow {number}"),
            };
            Entry::new(mark, text)
        })
        .collect();
    if most > entries.len() {
        let rest = format!("further subflows repeat the colours, {most} in all");
        entries.push(Entry::new(Mark::Line(GREY.mix(0.0), 1, None), rest));
    }
    if backends.len() > 1 {
        let backend = |(number, name): (usize, &String)| {
            Entry::new(draw::stroke(number, BLACK.into()), name.clone())
        };
        entries.extend(backends.iter().enumerate().map(backend));
        return entries;
    }
    let mut add = |mark, text: &str, occurs: bool| {
        entries.extend(occurs.then(|| Entry::new(mark, text)));
    };
    let subflows = || all().flat_map(|connection| connection.subflows.values());
    let is_dense = subflows().any(|subflow| draw::is_dense(&subflow.window, width));
    add(
        Mark::Line(SUM.into(), 2, None),
        "sum of the subflows",
        all().any(|c| c.sum.is_some()),
    );
    let band = is_dense.then(|| band_entry("range of a window that changes often, and its mean"));
    entries.extend(band);
    let mut add = |mark, text: &str, occurs: bool| {
        entries.extend(occurs.then(|| Entry::new(mark, text)));
    };
    let has = |marks: fn(&collect::Subflow) -> usize| subflows().any(|subflow| marks(subflow) > 0);
    let is_cut = |marks: fn(&collect::Subflow) -> usize| {
        subflows().any(|subflow| draw::is_crowded(marks(subflow)))
    };
    let reductions = match is_cut(|s| s.reductions.len()) {
        true => "reductions: of several close to each other the first",
        false => "reduction",
    };
    add(
        Mark::Cross(REDUCTION.into()),
        reductions,
        has(|s| s.reductions.len()),
    );
    let exits = match is_cut(|s| s.exits.len()) {
        true => "ends of slow start: of several close to each other the first",
        false => "end of slow start",
    };
    add(Mark::Triangle(BLACK.into()), exits, has(|s| s.exits.len()));
    let has_credits = all().any(|connection| !connection.credits.is_empty());
    add(
        Mark::Line(CREDIT.into(), 2, Some(4.0)),
        "credit, in segments",
        has_credits,
    );
    add(
        Mark::Tick(GREY.into()),
        "segment lost (at the foot)",
        has(|s| s.losses.len()),
    );
    entries
}

/// The entry of bands in a legend.
pub fn band_entry(text: &str) -> Entry {
    Entry::new(Mark::Band(palette::series(0).mix(draw::BAND)), text)
}
