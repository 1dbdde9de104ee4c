//! The figure of `lisa compare`: the windows of a connection with the first seed, and its metrics over all seeds.

mod bars;

use plotters::prelude::*;
use scenario::trace::Row;

use super::comparison::{At, Comparison, Contender};
use crate::figure::{self, Area, Drawn, Entry, Mark, Overlay, Panel};

/// Width of the figure, pixels.
const WIDTH: u32 = 1200;
/// Height of a panel of windows, pixels.
const PANEL: u32 = 330;
/// Height of the headings above the windows and above the metrics, pixels.
const HEADING: u32 = 84;
const METRICS_HEADING: u32 = 64;
/// Panels of metrics side by side.
const COLUMNS: usize = 3;

const GREY: RGBColor = RGBColor(90, 90, 90);

/// Draws an SVG of the connections of this name.
pub fn draw(connection: &str, comparison: &Comparison) -> String {
    let columns = match comparison.algorithms.len() {
        n @ 1..=3 => n,
        4 => 2,
        _ => 3,
    };
    let windows = comparison.algorithms.len().div_ceil(columns) as u32 * PANEL;
    let metrics = metrics(connection, comparison);
    let bars = metrics.len().div_ceil(COLUMNS) as u32 * bars::height(comparison);
    let height = HEADING + windows + METRICS_HEADING + bars;
    let mut svg = String::new();
    let root = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
    let drawn = || -> Drawn {
        root.fill(&WHITE)?;
        let (heading, rest) = root.split_vertically(HEADING);
        let (upper, rest) = rest.split_vertically(windows);
        let (middle, lower) = rest.split_vertically(METRICS_HEADING);
        text(&heading, &comparison.title, (16, 12), 22, BLACK)?;
        draw_windows(&heading, &upper, connection, comparison, columns)?;
        if !metrics.is_empty() {
            text(&middle, &about(connection, comparison), (16, 34), 15, GREY)?;
            let areas = lower.split_evenly((metrics.len().div_ceil(COLUMNS), COLUMNS));
            for (area, metric) in areas.iter().zip(&metrics) {
                bars::draw(area, *metric, connection, comparison)?;
            }
        }
        root.present()?;
        Ok(())
    };
    let drawn = drawn();
    debug_assert!(drawn.is_ok(), "drawing into a string cannot fail");
    drop(root);
    svg
}

/// Numbers of the metrics that the connection has in any run.
fn metrics(connection: &str, comparison: &Comparison) -> Vec<usize> {
    let has = |metric: &usize| {
        let all = comparison.each();
        let mut groups = all.filter_map(|(_, contender)| contender.groups.find(connection));
        groups.any(|group| group.samples.mean(*metric).is_some())
    };
    (0..comparison.metrics.len()).filter(has).collect()
}

/// Largest number of connections of this name in a run.
fn count(connection: &str, comparison: &Comparison) -> usize {
    let groups = comparison.each();
    let groups = groups.filter_map(|(_, contender)| contender.groups.find(connection));
    groups.map(|group| group.connections).max().unwrap_or(1)
}

/// Seed of the windows.
fn first_seed(comparison: &Comparison) -> u64 {
    let first = comparison.of(At::default()).first.as_ref();
    first.map_or(1, |run| run.outcome.seed)
}

/// The line above the metrics.
fn about(connection: &str, comparison: &Comparison) -> String {
    let runs = comparison.of(At::default()).groups.runs;
    let seed = first_seed(comparison);
    match (runs, count(connection, comparison)) {
        (1, 1) => format!("{connection}: seed {seed}"),
        (1, n) => format!("{connection}: means of {n} with seed {seed}"),
        (runs, _) => format!("{connection}: means of {runs} seeds with 95 % confidence intervals"),
    }
}

/// Draws the line above the windows, the legend, and the windows.
fn draw_windows(
    heading: &Area<'_>,
    area: &Area<'_>,
    connection: &str,
    comparison: &Comparison,
    columns: usize,
) -> Drawn {
    let name = match count(connection, comparison) {
        1 => connection.into(),
        n => format!("{connection}, the first of {n}"),
    };
    let mut contenders = comparison.each().map(|(_, contender)| contender);
    let completes = contenders.any(|contender| completion(connection, contender).is_some());
    let seed = first_seed(comparison);
    let about = match completes {
        true => format!("{name}: windows with seed {seed}; above each panel the completion"),
        false => format!("{name}: windows with seed {seed}"),
    };
    text(heading, &about, (16, 42), 15, GREY)?;
    let legend = |entries: &[Entry]| figure::legend(heading, entries, (16, 73), GREY);
    match &comparison.backends[..] {
        [_] => {
            let panels = panels(connection, comparison);
            legend(&marks(&panels))?;
            figure::windows(area, &panels, columns)
        }
        _ => {
            let overlays = overlays(connection, comparison);
            legend(&lines(comparison, &overlays))?;
            figure::overlays(area, &overlays, columns)
        }
    }
}

/// An entry for each of the first subflows; more subflows repeat the colours.
fn subflows<'a>(runs: impl IntoIterator<Item = &'a Vec<&'a Row>>) -> Vec<Entry> {
    let most = figure::most_subflows(runs).min(figure::SUBFLOWS.len());
    let entry = |subflow: usize| Entry {
        mark: Mark::Line(figure::colour(subflow).stroke_width(2)),
        text: format!("subflow {}", subflow + 1),
    };
    (0..most).map(entry).collect()
}

/// The legend of the panels of one backend: only marks that occur.
fn marks(panels: &[Panel<'_>]) -> Vec<Entry> {
    let mut entries = subflows(panels.iter().map(|panel| &panel.rows));
    let mut add = |mark, text: &str| {
        entries.push(Entry {
            mark,
            text: text.into(),
        });
    };
    if figure::most_subflows(panels.iter().map(|panel| &panel.rows)) > 1 {
        add(Mark::Line(figure::SUM.stroke_width(1)), "their sum");
    }
    add(Mark::Cross(figure::REDUCTION.stroke_width(2)), "reduction");
    let mut credits = panels.iter().flat_map(|panel| &panel.credits);
    if credits.any(|credit| credit.settled.is_some()) {
        let dashes = Mark::Dashes(figure::CREDIT.stroke_width(2));
        add(dashes, "credit, with the number of segments");
    }
    if panels.iter().any(|panel| !panel.losses.is_empty()) {
        add(
            Mark::Tick(GREY.stroke_width(1)),
            "segment lost (at the foot)",
        );
    }
    entries
}

/// The legend of the panels of several backends.
fn lines(comparison: &Comparison, panels: &[Overlay<'_>]) -> Vec<Entry> {
    let mut entries = subflows(panels.iter().flat_map(|panel| &panel.runs));
    let backends = comparison.backends.iter().enumerate();
    entries.extend(backends.map(|(number, on)| Entry {
        mark: figure::stroke(number, BLACK),
        text: on.endpoints(&comparison.backends).into(),
    }));
    entries
}

fn panels<'a>(connection: &str, comparison: &'a Comparison) -> Vec<Panel<'a>> {
    let panel = |(at, contender): (At, &'a Contender)| {
        let run = contender.first.as_ref()?;
        let credits = run.credits.iter().filter(|c| c.connection == connection);
        let losses = run.losses.iter().filter(|l| *l.connection == *connection);
        let name = &comparison.algorithms[at.algorithm];
        let completion = completion(connection, contender);
        Some(Panel {
            caption: completion.map_or(name.clone(), |s| format!("{name}: {s:.2} s")),
            rows: rows(connection, contender),
            credits: credits.collect(),
            losses: losses.collect(),
        })
    };
    comparison.each().filter_map(panel).collect()
}

fn overlays<'a>(connection: &str, comparison: &'a Comparison) -> Vec<Overlay<'a>> {
    let overlay = |(algorithm, name): (usize, &String)| {
        let all = || {
            (comparison.backends.iter().enumerate())
                .map(move |(backend, on)| (on, comparison.of(At { algorithm, backend })))
        };
        let completions: Vec<String> = all()
            .filter_map(|(on, contender)| {
                let seconds = completion(connection, contender)?;
                let endpoints = on.endpoints(&comparison.backends);
                Some(format!("{endpoints} {seconds:.2} s"))
            })
            .collect();
        Overlay {
            caption: match &completions[..] {
                [] => name.clone(),
                completions => format!("{name}: {}", completions.join(", ")),
            },
            runs: all()
                .map(|(_, contender)| rows(connection, contender))
                .collect(),
        }
    };
    let algorithms = comparison.algorithms.iter().enumerate();
    algorithms.map(overlay).collect()
}

/// Completion time with the first seed, seconds.
fn completion(connection: &str, contender: &Contender) -> Option<f64> {
    let run = contender.first.as_ref()?;
    let mut outcomes = run.outcome.connections.iter();
    outcomes.find(|c| c.name == connection)?.completion_s
}

fn rows<'a>(connection: &str, contender: &'a Contender) -> Vec<&'a Row> {
    let rows = contender.first.iter().flat_map(|run| &run.rows);
    rows.filter(|row| *row.connection == *connection).collect()
}

fn text(area: &Area<'_>, text: &str, at: (i32, i32), size: u32, colour: RGBColor) -> Drawn {
    let style = ("sans-serif", size).into_font().color(&colour);
    area.draw_text(text, &style, at)?;
    Ok(())
}
