//! `lisa paths`: paths between two nodes of a map or a scenario, the links that they share, and their groups. docs/paths.schema.json
//! describes its JSON.

mod text;

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use netsim::Rate;
use scenario::paths::{MOST_PATHS, Network, Query, Question};
use scenario::{Scenario, Source, no_path, units};
use topology::{Disjointness, Metric};

use crate::figure::arguments::{self as figure_arguments, Page};
use crate::figure::drawing::Drawing;
use crate::figure::{format, map};
use crate::output::{Failure, print, warn_of};
use crate::runs::files;
use crate::values::{self, Form};

/// `lisa paths`.
#[derive(Args)]
#[command(after_help = NOTES)]
pub struct Arguments {
    /// The network: a map, whose name ends with .gml, or a scenario, a TOML file; `-` reads a scenario from standard input.
    #[arg(value_hint = ValueHint::FilePath, value_parser = values::path("the name of a map that ends with .gml, or of a scenario file, or `-` for standard input"))]
    pub file: PathBuf,
    /// The first node: its name, or on a map its id. Without --from and --to the nodes are listed.
    #[arg(long, value_name = "NODE", requires = "to", value_parser = values::text("the name or id of a node, as `lisa paths FILE` lists them"))]
    pub from: Option<String>,
    /// The last node.
    #[arg(long, value_name = "NODE", requires = "from", value_parser = values::text("the name or id of a node, as `lisa paths FILE` lists them"))]
    pub to: Option<String>,
    /// Largest number of paths [default: 3, with --disjoint 2].
    #[arg(short, long = "paths", value_name = "K", requires = "from", value_parser = values::number::<usize>(1..=MOST_PATHS))]
    pub k: Option<usize>,
    /// Find paths without a common link, or with `--disjoint=nodes` without a common node, of the least total length.
    #[arg(long, value_name = "WHAT", value_enum, requires = "from", num_args = 0..=1, require_equals = true, default_missing_value = "links")]
    pub disjoint: Option<Disjoint>,
    /// Length of a path: number of links, or delay. A map has delays if all its edges have a `latency`, or coordinates at both ends: 5 µs
    /// a kilometre.
    #[arg(
        long,
        value_name = "LENGTH",
        value_enum,
        requires = "from",
        default_value = "hops"
    )]
    pub by: By,
    /// Rate of the links of a map that have none in the file (`LinkSpeedRaw`, `LinkSpeed`), such as 10Mbit. If a link has no rate, all count as
    /// equal.
    #[arg(long, value_name = "RATE", value_parser = rate())]
    pub rate: Option<Rate>,
    /// Give each edge of a map that has one direction the other one, too, unless another edge has it: for files with `directed 1` and
    /// each link once.
    #[arg(long)]
    pub both_ways: bool,
    /// Change a key of a scenario, or add it, as in `lisa run`. Can be given several times.
    #[arg(long, value_name = "KEY=VALUE", value_parser = values::set())]
    pub set: Vec<String>,
    /// Print JSON (schema lisa.paths/1) instead of tables.
    #[arg(long)]
    pub json: bool,
    /// Also draw the map at its coordinates, with the paths, the links that they share and the friendliness bottlenecks in colour. The name
    /// ends with .svg, .png or .pdf (docs/plots.md).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = format::parser())]
    pub plot: Option<PathBuf>,
    /// Replace a file that exists.
    #[arg(long, requires = "plot")]
    pub force: bool,
    #[command(flatten)]
    pub page: Page,
}

/// What disjoint paths do not share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Disjoint {
    /// Links.
    Links,
    /// Nodes between the first and the last, and therefore links.
    Nodes,
}

/// Length of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// Number of links.
    Hops,
    /// Sum of the delays.
    Delay,
}

const NOTES: &str = "\
A link on Z paths is a friendliness bottleneck unless its rate exceeds (Z + 1)/2 times the largest rate that one of these
paths has on its narrowest other link. Paths with a common bottleneck are in one group, also over a third path; paths of
different groups need no coupling (docs/paths.md).

Examples:
  lisa paths experiments/topologies/Nsfnet.gml                          # its nodes
  lisa paths experiments/topologies/Nsfnet.gml --from 0 --to 4 -k 3
  lisa paths experiments/topologies/Nsfnet.gml --from 0 --to 4 --disjoint
  lisa paths experiments/topologies/Geant2012.gml --from UK --to GR --disjoint=nodes --plot paths.svg
  lisa paths experiments/examples/map.toml --from 0 --to 4 --by delay   # a scenario, with its rates
  lisa paths experiments/examples/fat-tree.toml --from h1 --to h16 -k 4 --json | jq .groups";

/// A rate of more than 0.
fn rate() -> Form<Rate> {
    let form = "a rate, like `10Mbit`; units are bit, kbit, Mbit, Gbit, Tbit";
    Form::new(form, |text| {
        units::parse_rate(text).map_err(|_| String::new())
    })
}

/// Prints nodes, or paths with the links that they share.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    figure_arguments::check(arguments.plot.is_some(), &arguments.page, None, None)?;
    let network = network(arguments)?;
    let query = query(arguments, &network)?;
    let answer = network.answer(query.as_ref());
    if let (Some(query), true) = (&query, answer.paths.is_empty()) {
        let problem = no_path(&network.graph, query.from, query.to, remedy(&network));
        let file = arguments.file.display();
        return Err(Failure::new(format!("{file}: {problem}")));
    }
    if let Some(path) = &arguments.plot {
        files::check("--plot", path, arguments.force)?;
        let svg = map::svg(&network, query.as_ref(), arguments.page.size);
        let svg = svg.map_err(|problem| Failure::new(format!("--plot: {problem}")))?;
        Drawing::open("--plot", path)?.write(&svg)?;
    }
    if arguments.json {
        let json = serde_json::to_string(&answer);
        let json = json.map_err(|error| Failure::new(error.to_string()))?;
        return print(&(json + "\n"));
    }
    match query {
        Some(_) => print(&text::paths(&answer)),
        None => {
            print(&text::nodes(&network, &answer))?;
            if let Some([from, to]) = network.without_path() {
                warn_of(&no_path(&network.graph, from, to, remedy(&network)));
            }
            Ok(())
        }
    }
}

/// How links get both directions: those of a map, or those of a scenario.
fn remedy(network: &Network) -> &'static str {
    match network.ids.is_empty() {
        false => "--both-ways gives them both; in a scenario `both_ways = true` does",
        true => "without `one_way` they have both",
    }
}

/// The network of the file.
fn network(arguments: &Arguments) -> Result<Network, Failure> {
    let file = &arguments.file;
    let is_map = file
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("gml"));
    if is_map {
        if !arguments.set.is_empty() {
            return Err(Failure::usage("--set is for scenarios; a map has --rate"));
        }
        return Ok(Network::read_map(
            file,
            arguments.rate,
            arguments.both_ways,
        )?);
    }
    if arguments.both_ways {
        return Err(Failure::usage(
            "--both-ways is for maps (.gml); a scenario has --set topology.both_ways=true",
        ));
    }
    if arguments.rate.is_some() {
        return Err(Failure::usage(
            "--rate is for maps (.gml); a scenario has rates: --set topology.rate=10Mbit",
        ));
    }
    let scenario: Scenario = Source::read(file)?.scenario(&arguments.set)?;
    Ok(Network::of_scenario(&scenario)?)
}

/// The query of the arguments; none without nodes.
fn query(arguments: &Arguments, network: &Network) -> Result<Option<Query>, Failure> {
    let (Some(from), Some(to)) = (&arguments.from, &arguments.to) else {
        return Ok(None);
    };
    let question = Question {
        from,
        to,
        k: arguments.k,
        disjoint: arguments.disjoint.map(|disjoint| match disjoint {
            Disjoint::Links => Disjointness::Links,
            Disjoint::Nodes => Disjointness::Nodes,
        }),
        metric: match arguments.by {
            By::Hops => Metric::Hops,
            By::Delay => Metric::Delay,
        },
    };
    Ok(Some(network.query(&question)?))
}
