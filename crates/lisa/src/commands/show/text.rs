//! The text of `lisa show`.

use scenario::view::{LinkView, SubflowId, View};

use super::backends::Support;
use crate::output::counted;
use crate::tables::{NONE, row, table};

/// Largest number of rows of a table.
const MOST: usize = 40;
/// Largest number of subflows that a cell names.
const NAMED: usize = 4;

/// Tables of the links and the paths, and the backends.
pub fn text(view: &View, backends: &[Support]) -> String {
    let mut text = format!(
        "{}\n{}, {}, {}, {}; seed {}\n",
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

/// The links that carry data, those of most subflows first if not all fit.
fn links(view: &View) -> String {
    let mut used: Vec<&LinkView> = view.links.iter().collect();
    used.retain(|link| !link.subflows.is_empty());
    let number = used.len();
    if number > MOST {
        used.sort_by_key(|link| std::cmp::Reverse(link.subflows.len()));
        used.truncate(MOST);
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
    let mut text = match number > MOST {
        true => format!(
            "Links with data, the {MOST} of {number} with the most subflows; --json has all\n"
        ),
        false => "Links with data\n".into(),
    };
    text +=
        &format!("{table}\n* bottleneck: the link with the lowest rate on the path of a subflow\n");
    text
}

/// The path of each subflow.
fn paths(view: &View) -> String {
    let heading = [
        "subflow",
        "algorithm",
        "path",
        "bottleneck",
        "RTT [ms]",
        "BDP [kB]",
    ];
    let mut table = table(&heading, 4);
    let number: usize = view.connections.iter().map(|c| c.subflows.len()).sum();
    let all = view.connections.iter().flat_map(|connection| {
        connection
            .subflows
            .iter()
            .map(move |subflow| (connection, subflow))
    });
    for (connection, subflow) in all.take(MOST) {
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
                name(view, &id),
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
    let heading = match number > MOST {
        true => format!("Paths, the first {MOST} of {number}; --json has all"),
        false => "Paths".into(),
    };
    format!("{heading}\n{table}\n")
}

/// The subflows of a link: the first ones by name, then their number.
fn users(view: &View, subflows: &[SubflowId]) -> String {
    let named: Vec<String> = subflows
        .iter()
        .take(NAMED)
        .map(|id| name(view, id))
        .collect();
    match subflows.len() {
        n if n > NAMED => format!("{n}: {}, …", named.join(", ")),
        n => format!("{n}: {}", named.join(", ")),
    }
}

/// `download 2 #1`: subflow 1 of the second connection `download`. A connection without others of its name has no number, and a
/// single subflow none.
fn name(view: &View, id: &SubflowId) -> String {
    let same = |connection: &&scenario::view::ConnectionView| connection.name == id.connection;
    let mut name = id.connection.clone();
    if view.connections.iter().filter(same).count() > 1 {
        name += &format!(" {}", id.number);
    }
    let own = (view.connections.iter()).find(|c| same(c) && c.number == id.number);
    if own.is_some_and(|connection| connection.subflows.len() > 1) {
        name += &format!(" #{}", id.subflow);
    }
    name
}

/// A number with at most two decimals.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
