//! The connections of the loaded algorithms in this network namespace, and their groups.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;

use kernel::agent_exit::CoupledAtExit;
use kernel::group;
use kernel::registry::Registered;
use kernel::status::Connection;
use manager::api::{Subflow, Token};

use crate::agent::{Kernel, Seen, SeenSubflow};
use crate::error::{Error, Result};

/// The loaded algorithms, with the connections of the last call of [`Kernel::read`].
#[derive(Default)]
pub struct Loaded {
    netns: u64,
    algorithms: Vec<(Registered, Vec<Connection>)>,
    /// By id of the registration. Attached before the first subflow is separated: only this program couples the subflows after a SIGKILL.
    coupled_at_exit: HashMap<u32, CoupledAtExit>,
}

impl Loaded {
    /// Those of the calling thread's network namespace.
    ///
    /// # Errors
    /// If /proc is not there.
    pub fn here() -> Result<Self> {
        let file = "/proc/thread-self/ns/net";
        let netns = fs::metadata(file)
            .map_err(|error| Error::new(file, error))?
            .ino();
        Ok(Self {
            netns,
            ..Self::default()
        })
    }
}

fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

fn ends(subflow: &kernel::status::Subflow) -> Option<Subflow> {
    let (local, remote) = subflow.local.zip(subflow.remote)?;
    Some(Subflow {
        local: canonical(local),
        remote: canonical(remote),
    })
}

impl Kernel for Loaded {
    fn read(&mut self) -> Result<Vec<Seen>> {
        self.algorithms = match group::all() {
            Ok(algorithms) => algorithms,
            Err(kernel::Error::NothingLoaded) => Vec::new(),
            Err(error) => return Err(Error(error.to_string())),
        };
        let mut seen = Vec::new();
        for (_, connections) in &mut self.algorithms {
            connections.retain(|connection| u64::from(connection.netns) == self.netns);
            for connection in connections {
                let Ok(token) = Token::try_from(connection.token.clone()) else {
                    continue;
                };
                let subflows = connection.subflows.iter().map(|subflow| {
                    Some(SeenSubflow {
                        ends: ends(subflow)?,
                        group: subflow.group_asked.unwrap_or(subflow.group),
                    })
                });
                // A subflow without addresses is unknown: the connection is left as it is, in group 0.
                let subflows: Option<Vec<_>> = subflows.collect();
                if let Some(subflows) = subflows.filter(|subflows| !subflows.is_empty()) {
                    seen.push(Seen { token, subflows });
                }
            }
        }
        Ok(seen)
    }

    fn set(&mut self, moves: &[(Token, Subflow, u8)]) -> Result<()> {
        let mut wanted: HashMap<(String, Subflow), u8> = HashMap::new();
        for (token, subflow, group) in moves {
            wanted.insert((String::from(*token), *subflow), *group);
        }
        let is_loaded = |id: &u32| self.algorithms.iter().any(|(one, _)| one.map_id() == *id);
        self.coupled_at_exit.retain(|id, _| is_loaded(id));
        for (registered, connections) in &self.algorithms {
            let moves: Vec<_> = connections
                .iter()
                .flat_map(|connection| connection.subflows.iter().map(move |s| (connection, s)))
                .filter_map(|(connection, subflow)| {
                    let key = (connection.token.clone(), ends(subflow)?);
                    Some((connection, subflow, *wanted.get(&key)?))
                })
                .collect();
            let failed = |error: kernel::Error| Error(error.to_string());
            if moves.iter().any(|(_, _, group)| *group != 0) {
                if let Entry::Vacant(missing) = self.coupled_at_exit.entry(registered.map_id()) {
                    missing.insert(CoupledAtExit::of(registered).map_err(failed)?);
                }
            }
            if !moves.is_empty() {
                let requested = group::request_all(registered, &moves);
                requested.map_err(failed)?;
            }
        }
        Ok(())
    }
}
