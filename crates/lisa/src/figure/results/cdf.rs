//! Distribution functions: the share of runs with at most a value.

use super::Picture;
use super::data::Data;
use super::facets;
use crate::figure::canvas::{Area, Canvas};
use crate::figure::legend::{Entry, Mark};
use crate::figure::palette;
use crate::figure::panel::{Axis, Panel};
use crate::figure::scale::Scale;

/// Largest number of points of a line.
const POINTS: usize = 2000;

/// The distribution of each series, a panel for each connection.
pub fn picture(data: &Data) -> Picture<'_> {
    let (facets, left_out) = facets::facets(data, &[]);
    let series = 0..data.series.len();
    let values = |facet: &facets::Facet, series: usize| -> Vec<f64> {
        let runs = data.runs(&facet.place(series, &[])).into_iter();
        let mut values: Vec<f64> = runs.map(|(_, value)| value).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let all: Vec<Vec<Vec<f64>>> = (facets.iter())
        .map(|facet| series.clone().map(|series| values(facet, series)).collect())
        .collect();
    let metric = &data.metric;
    let range = all.iter().flatten().flatten().copied();
    let x = Scale::around(range, &metric.title, &metric.unit);
    let y = Scale::new(0.0, 1.03, "share of the runs", "");
    let entry = |number: usize| {
        let wide = palette::width(number, data.series.len());
        let mark = Mark::Line(palette::series(number).into(), wide, palette::dash(number));
        let name = &data.series[number].name;
        let text = match (&all[..], &**name) {
            ([only], name) if !only[number].is_empty() => {
                let sorted = &only[number];
                let middle = sorted.len() / 2;
                let median = match sorted.len() % 2 {
                    0 => (sorted[middle - 1] + sorted[middle]) / 2.0,
                    _ => sorted[middle],
                };
                let runs = crate::output::counted(sorted.len(), "run");
                let median = format!("median {}, {runs}", x.label(median));
                match name {
                    "" => median,
                    name => format!("{name}: {median}"),
                }
            }
            (_, name) => name.to_owned(),
        };
        Entry::new(mark, text)
    };
    let legend = series
        .map(entry)
        .filter(|entry| !entry.text.is_empty())
        .collect();
    Picture {
        panels: facets.len(),
        left_out,
        height: 320.0,
        least: (220.0, 150.0),
        legend,
        notes: Vec::new(),
        draw: Box::new(move |canvas: &mut Canvas<'_>, areas: &[Area]| {
            for ((area, facet), series) in areas.iter().zip(&facets).zip(&all) {
                let axes = (Axis::Scale(x.clone()), Axis::Scale(y.clone()));
                let panel = Panel::draw(canvas, *area, &facet.caption, axes, true);
                for (number, values) in series.iter().enumerate() {
                    let Some(last) = values.last() else {
                        continue;
                    };
                    let ends = [(x.low.min(values[0]), 0.0), (x.high.max(*last), 1.0)];
                    let steps = steps(values).into_iter();
                    let steps = [ends[0]].into_iter().chain(steps).chain([ends[1]]);
                    let points: Vec<_> = steps.map(|(x, y)| panel.at(x, y)).collect();
                    let colour = palette::series(number).into();
                    match palette::dash(number) {
                        Some(dash) => canvas.dashes(&points, colour, 2, dash),
                        None => canvas.line(points, colour, palette::width(number, series.len())),
                    }
                }
            }
        }),
    }
}

/// The corners of the function of these values, which are in order.
fn steps(values: &[f64]) -> Vec<(f64, f64)> {
    let n = values.len() as f64;
    let mut corners = Vec::new();
    let every = values.len().div_ceil(POINTS).max(1);
    let mut share = 0.0;
    for (number, value) in values.iter().enumerate() {
        if number % every == 0 || number + 1 == values.len() {
            corners.push((*value, share));
            share = (number + 1) as f64 / n;
            corners.push((*value, share));
        }
    }
    corners
}

#[cfg(test)]
mod tests {
    use super::steps;

    #[test]
    fn the_function_rises_at_each_value() {
        let corners = [(1.0, 0.0), (1.0, 0.5), (3.0, 0.5), (3.0, 1.0)];
        assert_eq!(steps(&[1.0, 3.0]), corners);
        assert!(steps(&vec![1.0; 1_000_000]).len() < 5000);
        assert_eq!(steps(&vec![1.0; 12_345]).last(), Some(&(1.0, 1.0)));
    }
}
