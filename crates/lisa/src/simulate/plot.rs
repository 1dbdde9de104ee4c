//! The figure of `lisa compare`: windows over time of the first seed, and the metrics of all.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use scenario::trace::Row;

use super::compare::{Comparison, Contender};
use super::tables;
use crate::figure::{self, Area, Drawn, Overlay, Panel};

/// Pixels of the whole, of a panel of windows, and of a bar with the space around it.
const WIDTH: u32 = 1200;
const PANEL: u32 = 330;
const BAR: u32 = 26;
/// How strong the bars of several backends are.
const SHADES: [f64; 3] = [0.3, 0.8, 0.55];
/// Metrics side by side.
const COLUMNS: usize = 3;
/// Of a metric's panel: for its title, for names and for numbers, pixels.
const TITLE: u32 = 44;
const NAMES: u32 = 120;
/// More for names with a backend.
const PLACE: u32 = 40;
const NUMBERS: u32 = 120;
/// Above all and between.
const HEADING: u32 = 64;

/// An SVG. `connection` is whose windows are drawn.
pub fn draw(connection: &str, comparison: &Comparison) -> String {
    let columns = match comparison.algorithms.len() {
        n @ 1..=3 => n,
        4 => 2,
        _ => 3,
    };
    let windows = comparison.algorithms.len().div_ceil(columns) as u32 * PANEL;
    let shown = shown(connection, comparison);
    let contenders = || comparison.each().map(|(_, contender)| contender);
    let groups = contenders().filter_map(|c| c.groups.find(connection));
    let connections = groups.map(|group| group.connections).max().unwrap_or(1);
    let bars = TITLE + contenders().count() as u32 * BAR;
    let metrics = shown.len().div_ceil(COLUMNS) as u32 * bars;
    let mut svg = String::new();
    let height = HEADING + windows + HEADING + metrics;
    let root = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
    let drawn = || -> Drawn {
        root.fill(&WHITE)?;
        let (heading, rest) = root.split_vertically(HEADING);
        let (upper, rest) = rest.split_vertically(windows);
        let (middle, lower) = rest.split_vertically(HEADING);
        text(&heading, &comparison.title, (16, 12), 22, BLACK)?;
        let legend = format!(
            "{}: windows with seed 1. Colours: subflows; {}.",
            match connections {
                1 => connection.into(),
                n => format!("{connection}, the first of {n}"),
            },
            match &comparison.backends[..] {
                [_] =>
                    "grey: their sum; red: a reduction; green: a credit, and how many segments it moves; \
                     at the foot: a segment lost"
                        .into(),
                several => {
                    let lines = several.iter().zip(["wide and pale", "thin", "dashed"]);
                    let lines = lines.map(|(on, line)| format!("{line}: {}", on.place()));
                    lines.collect::<Vec<_>>().join("; ")
                }
            }
        );
        text(&heading, &legend, (16, 42), 15, GREY)?;
        match comparison.backends.len() {
            1 => figure::windows(&upper, &panels(connection, comparison), columns)?,
            _ => figure::overlays(&upper, &overlays(connection, comparison), columns)?,
        }
        // Of the chosen metrics this connection may have none.
        if shown.is_empty() {
            root.present()?;
            return Ok(());
        }
        let what = match (comparison.of(0, 0).groups.runs, connections) {
            (1, 1) => format!("{connection}: seed 1"),
            (1, n) => format!("{connection}: means of {n} with seed 1"),
            (runs, _) => {
                format!("{connection}: means of {runs} seeds with 95 % confidence intervals")
            }
        };
        text(&middle, &what, (16, 34), 15, GREY)?;
        let areas = lower.split_evenly((shown.len().div_ceil(COLUMNS), COLUMNS));
        for (area, metric) in areas.iter().zip(&shown) {
            draw_metric(area, *metric, connection, comparison)?;
        }
        root.present()?;
        Ok(())
    };
    let drawn = drawn();
    debug_assert!(drawn.is_ok(), "drawing into a string cannot fail");
    drop(root);
    svg
}

const GREY: RGBColor = RGBColor(90, 90, 90);

/// The metrics that any of them has.
fn shown(connection: &str, comparison: &Comparison) -> Vec<usize> {
    let has = |metric: &usize| {
        let all = comparison.each();
        let mut groups = all.filter_map(|(_, contender)| contender.groups.find(connection));
        groups.any(|group| group.samples.mean(*metric).is_some())
    };
    (0..comparison.metrics.len()).filter(has).collect()
}

fn panels<'a>(connection: &str, comparison: &'a Comparison) -> Vec<Panel<'a>> {
    let panel = |((algorithm, _), contender): ((usize, usize), &'a Contender)| {
        let run = contender.first.as_ref()?;
        let name = &comparison.algorithms[algorithm];
        let completion = completion(connection, contender);
        Some(Panel {
            caption: completion.map_or(name.clone(), |s| format!("{name}, {s:.2} s")),
            rows: rows(connection, contender),
            credits: run
                .credits
                .iter()
                .filter(|c| c.connection == connection)
                .collect(),
            losses: run
                .losses
                .iter()
                .filter(|l| *l.connection == *connection)
                .collect(),
        })
    };
    comparison.each().filter_map(panel).collect()
}

fn overlays<'a>(connection: &str, comparison: &'a Comparison) -> Vec<Overlay<'a>> {
    let overlay = |(algorithm, name): (usize, &String)| {
        let all =
            || (0..comparison.backends.len()).map(|backend| comparison.of(algorithm, backend));
        let completions: Vec<String> = all()
            .filter_map(|contender| completion(connection, contender))
            .map(|seconds| format!("{seconds:.2} s"))
            .collect();
        Overlay {
            caption: format!("{name}, {}", completions.join(" and ")),
            runs: all().map(|contender| rows(connection, contender)).collect(),
        }
    };
    comparison
        .algorithms
        .iter()
        .enumerate()
        .map(overlay)
        .collect()
}

/// With the first seed.
fn completion(connection: &str, contender: &Contender) -> Option<f64> {
    let run = contender.first.as_ref()?;
    let mut outcomes = run.outcome.connections.iter();
    outcomes.find(|c| c.name == connection)?.completion_s
}

fn rows<'a>(connection: &str, contender: &'a Contender) -> Vec<&'a Row> {
    let rows = contender.first.iter().flat_map(|run| &run.rows);
    rows.filter(|row| *row.connection == *connection).collect()
}

/// A bar for each algorithm on each backend, from zero, with its interval.
fn draw_metric(area: &Area<'_>, metric: usize, connection: &str, comparison: &Comparison) -> Drawn {
    let title = tables::heading(comparison.metrics[metric]);
    text(area, &title, (16, 16), 16, BLACK)?;
    let means: Vec<_> = (comparison.each())
        .map(|(_, contender)| contender.groups.find(connection)?.samples.mean(metric))
        .collect();
    let several = comparison.backends.len() > 1;
    let foot = NAMES + if several { PLACE } else { 0 };
    let most = (means.iter().flatten())
        .map(|mean| mean.mean + mean.ci95.unwrap_or(0.0))
        .fold(0.0, f64::max);
    let wide = f64::from(area.dim_in_pixel().0 - foot - NUMBERS - 16);
    let x = |value: f64| foot as i32 + (wide * value.max(0.0) / most.max(1e-9)) as i32;
    for (number, (((algorithm, backend), _), mean)) in comparison.each().zip(&means).enumerate() {
        let top = (TITLE + number as u32 * BAR) as i32;
        let middle = top + BAR as i32 / 2 - 2;
        let right = Pos::new(HPos::Right, VPos::Center);
        let names = ("sans-serif", 14).into_font().color(&BLACK).pos(right);
        let mut name = comparison.algorithms[algorithm].clone();
        if several {
            name += &format!(" {}", comparison.backends[backend].name());
        }
        area.draw_text(&name, &names, (foot as i32 - 8, middle))?;
        let Some(mean) = mean else {
            continue;
        };
        let colour = figure::SUBFLOWS[0].mix(if several { SHADES[backend] } else { 0.55 });
        let bar = [(x(0.0), top + 2), (x(mean.mean), top + BAR as i32 - 6)];
        area.draw(&Rectangle::new(bar, colour.filled()))?;
        let half = mean.ci95.unwrap_or(0.0);
        let (low, high) = (x(mean.mean - half), x(mean.mean + half));
        if mean.ci95.is_some() {
            let line = BLACK.stroke_width(1);
            area.draw(&PathElement::new(vec![(low, middle), (high, middle)], line))?;
            for end in [low, high] {
                let cap = vec![(end, middle - 4), (end, middle + 4)];
                area.draw(&PathElement::new(cap, line))?;
            }
        }
        let left = Pos::new(HPos::Left, VPos::Center);
        let numbers = ("sans-serif", 13).into_font().color(&GREY).pos(left);
        let shown = tables::mean(Some(*mean), comparison.metrics[metric].decimals);
        area.draw_text(&shown, &numbers, (high + 8, middle))?;
    }
    Ok(())
}

fn text(area: &Area<'_>, text: &str, at: (i32, i32), size: u32, colour: RGBColor) -> Drawn {
    let style = ("sans-serif", size).into_font().color(&colour);
    area.draw_text(text, &style, at)?;
    Ok(())
}
