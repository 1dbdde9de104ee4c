//! Links with capacities, and users with paths over them ([`Network`]).

use scenario::view::View;

use crate::{Error, PACKET_BYTES};

/// Links and their users.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Links in one direction each.
    pub links: Vec<Link>,
    /// Users, each a connection.
    pub users: Vec<User>,
}

/// A link in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Name.
    pub name: String,
    /// Capacity, Mbit/s.
    pub capacity_mbps: f64,
}

/// A connection.
#[derive(Clone, Debug, PartialEq)]
pub struct User {
    /// Name of the connection.
    pub name: String,
    /// Number among the connections of this name, from 1.
    pub number: u32,
    /// Paths, one for each subflow.
    pub paths: Vec<Path>,
}

/// A path.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Indices into [`Network::links`].
    pub links: Vec<usize>,
    /// Round-trip time with queueing, seconds.
    pub rtt_s: f64,
}

impl Path {
    /// A path over these links.
    pub fn new(links: impl IntoIterator<Item = usize>, rtt_s: f64) -> Path {
        Path {
            links: links.into_iter().collect(),
            rtt_s,
        }
    }

    /// Rate of one segment a round trip, Mbit/s.
    pub fn segment_mbps(&self) -> f64 {
        8e-6 * PACKET_BYTES / self.rtt_s
    }
}

impl Network {
    /// The network of a scenario. `queueing_s` seconds are added to the round-trip time of each path.
    ///
    /// # Errors
    /// [`Error::Udp`], and [`Error::Unlimited`] for a path without a rate.
    pub fn of(view: &View, queueing_s: f64) -> Result<Network, Error> {
        let mut links = Vec::new();
        // By the index of the view: the index here, of those with a rate.
        let index: Vec<Option<usize>> = (view.links.iter())
            .map(|link| {
                let capacity_mbps = link.rate_mbps?;
                links.push(Link {
                    name: link.name.clone(),
                    capacity_mbps,
                });
                Some(links.len() - 1)
            })
            .collect();
        let limited = |name: &String| {
            let place = view.links.iter().position(|link| link.name == *name);
            place.and_then(|place| index[place])
        };
        let mut users = Vec::new();
        for connection in &view.connections {
            if connection.protocol == "udp" {
                return Err(Error::Udp(connection.name.clone()));
            }
            let mut paths = Vec::new();
            for subflow in &connection.subflows {
                let path = Path::new(
                    subflow.links.iter().filter_map(limited),
                    subflow.rtt_s + queueing_s,
                );
                if path.links.is_empty() {
                    return Err(Error::Unlimited {
                        connection: connection.name.clone(),
                        subflow: subflow.subflow,
                    });
                }
                paths.push(path);
            }
            users.push(User {
                name: connection.name.clone(),
                number: connection.number,
                paths,
            });
        }
        Ok(Network { links, users })
    }

    /// Load of each link, Mbit/s, for the rates of all paths in the order of users and paths.
    pub(crate) fn loads(&self, rates: &[f64]) -> Vec<f64> {
        let mut loads = vec![0.0; self.links.len()];
        for (path, rate) in self.paths().zip(rates) {
            for link in &path.links {
                loads[*link] += rate;
            }
        }
        loads
    }

    /// All paths, user by user.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.users.iter().flat_map(|user| &user.paths)
    }
}
