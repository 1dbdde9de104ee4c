//! What requests and streams show of the contents.

use topology::LinkIndex;

use super::{EndpointId, State, Subflow, mark};
use crate::api;
use crate::network::Network;

impl State {
    /// The groups that have changed since the last call, of the endpoints that `is_wanted` names.
    pub fn take_changes(
        &mut self,
        is_wanted: impl Fn(EndpointId) -> bool,
    ) -> Vec<(EndpointId, api::Groups)> {
        let mut changed = std::mem::take(&mut self.changed);
        changed.sort_unstable();
        changed.dedup();
        let groups = changed.into_iter().filter_map(|index| {
            let connection = self.connections[index as usize].as_ref()?;
            let id = connection.endpoint;
            is_wanted(id).then(|| (id, self.groups(index)))
        });
        groups.collect()
    }

    pub(super) fn mark(&mut self, links: &[LinkIndex]) {
        mark(&mut self.dirty, &mut self.is_dirty, links);
    }

    /// The links whose numbers have changed since the last call, with their numbers.
    pub fn take_dirty(&mut self) -> Vec<(u32, api::LinkLive)> {
        let mut dirty = std::mem::take(&mut self.dirty);
        dirty.sort_unstable();
        for link in &dirty {
            self.is_dirty[link.index()] = false;
        }
        let live = dirty
            .into_iter()
            .map(|link| (link.index() as u32, self.live(link)));
        live.collect()
    }

    fn live(&self, link: LinkIndex) -> api::LinkLive {
        api::LinkLive {
            subflows: self.routes.subflows(link),
            ..self.network.live(link)
        }
    }

    /// Numbers of the contents.
    #[must_use]
    pub fn totals(&self) -> api::Totals {
        self.totals
    }

    /// Number of the map.
    #[must_use]
    pub fn map_revision(&self) -> u64 {
        self.network.revision
    }

    /// The map with the states and rates of its links.
    #[must_use]
    pub fn map(&self) -> api::MapView {
        let mut view = self.network.view();
        for (index, link) in self.network.graph().link_indices().zip(&mut view.links) {
            link.live.subflows = self.routes.subflows(index);
        }
        view
    }

    /// The first connections, those of one endpoint or of all.
    #[must_use]
    pub fn connections(&self, of: Option<EndpointId>, most: usize) -> api::ConnectionsView {
        let mine: Vec<u32> = match of {
            Some(id) => {
                let mut mine: Vec<u32> = self.endpoint(id).connections.values().copied().collect();
                mine.sort_unstable();
                mine
            }
            None => {
                let all = 0..self.connections.len() as u32;
                let open = all.filter(|index| self.connections[*index as usize].is_some());
                open.take(most).collect()
            }
        };
        let total = match of {
            Some(_) => mine.len(),
            None => self.totals.connections,
        };
        let view = |index: u32| {
            let connection = self.connection(index);
            let links = |subflow: &Subflow| {
                let links = subflow.route.map(|route| self.routes.links(route));
                let links = links.unwrap_or_default().iter();
                links.map(|link| link.index() as u32).collect()
            };
            api::ConnectionView {
                endpoint: self.endpoint(connection.endpoint).name.clone(),
                groups: self.groups(index),
                links: connection.subflows.iter().map(links).collect(),
            }
        };
        let connections = mine.into_iter().take(most).map(view).collect();
        api::ConnectionsView { total, connections }
    }

    pub(crate) fn network(&self) -> &Network {
        &self.network
    }
}
