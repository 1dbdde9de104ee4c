//! `lisa show`: the network of a scenario, the paths on it, and where the scenario runs. docs/show.schema.json describes its JSON.

mod backends;
mod text;

use std::path::PathBuf;

use clap::{Args, ValueHint};
use scenario::view::View;
use serde::Serialize;

use self::backends::Support;
use crate::figure::arguments::{self as figure_arguments, Page};
use crate::figure::drawing::Drawing;
use crate::figure::results::settings;
use crate::figure::{format, network};
use crate::output::{Failure, print};
use crate::runs::arguments::Drawn;
use crate::runs::{files, rows_file};

/// `lisa show`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    pub drawn: Drawn,
    /// Print JSON (schema lisa.show/1) instead of tables, with all links and all connections.
    #[arg(long)]
    pub json: bool,
    /// Also draw the network: nodes, links with rate, delay and queue, each path in a colour, and the links that several subflows
    /// share. The name ends with .svg, .png or .pdf (docs/plots.md).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = format::parser())]
    pub plot: Option<PathBuf>,
    /// Replace a file that exists.
    #[arg(long, requires = "plot")]
    pub force: bool,
    #[command(flatten)]
    pub page: Page,
}

/// The JSON of the command.
#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    view: View,
    backends: Vec<Support>,
}

/// Checks and shows a scenario.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let scenario = arguments.drawn.scenario()?;
    let view = View::new(&scenario, arguments.drawn.seed)?;
    let backends = backends::all(&scenario);
    figure_arguments::check(arguments.plot.is_some(), &arguments.page, None, None)?;
    if let Some(path) = &arguments.plot {
        files::check("--plot", path, arguments.force)?;
        let settings = settings::of(&rows_file::fixed(&arguments.drawn.set, &[]));
        let svg = network::svg(&view, settings, arguments.page.size);
        let svg = svg.map_err(|problem| Failure::new(format!("--plot: {problem}")))?;
        Drawing::open("--plot", path)?.write(&svg)?;
    }
    if arguments.json {
        let json = serde_json::to_string(&Shown { view, backends });
        let json = json.map_err(|error| Failure::new(error.to_string()))?;
        return print(&(json + "\n"));
    }
    print(&text::text(&view, &backends))
}

const EXAMPLES: &str = "Examples:
  lisa show download.toml
  lisa show download.toml --plot network.svg
  lisa show experiments/examples/fat-tree.toml --seed 2   # the paths of another seed
  lisa show download.toml --json | jq -c '.links[] | select(.is_bottleneck) | [.name, .subflows]'";
