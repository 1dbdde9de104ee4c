//! Bars from zero: the mean of each algorithm with its 95 % confidence interval, and its difference to the first algorithm.

use plotters::prelude::*;
use scenario::statistics::Mean;

use super::Picture;
use super::data::{Data, Place, Series};
use super::facets::{self, Facet};
use crate::figure::canvas::{Align, Area, Canvas, width};
use crate::figure::legend::{Entry, Mark};
use crate::figure::palette::{self, GREY};
use crate::figure::panel::{Axis, Panel};
use crate::figure::scale::{Scale, minus};

/// Height of a bar with the space around it, and of the axis, caption and labels of a panel, pixels.
const BAR: f64 = 24.0;
const AXIS: f64 = 70.0;
/// Size of the numbers beside the bars.
const NUMBERS: f64 = 11.0;
/// Opacity of the bars.
const SHADE: f64 = 0.6;

/// A bar.
struct Bar {
    name: String,
    colour: usize,
    mean: Mean,
    /// The mean with its interval, and the difference to the first series.
    texts: [String; 2],
}

/// A bar for each series; with several connections a group of bars for each series.
pub fn picture(data: &Data) -> Picture<'_> {
    // One panel for all connections: their bars are to be compared.
    let is_grouped = data.parts.len() > 1 && data.parts.len() <= 6;
    let (facets, left_out) = match is_grouped {
        true => facets::together(data),
        false => facets::facets(data, &[]),
    };
    let means = data.places().filter_map(|place| data.mean(place));
    let values = means.flat_map(|mean| {
        let half = mean.ci95.unwrap_or(0.0);
        [mean.mean + half, (mean.mean - half).max(mean.mean.min(0.0))]
    });
    let metric = &data.metric;
    let x = Scale::over(values, true, &metric.title, &metric.unit);
    let panels: Vec<(String, Vec<Bar>)> = (facets.iter())
        .map(|facet| {
            let bars = bars(data, facet, is_grouped, &x);
            (facet.caption.clone(), bars)
        })
        .collect();
    let bars = panels.iter().map(|(_, bars)| bars.len()).max().unwrap_or(1);
    let legend = match is_grouped {
        true => {
            let parts = data.parts.iter().enumerate();
            let entry = |(number, part): (usize, &String)| {
                Entry::new(Mark::Box(palette::series(number).mix(SHADE)), part.clone())
            };
            // Links without a rate have no utilisation.
            let has_bar = |(number, _): &(usize, &String)| {
                data.places().any(|place| place.part as usize == *number)
            };
            parts.filter(has_bar).map(entry).collect()
        }
        false => Vec::new(),
    };
    let mut notes = Vec::new();
    let several = data.series.len() > 1;
    if data.seeds() > 1 {
        let mut note = "Means with 95 % confidence intervals.".to_owned();
        if several {
            note += &format!(
                " Differences are to {}, seed by seed; “=”: the interval of the difference includes zero.",
                data.baseline
            );
        }
        notes.push(note);
    }
    Picture {
        panels: panels.len(),
        left_out,
        height: AXIS + BAR * bars as f64,
        least: (200.0, 60.0 + 12.0 * bars as f64),
        legend,
        notes,
        draw: Box::new(move |canvas: &mut Canvas<'_>, areas: &[Area]| {
            for (area, (caption, bars)) in areas.iter().zip(&panels) {
                draw(canvas, *area, caption, bars, &x);
            }
        }),
    }
}

fn bars(data: &Data, facet: &Facet, is_grouped: bool, scale: &Scale) -> Vec<Bar> {
    let parts = match is_grouped {
        true => (0..data.parts.len() as u32).collect(),
        false => vec![facet.part],
    };
    let mut bars = Vec::new();
    let algorithms = data.series.iter().map(|series| series.algorithm).max();
    for (
        series,
        Series {
            name,
            algorithm,
            baseline,
            ..
        },
    ) in data.series.iter().enumerate()
    {
        for part in &parts {
            let place = |series| Place {
                part: *part,
                ..facet.place(series, &[])
            };
            let Some(mean) = data.mean(&place(series)) else {
                continue;
            };
            let difference = (series != *baseline)
                .then(|| data.difference(&place(series), &place(*baseline)))
                .flatten();
            let base = data.mean(&place(*baseline));
            let part_name = &data.parts[*part as usize];
            let name = match (is_grouped, &**name) {
                (true, "") => part_name.clone(),
                (true, name) => format!("{name}: {part_name}"),
                (false, "") => part_name.clone(),
                (false, name) => name.to_owned(),
            };
            let texts = [
                facets::with_interval(scale, &mean),
                difference.map_or(String::new(), |difference| versus(&difference, base)),
            ];
            bars.push(Bar {
                name,
                colour: match is_grouped {
                    true => *part as usize,
                    // The backends of an algorithm have its colour.
                    false if algorithms > Some(0) => *algorithm,
                    false => series,
                },
                mean,
                texts,
            });
        }
    }
    bars
}

/// A difference in per cent of the baseline; `=` if its interval includes zero.
fn versus(difference: &Mean, base: Option<Mean>) -> String {
    let Some(half) = difference.ci95 else {
        return String::new();
    };
    let base = base.map_or(0.0, |mean| mean.mean.abs());
    match (difference.mean.abs() <= half, base > 0.0) {
        (true, _) => "=".into(),
        (false, true) => {
            let [mean, half] = [difference.mean, half].map(|value| 100.0 * value / base);
            let decimals = usize::from(half < 1.0);
            minus(&format!("{mean:+.decimals$} ± {half:.decimals$} %"))
        }
        (false, false) => minus(&format!("{:+.3}", difference.mean)),
    }
}

fn draw(canvas: &mut Canvas<'_>, area: Area, caption: &str, bars: &[Bar], scale: &Scale) {
    let widest = |number: usize| {
        let widths = bars.iter().map(|bar| width(&bar.texts[number], NUMBERS));
        widths.fold(0.0, f64::max)
    };
    let (numbers, differences) = (widest(0) + 10.0, widest(1) + 12.0);
    // Texts only where the bars keep half of the width.
    let shown = match area.width / 2.0 {
        half if half > numbers + differences + 60.0 => 2,
        half if half > numbers + 40.0 => 1,
        _ => 0,
    };
    let texts = [0.0, numbers, numbers + differences][shown];
    let inner = Area {
        width: area.width - texts,
        ..area
    };
    let names = bars.iter().rev().map(|bar| bar.name.clone()).collect();
    let axes = (
        Axis::Scale(scale.clone()),
        Axis::Categories(names, String::new()),
    );
    let panel = Panel::draw(canvas, inner, caption, axes, false);
    for (value, _) in scale.marks((panel.plot.width / 60.0) as usize) {
        let (x, _) = panel.at(value, 0.0);
        let line = [(x, panel.plot.y), (x, panel.plot.bottom())];
        canvas.line(line, palette::GRID.into(), 1);
    }
    let half = (panel.plot.height / bars.len().max(1) as f64 * 0.36).min(11.0);
    for (number, bar) in bars.iter().enumerate() {
        let row = (bars.len() - 1 - number) as f64;
        let (begin, y) = panel.at(0.0, row);
        let (end, _) = panel.at(bar.mean.mean, row);
        let colour = palette::series(bar.colour).mix(SHADE);
        let (left, right) = (begin.min(end), begin.max(end).max(begin.min(end) + 1.0));
        canvas.rectangle((left, y - half), (right, y + half), colour);
        if let Some(interval) = bar.mean.ci95 {
            let ends = [bar.mean.mean - interval, bar.mean.mean + interval];
            let ends = ends.map(|value| panel.at(value, row).0.max(panel.plot.x));
            canvas.line([(ends[0], y), (ends[1], y)], BLACK.into(), 1);
            for x in ends {
                canvas.line([(x, y - 4.0), (x, y + 4.0)], BLACK.into(), 1);
            }
        }
        let mut at = panel.plot.right() + 12.0;
        for (text, wide) in bar.texts.iter().zip([numbers, differences]).take(shown) {
            canvas.text(text, (at, y), NUMBERS, Align::Left, GREY);
            at += wide;
        }
    }
    let (zero, _) = panel.at(0.0, 0.0);
    canvas.line(
        [(zero, panel.plot.y), (zero, panel.plot.bottom())],
        GREY.into(),
        1,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_says_whether_it_is_clear() {
        let mean = |mean, half| Mean {
            n: 9,
            mean,
            ci95: Some(half),
        };
        let base = Some(mean(2.0, 0.1));
        assert_eq!(versus(&mean(-0.5, 0.1), base), "−25 ± 5 %");
        assert_eq!(versus(&mean(0.5, 0.6), base), "=");
        assert_eq!(versus(&mean(0.0, 0.0), base), "=");
    }
}
