//! The figure of `lisa compare`: the windows of all connections with the first seed, and the metrics over all seeds.

use scenario::study::comparison::{At, Comparison};
use scenario::{Run, Scenario};

use crate::figure::page::{self, Grid, Texts};
use crate::figure::results::{self, Data};
use crate::figure::size::Size;
use crate::figure::windows::{self, Interval, Panel, Windows};
use crate::output::counted;
use crate::runs::labels;
use crate::runs::on::On;

/// Largest number of panels of windows.
const MOST: usize = 24;
/// Largest number of panels of metrics side by side.
const COLUMNS: usize = 2;

/// What a figure has besides the results.
pub struct Page {
    /// The line of the settings.
    pub settings: Option<String>,
    /// The time of the windows.
    pub interval: Interval,
    /// The size.
    pub size: Option<Size>,
}

/// Draws an SVG. `data` are those of each metric.
///
/// # Errors
/// If the size has no space.
pub fn draw(
    scenario: &Scenario,
    comparison: &Comparison,
    data: &[Data],
    page: &Page,
) -> Result<String, String> {
    let (interval, size) = (page.interval, page.size);
    let algorithms = comparison.algorithms.len();
    let connections = (MOST / algorithms).max(1);
    let windows: Vec<Option<Windows>> = (comparison.each())
        .map(|(_, contender)| {
            let run = contender.first.as_ref()?;
            Some(windows::of_run(run, interval, &[], connections))
        })
        .collect();
    let panels = panels(comparison, &windows);
    let titles = windows.iter().flatten().map(|windows| windows.titles.len());
    let others = windows
        .iter()
        .flatten()
        .map(Windows::others)
        .max()
        .unwrap_or(0);
    let columns = match titles.max().unwrap_or(1) {
        // A row for each connection, and a column for each algorithm.
        rows if rows > 1 && algorithms <= 4 => algorithms,
        _ => page::columns(panels.len(), size, windows::LEAST.0),
    };
    let backends: Vec<String> = (comparison.backends.iter())
        .map(|backend| {
            On::from(*backend)
                .endpoints(&comparison.backends)
                .to_owned()
        })
        .collect();
    let first = || comparison.of(At::default()).first.as_ref();
    let names = first().map_or_else(Vec::new, |run| labels::paths(scenario, run));
    let pictures: Vec<_> = (data.iter())
        .filter(|data| data.places().next().is_some())
        .map(results::bars)
        .collect();
    let mut notes: Vec<String> = Vec::new();
    if others > 0 {
        notes.push(format!(
            "{others} more connections are left out of the windows."
        ));
    }
    let noted = pictures.iter().find(|picture| !picture.notes.is_empty());
    notes.extend(noted.into_iter().flat_map(|picture| picture.notes.clone()));
    let texts = Texts {
        title: comparison.title.clone(),
        lines: std::iter::once(format!(
            "windows with seed {}; above each panel the completion or the goodput",
            first().map_or(1, |run| run.outcome.seed)
        ))
        .chain(page.settings.clone())
        .collect(),
        legend: windows::legend(&panels, &backends, &names, page::plot_width(columns, size)),
        notes,
    };
    let mut grids = vec![(
        String::new(),
        Grid {
            panels: panels.len(),
            columns,
            height: windows::height(panels.len().div_ceil(columns)),
            least: windows::LEAST,
        },
    )];
    let bars: usize = pictures.iter().map(|picture| picture.panels).sum();
    if bars > 0 {
        let height = pictures
            .iter()
            .map(|picture| picture.height)
            .fold(0.0, f64::max);
        let least = pictures
            .iter()
            .map(|picture| picture.least.1)
            .fold(0.0, f64::max);
        let heading = match comparison.of(At::default()).groups.runs {
            1 => format!("seed {}", first().map_or(1, |run| run.outcome.seed)),
            runs => format!(
                "means of {} with 95 % confidence intervals",
                counted(runs, "seed")
            ),
        };
        let columns = page::columns(bars, size, 420.0).min(COLUMNS);
        let grid = Grid {
            panels: bars,
            columns,
            height,
            least: (200.0, least),
        };
        grids.push((heading, grid));
    }
    page::sections(&texts, &grids, size, |canvas, areas| {
        windows::draw(canvas, &areas[0], &panels, interval);
        let mut rest: &[_] = areas.get(1).map_or(&[], Vec::as_slice);
        for picture in &pictures {
            let (own, others) = rest.split_at(picture.panels.min(rest.len()));
            (picture.draw)(canvas, own);
            rest = others;
        }
    })
}

/// For each connection a panel for each algorithm, with the windows on all backends.
fn panels<'a>(comparison: &Comparison, windows: &'a [Option<Windows>]) -> Vec<Panel<'a>> {
    let backends = comparison.backends.len();
    let mut titles: Vec<&String> = Vec::new();
    for title in windows.iter().flatten().flat_map(|windows| &windows.titles) {
        if !titles.contains(&title) {
            titles.push(title);
        }
    }
    let mut panels = Vec::new();
    for title in &titles {
        for (algorithm, name) in comparison.algorithms.iter().enumerate() {
            let of = |backend: usize| {
                let run = comparison.of(At { algorithm, backend }).first.as_ref();
                (run, windows[algorithm * backends + backend].as_ref())
            };
            let runs = (0..backends).filter_map(|backend| {
                let windows = of(backend).1?;
                let number = windows.titles.iter().position(|other| other == *title)?;
                Some(&windows.connections[number])
            });
            let name = match titles.len() {
                1 => name.clone(),
                _ => format!("{title}, {name}"),
            };
            let results: Vec<String> = (0..backends)
                .filter_map(|backend| {
                    let result = result(of(backend).0?, title)?;
                    let on = On::from(comparison.backends[backend]).endpoints(&comparison.backends);
                    Some(match backends {
                        1 => result,
                        _ => format!("{on} {result}"),
                    })
                })
                .collect();
            panels.push(Panel {
                caption: match &results[..] {
                    [] => name,
                    results => format!("{name}: {}", results.join(", ")),
                },
                runs: runs.collect(),
            });
        }
    }
    panels
}

/// The completion time or the goodput of a connection.
fn result(run: &Run, title: &str) -> Option<String> {
    let mut outcomes = run.outcome.connections.iter();
    labels::result(outcomes.find(|outcome| outcome.title() == title)?)
}
