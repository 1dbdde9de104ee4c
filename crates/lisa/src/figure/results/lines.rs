//! Lines with bands: a metric over a key, or over the rank of connections.

use plotters::prelude::*;
use scenario::statistics::Mean;

use super::Picture;
use super::data::{Data, Place};
use super::facets::{self, Facet};
use crate::figure::canvas::{Area, Canvas};
use crate::figure::palette;
use crate::figure::panel::{Axis, Panel};
use crate::figure::scale::Scale;

/// Opacity of a band.
const BAND: f64 = 0.18;
/// Largest number of points of a line that are marked.
const MARKED: usize = 40;

/// A point of a line with its interval.
type Point = (f64, Mean);

/// Lines over a key.
pub fn over_key(data: &Data, key: usize, range: Option<[f64; 2]>) -> Picture<'_> {
    let (facets, left_out) = facets::facets(data, &[key]);
    let order = facets::ordered(&data.keys[key]);
    let numeric = facets::numeric(&data.keys[key]);
    let numbers = data.keys[key].numbers();
    let points = move |facet: &Facet, series: usize| -> Vec<Point> {
        let at = |(number, value): (usize, &u32)| {
            let x = match &numbers {
                Some(numbers) => numbers[*value as usize],
                None => number as f64,
            };
            Some((x, data.mean(&facet.place(series, &[(key, *value)]))?))
        };
        order.iter().enumerate().filter_map(at).collect()
    };
    let x = match numeric {
        Some(scale) => Axis::Scale(scale),
        None => facets::categories(&data.keys[key], &facets::ordered(&data.keys[key])),
    };
    picture(data, facets, left_out, x, points, range)
}

/// Lines over the rank: the connections, subflows or links of each run from the largest value to the smallest, means over the seeds.
/// All names have one order.
pub fn over_rank(data: &Data) -> Picture<'_> {
    /// Largest number of names in the note.
    const NAMED: usize = 8;
    let (facets, left_out) = facets::together(data);
    let points = |facet: &Facet, series: usize| ranks(data, facet, series);
    let most = facets
        .iter()
        .flat_map(|facet| (0..data.series.len()).map(|series| ranks(data, facet, series).len()));
    let most = most.max().unwrap_or(1).max(2);
    let part = data.part();
    let title = format!("rank of the {part}, from the largest value on");
    let x = Axis::Scale(Scale::new(0.5, most as f64 + 0.5, &title, "").whole());
    let mut notes = Vec::new();
    if data.parts.len() > 1 {
        let mut names = data.parts[..data.parts.len().min(NAMED)].to_vec();
        if data.parts.len() > NAMED {
            names.push(format!("{} more", data.parts.len() - NAMED));
        }
        notes.push(format!("One order of all {part}s: {}.", names.join("; ")));
    }
    Picture {
        notes,
        ..picture(data, facets, left_out, x, points, None)
    }
}

fn ranks(data: &Data, facet: &Facet, series: usize) -> Vec<Point> {
    let parts = 0..data.parts.len() as u32;
    let mut rows: Vec<(i64, f64)> = parts
        .flat_map(|part| {
            let place = Place {
                part,
                ..facet.place(series, &[])
            };
            data.rows(&place).to_vec()
        })
        .collect();
    rows.sort_by(|one, other| one.0.cmp(&other.0).then(other.1.total_cmp(&one.1)));
    let mut ranks: Vec<Vec<f64>> = Vec::new();
    for run in rows.chunk_by(|one, other| one.0 == other.0) {
        for (rank, (_, value)) in run.iter().enumerate() {
            if ranks.len() <= rank {
                ranks.push(Vec::new());
            }
            ranks[rank].push(*value);
        }
    }
    let point = |(rank, values): (usize, &Vec<f64>)| Some((rank as f64 + 1.0, Mean::of(values)?));
    ranks.iter().enumerate().filter_map(point).collect()
}

fn picture<'a>(
    data: &'a Data,
    facets: Vec<Facet>,
    left_out: usize,
    x: Axis,
    points: impl Fn(&Facet, usize) -> Vec<Point> + 'a,
    range: Option<[f64; 2]>,
) -> Picture<'a> {
    let all: Vec<Vec<Vec<Point>>> = (facets.iter())
        .map(|facet| {
            (0..data.series.len())
                .map(|series| points(facet, series))
                .collect()
        })
        .collect();
    let each = all.iter().flatten().flatten();
    let values = each.clone().flat_map(|(_, mean)| {
        let half = mean.ci95.unwrap_or(0.0);
        [
            mean.mean,
            mean.mean + half,
            (mean.mean - half).max(mean.mean.min(0.0)),
        ]
    });
    let metric = &data.metric;
    let values = values.chain(range.into_iter().flatten());
    let y = Scale::over(values, false, &metric.title, &metric.unit);
    let has_bands = each.clone().any(|(_, mean)| mean.ci95.is_some());
    let captions: Vec<String> = facets.into_iter().map(|facet| facet.caption).collect();
    let number = captions.len();
    Picture {
        panels: number,
        left_out,
        height: 320.0,
        least: (220.0, 150.0),
        legend: super::series_legend(
            data,
            has_bands.then_some("bands: 95 % confidence intervals"),
        ),
        notes: Vec::new(),
        draw: Box::new(move |canvas: &mut Canvas<'_>, areas: &[Area]| {
            for ((area, caption), series) in areas.iter().zip(&captions).zip(&all) {
                let axes = (x.clone(), Axis::Scale(y.clone()));
                let panel = Panel::draw(canvas, *area, caption, axes, true);
                for (points, of) in series.iter().zip(&data.series) {
                    band(canvas, &panel, of.style, points);
                }
                for (number, (points, of)) in series.iter().zip(&data.series).enumerate() {
                    let wide = palette::width(number, series.len());
                    line(canvas, &panel, (of.style, wide), points);
                }
            }
        }),
    }
}

fn band(canvas: &mut Canvas<'_>, panel: &Panel, style: usize, points: &[Point]) {
    if points.len() < 2 {
        return;
    }
    let edge = |sign: f64| {
        move |(x, mean): &Point| {
            let (x, y) = panel.at(*x, mean.mean + sign * mean.ci95.unwrap_or(0.0));
            (x, y.clamp(panel.plot.y, panel.plot.bottom()))
        }
    };
    let upper = points.iter().map(edge(1.0));
    let lower = points.iter().rev().map(edge(-1.0));
    canvas.polygon(upper.chain(lower), palette::series(style).mix(BAND));
}

fn line(canvas: &mut Canvas<'_>, panel: &Panel, (style, wide): (usize, u32), points: &[Point]) {
    let colour: RGBAColor = palette::series(style).into();
    let path: Vec<(f64, f64)> = points
        .iter()
        .map(|(x, mean)| panel.at(*x, mean.mean))
        .collect();
    match palette::dash(style) {
        Some(dash) => canvas.dashes(&path, colour, 2, dash),
        None => canvas.line(path.iter().copied(), colour, wide),
    }
    if points.len() <= MARKED {
        for at in &path {
            canvas.circle(*at, 2 + wide / 2, colour, true);
        }
    }
    if let ([at], [(x, mean)]) = (&path[..], points) {
        let half = mean.ci95.unwrap_or(0.0);
        let ends = [mean.mean - half, mean.mean + half].map(|y| panel.at(*x, y));
        canvas.line(ends, colour, 1);
        canvas.circle(*at, 4, colour, true);
    }
}
