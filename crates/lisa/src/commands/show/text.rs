//! The text of `lisa show`.

use std::collections::BTreeMap;

use scenario::view::{LinkView, SubflowId, SubflowView, View};

use super::backends::Support;
use crate::figure::network::layers::Summary;
use crate::figure::network::shared;
use crate::output::counted;
use crate::tables::{NONE, row, table};

/// Largest number of rows of a table.
const MOST: usize = 40;
/// Largest number of subflows that a cell names.
const NAMED: usize = 4;

/// Tables of the links and the paths, and the backends.
pub fn text(view: &View, backends: &[Support]) -> String {
    let factor = match view.delay_factor {
        1.0 => String::new(),
        factor => format!(", which multiplies all delays by {factor:.3}"),
    };
    let mut text = format!(
        "{}\n{}, {}, {}, {}; seed {}{factor}\n",
        view.scenario,
        counted(view.hosts.len(), "host"),
        counted(view.routers.len(), "router"),
        counted(view.links.len(), "link"),
        counted(view.connections.len(), "connection"),
        view.seed,
    );
    text += &format!("\n{}\n{}", links(view), paths(view));
    text += "\n";
    for same in backends.chunk_by(|one, other| one.reasons == other.reasons) {
        let names: Vec<&str> = same.iter().map(|support| support.backend).collect();
        let names = names.join(", ");
        match &same[0].reasons[..] {
            [] => text += &format!("--on {names}: can run the scenario\n"),
            reasons => {
                text += &format!("--on {names}: cannot run the scenario\n");
                for reason in reasons {
                    text += &format!("  {reason}\n");
                }
            }
        }
    }
    text
}

/// The links that carry data; of many links the layers.
fn links(view: &View) -> String {
    let mut used: Vec<&LinkView> = view.links.iter().collect();
    used.retain(|link| !link.subflows.is_empty());
    if used.len() > MOST {
        return layers(view);
    }
    let heading = [
        "link",
        "from",
        "to",
        "queue",
        "subflows",
        "rate [Mbit/s]",
        "delay [ms]",
    ];
    let mut table = table(&heading, 5);
    for link in used {
        let mark = if link.is_bottleneck { " *" } else { "" };
        let recorded = if link.is_recorded { "recorded, " } else { "" };
        let rate = link
            .rate_mbps
            .map(|rate| format!("{recorded}{}", short(rate)));
        table.add_row(row(
            5,
            vec![
                format!("{}{mark}", link.name),
                link.from.clone(),
                link.to.clone(),
                link.queue.clone().unwrap_or_else(|| NONE.into()),
                users(view, &link.subflows),
                rate.unwrap_or_else(|| NONE.into()),
                short(link.delay_s * 1e3),
            ],
        ));
    }
    format!(
        "Links with data\n{table}\n* bottleneck: the link with the lowest rate on the path of a subflow\n"
    )
}

/// The links between the layers of a large network, each in its busier direction.
fn layers(view: &View) -> String {
    let summary = Summary::new(view);
    let heading = [
        "between",
        "each link",
        "most subflows\non",
        "links",
        "shared",
        "most\nsubflows",
    ];
    let mut table = table(&heading, 3);
    for between in &summary.between {
        let (low, high) = between.layers;
        let ends = [low, high].map(|layer| summary.layers[layer].title.replace(" routers", ""));
        let busiest: Vec<&str> = between.busiest.split(' ').collect();
        table.add_row(row(
            3,
            vec![
                ends.join("\n"),
                between.properties.replace(", ", "\n"),
                busiest
                    .chunks(2)
                    .map(|words| words.join(" "))
                    .collect::<Vec<_>>()
                    .join("\n"),
                between.cables.to_string(),
                between.shared.to_string(),
                between.most.to_string(),
            ],
        ));
    }
    format!(
        "Links between layers; --json has all links, --plot draws them\n{table}\n{}",
        most_shared(view)
    )
}

/// The links that most subflows share, of a large network.
fn most_shared(view: &View) -> String {
    /// Largest number of links.
    const MOST: usize = 10;
    /// Number of names on a line of a cell.
    const ON_A_LINE: usize = 3;
    let links = shared::links(view);
    if links.is_empty() {
        return String::new();
    }
    let mut table = table(&["link", "subflows (#1: the first of a connection)"], 2);
    for link in links.iter().take(MOST) {
        let names = shared::names(view, &link.subflows, 2 * ON_A_LINE - 1);
        let lines = names.chunks(ON_A_LINE).map(|names| names.join(", "));
        let lines: Vec<String> = lines.collect();
        let users = format!("{}: {}", link.subflows.len(), lines.join(",\n"));
        table.add_row(row(2, vec![link.name.clone(), users]));
    }
    let heading = match links.len() {
        number if number <= MOST => "Shared links, each in its busier direction".to_owned(),
        number => {
            format!("{MOST} of {number} shared links, each in its busier direction; --json has all")
        }
    };
    format!("\n{heading}\n{table}\n")
}

/// The path of each subflow; of many subflows those of one length together.
fn paths(view: &View) -> String {
    let number: usize = view.connections.iter().map(|c| c.subflows.len()).sum();
    if number > MOST {
        return lengths(view);
    }
    let heading = [
        "subflow",
        "algorithm",
        "path",
        "bottleneck",
        "RTT [ms]",
        "BDP [kB]",
    ];
    let mut table = table(&heading, 4);
    let all = view.connections.iter().flat_map(|connection| {
        connection
            .subflows
            .iter()
            .map(move |subflow| (connection, subflow))
    });
    for (connection, subflow) in all {
        let id = SubflowId {
            connection: connection.name.clone(),
            number: connection.number,
            subflow: subflow.subflow,
        };
        let algorithm = match &*connection.algorithm {
            "" => connection.protocol.to_owned(),
            algorithm => format!("{}, {algorithm}", connection.protocol),
        };
        table.add_row(row(
            4,
            vec![
                shared::name(view, &id),
                algorithm,
                format!("{}: {}", subflow.path, subflow.nodes.join(" → ")),
                subflow.bottleneck.clone().unwrap_or_else(|| NONE.into()),
                short(subflow.rtt_s * 1e3),
                subflow
                    .bdp_bytes
                    .map_or(NONE.into(), |bytes| short(bytes / 1e3)),
            ],
        ));
    }
    format!("Paths\n{table}\n")
}

/// Subflows by the number of links on their paths.
fn lengths(view: &View) -> String {
    let mut of: BTreeMap<usize, Vec<&SubflowView>> = BTreeMap::new();
    for subflow in view
        .connections
        .iter()
        .flat_map(|connection| &connection.subflows)
    {
        of.entry(subflow.links.len()).or_default().push(subflow);
    }
    let heading = [
        "links on\nthe path",
        "subflows",
        "RTT [ms]",
        "BDP [kB]",
        "example",
    ];
    let mut table = table(&heading, 0);
    for (links, subflows) in of {
        let range = |values: Vec<f64>| -> String {
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            match (values.is_empty(), short(least) == short(most)) {
                (true, _) => NONE.into(),
                (false, true) => short(least),
                (false, false) => format!("{} to {}", short(least), short(most)),
            }
        };
        let rtts = subflows.iter().map(|subflow| subflow.rtt_s * 1e3).collect();
        let bdps = subflows.iter().filter_map(|subflow| subflow.bdp_bytes);
        let nodes = &subflows[0].nodes;
        let ends = [nodes.first(), nodes.last()].map(|node| node.map_or("", String::as_str));
        table.add_row(row(
            0,
            vec![
                links.to_string(),
                subflows.len().to_string(),
                range(rtts),
                range(bdps.map(|bytes| bytes / 1e3).collect()),
                ends.join(" → "),
            ],
        ));
    }
    format!("Paths by length; --json has all\n{table}\n")
}

/// The subflows of a link: the first ones by name, then their number.
fn users(view: &View, subflows: &[SubflowId]) -> String {
    let names = shared::names(view, subflows, NAMED).join(", ");
    format!("{}: {names}", subflows.len())
}

/// A number with at most two decimals.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
