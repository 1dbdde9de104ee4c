//! Colours that colour-blind readers can distinguish, on white ground.

use plotters::prelude::*;
use scenario::colours::SERIES;

/// Colour of texts below titles, and of sums.
pub const GREY: RGBColor = RGBColor(90, 90, 90);
/// Colour of the sum of windows.
pub const SUM: RGBColor = RGBColor(150, 150, 150);
/// Colour of credits.
pub const CREDIT: RGBColor = RGBColor(0, 110, 80);
/// Colour of reductions.
pub const REDUCTION: RGBColor = RGBColor(190, 20, 40);
/// Colour of lines of a grid.
pub const GRID: RGBColor = RGBColor(228, 228, 228);

/// Colour of a subflow or algorithm, by its number from 0. Further ones repeat the colours.
pub fn series(number: usize) -> RGBColor {
    let [red, green, blue] = SERIES[number % SERIES.len()];
    RGBColor(red, green, blue)
}

/// Length of the dashes of a line, by its number from 0: further rounds through the colours have dashes. None: a full line.
pub fn dash(number: usize) -> Option<f64> {
    match number / SERIES.len() {
        0 => None,
        round => Some(3.0 + 4.0 * (round - 1).min(4) as f64),
    }
}

/// Width of the line of one of several series, pixels. Of few lines each is narrower than the one before, which is then visible
/// where both have equal values.
pub fn width(number: usize, all: usize) -> u32 {
    let after = (all - 1 - number.min(all - 1)) as u32;
    match all {
        2 => 2 + 2 * after,
        3 | 4 => 2 + after,
        _ => 2,
    }
}

/// Number of colours.
pub const COLOURS: usize = SERIES.len();

/// Colour of a share from 0 to 1: viridis, whose lightness grows with the share.
pub fn sequential(share: f64) -> RGBColor {
    ViridisRGB.get_color(share.clamp(0.0, 1.0))
}

/// Colour of a share from −1 (blue) over 0 (white) to 1 (orange).
pub fn diverging(share: f64) -> RGBColor {
    let end = match share < 0.0 {
        true => series(0),
        false => series(1),
    };
    let part = share.abs().min(1.0);
    let mix = |end: u8| (255.0 + (f64::from(end) - 255.0) * part).round() as u8;
    RGBColor(mix(end.0), mix(end.1), mix(end.2))
}

/// Black or white: the colour that is legible on this one (relative luminance, WCAG 2).
pub fn ink(ground: RGBColor) -> RGBColor {
    let linear = |part: u8| (f64::from(part) / 255.0).powf(2.2);
    let luminance =
        0.2126 * linear(ground.0) + 0.7152 * linear(ground.1) + 0.0722 * linear(ground.2);
    match luminance > 0.18 {
        true => BLACK,
        false => WHITE,
    }
}
