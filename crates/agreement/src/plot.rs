//! Plots of the agreement: for each connection a point, with the kernel on one axis and the simulator on the other.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use scenario::colours::SERIES;
use scenario::metrics::METRICS;
use scenario::statistics::Mean;

use crate::judge::{COMPARED, Verdict};

/// Width and height, pixels.
const SIZE: (u32, u32) = (760, 720);

/// Number of straight pieces of each edge of the band.
const PIECES: u32 = 100;

/// Values of the grid lines.
const GRID: [f64; 11] = [0.0, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0];

/// An axis that shows small values beside large ones: logarithmic, or with square roots if zeros are possible.
#[derive(Clone, Copy)]
struct Axis {
    /// Square roots instead of logarithms.
    roots: bool,
    least: f64,
    most: f64,
}

impl Axis {
    fn scale(&self, value: f64) -> f64 {
        match self.roots {
            true => value.sqrt(),
            false => value.ln(),
        }
    }

    /// The value, or the end of the axis beyond which it lies.
    fn inside(&self, value: f64) -> f64 {
        value.clamp(self.least, self.most)
    }

    /// Values from one end to the other, at equal distances on the axis.
    fn steps(self) -> impl DoubleEndedIterator<Item = f64> {
        let (from, to) = (self.scale(self.least), self.scale(self.most));
        (0..=PIECES).map(move |piece| {
            let at = from + (to - from) * f64::from(piece) / f64::from(PIECES);
            self.inside(if self.roots { at * at } else { at.exp() })
        })
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (low, high): (i32, i32)) -> i32 {
        let (from, to) = (self.scale(self.least), self.scale(self.most));
        let part = (self.scale(*value) - from) / (to - from);
        low + (f64::from(high - low) * part).round() as i32
    }

    fn key_points<H: KeyPointHint>(&self, _: H) -> Vec<f64> {
        let crowded = |value: f64| self.roots && value > 0.0 && value < 1.0;
        let shown = |value: &f64| (self.least..=self.most).contains(value) && !crowded(*value);
        GRID.into_iter().filter(shown).collect()
    }

    fn range(&self) -> Range<f64> {
        self.least..self.most
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        value.to_string()
    }
}

/// A connection's means.
struct Point {
    /// Number of the set, which decides the colour.
    set: usize,
    kernel: Mean,
    simulator: Mean,
}

/// Colour of a set, by its number from 0.
fn colour(set: usize) -> RGBColor {
    let [red, green, blue] = SERIES[set % SERIES.len()];
    RGBColor(red, green, blue)
}

/// An SVG of one of the metrics of [`COMPARED`].
pub fn draw(verdict: &Verdict, number: usize) -> String {
    let compared = &COMPARED[number];
    let metric = &METRICS[compared.metric()];
    let mut sets: Vec<&str> = Vec::new();
    let mut points: Vec<Point> = Vec::new();
    for line in &verdict.lines {
        let set = line.name.set.as_str();
        let found = sets.iter().position(|other| *other == set);
        let set = found.unwrap_or_else(|| {
            sets.push(set);
            sets.len() - 1
        });
        let both = line.metrics[number];
        let means = both.kernel.zip(both.simulator);
        points.extend(means.map(|(kernel, simulator)| Point {
            set,
            kernel,
            simulator,
        }));
    }
    let means = || {
        points
            .iter()
            .flat_map(|point| [point.kernel.mean, point.simulator.mean])
    };
    let roots = compared.floor > 0.0;
    let axis = Axis {
        roots,
        least: if roots {
            0.0
        } else {
            means().fold(1.0, f64::min) / 1.2
        },
        most: means().fold(1.0, f64::max) * 1.2,
    };
    let mut svg = String::new();
    let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
    let drawn = || -> Result<(), Box<dyn std::error::Error>> {
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(60)
            .build_cartesian_2d(axis, axis)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.1))
            .x_desc(format!("{} in the kernel [{}]", metric.title, metric.unit))
            .y_desc(format!(
                "{} in the simulator [{}]",
                metric.title, metric.unit
            ))
            .label_style(("sans-serif", 14))
            .draw()?;
        let edge = |sign: f64| {
            axis.steps().map(move |kernel| {
                let simulator = kernel + sign * compared.tolerance(kernel);
                (kernel, axis.inside(simulator))
            })
        };
        let band: Vec<(f64, f64)> = edge(1.0).chain(edge(-1.0).rev()).collect();
        chart.draw_series([Polygon::new(band, BLACK.mix(0.1))])?;
        let same = [axis.least, axis.most].map(|value| (value, value));
        chart.draw_series(LineSeries::new(same, BLACK.mix(0.4)))?;
        for Point {
            set,
            kernel,
            simulator,
        } in &points
        {
            let colour = colour(*set);
            let at = (kernel.mean, simulator.mean);
            let ends = |mean: &Mean| {
                let half = mean.ci95.unwrap_or(0.0);
                [mean.mean - half, mean.mean + half].map(|end| axis.inside(end))
            };
            let across = ends(kernel).map(|x| (x, at.1)).to_vec();
            let along = ends(simulator).map(|y| (at.0, y)).to_vec();
            let bars = [across, along].map(|bar| PathElement::new(bar, colour.mix(0.35)));
            chart.draw_series(bars)?;
            chart.draw_series([Circle::new(at, 4, colour.mix(0.8).filled())])?;
        }
        let style = Pos::new(HPos::Left, VPos::Center);
        let style = ("sans-serif", 15).into_font().color(&BLACK).pos(style);
        for (number, set) in sets.iter().enumerate() {
            let y = 34 + 22 * number as i32;
            let colour = colour(number).filled();
            root.draw(&Circle::new((96, y), 5, colour))?;
            root.draw_text(set, &style, (108, y))?;
        }
        root.present()?;
        Ok(())
    };
    let drawn = drawn();
    debug_assert!(drawn.is_ok(), "drawing into a string cannot fail");
    drop(root);
    svg
}
