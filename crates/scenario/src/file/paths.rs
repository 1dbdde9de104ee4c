//! Paths and hosts of a connection, and their check on the network.

use topology::{Graph, NodeIndex};

use super::limits::{MAX_PATHS, MAX_SUBFLOWS};
use super::table::{Field, Table};
use crate::connection::{Between, ConnectionSpec, PathChoice, Routing};
use crate::error::{BOTH_WAYS, Error, nearest_node, no_path};

/// Reads the keys of paths and hosts.
pub(super) fn read(table: &Table<'_>, spec: &mut ConnectionSpec) -> Result<(), Error> {
    const PATTERNS: &[(&str, bool)] = &[("permutation", true), ("random", false)];
    const CHOICES: &[(&str, PathChoice)] = &[
        ("in-order", PathChoice::InOrder),
        ("random", PathChoice::Random),
    ];
    const ROUTINGS: &[(&str, Routing)] = &[
        ("shortest", Routing::Shortest),
        ("k-shortest", Routing::KShortest),
        ("link-disjoint", Routing::LinkDisjoint),
        ("node-disjoint", Routing::NodeDisjoint),
    ];
    let hosts = ["from", "to"];
    let paths = ["path", "paths"];
    if let Some(pattern) = table.get("pattern") {
        table.refuse(&hosts, "use `pattern` or `from`/`to`, not both")?;
        table.refuse(&paths, "use `pattern` or `paths`, not both")?;
        let permutation = pattern.choice(PATTERNS)?;
        spec.between = if permutation {
            Between::Permutation
        } else {
            Between::Random
        };
    } else if hosts.iter().any(|key| table.get(key).is_some()) {
        table.refuse(&paths, "use `from`/`to` or `paths`, not both")?;
        spec.between = Between::Hosts {
            from: table.require("from", "from = \"h1\"")?.text()?.into(),
            to: table.require("to", "to = \"h2\"")?.text()?.into(),
        };
    } else {
        spec.between = named_paths(table)?;
    }
    let is_named = matches!(spec.between, Between::Set { .. });
    if let Some(routing) = table.get("routing") {
        if is_named {
            return Err(
                routing.error("only for `from` and `to` or a `pattern`: these paths are given")
            );
        }
        spec.routing = routing.choice(ROUTINGS)?;
    }
    spec.path_choice = match table.get("path_choice") {
        Some(choice) => choice.choice(CHOICES)?,
        None if is_named || spec.routing != Routing::Shortest => PathChoice::InOrder,
        None => PathChoice::Random,
    };
    Ok(())
}

/// `path = 2`, `paths = [2, 1]`, `paths = "type1"`, or the last with `path`.
fn named_paths(table: &Table<'_>) -> Result<Between, Error> {
    // Files and the names of links count from 1.
    let number = |field: &Field<'_>| Ok(field.integer_u32(1..=MAX_PATHS)? - 1);
    let mut name = None;
    let mut paths = Vec::new();
    if let Some(field) = table.get("paths") {
        if field.is_text() {
            name = Some(field.text()?.into());
        } else {
            table.refuse(&["path"], "use `path` or a list of `paths`, not both")?;
            paths = field
                .list()?
                .iter()
                .map(number)
                .collect::<Result<_, Error>>()?;
            if paths.is_empty() || paths.len() > MAX_SUBFLOWS as usize {
                return Err(field.error(format!("needs 1 to {MAX_SUBFLOWS} numbers of paths")));
            }
        }
    }
    if let Some(path) = table.get("path") {
        paths = vec![number(&path)?];
    }
    Ok(Between::Set { name, paths })
}

/// Checks the paths or hosts on the network. Without the key `count`, sets `count` to the network's number of users.
pub(super) fn check(
    table: &Table<'_>,
    spec: &mut ConnectionSpec,
    graph: &Graph,
) -> Result<(), Error> {
    let set = match &spec.between {
        Between::Set { name, paths } => Some(set(table, graph, name.as_deref(), paths)?),
        Between::Hosts { from, to } => {
            let [from, to] =
                hosts(table, graph, from, to)?.map(|n| graph.nodes()[n.index()].clone());
            spec.between = Between::Hosts { from, to };
            None
        }
        Between::Permutation | Between::Random => None,
    };
    let users = set.and_then(|set| graph.sets()[set].users);
    if let (None, Some(users)) = (table.get("count"), users) {
        spec.count = users;
    }
    Ok(())
}

/// The index of a set in the graph, with these paths.
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
            let problem = "this topology has no named paths: give `from` and `to`, or `pattern`";
            return Err(table
                .get("path")
                .or(table.get("paths"))
                .map_or_else(|| table.error(problem), |f| f.error(problem)));
        }
        (None, _) if sets.len() == 1 => 0,
        (None, names) => {
            let example = format!("paths = \"{}\"", names.join("\"` or `paths = \""));
            return Err(table.missing("paths", &example));
        }
        (Some(name), _) => match names.iter().position(|known| *known == name) {
            Some(at) => at,
            None => {
                let field = table.require("paths", "paths = [1, 2]")?;
                return Err(field.unknown(name, "paths", &names));
            }
        },
    };
    let count = sets[set].paths.len();
    if let Some(path) = paths.iter().find(|path| **path as usize >= count) {
        let key = if table.get("path").is_some() {
            "path"
        } else {
            "paths"
        };
        let field = table.require(key, "path = 1")?;
        let known = match count {
            1 => "there is only 1".into(),
            count => format!("there are 1 to {count}"),
        };
        return Err(field.error(format!("no path {}: {known}", path + 1)));
    }
    Ok(set)
}

/// Checks that a path connects two hosts, and returns them.
fn hosts(table: &Table<'_>, graph: &Graph, from: &str, to: &str) -> Result<[NodeIndex; 2], Error> {
    let ends = [
        host(table, graph, "from", from)?,
        host(table, graph, "to", to)?,
    ];
    let to = table.require("to", "to = \"h2\"")?;
    if ends[0] == ends[1] {
        return Err(to.error("a connection from a host to itself"));
    }
    let paths = graph.shortest_paths(ends[0], ends[1]);
    match (paths.count(), paths.nth(0)) {
        (0, _) => Err(to.error(no_path(graph, ends[0], ends[1], BOTH_WAYS))),
        (_, None) => Err(to.error(format!(
            "a link on the path from `{from}` has no reverse direction, which ACKs take: {BOTH_WAYS}"
        ))),
        (_, Some(_)) => Ok(ends),
    }
}

/// The host that the value of a key names.
fn host(table: &Table<'_>, graph: &Graph, key: &str, name: &str) -> Result<NodeIndex, Error> {
    let mut found = graph.find(name);
    found.retain(|node| graph.hosts().contains(node));
    if let [host] = found[..] {
        return Ok(host);
    }
    let field = table.require(key, "from = \"h1\"")?;
    Err(match found.is_empty() {
        true => field.unknown_with(name, "host", &names(graph, graph.hosts()), nearest_node),
        false => field.ambiguous(name, &names(graph, &found)),
    })
}

fn names<'a>(graph: &'a Graph, nodes: &[NodeIndex]) -> Vec<&'a str> {
    let name = |node: &NodeIndex| graph.nodes()[node.index()].as_str();
    nodes.iter().map(name).collect()
}
