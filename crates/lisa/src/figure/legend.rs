//! The legend of a figure: marks with their meanings, on one line.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Area, Drawn};

/// A mark as the panels draw it.
#[derive(Clone, Copy)]
pub enum Mark {
    Line(ShapeStyle),
    Dashes(ShapeStyle),
    Cross(ShapeStyle),
    /// A short vertical line.
    Tick(ShapeStyle),
}

/// A mark and its meaning.
pub struct Entry {
    pub mark: Mark,
    pub text: String,
}

/// Width of a mark, and of the space after a mark and after a text, pixels.
const MARK: i32 = 26;
const GAP: i32 = 7;
const SPACE: i32 = 18;

/// Draws the entries from left to right, their middle at `at`.
pub fn legend(area: &Area<'_>, entries: &[Entry], at: (i32, i32), colour: RGBColor) -> Drawn {
    let (mut x, y) = at;
    let left = Pos::new(HPos::Left, VPos::Center);
    let style = ("sans-serif", 15).into_font().color(&colour).pos(left);
    for Entry { mark, text } in entries {
        let (middle, end) = (x + MARK / 2, x + MARK);
        match mark {
            Mark::Line(style) => area.draw(&PathElement::new([(x, y), (end, y)], *style))?,
            Mark::Dashes(style) => {
                for from in (x..end).step_by(9) {
                    let to = (from + 5).min(end);
                    area.draw(&PathElement::new([(from, y), (to, y)], *style))?;
                }
            }
            Mark::Cross(style) => area.draw(&Cross::new((middle, y), 5, *style))?,
            Mark::Tick(style) => {
                area.draw(&PathElement::new(
                    [(middle, y - 6), (middle, y + 6)],
                    *style,
                ))?;
            }
        }
        x = end + GAP;
        area.draw_text(text, &style, (x, y))?;
        let (width, _) = area.estimate_text_size(text, &style)?;
        x += width as i32 + SPACE;
    }
    Ok(())
}
