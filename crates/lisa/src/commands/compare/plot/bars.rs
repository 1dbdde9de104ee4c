//! A panel for a metric: a bar for each algorithm on each backend, with its confidence interval.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::super::comparison::{At, Comparison};
use crate::figure::{self, Area, Drawn};
use crate::tables;

/// Height of a bar with the space around it, pixels.
const BAR: u32 = 26;
/// Height of a panel's title, pixels.
const TITLE: u32 = 44;
/// Width of a character of the names, and of the space around a name, pixels.
const CHARACTER: u32 = 8;
const SPACE: u32 = 28;
/// Width of the numbers, pixels.
const NUMBERS: u32 = 120;
/// Opacity of the bars of each backend.
const SHADES: [f64; 3] = [0.3, 0.8, 0.55];
/// Opacity of the bars of a single backend.
const SHADE: f64 = 0.55;

const GREY: RGBColor = RGBColor(90, 90, 90);

/// Height of a panel, pixels.
pub fn height(comparison: &Comparison) -> u32 {
    TITLE + comparison.each().count() as u32 * BAR
}

/// Draws the bars of a metric of a connection, from zero.
pub fn draw(area: &Area<'_>, metric: usize, connection: &str, comparison: &Comparison) -> Drawn {
    let title = tables::heading(comparison.metrics[metric]);
    let style = ("sans-serif", 16).into_font().color(&BLACK);
    area.draw_text(&title, &style, (16, 16))?;
    let means: Vec<_> = (comparison.each())
        .map(|(_, contender)| contender.groups.find(connection)?.samples.mean(metric))
        .collect();
    let several = comparison.backends.len() > 1;
    let names = comparison.each().map(|(at, _)| name(comparison, at));
    let longest = names.map(|name| name.chars().count()).max().unwrap_or(0);
    let foot = SPACE + CHARACTER * longest as u32;
    let most = (means.iter().flatten())
        .map(|mean| mean.mean + mean.ci95.unwrap_or(0.0))
        .fold(0.0, f64::max);
    let wide = f64::from(area.dim_in_pixel().0 - foot - NUMBERS - 16);
    let x = |value: f64| foot as i32 + (wide * value.max(0.0) / most.max(1e-9)) as i32;
    for (number, ((at, _), mean)) in comparison.each().zip(&means).enumerate() {
        let top = (TITLE + number as u32 * BAR) as i32;
        let middle = top + BAR as i32 / 2 - 2;
        let right = Pos::new(HPos::Right, VPos::Center);
        let names = ("sans-serif", 14).into_font().color(&BLACK).pos(right);
        area.draw_text(&name(comparison, at), &names, (foot as i32 - 8, middle))?;
        let Some(mean) = mean else {
            continue;
        };
        let shade = if several { SHADES[at.backend] } else { SHADE };
        let colour = figure::colour(0).mix(shade);
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

/// The algorithm, and the backend if there are several.
fn name(comparison: &Comparison, at: At) -> String {
    let algorithm = &comparison.algorithms[at.algorithm];
    match &comparison.backends[..] {
        [_] => algorithm.clone(),
        all => format!("{algorithm}, {}", all[at.backend].endpoints(all)),
    }
}
