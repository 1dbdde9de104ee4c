//! Routes of the subflows, and their groups.

use topology::LinkIndex;

use super::{CONNECTION_SUBFLOWS, Connection, State, Subflow, mark};
use crate::api;
use crate::routes::{RouteId, Routes};

impl State {
    pub(super) fn join(&mut self, ends: &api::Subflow, connection: u32) -> Option<RouteId> {
        let from = self.network.node(ends.local.ip())?;
        let to = self.network.node(ends.remote.ip())?;
        let route = self.routes.join(&mut self.network, (from, to), connection);
        mark(
            &mut self.dirty,
            &mut self.is_dirty,
            self.routes.links(route),
        );
        Some(route)
    }

    pub(super) fn leave(&mut self, route: Option<RouteId>, connection: u32) {
        if let Some(route) = route {
            mark(
                &mut self.dirty,
                &mut self.is_dirty,
                self.routes.links(route),
            );
            self.routes.leave(route, connection);
        }
    }

    /// Determines all routes anew.
    pub(super) fn rebuild_routes(&mut self) {
        self.routes = Routes::new(self.network.graph().links().len());
        for index in 0..self.connections.len() {
            let Some(mut connection) = self.connections[index].take() else {
                continue;
            };
            for subflow in &mut connection.subflows {
                subflow.route = self.join(&subflow.ends, index as u32);
            }
            self.connections[index] = Some(connection);
        }
    }

    /// Determines all routes and groups anew.
    pub(super) fn reroute(&mut self) {
        self.rebuild_routes();
        self.regroup_all();
    }

    /// Determines all groups anew.
    pub fn regroup_all(&mut self) {
        for index in 0..self.connections.len() as u32 {
            if self.connections[index as usize].is_some() {
                self.regroup(index);
            }
        }
    }

    pub(super) fn regroup_on(&mut self, links: &[LinkIndex]) {
        for connection in self.routes.connections_on(links) {
            self.regroup(connection);
        }
    }

    /// Determines the groups of a connection.
    pub(super) fn regroup(&mut self, index: u32) {
        let mut connection = self.connections[index as usize].take().expect("it exists");
        self.count(&connection, false);
        let routes = connection.subflows.iter().map(|subflow| {
            let route = subflow.route?;
            self.routes.route(route)
        });
        let rate = |link| self.network.rate(link);
        let mut is_changed = connection.revision == 0;
        let unknown = match self.assistance.decide(routes, rate) {
            Ok(groups) => {
                // Subflows are in the order of their numbers: the first of a group has the lowest.
                let mut numbers = [0; CONNECTION_SUBFLOWS];
                let mut known = 0;
                let single = groups.iter().all(|group| *group == 0);
                for (subflow, group) in connection.subflows.iter_mut().zip(groups) {
                    if *group as usize == known {
                        numbers[known] = if single { 0 } else { subflow.number };
                        known += 1;
                    }
                    let number = numbers[*group as usize];
                    is_changed |= subflow.group != number;
                    subflow.group = number;
                }
                None
            }
            Err(unknown) => {
                for subflow in &mut connection.subflows {
                    is_changed |= subflow.group != 0;
                    subflow.group = 0;
                }
                Some(unknown)
            }
        };
        is_changed |= unknown != connection.unknown;
        connection.unknown = unknown;
        if is_changed {
            self.revision += 1;
            connection.revision = self.revision;
            self.changed.push(index);
        }
        self.count(&connection, true);
        self.connections[index as usize] = Some(connection);
    }

    /// Adds a connection to the totals, or removes it.
    pub(super) fn count(&mut self, connection: &Connection, add: bool) {
        let mut groups = connection.subflows.iter().map(|subflow| subflow.group);
        let first = groups.next();
        let separated = groups.any(|group| Some(group) != first);
        for (total, counts) in [
            (&mut self.totals.separated, separated),
            (&mut self.totals.unknown, connection.unknown.is_some()),
        ] {
            match add {
                true => *total += usize::from(counts),
                false => *total -= usize::from(counts),
            }
        }
    }

    pub(super) fn groups(&self, index: u32) -> api::Groups {
        let connection = self.connection(index);
        let group = |subflow: &Subflow| api::SubflowGroup {
            local: subflow.ends.local,
            remote: subflow.ends.remote,
            group: subflow.group,
        };
        api::Groups {
            connection: connection.token,
            revision: connection.revision,
            unknown: connection.unknown,
            groups: connection.subflows.iter().map(group).collect(),
        }
    }
}
