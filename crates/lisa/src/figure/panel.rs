//! A panel: caption, axes with grid and labels, and the map from values to pixels.

use plotters::prelude::*;

use super::canvas::{Align, Area, Canvas, cut, width, wrap};
use super::palette::{GREY, GRID};
use super::scale::Scale;

/// Sizes of texts.
const CAPTION: f64 = 13.0;
const LABEL: f64 = 11.0;
/// Height of a line of an axis's title, pixels.
const LINE: f64 = 13.0;
/// Longest line of the title of a horizontal axis, as a share of the panel.
const TITLE_SHARE: f64 = 0.8;
/// Least distance of labels, pixels.
const SPACE: f64 = 10.0;

/// An axis.
#[derive(Clone, Debug)]
pub enum Axis {
    /// Numbers.
    Scale(Scale),
    /// Categories at equal distances: their names, and the title.
    Categories(Vec<String>, String),
}

impl Axis {
    fn title(&self) -> &str {
        match self {
            Self::Scale(scale) => &scale.title,
            Self::Categories(_, title) => title,
        }
    }

    /// Place of a value, of a category by its number from 0: 0 at the start of the axis, 1 at its end.
    pub fn place(&self, value: f64) -> f64 {
        match self {
            Self::Scale(scale) => scale.place(value),
            Self::Categories(names, _) => (value + 0.5) / names.len().max(1) as f64,
        }
    }

    /// Places of the marks with their labels. `room` is the length of the axis, `size` the length that a label needs.
    fn marks(&self, room: f64, size: impl Fn(&str) -> f64, most: f64) -> Vec<(f64, String)> {
        match self {
            Self::Scale(scale) => {
                let mut number = (room / most).floor().max(2.0) as usize;
                loop {
                    let marks = scale.marks(number);
                    let needed: f64 = marks.iter().map(|(_, label)| size(label) + SPACE).sum();
                    if needed <= room || number <= 2 {
                        let place = |(value, label): (f64, String)| (scale.place(value), label);
                        return marks.into_iter().map(place).collect();
                    }
                    number -= 1;
                }
            }
            Self::Categories(names, _) => {
                let one = room / names.len().max(1) as f64;
                let longest = names.iter().map(|name| size(name)).fold(0.0, f64::max);
                let every = ((longest.min(120.0) + SPACE) / one).ceil().max(1.0) as usize;
                let shown = names.iter().enumerate().step_by(every);
                shown
                    .map(|(number, name)| {
                        let name = match size("000") > LABEL * 1.5 {
                            true => cut(name, LABEL, one * every as f64 - 4.0),
                            false => name.clone(),
                        };
                        (self.place(number as f64), name)
                    })
                    .collect()
            }
        }
    }
}

/// A panel with its axes.
pub struct Panel {
    /// The area between the axes.
    pub plot: Area,
    x: Axis,
    y: Axis,
}

/// Longest label of a category on a vertical axis, pixels.
const WIDEST: f64 = 150.0;

impl Panel {
    /// Draws the axes of a panel. Without `grid` there are no lines across the plot.
    pub fn draw(
        canvas: &mut Canvas<'_>,
        area: Area,
        caption: &str,
        (x, y): (Axis, Axis),
        grid: bool,
    ) -> Self {
        let top = match caption {
            "" => 8.0,
            _ => CAPTION + 13.0,
        };
        // Titles of axes continue in further lines.
        let below_title = wrap(x.title(), LABEL, area.width * TITLE_SHARE);
        let bottom = 40.0 + LINE * below_title.len().saturating_sub(1) as f64;
        let rows = area.height - top - bottom;
        let left_title = wrap(y.title(), LABEL, rows + top);
        let mut left = y.marks(rows, |_| LABEL, 34.0);
        for (_, label) in &mut left {
            *label = cut(label, LABEL, WIDEST.min(area.width / 3.0));
        }
        let widest = left.iter().map(|(_, label)| width(label, LABEL));
        let title = match y.title() {
            "" => 4.0,
            _ => 20.0 + LINE * (left_title.len() - 1) as f64,
        };
        let begin = title + widest.fold(0.0, f64::max) + 8.0;
        let plot = Area {
            x: area.x + begin,
            y: area.y + top,
            width: area.width - begin - 16.0,
            height: rows,
        };
        let caption = cut(caption, CAPTION, area.width - begin.min(30.0) - 8.0);
        let at = match width(&caption, CAPTION) > plot.width {
            true => area.x + 8.0,
            false => plot.x,
        };
        canvas.text(&caption, (at, area.y + 12.0), CAPTION, Align::Left, BLACK);
        for (place, label) in &left {
            let height = plot.bottom() - place * plot.height;
            if grid {
                canvas.line([(plot.x, height), (plot.right(), height)], GRID.into(), 1);
            }
            canvas.text(label, (plot.x - 6.0, height), LABEL, Align::Right, GREY);
        }
        let below = x.marks(plot.width, |label| width(label, LABEL), 60.0);
        for (place, label) in &below {
            let at = plot.x + place * plot.width;
            if grid {
                canvas.line([(at, plot.y), (at, plot.bottom())], GRID.into(), 1);
            }
            // A label at an end of the axis stays inside of the panel.
            let half = width(label, LABEL) / 2.0;
            let middle = at.min(area.right() - half).max(area.x + half);
            let y = plot.bottom() + 11.0;
            canvas.text(label, (middle, y), LABEL, Align::Middle, GREY);
        }
        canvas.line(
            [
                (plot.x, plot.y),
                (plot.x, plot.bottom()),
                (plot.right(), plot.bottom()),
            ],
            GREY.into(),
            1,
        );
        for (number, line) in below_title.iter().enumerate() {
            let half = width(line, LABEL) / 2.0;
            let middle = plot.x + plot.width / 2.0;
            let middle = middle.min(area.right() - half).max(area.x + half);
            let y = plot.bottom() + 28.0 + LINE * number as f64;
            canvas.text(line, (middle, y), LABEL, Align::Middle, BLACK);
        }
        for (number, line) in left_title.iter().enumerate() {
            let half = width(line, LABEL) / 2.0;
            let middle = (plot.y + plot.height / 2.0).max(area.y + half);
            let x = area.x + 8.0 + LINE * number as f64;
            canvas.text_upwards(line, (x, middle), LABEL, BLACK);
        }
        Self { plot, x, y }
    }

    /// The pixel of a value.
    pub fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let Area {
            x: left,
            width,
            height,
            ..
        } = self.plot;
        (
            left + self.x.place(x) * width,
            self.plot.bottom() - self.y.place(y) * height,
        )
    }
}
