//! Where connections run: what can only be told with the network.

use topology::{Graph, NodeIndex};

use super::connection::Read;
use super::table::Table;
use crate::{Between, ConnectionSpec, Error};

/// The connection on this network, with what its number is when the file does not say.
pub(super) fn finish<'a>(
    read: Read<'a>,
    graph: &Graph,
) -> Result<(Table<'a>, ConnectionSpec), Error> {
    let Read { table, mut spec } = read;
    let set = match &spec.between {
        Between::Set { name, paths } => Some(set(&table, graph, name.as_deref(), paths)?),
        Between::Hosts { from, to } => {
            hosts(&table, graph, from, to)?;
            None
        }
        Between::Permutation | Between::Random => None,
    };
    let users = set.and_then(|set| graph.sets()[set].users);
    if let (None, Some(users)) = (table.get("count"), users) {
        spec.count = users;
    }
    Ok((table, spec))
}

/// How many connections it makes in all.
pub(super) fn connections(spec: &ConnectionSpec, graph: &Graph) -> u64 {
    let hosts = match spec.between {
        Between::Permutation | Between::Random => graph.hosts().len() as u64,
        _ => 1,
    };
    let each = spec.arrivals.as_ref().map_or(1, |arrivals| arrivals.count);
    // At most 10 000 hosts with 100 000 connections each, 100 000 times.
    hosts * u64::from(spec.count) * u64::from(each)
}

fn set(
    table: &Table<'_>,
    graph: &Graph,
    name: Option<&str>,
    paths: &[u32],
) -> Result<usize, Error> {
    let sets = graph.sets();
    let names: Vec<&str> = sets.iter().map(|set| &set.name[..]).collect();
    let set = match (name, &names[..]) {
        (None, []) => {
            let way =
                "this topology has no paths by name: say where, with `from` and `to` or `pattern`";
            return Err(table
                .get("path")
                .or(table.get("paths"))
                .map_or_else(|| table.error(way), |f| f.error(way)));
        }
        (None, _) if sets.len() == 1 => 0,
        (None, names) => {
            let example = format!("paths = \"{}\"", names.join("\"` or `paths = \""));
            return Err(table.missing("paths", &example));
        }
        (Some(name), _) => match names.iter().position(|known| *known == name) {
            Some(at) => at,
            None => {
                let field = table.need("paths", "paths = [1, 2]")?;
                return Err(field.unknown(name, "paths", &names));
            }
        },
    };
    let there = sets[set].paths.len();
    if let Some(path) = paths.iter().find(|path| **path as usize >= there) {
        let key = if table.get("path").is_some() {
            "path"
        } else {
            "paths"
        };
        let field = table.need(key, "path = 1")?;
        return Err(field.error(format!("no path {}: there are 1 to {there}", path + 1)));
    }
    Ok(set)
}

fn hosts(table: &Table<'_>, graph: &Graph, from: &str, to: &str) -> Result<(), Error> {
    let find = |key: &str, name: &str| -> Result<NodeIndex, Error> {
        let host = graph.node(name).filter(|node| graph.hosts().contains(node));
        host.ok_or_else(|| {
            let names: Vec<&str> = graph
                .hosts()
                .iter()
                .map(|host| &graph.nodes()[host.index()][..])
                .collect();
            match table.need(key, "from = \"h1\"") {
                Ok(field) => field.unknown(name, "host", &names),
                Err(error) => error,
            }
        })
    };
    let ends = [find("from", from)?, find("to", to)?];
    let to = table.need("to", "to = \"h2\"")?;
    if ends[0] == ends[1] {
        return Err(to.error("a connection from a host to itself"));
    }
    let paths = graph.shortest_paths(ends[0], ends[1]);
    match (paths.count(), paths.nth(0)) {
        (0, _) => Err(to.error(format!("no way leads there from `{from}`"))),
        (_, None) => Err(to.error(format!(
            "a link on the way from `{from}` has no other direction"
        ))),
        (_, Some(_)) => Ok(()),
    }
}
