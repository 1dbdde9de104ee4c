//! The plan of a network: cables between nodes, and the place of each node.

use std::collections::{BTreeMap, VecDeque};

use scenario::view::{LinkView, SubflowId, View};

/// The links between two nodes in both directions, as one line.
pub struct Cable<'a> {
    /// Numbers of the nodes: that of the first link's begin, and that of its end.
    pub ends: (usize, usize),
    /// The direction that more subflows cross.
    pub link: &'a LinkView,
    /// Subflows whose data cross the cable in either direction.
    pub both: Vec<&'a SubflowId>,
}

impl Cable<'_> {
    /// Number of subflows whose data cross the busier direction.
    pub fn subflows(&self) -> usize {
        self.link.subflows.len()
    }

    /// Name without a direction.
    pub fn name(&self) -> &str {
        stem(&self.link.name)
    }
}

/// Name of a link without its direction.
fn stem(name: &str) -> &str {
    let short = name
        .strip_suffix(" up")
        .or_else(|| name.strip_suffix(" down"));
    short.unwrap_or(name)
}

/// The nodes and cables of a network.
pub struct Plan<'a> {
    /// Names of the nodes: first the hosts.
    pub nodes: Vec<&'a str>,
    /// Number of hosts.
    pub hosts: usize,
    /// The cables.
    pub cables: Vec<Cable<'a>>,
    /// Place of each node: from 0 to 1 in both directions.
    pub places: Vec<(f64, f64)>,
    /// For each layer its nodes in order.
    pub layers: Vec<Vec<usize>>,
    /// Whether the layers are rows from bottom to top, not columns from left to right.
    pub is_vertical: bool,
}

impl<'a> Plan<'a> {
    /// The plan of a view.
    pub fn new(view: &'a View) -> Self {
        let nodes: Vec<&str> = view
            .hosts
            .iter()
            .chain(&view.routers)
            .map(String::as_str)
            .collect();
        let numbers: BTreeMap<&str, usize> = nodes
            .iter()
            .enumerate()
            .map(|(number, name)| (*name, number))
            .collect();
        let cables = cables(view, &numbers);
        let mut neighbours = vec![Vec::new(); nodes.len()];
        for cable in &cables {
            neighbours[cable.ends.0].push(cable.ends.1);
            neighbours[cable.ends.1].push(cable.ends.0);
        }
        let hosts = view.hosts.len();
        let senders = senders(view, &numbers);
        // Hosts that also receive, or many hosts at switches: a data centre.
        let is_vertical = hosts > 4 && is_tree(&neighbours, hosts);
        let starts: Vec<usize> = match is_vertical {
            true => (0..hosts).collect(),
            false => senders,
        };
        let depths = depths(&neighbours, &starts);
        let layers = layers(&depths, &neighbours);
        let mut places = vec![(0.5, 0.5); nodes.len()];
        let count = layers.len();
        for (depth, layer) in layers.iter().enumerate() {
            for (number, node) in layer.iter().enumerate() {
                let along = (number as f64 + 0.5) / layer.len() as f64;
                // The outer layers stand near the edges.
                let across = match count {
                    1 => 0.5,
                    _ => 0.07 + 0.86 * depth as f64 / (count - 1) as f64,
                };
                places[*node] = match is_vertical {
                    true => (along, 1.0 - across),
                    false => (across, along),
                };
            }
        }
        Self {
            nodes,
            hosts,
            cables,
            places,
            layers,
            is_vertical,
        }
    }
}

/// Whether each host has one switch, and no switch leads from one host to another alone.
fn is_tree(neighbours: &[Vec<usize>], hosts: usize) -> bool {
    let only = |host: &Vec<usize>| host.len() == 1 && host[0] >= hosts;
    hosts < neighbours.len() && neighbours[..hosts].iter().all(only)
}

/// Nodes at which data begin; without connections the first.
fn senders(view: &View, numbers: &BTreeMap<&str, usize>) -> Vec<usize> {
    let subflows = view
        .connections
        .iter()
        .flat_map(|connection| &connection.subflows);
    let mut senders: Vec<usize> = subflows
        .filter_map(|subflow| numbers.get(subflow.nodes.first()?.as_str()).copied())
        .collect();
    senders.sort_unstable();
    senders.dedup();
    match senders.is_empty() {
        true => vec![0],
        false => senders,
    }
}

fn cables<'a>(view: &'a View, numbers: &BTreeMap<&str, usize>) -> Vec<Cable<'a>> {
    let mut cables: Vec<Cable<'a>> = Vec::new();
    let mut of: BTreeMap<(usize, usize, &str), usize> = BTreeMap::new();
    for link in &view.links {
        let (Some(from), Some(to)) = (numbers.get(&*link.from), numbers.get(&*link.to)) else {
            continue;
        };
        let key = (*from.min(to), *from.max(to), stem(&link.name));
        let key_of_any = (key.0, key.1, "");
        // The reverse of a link has its name with another direction, or is the only other link.
        let found = of.get(&key).or_else(|| {
            let number = of.get(&key_of_any)?;
            let cable: &Cable<'_> = &cables[*number];
            let is_reverse = cable.link.from == link.to && !cable.name().is_empty();
            let names = [cable.link.name.as_str(), link.name.as_str()];
            let plain = names.iter().all(|name| stem(name) == *name);
            (is_reverse && plain).then_some(number)
        });
        match found {
            Some(number) => {
                let cable = &mut cables[*number];
                cable.both.extend(&link.subflows);
                if link.subflows.len() > cable.link.subflows.len() {
                    cable.link = link;
                }
            }
            None => {
                of.insert(key, cables.len());
                of.insert(key_of_any, cables.len());
                cables.push(Cable {
                    ends: (*from, *to),
                    link,
                    both: link.subflows.iter().collect(),
                });
            }
        }
    }
    cables
}

/// Least number of links from one of these nodes to each.
fn depths(neighbours: &[Vec<usize>], starts: &[usize]) -> Vec<usize> {
    let mut depths = vec![usize::MAX; neighbours.len()];
    let mut queue: VecDeque<usize> = starts.iter().copied().collect();
    for start in starts {
        depths[*start] = 0;
    }
    while let Some(node) = queue.pop_front() {
        for next in &neighbours[node] {
            if depths[*next] == usize::MAX {
                depths[*next] = depths[node] + 1;
                queue.push_back(*next);
            }
        }
    }
    // Nodes without any link to the others.
    depths
        .iter()
        .map(|depth| if *depth == usize::MAX { 0 } else { *depth })
        .collect()
}

/// The nodes of each depth. Each layer is in the order of the means of its neighbours in the layer before, so that few lines
/// cross (Sugiyama, Tagawa and Toda, 1981).
fn layers(depths: &[usize], neighbours: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let count = depths.iter().max().map_or(0, |depth| depth + 1);
    let mut layers = vec![Vec::new(); count];
    for (node, depth) in depths.iter().enumerate() {
        layers[*depth].push(node);
    }
    let mut places: Vec<f64> = vec![0.0; depths.len()];
    for (depth, layer) in layers.iter_mut().enumerate() {
        let mean = |node: &usize| {
            let before = neighbours[*node].iter().filter(|n| depths[**n] < depth);
            let before: Vec<f64> = before.map(|n| places[*n]).collect();
            before.iter().sum::<f64>() / before.len().max(1) as f64
        };
        let mut order: Vec<(f64, usize)> = layer.iter().map(|node| (mean(node), *node)).collect();
        // Without layers before, all means are 0, and the order is that of the names.
        order.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        *layer = order.into_iter().map(|(_, node)| node).collect();
        for (number, node) in layer.iter().enumerate() {
            places[*node] = (number as f64 + 0.5) / layer.len() as f64;
        }
    }
    layers
}
