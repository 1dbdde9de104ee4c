//! A drawing in pixel coordinates, and the sizes of its texts.
//!
//! plotters writes the SVG. Layout is done here, because plotters does not know the widths of texts, so that its labels can overlap.

use std::sync::LazyLock;

use plotters::backend::DrawingBackend;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use ttf_parser::Face;

use super::format::FONT;

/// plotters divides the size of a font by this number before it writes the size.
const PLOTTERS_SIZE: f64 = 1.24;
/// Top of a text's capitals above the vertical position that plotters takes, in units of the size.
const TOP_TO_BASELINE: f64 = 0.76;
/// Half of the height of a capital, in units of the size.
const HALF_CAPITAL: f64 = 0.36;

/// Horizontal position of a text relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// The text begins at the point.
    Left,
    /// The middle of the text is at the point.
    Middle,
    /// The text ends at the point.
    Right,
}

/// A rectangle, pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl Area {
    /// Right edge.
    pub fn right(&self) -> f64 {
        self.x + self.width
    }

    /// Lower edge.
    pub fn bottom(&self) -> f64 {
        self.y + self.height
    }

    /// The cell of a grid in the area.
    pub fn cell(&self, column: usize, row: usize, columns: usize, rows: usize) -> Self {
        let (width, height) = (self.width / columns as f64, self.height / rows as f64);
        Self {
            x: self.x + width * column as f64,
            y: self.y + height * row as f64,
            width,
            height,
        }
    }
}

/// A drawing.
pub struct Canvas<'a> {
    backend: SVGBackend<'a>,
}

/// Draws an SVG of this size on white ground.
pub fn draw(size: (u32, u32), draw: impl FnOnce(&mut Canvas<'_>)) -> String {
    let mut svg = String::new();
    let mut canvas = Canvas {
        backend: SVGBackend::with_string(&mut svg, size),
    };
    let (width, height) = (f64::from(size.0), f64::from(size.1));
    canvas.rectangle((0.0, 0.0), (width, height), WHITE.into());
    draw(&mut canvas);
    // Writing into a string cannot fail.
    let _ = canvas.backend.present();
    drop(canvas);
    svg
}

fn pixel((x, y): (f64, f64)) -> (i32, i32) {
    // Far outside of any picture, and far inside of the range.
    let bounded = |value: f64| value.round().clamp(-1e6, 1e6) as i32;
    (bounded(x), bounded(y))
}

impl Canvas<'_> {
    /// A line through points. Successive points on one pixel are one.
    pub fn line(
        &mut self,
        points: impl IntoIterator<Item = (f64, f64)>,
        colour: RGBAColor,
        width: u32,
    ) {
        let mut path: Vec<(i32, i32)> = points.into_iter().map(pixel).collect();
        path.dedup();
        if path.len() == 1 {
            path.push((path[0].0 + 1, path[0].1));
        }
        if !path.is_empty() {
            let _ = self.backend.draw_path(path, &colour.stroke_width(width));
        }
    }

    /// A dashed line through points.
    pub fn dashes(&mut self, points: &[(f64, f64)], colour: RGBAColor, width: u32, dash: f64) {
        // The rest of the dash or gap at the start of a segment of the line.
        let (mut rest, mut is_dash) = (dash, true);
        let mut current: Vec<(f64, f64)> = points.first().copied().into_iter().collect();
        for pair in points.windows(2) {
            let ((mut x, mut y), end) = (pair[0], pair[1]);
            let mut length = (end.0 - x).hypot(end.1 - y);
            while length > rest {
                (x, y) = (
                    x + (end.0 - x) * rest / length,
                    y + (end.1 - y) * rest / length,
                );
                length -= rest;
                if is_dash {
                    current.push((x, y));
                    self.line(std::mem::take(&mut current), colour, width);
                } else {
                    current = vec![(x, y)];
                }
                (rest, is_dash) = (dash, !is_dash);
            }
            rest -= length;
            if is_dash {
                current.push(end);
            }
        }
        if is_dash && current.len() > 1 {
            self.line(current, colour, width);
        }
    }

    /// A filled polygon.
    pub fn polygon(&mut self, points: impl IntoIterator<Item = (f64, f64)>, colour: RGBAColor) {
        let mut path: Vec<(i32, i32)> = points.into_iter().map(pixel).collect();
        path.dedup();
        if path.len() > 2 {
            let _ = self.backend.fill_polygon(path, &colour.filled());
        }
    }

    /// A filled rectangle.
    pub fn rectangle(&mut self, from: (f64, f64), to: (f64, f64), colour: RGBAColor) {
        let style = colour.filled();
        let _ = self.backend.draw_rect(pixel(from), pixel(to), &style, true);
    }

    /// The edges of a rectangle.
    pub fn frame(&mut self, from: (f64, f64), to: (f64, f64), colour: RGBAColor, width: u32) {
        let corners = [from, (to.0, from.1), to, (from.0, to.1), from];
        self.line(corners, colour, width);
    }

    /// A circle, filled or not.
    pub fn circle(&mut self, at: (f64, f64), radius: u32, colour: RGBAColor, is_filled: bool) {
        let style = match is_filled {
            true => colour.filled(),
            false => colour.stroke_width(2),
        };
        let _ = self
            .backend
            .draw_circle(pixel(at), radius, &style, is_filled);
    }

    /// A diagonal cross.
    pub fn cross(&mut self, (x, y): (f64, f64), half: f64, colour: RGBAColor) {
        self.line([(x - half, y - half), (x + half, y + half)], colour, 2);
        self.line([(x - half, y + half), (x + half, y - half)], colour, 2);
    }

    /// The edges of a triangle that stands on its point.
    pub fn triangle(&mut self, (x, y): (f64, f64), half: f64, colour: RGBAColor) {
        let corners = [
            (x - half, y - half),
            (x + half, y - half),
            (x, y + half),
            (x - half, y - half),
        ];
        self.line(corners, colour, 2);
    }

    /// A text whose capitals have their middle at the height of the point.
    pub fn text(&mut self, text: &str, at: (f64, f64), size: f64, align: Align, colour: RGBColor) {
        self.write(text, at, size, align, colour, FontTransform::None);
    }

    /// A text that reads upwards, with its middle at the point.
    pub fn text_upwards(&mut self, text: &str, at: (f64, f64), size: f64, colour: RGBColor) {
        self.write(
            text,
            at,
            size,
            Align::Middle,
            colour,
            FontTransform::Rotate270,
        );
    }

    fn write(
        &mut self,
        text: &str,
        (x, y): (f64, f64),
        size: f64,
        align: Align,
        colour: RGBColor,
        transform: FontTransform,
    ) {
        let position = Pos::new(
            match align {
                Align::Left => HPos::Left,
                Align::Middle => HPos::Center,
                Align::Right => HPos::Right,
            },
            VPos::Top,
        );
        let style = ("sans-serif", size * PLOTTERS_SIZE).into_font();
        let up = size * (HALF_CAPITAL - TOP_TO_BASELINE);
        let at = match transform {
            FontTransform::None => (x, y + up),
            _ => (x + up, y),
        };
        let style = style.transform(transform).color(&colour).pos(position);
        let _ = self.backend.draw_text(text, &style, pixel(at));
    }
}

/// Width of a text, pixels, in the font of PNG and PDF. The usual sans-serif fonts of browsers are narrower.
pub fn width(text: &str, size: f64) -> f64 {
    static FACE: LazyLock<Option<Face<'static>>> = LazyLock::new(|| Face::parse(FONT, 0).ok());
    let Some(face) = &*FACE else {
        return 0.7 * size * text.chars().count() as f64;
    };
    let em = f64::from(face.units_per_em());
    let advance = |c: char| {
        let glyph = face.glyph_index(c).and_then(|g| face.glyph_hor_advance(g));
        glyph.map_or(1.0, |advance| f64::from(advance) / em)
    };
    text.chars().map(advance).sum::<f64>() * size
}

/// The text, cut to a width, with an ellipsis if a part is missing.
pub fn cut(text: &str, size: f64, most: f64) -> String {
    if width(text, size) <= most {
        return text.into();
    }
    let mut short = text.to_owned();
    while !short.is_empty() && width(&short, size) + width("…", size) > most {
        short.pop();
    }
    short.trim_end().to_owned() + "…"
}

/// The lines of a text that fit into a width. A longer word is cut.
pub fn wrap(text: &str, size: f64, most: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let joined = lines.last().map(|line| format!("{line} {word}"));
        match joined.filter(|line| width(line, size) <= most) {
            Some(line) => *lines.last_mut().expect("a line") = line,
            None => lines.push(cut(word, size, most)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_the_widths_of_the_font() {
        // DejaVu Sans: a digit is 1303 of 2048 units wide, "i" 569.
        assert!((width("0000", 10.0) - 4.0 * 10.0 * 1303.0 / 2048.0).abs() < 1e-9);
        assert!((width("i", 20.0) - 20.0 * 569.0 / 2048.0).abs() < 1e-9);
        assert_eq!(cut("abc", 10.0, 100.0), "abc");
        let short = cut(&"0".repeat(100), 10.0, 100.0);
        assert!(short.ends_with('…') && width(&short, 10.0) <= 100.0);
        assert_eq!(
            wrap("aa bb cc", 10.0, width("aa bb", 10.0)),
            ["aa bb", "cc"]
        );
    }

    #[test]
    fn dashes_have_gaps() {
        let svg = draw((100, 20), |canvas| {
            canvas.dashes(&[(0.0, 5.0), (35.0, 5.0)], BLACK.into(), 1, 10.0);
        });
        assert_eq!(svg.matches("<polyline").count(), 2, "{svg}");
        assert!(
            svg.contains("0,5 10,5") && svg.contains("20,5 30,5"),
            "{svg}"
        );
    }
}
