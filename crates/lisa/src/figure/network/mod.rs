//! The picture of a network: its nodes and links, the path of each subflow in a colour, and the links that several share.

pub(super) mod draw;
pub mod layers;
mod plan;
pub mod shared;

use scenario::view::{ConnectionView, LinkView, SubflowId, View};

use self::draw::Style;
use self::plan::{Cable, Plan};
use super::legend::{Entry, Mark};
use super::page::{self, Grid, Texts};
use super::palette;
use super::scale::short;
use super::size::Size;
use crate::output::counted;

/// Largest number of cables whose names and properties are written.
const LABELLED: usize = 16;
/// Largest number of nodes that are drawn one by one.
const MOST_NODES: usize = 64;
/// Largest number of paths with a colour each.
const STRANDS: usize = 7;

/// Draws a network as SVG.
///
/// # Errors
/// If the size has no space.
pub fn svg(view: &View, settings: Option<String>, size: Option<Size>) -> Result<String, String> {
    let plan = Plan::new(view);
    if plan.nodes.len() > MOST_NODES {
        return layered(view, &plan, settings, size);
    }
    let strands = Strands::new(view);
    let is_labelled = plan.cables.len() <= LABELLED;
    let shared = plan
        .cables
        .iter()
        .filter(|cable| cable.subflows() > 1)
        .count();
    let most = plan
        .cables
        .iter()
        .map(|cable| cable.subflows())
        .max()
        .unwrap_or(0);
    let mut legend: Vec<Entry> = Vec::new();
    let mut notes = Vec::new();
    if is_labelled {
        for (number, name) in strands.names.iter().enumerate() {
            let mark = Mark::Line(palette::series(number).into(), 3, None);
            legend.push(Entry::new(mark, name.clone()));
        }
        let shares = Mark::Line(draw::SHARED.into(), 12, None);
        if shared > 0 {
            legend.push(Entry::new(
                shares,
                "link that several subflows share in one direction",
            ));
        }
        notes.push("Delays are of one direction. * bottleneck: the link with the lowest rate on the path of a subflow.".into());
    } else {
        for number in draw::examples(most) {
            let (colour, width) = draw::by_number(number, most);
            let text = match number {
                0 => "no data".into(),
                number => counted(number, "subflow"),
            };
            legend.push(Entry::new(Mark::Line(colour.into(), width, None), text));
        }
        notes.extend(common(&plan.cables));
        notes.extend(most_shared(view));
    }
    let texts = Texts {
        title: view.scenario.clone(),
        lines: std::iter::once(about(view, shared))
            .chain(settings)
            .collect(),
        legend,
        notes,
    };
    let widest = plan.layers.iter().map(Vec::len).max().unwrap_or(1);
    let parallel = draw::parallel(&plan.cables);
    let height = match plan.is_vertical {
        true => 110.0 * plan.layers.len() as f64,
        false => {
            (70.0 * widest as f64)
                .max(74.0 * parallel as f64)
                .max(180.0)
                + 20.0
        }
    };
    let grid = Grid {
        panels: 1,
        columns: 1,
        height,
        least: (260.0, 120.0),
    };
    page::page(&texts, grid, size, |canvas, areas| {
        let style = match is_labelled {
            true => Style::Strands(&strands),
            false => Style::Numbers(most),
        };
        draw::network(canvas, areas[0], &plan, &style);
    })
}

/// Draws the layers of a large network.
fn layered(
    view: &View,
    plan: &Plan<'_>,
    settings: Option<String>,
    size: Option<Size>,
) -> Result<String, String> {
    let summary = layers::Summary::of_plan(plan);
    let shared = plan
        .cables
        .iter()
        .filter(|cable| cable.subflows() > 1)
        .count();
    let mut notes = vec![
        "Nodes at one distance from the hosts are one box. Subflows are counted in the busier direction of each link."
            .to_owned(),
    ];
    notes.extend(most_shared(view));
    let texts = Texts {
        title: view.scenario.clone(),
        lines: std::iter::once(about(view, shared))
            .chain(settings)
            .collect(),
        legend: Vec::new(),
        notes,
    };
    let grid = Grid {
        panels: 1,
        columns: 1,
        height: 130.0 * summary.layers.len() as f64,
        least: (260.0, 80.0 * summary.layers.len() as f64),
    };
    page::page(&texts, grid, size, |canvas, areas| {
        draw::layers(canvas, areas[0], &summary);
    })
}

fn about(view: &View, shared: usize) -> String {
    let subflows: usize = view.connections.iter().map(|c| c.subflows.len()).sum();
    let links = match shared {
        0 => "no link is shared".into(),
        1 => "1 link is shared".into(),
        number => format!("{number} links are shared"),
    };
    let factor = match view.delay_factor {
        1.0 => String::new(),
        factor => format!(", all delays × {factor:.3}"),
    };
    format!(
        "{}, {}, {}; {links}; seed {}{factor}",
        counted(view.hosts.len(), "host"),
        counted(view.connections.len(), "connection"),
        counted(subflows, "subflow"),
        view.seed
    )
}

/// Notes with the links that most subflows share, and the names of these subflows.
fn most_shared(view: &View) -> Vec<String> {
    /// Largest numbers of links, and of subflows of each.
    const MOST: (usize, usize) = (5, 6);
    let links = shared::links(view);
    let note = |link: &&LinkView| {
        let names = shared::names(view, &link.subflows, MOST.1).join(", ");
        format!("{}: {names}", link.name)
    };
    let heading = match links.len() {
        0 => return Vec::new(),
        number if number <= MOST.0 => "Shared links".to_owned(),
        number => format!("{} of {number} shared links", MOST.0),
    };
    let heading =
        format!("{heading}, each in its busier direction (#1: the first subflow of a connection):");
    let notes = links.iter().take(MOST.0).map(note);
    std::iter::once(heading).chain(notes).collect()
}

/// The properties of a link, as far as it has them: `5 Mbit/s`, `20 ms`, `17 packets`.
pub fn properties(cable: &Cable<'_>) -> Vec<String> {
    let link = cable.link;
    let mut parts = Vec::new();
    if let Some(rate) = link.rate_mbps {
        let recorded = if link.is_recorded {
            "recorded, mean "
        } else {
            ""
        };
        let (rate, unit) = match rate {
            rate if rate >= 1000.0 => (rate / 1000.0, "Gbit/s"),
            rate if rate < 0.1 => (rate * 1000.0, "kbit/s"),
            rate => (rate, "Mbit/s"),
        };
        parts.push(format!("{recorded}{} {unit}", short(rate)));
    }
    if link.delay_s > 0.0 {
        parts.push(match link.delay_s {
            delay if delay < 1e-3 => format!("{} µs", short(delay * 1e6)),
            delay => format!("{} ms", short(delay * 1e3)),
        });
    }
    parts.extend(link.queue.clone());
    parts
}

/// A note with the properties of all cables, if they are equal.
fn common(cables: &[Cable<'_>]) -> Option<String> {
    let first = properties(cables.first()?);
    let equal = cables.iter().all(|cable| properties(cable) == first);
    match equal && !first.is_empty() {
        true => Some(format!(
            "Each link in each direction: {}. Subflows are counted in the busier direction.",
            first.join(", ")
        )),
        false => {
            Some("Subflows are counted in the busier direction. `lisa show FILE` lists the links with their rates, delays and queues.".into())
        }
    }
}

/// The coloured lines: a subflow each, or with many subflows a connection, or all connections of a name.
pub struct Strands {
    /// Names in the legend.
    pub names: Vec<String>,
    /// Number of the strand by subflow.
    of: Vec<(SubflowId, usize)>,
}

impl Strands {
    fn new(view: &View) -> Self {
        let levels: [fn(&ConnectionView, usize, &View) -> String; 3] = [
            |connection, subflow, view| {
                let own = connection
                    .subflows
                    .iter()
                    .find(|own| own.subflow == subflow);
                let path = own.and_then(|own| own.path_name.as_ref());
                let path = path.map_or(String::new(), |name| format!(", {name}"));
                match connection.subflows.len() {
                    1 => title(connection, view) + &path,
                    _ => format!("{}, subflow {subflow}{path}", title(connection, view)),
                }
            },
            |connection, _, view| title(connection, view),
            |connection, _, _| connection.name.clone(),
        ];
        let mut strands = Self {
            names: Vec::new(),
            of: Vec::new(),
        };
        for level in levels {
            strands = Self::by(view, level);
            if strands.names.len() <= STRANDS {
                break;
            }
        }
        strands
    }

    fn by(view: &View, name: fn(&ConnectionView, usize, &View) -> String) -> Self {
        let mut names: Vec<String> = Vec::new();
        let mut of = Vec::new();
        for connection in &view.connections {
            for subflow in &connection.subflows {
                let name = name(connection, subflow.subflow, view);
                let number = names.iter().position(|other| *other == name);
                let number = number.unwrap_or_else(|| {
                    names.push(name);
                    names.len() - 1
                });
                let id = SubflowId {
                    connection: connection.name.clone(),
                    number: connection.number,
                    subflow: subflow.subflow,
                };
                of.push((id, number));
            }
        }
        Self { names, of }
    }

    /// Numbers of the strands of a cable, each once.
    pub fn on(&self, cable: &Cable<'_>) -> Vec<usize> {
        let number = |id: &&SubflowId| {
            let found = self.of.iter().find(|(other, _)| other == *id);
            found.map(|(_, number)| *number)
        };
        let mut numbers: Vec<usize> = cable.both.iter().filter_map(number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

/// Name of a connection, with its number if there are others of the name.
fn title(connection: &ConnectionView, view: &View) -> String {
    let same = |other: &&ConnectionView| other.name == connection.name;
    match view.connections.iter().filter(same).count() {
        1 => connection.name.clone(),
        _ => format!("{} {}", connection.name, connection.number),
    }
}
