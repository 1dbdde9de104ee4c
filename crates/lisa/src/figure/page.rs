//! A page: title, lines of text, legend, panels in a grid, and notes below them.

use super::canvas::{self, Align, Area, Canvas, wrap};
use super::legend::{self, Entry};
use super::palette::GREY;
use super::size::Size;

/// Width of a figure without `--size`, pixels.
const WIDTH: u32 = 960;
/// Space around the page.
const MARGIN: f64 = 12.0;
/// Sizes of the texts, and heights of their lines.
const TITLE: (f64, f64) = (16.0, 24.0);
const LINE: (f64, f64) = (12.0, 18.0);

/// Size of a heading above a grid of panels, and height of its line.
const HEADING: (f64, f64) = (13.0, 28.0);

fn heading_height(heading: &str) -> f64 {
    match heading {
        "" => 0.0,
        _ => HEADING.1,
    }
}

/// The texts of a page.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// The title.
    pub title: String,
    /// Lines below the title.
    pub lines: Vec<String>,
    /// The legend.
    pub legend: Vec<Entry>,
    /// Lines below the panels.
    pub notes: Vec<String>,
}

/// The panels of a page.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// Number of panels.
    pub panels: usize,
    /// Panels side by side.
    pub columns: usize,
    /// Height of a panel without `--size`, pixels.
    pub height: f64,
    /// Least width and height of a panel.
    pub least: (f64, f64),
}

impl Grid {
    fn rows(&self) -> usize {
        self.panels.div_ceil(self.columns).max(1)
    }
}

/// Number of panels side by side.
pub fn columns(panels: usize, size: Option<Size>, least: f64) -> usize {
    let wanted = match panels {
        0 | 1 => 1,
        2 | 4 => 2,
        _ => 3,
    };
    let width = size.map_or(WIDTH, |size| size.width);
    let fits = ((f64::from(width) - 2.0 * MARGIN) / least) as usize;
    wanted.min(fits.max(1))
}

/// Width of the plot of a panel, pixels, about.
pub fn plot_width(columns: usize, size: Option<Size>) -> f64 {
    let width = size.map_or(WIDTH, |size| size.width);
    (f64::from(width) - 2.0 * MARGIN) / columns as f64 - 66.0
}

/// Number of panels of this least size that fit on a page, with space for the texts, of which `lines` stand below the title.
pub fn capacity(
    size: Option<Size>,
    columns: usize,
    least: f64,
    most: usize,
    lines: &[String],
) -> usize {
    match size {
        None => most,
        Some(size) => {
            let wide = f64::from(size.width) - 2.0 * MARGIN;
            let lines: usize = lines
                .iter()
                .map(|line| wrap(line, LINE.0, wide).len())
                .sum();
            let texts = 112.0 + LINE.1 * lines as f64;
            let rows = ((f64::from(size.height) - texts) / least).floor().max(1.0);
            most.min(rows as usize * columns)
        }
    }
}

/// Draws a page with one grid of panels as SVG. `draw` gets the area of each panel.
///
/// # Errors
/// If the panels do not fit into the size.
pub fn page(
    texts: &Texts,
    grid: Grid,
    size: Option<Size>,
    draw: impl FnOnce(&mut Canvas<'_>, &[Area]),
) -> Result<String, String> {
    sections(texts, &[(String::new(), grid)], size, |canvas, areas| {
        draw(canvas, &areas[0])
    })
}

/// Draws a page with several grids of panels below each other, each with a heading. `draw` gets the areas of the panels of each grid.
///
/// # Errors
/// If the panels do not fit into the size.
pub fn sections(
    texts: &Texts,
    grids: &[(String, Grid)],
    size: Option<Size>,
    draw: impl FnOnce(&mut Canvas<'_>, &[Vec<Area>]),
) -> Result<String, String> {
    let width = size.map_or(WIDTH, |size| size.width);
    let most = f64::from(width) - 2.0 * MARGIN;
    let wrapped = |lines: &[String], size: f64| -> Vec<String> {
        lines
            .iter()
            .flat_map(|line| wrap(line, size, most))
            .collect()
    };
    let title = wrapped(std::slice::from_ref(&texts.title), TITLE.0);
    let lines = wrapped(&texts.lines, LINE.0);
    let notes = wrapped(&texts.notes, LINE.0);
    let above = MARGIN
        + title.len() as f64 * TITLE.1
        + lines.len() as f64 * LINE.1
        + legend::height(&texts.legend, most)
        + 6.0;
    let below = notes.len() as f64 * LINE.1 + MARGIN;
    let headings: f64 = grids
        .iter()
        .map(|(heading, _)| heading_height(heading))
        .sum();
    let natural: f64 = grids
        .iter()
        .map(|(_, grid)| grid.rows() as f64 * grid.height)
        .sum();
    let height = size.map_or_else(
        || (above + below + headings + natural).round() as u32,
        |size| size.height,
    );
    // The grids share the height in proportion to their natural heights.
    let scale = (f64::from(height) - above - below - headings) / natural;
    let mut y = above;
    let mut areas: Vec<Area> = Vec::new();
    let mut least: (f64, f64) = (0.0, above + below + headings);
    let mut fits = true;
    for (heading, grid) in grids {
        y += heading_height(heading);
        let rows = grid.rows() as f64;
        let area = Area {
            x: MARGIN,
            y,
            width: most,
            height: rows * grid.height * scale,
        };
        y = area.bottom();
        let cell = area.cell(0, 0, grid.columns, grid.rows());
        fits &= cell.width >= grid.least.0 && cell.height >= grid.least.1;
        least.0 = least
            .0
            .max(grid.columns as f64 * grid.least.0 + 2.0 * MARGIN);
        // So that each grid has its least height in its share.
        let needed = grid.least.1 / grid.height * natural + above + below + headings;
        least.1 = least.1.max(needed);
        areas.push(area);
    }
    if !fits {
        let panels: usize = grids.iter().map(|(_, grid)| grid.panels).sum();
        return Err(format!(
            "the figure needs at least {}x{} pixels for its {}: give a larger --size",
            least.0.ceil().max(f64::from(width)),
            least.1.ceil(),
            crate::output::counted(panels, "panel")
        ));
    }
    let svg = canvas::draw((width, height), |canvas| {
        let mut y = MARGIN;
        for line in &title {
            let at = (MARGIN, y + TITLE.1 / 2.0);
            canvas.text(line, at, TITLE.0, Align::Left, plotters::style::BLACK);
            y += TITLE.1;
        }
        for line in &lines {
            canvas.text(line, (MARGIN, y + LINE.1 / 2.0), LINE.0, Align::Left, GREY);
            y += LINE.1;
        }
        legend::draw(canvas, &texts.legend, (MARGIN, y), most);
        let cells = |(area, (_, grid)): (&Area, &(String, Grid))| -> Vec<Area> {
            let cell = |panel: usize| {
                let (column, row) = (panel % grid.columns, panel / grid.columns);
                area.cell(column, row, grid.columns, grid.rows())
            };
            (0..grid.panels).map(cell).collect()
        };
        for (area, (heading, _)) in areas.iter().zip(grids) {
            let at = (MARGIN, area.y - HEADING.1 / 2.0);
            let heading = canvas::cut(heading, HEADING.0, most);
            canvas.text(&heading, at, HEADING.0, Align::Left, plotters::style::BLACK);
        }
        let cells: Vec<Vec<Area>> = areas.iter().zip(grids).map(cells).collect();
        draw(canvas, &cells);
        let mut y = f64::from(height) - below;
        for line in &notes {
            canvas.text(line, (MARGIN, y + LINE.1 / 2.0), LINE.0, Align::Left, GREY);
            y += LINE.1;
        }
    });
    Ok(named(&svg, &texts.title))
}

/// The SVG with its title, which screen readers read out.
fn named(svg: &str, title: &str) -> String {
    let escaped = title.replace('&', "&amp;").replace('<', "&lt;");
    svg.replacen(">", &format!(" role=\"img\"><title>{escaped}</title>"), 1)
}
