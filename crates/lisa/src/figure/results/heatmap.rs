//! Heat maps: a metric over two keys, as colours. Random points are circles.

use plotters::prelude::*;

use super::Picture;
use super::data::{Data, Series};
use super::facets;
use crate::figure::canvas::{Align, Area, Canvas, width};
use crate::figure::palette::{self, GREY};
use crate::figure::panel::{Axis, Panel};
use crate::figure::scale::Scale;

/// Width of the bar of colours with its labels, pixels.
const BAR: f64 = 84.0;
/// Number of colours in the bar.
const STEPS: usize = 48;
/// Least width and height of a cell with a number.
const NUMBERED: (f64, f64) = (34.0, 15.0);

/// A cell, or a random point.
#[derive(Clone, Copy)]
struct Cell {
    x: f64,
    y: f64,
    value: f64,
    /// Whether the interval of a difference includes zero.
    is_unclear: bool,
}

/// A panel for each series and connection; with `difference` of the differences to the first series.
pub fn picture(data: &Data, [x, y]: [usize; 2], difference: bool) -> Picture<'_> {
    let (facets, left_out) = facets::facets(data, &[x, y]);
    let (columns, rows) = (
        facets::ordered(&data.keys[x]),
        facets::ordered(&data.keys[y]),
    );
    let numbers = [x, y].map(|key| data.keys[key].numbers());
    // A grid has many points of each value; random points have one.
    let points = data.places().map(|place| (place.point[x], place.point[y]));
    let points: std::collections::BTreeSet<(u32, u32)> = points.collect();
    let is_grid = points.len() * 3 > columns.len() * rows.len()
        || numbers.iter().any(Option::is_none)
        || columns.len() * rows.len() < 12;
    let mut panels: Vec<(String, Vec<Cell>)> = Vec::new();
    let mut omitted = left_out;
    for facet in &facets {
        for (series, Series { name, baseline, .. }) in data.series.iter().enumerate() {
            if difference && series == *baseline {
                continue;
            }
            let cell = |&(a, b): &(u32, u32)| {
                let place = facet.place(series, &[(x, a), (y, b)]);
                let base = facet.place(*baseline, &[(x, a), (y, b)]);
                let mean = match difference {
                    true => data.difference(&place, &base)?,
                    false => data.mean(&place)?,
                };
                let index = |order: &[u32], value| order.iter().position(|o| *o == value);
                let (at_x, at_y) = match (&numbers, is_grid) {
                    ([Some(xs), Some(ys)], false) => (xs[a as usize], ys[b as usize]),
                    _ => (index(&columns, a)? as f64, index(&rows, b)? as f64),
                };
                Some(Cell {
                    x: at_x,
                    y: at_y,
                    value: mean.mean,
                    is_unclear: difference && mean.mean.abs() <= mean.ci95.unwrap_or(0.0),
                })
            };
            let cells: Vec<Cell> = points.iter().filter_map(cell).collect();
            if cells.is_empty() {
                continue;
            }
            let name = match difference {
                true => format!("{name} − {}", data.series[*baseline].name),
                false => name.clone(),
            };
            let caption: Vec<&str> = [&*name, &*facet.caption]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect();
            match panels.len() < facets::MOST {
                true => panels.push((caption.join("; "), cells)),
                false => omitted += 1,
            }
        }
    }
    let values = panels
        .iter()
        .flat_map(|(_, cells)| cells)
        .map(|cell| cell.value);
    let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), value| {
        (a.min(value), b.max(value))
    });
    let (least, most) = match difference {
        true => {
            let end = least.abs().max(most.abs());
            (-end, end)
        }
        false => (least, most),
    };
    let metric = &data.metric;
    let title = match difference {
        true => format!("difference of {}", metric.title),
        false => metric.title.clone(),
    };
    let colours = Scale::new(least, most, &title, &metric.unit);
    let axis = |key: usize, order: &[u32]| match is_grid {
        true => facets::categories(&data.keys[key], order),
        false => facets::numeric(&data.keys[key])
            .map_or_else(|| facets::categories(&data.keys[key], order), Axis::Scale),
    };
    let axes = (axis(x, &columns), axis(y, &rows));
    let grid = is_grid.then_some((columns.len(), rows.len()));
    let mut notes = Vec::new();
    if panels
        .iter()
        .flat_map(|(_, cells)| cells)
        .any(|cell| cell.is_unclear)
    {
        notes.push(format!(
            "In brackets, or with a dot: the 95 % confidence interval of the difference to {} includes zero.",
            data.baseline
        ));
    }
    Picture {
        panels: panels.len(),
        left_out: omitted,
        height: 330.0,
        least: (260.0, 160.0),
        legend: Vec::new(),
        notes,
        draw: Box::new(move |canvas: &mut Canvas<'_>, areas: &[Area]| {
            for (area, (caption, cells)) in areas.iter().zip(&panels) {
                let inner = Area {
                    width: area.width - BAR,
                    ..*area
                };
                let panel = Panel::draw(canvas, inner, caption, axes.clone(), false);
                draw(canvas, &panel, cells, (&colours, difference), grid);
                bar(canvas, &panel.plot, (&colours, difference));
            }
        }),
    }
}

fn colour(value: f64, (scale, difference): (&Scale, bool)) -> RGBColor {
    let share = (value - scale.low) / (scale.high - scale.low);
    match difference {
        true => palette::diverging(2.0 * share - 1.0),
        false => palette::sequential(share),
    }
}

fn draw(
    canvas: &mut Canvas<'_>,
    panel: &Panel,
    cells: &[Cell],
    colours: (&Scale, bool),
    grid: Option<(usize, usize)>,
) {
    let Some((columns, rows)) = grid else {
        for cell in cells {
            let at = panel.at(cell.x, cell.y);
            canvas.circle(at, 5, colour(cell.value, colours).into(), true);
            canvas.circle(at, 5, GREY.mix(0.5), false);
        }
        return;
    };
    let (wide, high) = (
        panel.plot.width / columns as f64,
        panel.plot.height / rows as f64,
    );
    let longest = cells
        .iter()
        .map(|cell| width(&colours.0.label(cell.value), 10.0));
    let longest = longest.fold(0.0, f64::max) + 14.0;
    for cell in cells {
        let (x, y) = panel.at(cell.x, cell.y);
        let ground = colour(cell.value, colours);
        let (left, top) = (x - wide / 2.0, y - high / 2.0);
        let (right, bottom) = (left + wide, top + high);
        canvas.rectangle((left, top), (right, bottom), ground.into());
        let ink = palette::ink(ground);
        let is_numbered = wide > NUMBERED.0.max(longest) && high > NUMBERED.1;
        if is_numbered {
            let label = match cell.is_unclear {
                true => format!("({})", colours.0.label(cell.value)),
                false => colours.0.label(cell.value),
            };
            canvas.text(&label, (x, y), 10.0, Align::Middle, ink);
        } else if cell.is_unclear {
            canvas.circle((x, y), 1, ink.into(), true);
        }
    }
}

/// The bar of colours with its labels, right of a plot.
fn bar(canvas: &mut Canvas<'_>, plot: &Area, colours: (&Scale, bool)) {
    let scale = colours.0;
    let left = plot.right() + 14.0;
    let step = plot.height / STEPS as f64;
    for number in 0..STEPS {
        let share = (number as f64 + 0.5) / STEPS as f64;
        let value = scale.low + share * (scale.high - scale.low);
        let bottom = plot.bottom() - step * number as f64;
        let from = (left, bottom - step);
        // Half a pixel over the step below: no gap between them.
        let to = (left + 12.0, (bottom + 0.5).min(plot.bottom()));
        canvas.rectangle(from, to, colour(value, colours).into());
    }
    let mut widest: f64 = 0.0;
    for (value, label) in scale.marks((plot.height / 40.0) as usize) {
        widest = widest.max(width(&label, 10.0));
        let y = plot.bottom() - scale.place(value) * plot.height;
        canvas.line([(left + 12.0, y), (left + 16.0, y)], GREY.into(), 1);
        canvas.text(&label, (left + 19.0, y), 10.0, Align::Left, GREY);
    }
    let x = (left + 19.0 + widest + 11.0).min(left + BAR - 22.0);
    let title = crate::figure::canvas::cut(&scale.title, 11.0, plot.height + 20.0);
    canvas.text_upwards(&title, (x, plot.y + plot.height / 2.0), 11.0, BLACK);
}
