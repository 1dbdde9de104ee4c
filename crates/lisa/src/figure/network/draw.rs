//! Nodes, cables and layers of a network on a canvas.

use std::collections::BTreeMap;

use plotters::prelude::*;

use super::layers::Summary;
use super::plan::{Cable, Plan};
use super::{Strands, properties};
use crate::figure::canvas::{Align, Area, Canvas, cut, width};
use crate::figure::palette::{self, GREY};

/// Colour behind a link that several subflows share.
pub const SHARED: RGBColor = RGBColor(255, 224, 130);
const BOX: RGBColor = RGBColor(240, 244, 248);
/// Sizes of texts.
const NODE: f64 = 12.0;
const LABEL: f64 = 11.0;
/// Distance of the colours of a cable, pixels.
const APART: f64 = 4.0;

/// The way in which cables are drawn.
pub enum Style<'a> {
    /// A line for each strand, with names and properties.
    Strands(&'a Strands),
    /// One line, whose colour and width show the number of subflows, of which this is the largest.
    Numbers(usize),
}

/// Colour and width of a cable with this number of subflows.
pub fn by_number(number: usize, most: usize) -> (RGBColor, u32) {
    match number {
        0 => (RGBColor(215, 215, 215), 1),
        number => {
            let share = number as f64 / most.max(1) as f64;
            // Viridis from its dark end: its bright end is pale on white.
            let colour = palette::sequential(0.75 * (1.0 - share));
            (colour, 2 + (4.0 * share).round() as u32)
        }
    }
}

/// Numbers of subflows for the legend.
pub fn examples(most: usize) -> Vec<usize> {
    let mut numbers = vec![0, 1, most / 3, 2 * most / 3, most];
    numbers.dedup();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Largest number of cables between two nodes.
pub fn parallel(cables: &[Cable<'_>]) -> usize {
    let mut counts: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for cable in cables {
        *counts.entry(pair(cable)).or_default() += 1;
    }
    counts.values().copied().max().unwrap_or(1)
}

fn pair(cable: &Cable<'_>) -> (usize, usize) {
    let (a, b) = cable.ends;
    (a.min(b), a.max(b))
}

/// Draws nodes and cables.
pub fn network(canvas: &mut Canvas<'_>, area: Area, plan: &Plan<'_>, style: &Style<'_>) {
    let at = |node: usize| {
        let (x, y) = plan.places[node];
        (area.x + x * area.width, area.y + y * area.height)
    };
    let mut counts: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for cable in &plan.cables {
        *counts.entry(pair(cable)).or_default() += 1;
    }
    let mut drawn: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut labels = Vec::new();
    // Height of each node's widest cable.
    let mut heights = vec![0.0; plan.nodes.len()];
    for cable in &plan.cables {
        let all = counts[&pair(cable)];
        let number = drawn.entry(pair(cable)).or_default();
        let bow =
            (*number as f64 - (all as f64 - 1.0) / 2.0) * (area.height / all as f64).min(78.0);
        *number += 1;
        // From left to right, so that the colours of successive cables have one order.
        let (mut a, mut b) = cable.ends;
        if (at(a).0, at(a).1) > (at(b).0, at(b).1) {
            (a, b) = (b, a);
        }
        let path = bent(at(a), at(b), bow);
        match style {
            Style::Numbers(most) => {
                let (colour, width) = by_number(cable.subflows(), *most);
                canvas.line(path, colour.into(), width);
            }
            Style::Strands(strands) => {
                let on = strands.on(cable);
                if cable.subflows() > 1 {
                    let wide = 6 + 4 * on.len() as u32;
                    for node in [a, b] {
                        heights[node] = f64::max(heights[node], f64::from(wide));
                    }
                    canvas.line(path.clone(), SHARED.into(), wide);
                }
                canvas.line(path.clone(), RGBColor(170, 170, 170).into(), 1);
                for (place, strand) in on.iter().enumerate() {
                    let side = (place as f64 - (on.len() as f64 - 1.0) / 2.0) * APART;
                    canvas.line(beside(&path, side), palette::series(*strand).into(), 3);
                }
                labels.push((cable, path[path.len() / 2], on.len()));
            }
        }
    }
    let columns = plan.layers.len().max(1) as f64;
    let room = match plan.is_vertical {
        true => 170.0,
        false => 0.86 * area.width / (columns - 1.0).max(1.0) - 90.0,
    };
    for (cable, middle, strands) in labels {
        label(canvas, area, cable, middle, strands, room);
    }
    for (number, name) in plan.nodes.iter().enumerate() {
        let layer = plan.layers.iter().find(|layer| layer.contains(&number));
        let beside = layer.map_or(1, Vec::len) as f64;
        let most = match plan.is_vertical {
            true => area.width / beside - 4.0,
            false => (area.width / columns * 0.6).min(0.13 * area.width),
        };
        let height = match plan.is_vertical {
            true => 0.0,
            false => heights[number],
        };
        node(
            canvas,
            at(number),
            (name, number < plan.hosts),
            (most, height),
        );
    }
}

/// A node with its name. Its box has at most this width, and at least this height.
fn node(
    canvas: &mut Canvas<'_>,
    (x, y): (f64, f64),
    (name, is_host): (&str, bool),
    (most, height): (f64, f64),
) {
    // Names of many nodes side by side have their last part only: `1.2` of `aggregation 1.2`.
    let fits = |text: &str| width(text, NODE) + 12.0 <= most;
    let short = match fits(name) {
        true => name.to_owned(),
        false => match name.rsplit_once(' ') {
            Some((_, last)) => cut(last, NODE, most),
            None => cut(name, NODE, most),
        },
    };
    let half = (width(&short, NODE) / 2.0 + 6.0)
        .max(13.0)
        .min((most / 2.0).max(9.0));
    let high = (height / 2.0 + 2.0).max(11.0);
    let (from, to) = ((x - half, y - high), (x + half, y + high));
    let ground = if is_host { WHITE } else { BOX };
    canvas.rectangle(from, to, ground.into());
    canvas.frame(from, to, GREY.into(), if is_host { 2 } else { 1 });
    canvas.text(&short, (x, y), NODE, Align::Middle, BLACK);
}

/// A line between two points through a point beside its middle.
pub fn bent(from: (f64, f64), to: (f64, f64), bow: f64) -> Vec<(f64, f64)> {
    const PIECES: usize = 24;
    let length = (to.0 - from.0).hypot(to.1 - from.1).max(1.0);
    let (across_x, across_y) = ((from.1 - to.1) / length, (to.0 - from.0) / length);
    let point = |piece: usize| {
        let t = piece as f64 / PIECES as f64;
        // Flat in its middle, where the label stands.
        let side = bow * (1.0 - (2.0 * t - 1.0).powi(4));
        (
            from.0 + (to.0 - from.0) * t + across_x * side,
            from.1 + (to.1 - from.1) * t + across_y * side,
        )
    };
    match bow == 0.0 {
        true => vec![from, point(PIECES / 2), to],
        false => (0..=PIECES).map(point).collect(),
    }
}

/// A line at a distance of another.
pub fn beside(path: &[(f64, f64)], side: f64) -> Vec<(f64, f64)> {
    let shift = |number: usize| {
        let (before, after) = (
            path[number.saturating_sub(1)],
            path[(number + 1).min(path.len() - 1)],
        );
        let length = (after.0 - before.0).hypot(after.1 - before.1).max(1e-9);
        let (x, y) = path[number];
        (
            x + (before.1 - after.1) / length * side,
            y + (after.0 - before.0) / length * side,
        )
    };
    (0..path.len()).map(shift).collect()
}

/// The name of a cable above its middle, and its properties below.
fn label(
    canvas: &mut Canvas<'_>,
    area: Area,
    cable: &Cable<'_>,
    (x, y): (f64, f64),
    strands: usize,
    room: f64,
) {
    let space = 12.0 + APART * strands as f64 / 2.0;
    let star = if cable.link.is_bottleneck { " *" } else { "" };
    let users = match cable.subflows() {
        0 | 1 => String::new(),
        number => format!(", shared by {number} subflows"),
    };
    let name = format!("{}{star}{users}", cable.name());
    let name = match width(&name, LABEL) > room {
        true if !users.is_empty() => {
            format!("{}{star}: {} subflows", cable.name(), cable.subflows())
        }
        _ => name,
    };
    let all = properties(cable).join(", ");
    for (text, y) in [(name, y - space), (all, y + space)] {
        let text = cut(&text, LABEL, room);
        let half = width(&text, LABEL) / 2.0;
        let middle = x.max(area.x + half).min(area.right() - half);
        canvas.text(&text, (middle, y), LABEL, Align::Middle, GREY);
    }
}

/// Draws layers as boxes from bottom to top.
pub fn layers(canvas: &mut Canvas<'_>, area: Area, summary: &Summary) {
    let count = summary.layers.len();
    let step = area.height / count as f64;
    let middle = |layer: usize| area.bottom() - (layer as f64 + 0.5) * step;
    let widest = summary
        .layers
        .iter()
        .map(|layer| layer.nodes)
        .max()
        .unwrap_or(1) as f64;
    let centre = area.x + area.width / 2.0;
    let most = summary
        .between
        .iter()
        .map(|between| between.most)
        .max()
        .unwrap_or(0);
    for between in &summary.between {
        let (low, high) = between.layers;
        let (from, to) = (middle(low) - 14.0, middle(high) + 14.0);
        let (colour, width_) = by_number(between.most, most);
        for side in [-0.12, 0.0, 0.12] {
            let x = centre + side * area.width;
            canvas.line([(x, from), (x, to)], colour.into(), width_);
        }
        let texts = [
            format!(
                "{} in each direction: {}",
                crate::output::counted(between.cables, "link"),
                between.properties
            ),
            format!(
                "{} with data, {} shared; {:.1} subflows on average, most {} ({})",
                between.used, between.shared, between.mean, between.most, between.busiest
            ),
        ];
        let height = (from + to) / 2.0;
        let widest = texts
            .iter()
            .map(|text| width(text, LABEL))
            .fold(0.0, f64::max);
        let half = (widest / 2.0 + 6.0).min(area.width / 2.0);
        let (top, bottom) = (height - 18.0, height + 18.0);
        canvas.rectangle((centre - half, top), (centre + half, bottom), WHITE.into());
        for (text, y) in texts.iter().zip([height + 8.0, height - 8.0]) {
            let text = cut(text, LABEL, area.width - 20.0);
            canvas.text(&text, (centre, y), LABEL, Align::Middle, GREY);
        }
    }
    for (number, layer) in summary.layers.iter().enumerate() {
        let share = (layer.nodes as f64 / widest).max(0.25);
        let half = area.width * 0.42 * share;
        let y = middle(number);
        let (from, to) = ((centre - half, y - 14.0), (centre + half, y + 14.0));
        let ground = if number == 0 { WHITE } else { BOX };
        canvas.rectangle(from, to, ground.into());
        canvas.frame(from, to, GREY.into(), 1);
        canvas.text(&layer.title, (centre, y), NODE, Align::Middle, BLACK);
    }
}
