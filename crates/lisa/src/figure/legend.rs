//! The legend of a figure: marks with their meanings, in lines.

use plotters::prelude::*;

use super::canvas::{Align, Canvas, cut, width};
use super::palette::GREY;

/// A mark as the panels draw it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mark {
    /// A line of this width, with dashes of this length.
    Line(RGBAColor, u32, Option<f64>),
    /// A band around a line.
    Band(RGBAColor),
    /// A filled rectangle.
    Box(RGBAColor),
    /// A diagonal cross.
    Cross(RGBAColor),
    /// A triangle that stands on its point.
    Triangle(RGBAColor),
    /// A short vertical line.
    Tick(RGBAColor),
}

/// A mark and its meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The mark.
    pub mark: Mark,
    /// The meaning.
    pub text: String,
}

impl Entry {
    /// An entry.
    pub fn new(mark: Mark, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { mark, text }
    }
}

/// Size of the texts.
const SIZE: f64 = 12.0;
/// Width of a mark, and of the space after a mark and after a text, pixels.
const MARK: f64 = 24.0;
const GAP: f64 = 6.0;
const SPACE: f64 = 18.0;
/// Height of a line.
const LINE: f64 = 20.0;

/// Left edge and middle of an entry relative to the legend's corner, with the text as it fits.
fn places(entries: &[Entry], most: f64) -> Vec<(f64, f64, String)> {
    let (mut x, mut y) = (0.0, LINE / 2.0);
    let mut places = Vec::new();
    for entry in entries {
        let text = cut(&entry.text, SIZE, most - MARK - GAP);
        let wide = MARK + GAP + width(&text, SIZE);
        if x > 0.0 && x + wide > most {
            (x, y) = (0.0, y + LINE);
        }
        places.push((x, y, text));
        x += wide + SPACE;
    }
    places
}

/// Height of the legend in this width.
pub fn height(entries: &[Entry], most: f64) -> f64 {
    let places = places(entries, most);
    places.last().map_or(0.0, |(_, y, _)| y + LINE / 2.0)
}

/// Draws the entries from left to right, in as many lines as they need.
pub fn draw(canvas: &mut Canvas<'_>, entries: &[Entry], (left, top): (f64, f64), most: f64) {
    let places = places(entries, most);
    for (Entry { mark, .. }, (x, y, text)) in entries.iter().zip(places) {
        let (x, y) = (left + x, top + y);
        let (middle, end) = (x + MARK / 2.0, x + MARK);
        match *mark {
            Mark::Line(colour, width, None) => canvas.line([(x, y), (end, y)], colour, width),
            Mark::Line(colour, width, Some(dash)) => {
                canvas.dashes(&[(x, y), (end, y)], colour, width, dash);
            }
            Mark::Band(colour) | Mark::Box(colour) => {
                canvas.rectangle((x + 2.0, y - 6.0), (end - 2.0, y + 6.0), colour);
            }
            Mark::Cross(colour) => canvas.cross((middle, y), 4.0, colour),
            Mark::Triangle(colour) => canvas.triangle((middle, y), 5.0, colour),
            Mark::Tick(colour) => canvas.line([(middle, y - 6.0), (middle, y + 6.0)], colour, 1),
        }
        canvas.text(&text, (end + GAP, y), SIZE, Align::Left, GREY);
    }
}
