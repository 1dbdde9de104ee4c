//! Figures of the rows of runs (docs/rows.md): lines, heat maps, distributions, bars and ranks.

mod bars;
mod cdf;
mod data;
mod facets;
mod feed;
mod heatmap;
mod lines;
pub mod settings;

use clap::ValueEnum;
use plotters::style::Color;

use self::data::Series;
pub use self::data::{Data, Key, Measured, Setting};
pub use self::feed::Feed;
use super::canvas::{Area, Canvas};
use super::legend::{Entry, Mark};
use super::page::{self, Grid, Texts};
use super::palette;
use super::size::Size;
use crate::output::counted;

/// Least number of seeds whose distribution is drawn without `--kind`.
const DISTRIBUTION: usize = 10;

/// Kinds of figures of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// The metric over a key, a line for each algorithm, with bands of 95 % confidence.
    Lines,
    /// The metric over two keys as colours, a map for each algorithm.
    Heatmap,
    /// The share of runs with at most a value, a line for each algorithm.
    Cdf,
    /// Means as bars from zero, with their 95 % confidence intervals and differences to the first algorithm.
    Bars,
    /// The connections of each run, or its subflows or links, from the largest value to the smallest, a line for each algorithm.
    Rank,
}

impl Kind {
    /// Name in arguments.
    fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Heatmap => "heatmap",
            Self::Cdf => "cdf",
            Self::Bars => "bars",
            Self::Rank => "rank",
        }
    }
}

/// Choices for a figure.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The kind; none: chosen from the data.
    pub kind: Option<Kind>,
    /// Heat maps of the differences to the first algorithm.
    pub difference: bool,
    /// Size of the page.
    pub size: Option<Size>,
    /// Values that the axis of lines includes, besides those of the data: neighbouring figures then share it.
    pub range: Option<[f64; 2]>,
}

/// Draws the panels of a figure in their areas.
type DrawPanels<'a> = Box<dyn Fn(&mut Canvas<'_>, &[Area]) + 'a>;

/// The panels of a figure with their legend.
pub struct Picture<'a> {
    /// Number of panels.
    pub panels: usize,
    /// Number of panels that are left out.
    pub left_out: usize,
    /// Height of a panel in a figure without a size, pixels.
    pub height: f64,
    /// Least width and height of a panel.
    pub least: (f64, f64),
    /// The legend.
    pub legend: Vec<Entry>,
    /// Notes below the panels.
    pub notes: Vec<String>,
    /// Draws the panels.
    pub draw: DrawPanels<'a>,
}

/// The bars of a metric.
pub fn bars(data: &Data) -> Picture<'_> {
    bars::picture(data)
}

/// Draws a figure of the data as SVG.
///
/// # Errors
/// If the data do not have this figure.
pub fn svg(data: &Data, title: &str, options: Options) -> Result<String, String> {
    let metric = &data.metric.field;
    if data.places().next().is_none() {
        return Err(match data.rows {
            0 => "there is no run to draw".into(),
            _ => format!("no row has a value of `{metric}`: choose another --metric"),
        });
    }
    let varied = data.varied();
    let names = |keys: &[usize]| -> String {
        let names: Vec<&str> = keys
            .iter()
            .map(|key| data.keys[*key].name.as_str())
            .collect();
        names.join(", ")
    };
    let kind = options.kind.unwrap_or_else(|| chosen(data, &varied));
    if options.difference && (kind != Kind::Heatmap || data.series.len() < 2) {
        return Err("--difference is for heat maps of several algorithms".into());
    }
    let picture = match (kind, &varied[..]) {
        (Kind::Lines, []) => {
            return Err("--kind lines: no key varies; give --vary, or use --kind bars".into());
        }
        (Kind::Lines, keys) => {
            let numeric = keys.iter().find(|key| data.keys[**key].numbers().is_some());
            lines::over_key(data, *numeric.unwrap_or(&keys[0]), options.range)
        }
        (Kind::Heatmap, &[x, y]) => heatmap::picture(data, [x, y], options.difference),
        (Kind::Heatmap, keys) => {
            return Err(match keys {
                [] => "a heat map is over two keys, and none varies".into(),
                keys => format!(
                    "a heat map is over two keys, and {} vary: {}",
                    keys.len(),
                    names(keys)
                ),
            });
        }
        (Kind::Cdf, _) => cdf::picture(data),
        (Kind::Bars, _) => bars::picture(data),
        (Kind::Rank, _) if data.is_of_run => {
            return Err(format!(
                "--kind rank: `{metric}` has one value for each run, which has no order: use --kind bars"
            ));
        }
        (Kind::Rank, _) => lines::over_rank(data),
    };
    let seeds = data.seeds();
    let about = match (kind, seeds) {
        (Kind::Cdf, _) => format!("{}: distribution over the runs", data.metric.title),
        (_, 1) => format!("{}: one run of each", data.metric.title),
        (_, seeds) => format!("{}: means of {}", data.metric.title, counted(seeds, "seed")),
    };
    let mut notes = picture.notes.clone();
    if data.missing > 0 {
        let rows = data.rows;
        let missing = data.missing;
        let reason = match data.part() {
            "link" => "links without a rate or without packets",
            _ => "transfers that did not finish, or not measured",
        };
        notes.push(format!(
            "{missing} of {rows} rows have no {}, and are left out: {reason}.",
            data.metric.title
        ));
    }
    if picture.left_out > 0 {
        let number = picture.left_out;
        notes.push(format!("{number} more panels are left out."));
    }
    let texts = Texts {
        title: title.into(),
        lines: std::iter::once(about)
            .chain(settings::line(data.fixed()))
            .collect(),
        legend: picture.legend.clone(),
        notes,
    };
    let grid = Grid {
        panels: picture.panels,
        columns: page::columns(
            picture.panels,
            options.size,
            picture.least.0.max(match kind {
                Kind::Bars => 420.0,
                _ => 300.0,
            }),
        ),
        height: picture.height,
        least: picture.least,
    };
    page::page(&texts, grid, options.size, |canvas, areas| {
        (picture.draw)(canvas, areas);
    })
    .map_err(|problem| format!("--kind {}: {problem}", kind.name()))
}

/// The kind that suits the varied keys and the number of seeds.
fn chosen(data: &Data, varied: &[usize]) -> Kind {
    let is_numeric = |key: &usize| data.keys[*key].numbers().is_some();
    match varied {
        [] if data.seeds() >= DISTRIBUTION => Kind::Cdf,
        [] => Kind::Bars,
        [key] if !is_numeric(key) => Kind::Bars,
        [_] => Kind::Lines,
        [_, _] => Kind::Heatmap,
        _ => Kind::Lines,
    }
}

/// A line for each series, and a note about bands.
fn series_legend(data: &Data, bands: Option<&str>) -> Vec<Entry> {
    let series = data.series.iter().enumerate();
    let entry = |(number, series): (usize, &Series)| {
        let wide = palette::width(number, data.series.len());
        let style = series.style;
        let mark = Mark::Line(palette::series(style).into(), wide, palette::dash(style));
        Entry::new(mark, series.name.clone())
    };
    let named = series.filter(|(_, series)| !series.name.is_empty());
    let mut entries: Vec<Entry> = named.map(entry).collect();
    entries.extend(bands.map(|text| Entry::new(Mark::Band(palette::GREY.mix(0.25)), text)));
    entries
}
