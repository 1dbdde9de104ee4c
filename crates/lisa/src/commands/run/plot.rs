//! The figure of `lisa run`: the windows of all connections.

use scenario::study::contenders;
use scenario::{Run, Scenario};

use super::Arguments;
use crate::figure::page::{self, Grid, Texts};
use crate::figure::results::settings;
use crate::figure::windows::{self, Connection, Interval, Panel, Windows};
use crate::output::Failure;
use crate::runs::{labels, rows_file};

/// Largest number of panels.
pub const MOST: usize = 24;

/// Checks the names of `--connection`.
pub fn check(arguments: &Arguments, scenario: &Scenario) -> Result<(), Failure> {
    let names: Vec<&str> = scenario
        .connections
        .iter()
        .map(|c| c.name.as_str())
        .collect();
    let is_known = |drawn: &&String| names.iter().any(|name| is_of(drawn, name));
    match arguments.drawn.iter().find(|drawn| !is_known(drawn)) {
        None => Ok(()),
        Some(unknown) => Err(contenders::no_connection(unknown, &names).into()),
    }
}

/// Whether this is a name, or one of the titles `NAME 2`, `NAME 3` …
fn is_of(drawn: &str, name: &str) -> bool {
    windows::is_wanted(&[name.to_owned()], drawn)
}

/// Draws the windows of a run.
pub fn draw(
    arguments: &Arguments,
    scenario: &Scenario,
    interval: Interval,
    run: &Run,
) -> Result<String, Failure> {
    let windows = windows::of_run(run, interval, &arguments.drawn, MOST);
    let caption = |title: &str, _: &Connection| {
        let mut outcomes = run.outcome.connections.iter();
        let outcome = outcomes.find(|outcome| outcome.title() == title);
        let algorithm = outcome.map(|outcome| outcome.algorithm.as_str());
        let result = outcome.and_then(labels::result);
        let parts: Vec<String> = [algorithm.map(String::from), result]
            .into_iter()
            .flatten()
            .collect();
        match parts.is_empty() {
            true => title.to_owned(),
            false => format!("{title}: {}", parts.join(", ")),
        }
    };
    let mut about = vec![format!(
        "{}, seed {}",
        arguments.on.place(),
        run.outcome.seed
    )];
    about.extend(settings::of(&rows_file::fixed(&arguments.common.set, &[])));
    let names = labels::paths(scenario, run);
    svg(
        &windows,
        &scenario.title,
        about,
        &names,
        (interval, arguments.page.size),
        caption,
    )
    .map_err(|problem| Failure::new(format!("--plot: {problem}")))
}

/// Draws windows, with a panel for each connection.
///
/// # Errors
/// If there is nothing to draw, or no space.
pub fn svg(
    windows: &Windows,
    title: &str,
    about: Vec<String>,
    names: &[Option<String>],
    (interval, size): (Interval, Option<crate::figure::size::Size>),
    caption: impl Fn(&str, &Connection) -> String,
) -> Result<String, String> {
    let all = windows.titles.iter().zip(&windows.connections);
    let columns = page::columns(windows.titles.len(), size, windows::LEAST.0.max(280.0));
    let capacity = page::capacity(size, columns, windows::LEAST.1, MOST, &about);
    let panels: Vec<Panel<'_>> = all
        .take(capacity)
        .map(|(title, connection)| Panel {
            caption: caption(title, connection),
            runs: vec![connection],
        })
        .collect();
    if panels.is_empty() {
        return Err("no connection has a window in this time: UDP has none".into());
    }
    let left_out = windows.titles.len() - panels.len() + windows.others();
    let mut notes = Vec::new();
    if left_out > 0 {
        notes.push(format!(
            "{} of {} connections; --connection NAME chooses.",
            panels.len(),
            panels.len() + left_out
        ));
    }
    let texts = Texts {
        title: title.into(),
        lines: about,
        legend: windows::legend(&panels, &[], names, page::plot_width(columns, size)),
        notes,
    };
    let grid = Grid {
        panels: panels.len(),
        columns,
        height: match panels.len() {
            1 => 420.0,
            panels => windows::height(panels.div_ceil(columns)),
        },
        least: windows::LEAST,
    };
    page::page(&texts, grid, size, |canvas, areas| {
        windows::draw(canvas, areas, &panels, interval);
    })
}
