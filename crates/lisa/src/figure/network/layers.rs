//! A large network as layers: nodes of one depth, and the links between two layers.

use scenario::view::View;

use super::plan::{Cable, Plan};
use super::properties;

/// The layers of a network.
pub struct Summary {
    /// From the hosts on.
    pub layers: Vec<Layer>,
    /// Links between layers.
    pub between: Vec<Between>,
}

/// Nodes of one depth.
pub struct Layer {
    /// Common start of the names, and the number of nodes: `16 core`, `128 h…`.
    pub title: String,
    /// Number of nodes.
    pub nodes: usize,
}

/// The links between two layers.
pub struct Between {
    /// Numbers of the layers.
    pub layers: (usize, usize),
    /// Number of cables.
    pub cables: usize,
    /// Properties of all, or of the first.
    pub properties: String,
    /// Number of cables with data.
    pub used: usize,
    /// Number of cables that several subflows share.
    pub shared: usize,
    /// Largest and mean number of subflows of a cable.
    pub most: usize,
    /// Mean number of subflows of a cable.
    pub mean: f64,
    /// Name of the cable with most subflows.
    pub busiest: String,
}

impl Summary {
    /// The layers of a view.
    pub fn new(view: &View) -> Self {
        Self::of_plan(&Plan::new(view))
    }

    /// The layers of a plan.
    pub(super) fn of_plan(plan: &Plan<'_>) -> Self {
        let mut depth = vec![0; plan.nodes.len()];
        for (number, layer) in plan.layers.iter().enumerate() {
            for node in layer {
                depth[*node] = number;
            }
        }
        let layers = plan.layers.iter().map(|layer| {
            let names: Vec<&str> = layer.iter().map(|node| plan.nodes[*node]).collect();
            Layer {
                title: title(&names, layer.iter().all(|node| *node < plan.hosts)),
                nodes: names.len(),
            }
        });
        let mut between: Vec<((usize, usize), Vec<&Cable<'_>>)> = Vec::new();
        for cable in &plan.cables {
            let (a, b) = (depth[cable.ends.0], depth[cable.ends.1]);
            let key = (a.min(b), a.max(b));
            match between.iter_mut().find(|(other, _)| *other == key) {
                Some((_, cables)) => cables.push(cable),
                None => between.push((key, vec![cable])),
            }
        }
        between.sort_by_key(|(key, _)| *key);
        Self {
            layers: layers.collect(),
            between: between
                .into_iter()
                .map(|(key, cables)| summary(key, &cables))
                .collect(),
        }
    }
}

fn summary(layers: (usize, usize), cables: &[&Cable<'_>]) -> Between {
    let first = properties(cables[0]);
    let equal = cables.iter().all(|cable| properties(cable) == first);
    let properties = match equal {
        true => first.join(", "),
        false => "different rates, delays or queues".into(),
    };
    let numbers = || cables.iter().map(|cable| cable.subflows());
    // The first of several with most subflows.
    let busiest = cables.iter().rev().max_by_key(|cable| cable.subflows());
    Between {
        layers,
        cables: cables.len(),
        properties,
        used: numbers().filter(|number| *number > 0).count(),
        shared: numbers().filter(|number| *number > 1).count(),
        most: numbers().max().unwrap_or(0),
        mean: numbers().sum::<usize>() as f64 / cables.len() as f64,
        busiest: busiest.map_or(String::new(), |cable| cable.name().to_owned()),
    }
}

/// `16 core`: the number and the word at the start of all names.
fn title(names: &[&str], are_hosts: bool) -> String {
    let word = |name: &str| -> String {
        let end = name
            .find(|c: char| !c.is_alphabetic())
            .unwrap_or(name.len());
        name[..end].to_owned()
    };
    let first = names.first().map(|name| word(name)).unwrap_or_default();
    let same = names.iter().all(|name| word(name) == first);
    let number = names.len();
    match (are_hosts, same && first.len() > 1) {
        (true, _) => crate::output::counted(number, "host"),
        (false, true) => format!(
            "{number} {first} {}",
            if number == 1 { "router" } else { "routers" }
        ),
        (false, false) => crate::output::counted(number, "router"),
    }
}
