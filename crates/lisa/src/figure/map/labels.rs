//! Names of nodes beside them, without overlaps.

use super::places::Point;
use crate::figure::canvas::{Align, Area, Canvas, cut, width};
use plotters::prelude::*;

/// Size of the names.
const SIZE: f64 = 11.0;
/// Widest name, pixels.
const WIDEST: f64 = 230.0;
/// Height of a name's box.
const HEIGHT: f64 = 15.0;
/// Half of the edge of a node.
const NODE: f64 = 6.0;

/// A name and its node.
pub struct Label<'a> {
    pub name: &'a str,
    pub at: Point,
    /// Whether the name must be written, also at some distance.
    pub is_needed: bool,
}

/// Boxes that are taken.
struct Boxes(Vec<Area>);

impl Boxes {
    fn is_free(&self, one: &Area) -> bool {
        let apart = |other: &Area| {
            one.right() <= other.x
                || other.right() <= one.x
                || one.bottom() <= other.y
                || other.bottom() <= one.y
        };
        self.0.iter().all(apart)
    }
}

/// Writes the names, the needed ones first, each where it covers least of these lines. A name that fits nowhere is left out.
pub fn write(canvas: &mut Canvas<'_>, area: Area, labels: &[Label<'_>], lines: &[Vec<(f64, f64)>]) {
    let dots = dots(lines);
    let node = |label: &Label<'_>| Area {
        x: label.at.x - NODE,
        y: label.at.y - NODE,
        width: 2.0 * NODE,
        height: 2.0 * NODE,
    };
    let mut taken = Boxes(labels.iter().map(node).collect());
    let (needed, others): (Vec<_>, Vec<_>) = labels.iter().partition(|label| label.is_needed);
    for label in needed.into_iter().chain(others) {
        let name = cut(label.name, SIZE, WIDEST);
        let distances: &[f64] = if label.is_needed {
            &[1.0, 2.0, 3.5, 5.0]
        } else {
            &[1.0]
        };
        let places = distances
            .iter()
            .flat_map(|distance| places(label.at, width(&name, SIZE), *distance));
        let inside = |place: &Area| {
            place.x >= area.x
                && place.right() <= area.right()
                && place.y >= area.y
                && place.bottom() <= area.bottom()
        };
        let free = places.filter(|place| inside(place) && taken.is_free(place));
        // Of equal ones the first.
        let found = free.min_by_key(|place| dots.iter().filter(|dot| is_in(place, **dot)).count());
        let Some(place) = found else {
            continue;
        };
        let ground = WHITE.mix(0.75);
        canvas.rectangle(
            (place.x + 1.0, place.y + 1.0),
            (place.right() - 1.0, place.bottom() - 1.0),
            ground,
        );
        let colour = if label.is_needed {
            BLACK
        } else {
            RGBColor(110, 110, 110)
        };
        let middle = (place.x + 2.0, place.y + HEIGHT / 2.0);
        canvas.text(&name, middle, SIZE, Align::Left, colour);
        taken.0.push(place);
    }
}

/// Points of lines, a few pixels apart.
fn dots(lines: &[Vec<(f64, f64)>]) -> Vec<(f64, f64)> {
    const STEP: f64 = 4.0;
    let pairs = lines.iter().flat_map(|line| line.windows(2));
    let between = pairs.flat_map(|pair| {
        let (from, to) = (pair[0], pair[1]);
        let steps = ((to.0 - from.0).hypot(to.1 - from.1) / STEP)
            .ceil()
            .max(1.0);
        (0..=steps as usize).map(move |step| {
            let share = step as f64 / steps;
            (
                from.0 + (to.0 - from.0) * share,
                from.1 + (to.1 - from.1) * share,
            )
        })
    });
    between.collect()
}

fn is_in(area: &Area, (x, y): (f64, f64)) -> bool {
    (area.x..=area.right()).contains(&x) && (area.y..=area.bottom()).contains(&y)
}

/// Boxes around a node: right, left, below, above, and between them.
fn places(at: Point, wide: f64, distance: f64) -> Vec<Area> {
    let wide = wide + 4.0;
    let (right, left) = (
        at.x + NODE + 2.0 * distance,
        at.x - NODE - 2.0 * distance - wide,
    );
    let (below, above) = (at.y + NODE * distance, at.y - NODE * distance - HEIGHT);
    let middle = (at.x - wide / 2.0, at.y - HEIGHT / 2.0);
    [
        (right, middle.1),
        (left, middle.1),
        (middle.0, below),
        (middle.0, above),
        (right, below),
        (right, above),
        (left, below),
        (left, above),
    ]
    .map(|(x, y)| Area {
        x,
        y,
        width: wide,
        height: HEIGHT,
    })
    .to_vec()
}
