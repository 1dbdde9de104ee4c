//! The links that several subflows share, with the names of these subflows.

use scenario::view::{ConnectionView, LinkView, SubflowId, View};

use super::plan::Plan;

/// The links with several subflows, each in its busier direction: those with most subflows first, else in the order of the
/// topology.
pub fn links(view: &View) -> Vec<&LinkView> {
    let cables = Plan::new(view).cables.into_iter();
    let mut links: Vec<&LinkView> = cables.map(|cable| cable.link).collect();
    links.retain(|link| link.subflows.len() > 1);
    links.sort_by_key(|link| std::cmp::Reverse(link.subflows.len()));
    links
}

/// `download 2 #1`: subflow 1 of the second connection `download`. A connection without others of its name has no number, and a
/// single subflow none.
pub fn name(view: &View, id: &SubflowId) -> String {
    let same = |connection: &&ConnectionView| connection.name == id.connection;
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

/// The names of the first subflows, at most `most`, and the number of the others.
pub fn names(view: &View, subflows: &[SubflowId], most: usize) -> Vec<String> {
    let shown = subflows.iter().take(most);
    let mut names: Vec<String> = shown.map(|id| name(view, id)).collect();
    if subflows.len() > most {
        names.push(format!("{} more", subflows.len() - most));
    }
    names
}
