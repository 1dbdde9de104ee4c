//! Names of the nodes of a map: unique, and as short as they can be.

use std::collections::{BTreeSet, HashMap};

use super::Map;

impl Map {
    /// A name for each node: its label if no other node has it and it is no other node's id, else the label with the id, `CERN (12)`;
    /// the id of a node without a label.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let ids: BTreeSet<&str> = self.nodes.iter().map(|node| &*node.id).collect();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for label in self.nodes.iter().filter_map(|node| node.label.as_deref()) {
            *counts.entry(label).or_default() += 1;
        }
        let is_plain = |label: &str| counts[label] == 1 && !ids.contains(label);
        let labels = self.nodes.iter().filter_map(|node| node.label.as_deref());
        let mut taken: BTreeSet<String> = labels
            .filter(|label| is_plain(label))
            .chain(ids.iter().copied())
            .map(String::from)
            .collect();
        let mut name = |node: &super::MapNode| match &node.label {
            Some(label) if is_plain(label) => label.clone(),
            Some(label) if *label != node.id => {
                let name = format!("{label} ({})", node.id);
                // A third node may have this as its label.
                match taken.insert(name.clone()) {
                    true => name,
                    false => node.id.clone(),
                }
            }
            _ => node.id.clone(),
        };
        self.nodes.iter().map(&mut name).collect()
    }
}

/// Names that stand for nodes.
pub(crate) struct Alias {
    /// An id, or a label that several nodes have.
    pub text: String,
    /// Index of the node.
    pub node: usize,
}

impl Map {
    /// Indices of the nodes that a text names: by its id, its label, or its name in [`Map::names`]. A label of several nodes names
    /// all of them.
    #[must_use]
    pub fn find(&self, text: &str) -> Vec<usize> {
        let all = || self.nodes.iter().enumerate();
        let id = all().find(|(_, node)| node.id == text);
        if let Some((index, _)) = id {
            return vec![index];
        }
        let named = self.names().iter().position(|name| name == text);
        if let Some(index) = named {
            return vec![index];
        }
        let labelled = all().filter(|(_, node)| node.label.as_deref() == Some(text));
        labelled.map(|(index, _)| index).collect()
    }

    /// The ids and labels that are no names.
    pub(crate) fn aliases(&self) -> Vec<Alias> {
        let names = self.names();
        let mut aliases = Vec::new();
        for (index, (node, name)) in self.nodes.iter().zip(&names).enumerate() {
            let texts = BTreeSet::from([Some(node.id.clone()), node.label.clone()]);
            let others = texts.into_iter().flatten().filter(|text| text != name);
            aliases.extend(others.map(|text| Alias { text, node: index }));
        }
        // An id precedes a label with the same digits.
        let ids: BTreeSet<&str> = self.nodes.iter().map(|node| &*node.id).collect();
        aliases
            .retain(|alias| !ids.contains(&*alias.text) || self.nodes[alias.node].id == alias.text);
        aliases
    }
}
