//! Axes of a panel: time and windows.

use plotters::coord::types::{RangedCoordf64, RangedCoordu32};
use plotters::prelude::*;

use super::Area;

type Axes<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordu32>>;

/// Upper ends of the axes.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Seconds.
    pub end: f64,
    /// Segments.
    pub most: u32,
}

/// Draws the axes of a panel.
pub fn axes<'a>(
    area: &Area<'a>,
    caption: &str,
    limits: Limits,
) -> Result<Axes<'a>, Box<dyn std::error::Error>> {
    let Limits { end, most } = limits;
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
        .x_desc("time since the run began [s]")
        .y_desc("cwnd [segments]")
        .label_style(("sans-serif", 13))
        .x_label_formatter(&|x| format!("{x:.*}", if end < 0.6 { 2 } else { 1 }))
        .draw()?;
    Ok(chart)
}
