//! The tables of `lisa paths`.

use scenario::paths::{Answer, Network, PathView};
use topology::Place;

use crate::output::counted;
use crate::tables::{NONE, row, table};

/// The nodes with their names, ids and places.
pub fn nodes(network: &Network, answer: &Answer) -> String {
    let has_ids = answer.nodes.iter().any(|node| node.id.is_some());
    let mut heading = vec!["node", "id", "links"];
    let has_places = network.places.iter().any(Option::is_some);
    if has_places {
        heading.extend(["east", "north"]);
    }
    if !has_ids {
        heading.remove(1);
    }
    let mut table = table(&heading, 1);
    for (index, node) in answer.nodes.iter().enumerate() {
        let mut cells = vec![node.name.clone()];
        if has_ids {
            cells.push(node.id.clone().unwrap_or(NONE.into()));
        }
        cells.push(node.links.to_string());
        if has_places {
            let place = network.places.get(index).copied().flatten();
            cells.extend(match place {
                Some(Place::Globe {
                    longitude,
                    latitude,
                }) => [format!("{longitude:.2}°"), format!("{latitude:.2}°")],
                Some(Place::Plane { x, y }) => [format!("{x:.0}"), format!("{:.0}", -y)],
                None => [(); 2].map(|()| NONE.into()),
            });
        }
        table.add_row(row(1, cells));
    }
    let names = [0, answer.nodes.len().saturating_sub(1)].map(|node| answer.nodes.get(node));
    let example = match names {
        [Some(first), Some(last)] if answer.nodes.len() > 1 => {
            let [first, last] = [first, last].map(|node| node.id.as_ref().unwrap_or(&node.name));
            format!("Paths: --from {first} --to {last}\n")
        }
        _ => String::new(),
    };
    let unread = match &answer.unread[..] {
        [] => String::new(),
        keys => format!("Not read: {}\n", keys.join(", ")),
    };
    format!("{}\n\n{table}\n{example}{unread}", about(answer))
}

/// Name and size of the network.
fn about(answer: &Answer) -> String {
    // Each link has two ends.
    let links: usize = answer.nodes.iter().map(|node| node.links).sum::<usize>() / 2;
    format!(
        "{}: {}, {}",
        answer.network,
        counted(answer.nodes.len(), "node"),
        counted(links, "link")
    )
}

/// The paths, the links that they share, and their groups.
pub fn paths(answer: &Answer) -> String {
    let [from, to] = [&answer.from, &answer.to].map(|name| name.as_deref().unwrap_or_default());
    let number = answer.paths.len();
    let what = match (answer.disjoint, answer.by) {
        (None, "delay") => format!("{}, the shortest by delay", counted(number, "path")),
        (None, _) => format!(
            "{}, the shortest by number of links",
            counted(number, "path")
        ),
        (Some(disjoint), by) => {
            let by = if by == "delay" {
                "delay"
            } else {
                "number of links"
            };
            let common = disjoint.trim_end_matches('s');
            format!(
                "{} without a common {common}, the shortest together by {by}",
                counted(number, "path")
            )
        }
    };
    let mut text = format!("{}\n{from} → {to}: {what}\n\n", about(answer));
    text += &path_table(answer);
    text += "\n";
    text += &shared_table(answer);
    text += &group_line(answer);
    text
}

fn path_table(answer: &Answer) -> String {
    let has_delays = answer.paths.iter().all(|path| path.delay_s.is_some());
    let has_rates = answer.paths.iter().any(|path| path.rate_mbps.is_some());
    let mut heading = vec!["path", "nodes", "links", "group"];
    if has_delays {
        heading.push("delay [ms]");
    }
    if has_rates {
        heading.push("lowest rate\n[Mbit/s]");
    }
    let mut table = table(&heading, 2);
    for path in &answer.paths {
        let mut cells = vec![
            path.path.to_string(),
            nodes_of(path),
            path.links.len().to_string(),
            path.group.to_string(),
        ];
        cells.extend(
            path.delay_s
                .filter(|_| has_delays)
                .map(|delay| short(delay * 1e3)),
        );
        if has_rates {
            cells.push(path.rate_mbps.map_or(NONE.into(), short));
        }
        table.add_row(row(2, cells));
    }
    format!("{table}\n")
}

/// The nodes of a path. Behind a link that is not the first between two nodes stands its number.
fn nodes_of(path: &PathView) -> String {
    let mut text = path.nodes[0].clone();
    for (link, pair) in path.links.iter().zip(path.nodes.windows(2)) {
        text += &format!(" → {}{}", pair[1], parallel(link, &pair[0], &pair[1]));
    }
    text
}

/// ` (link 2)` of the link `A – B (2) up` of a map.
fn parallel(link: &str, from: &str, to: &str) -> String {
    let names = [format!("{from} – {to} ("), format!("{to} – {from} (")];
    let number = names.iter().find_map(|name| link.strip_prefix(name));
    let number = number.and_then(|number| number.split_once(')'));
    number.map_or(String::new(), |(number, _)| format!(" (link {number})"))
}

fn shared_table(answer: &Answer) -> String {
    if answer.shared_links.is_empty() {
        return match answer.paths.len() {
            1 => String::new(),
            _ => "The paths share no link.\n".into(),
        };
    }
    let mut heading = vec!["shared link", "paths", "bottleneck"];
    if answer.has_rates {
        heading.extend(["rate\n[Mbit/s]", "bottleneck up to\n[Mbit/s]"]);
    }
    let mut table = table(&heading, 3);
    for shared in &answer.shared_links {
        let paths: Vec<String> = shared.paths.iter().map(ToString::to_string).collect();
        let mut cells = vec![
            format!(
                "{} → {}{}",
                shared.from,
                shared.to,
                parallel(&shared.link, &shared.from, &shared.to)
            ),
            paths.join(", "),
            if shared.is_bottleneck { "yes" } else { "no" }.into(),
        ];
        if answer.has_rates {
            cells.push(shared.rate_mbps.map_or("no limit".into(), short));
            cells.push(
                shared
                    .bottleneck_up_to_mbps
                    .map_or("any rate".into(), short),
            );
        }
        table.add_row(row(3, cells));
    }
    let rates = match answer.has_rates {
        true => "",
        false => {
            "Not all links have a rate: all count as equal, so that each shared link is a bottleneck.\n"
        }
    };
    format!("{table}\n{rates}\n")
}

fn group_line(answer: &Answer) -> String {
    let groups: Vec<String> = answer.groups.iter().map(ToString::to_string).collect();
    let separate = answer.groups.iter().max().map_or(0, |most| most + 1);
    let meaning = match (answer.paths.len(), separate) {
        (1, _) => return String::new(),
        (_, 1) => "all paths are coupled".to_owned(),
        (paths, groups) if paths as u32 == groups => "no path is coupled with another".to_owned(),
        _ => "paths of one group are coupled".to_owned(),
    };
    format!("groups = [{}]: {meaning}\n", groups.join(", "))
}

/// A number with at most two decimals.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
