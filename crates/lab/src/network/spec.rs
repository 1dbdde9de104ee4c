//! Specification of a network between one client and one server.

use topology::Spec;

use crate::error::Error;
use crate::features::TOPOLOGY;

/// Largest number of paths: MPTCP's path manager allows 8 subflows beyond the first (`MPTCP_PM_ADDR_MAX`).
pub const MAX_PATHS: usize = 9;

/// A network between one client and one server.
#[derive(Clone, Debug)]
pub struct NetworkSpec {
    /// Links: a shared bottleneck, or separate bottlenecks.
    pub topology: Spec,
    /// Seed of random losses and reordering.
    pub link_seed: u64,
    /// Receive buffer of each endpoint's TCP and MPTCP sockets, bytes (`tcp_rmem`, default and maximum). The kernel advertises about
    /// half of it as its window. The send buffer is at least as large. `None`: 128 KB that grow to 6 MB, the kernel's defaults.
    pub receive_window: Option<u32>,
    /// For each path, whether its subflows are backups. Paths beyond the list, and the first path, are not.
    pub backup: Vec<bool>,
}

/// A network with the kernel's receive buffers, seed 1, and no backup paths.
impl From<Spec> for NetworkSpec {
    fn from(topology: Spec) -> Self {
        Self {
            topology,
            link_seed: 1,
            receive_window: None,
            backup: Vec::new(),
        }
    }
}

impl NetworkSpec {
    /// Number of paths.
    ///
    /// # Errors
    /// [`Error::Paths`] if MPTCP cannot use as many.
    pub(crate) fn paths(&self) -> Result<usize, Error> {
        let paths = paths(&self.topology)?;
        if (1..=MAX_PATHS).contains(&paths) {
            Ok(paths)
        } else {
            Err(Error::Paths(paths))
        }
    }
}

/// Number of paths between the client and the server of a topology.
///
/// # Errors
/// [`Error::Unsupported`] for a topology with other hosts.
pub(crate) fn paths(topology: &Spec) -> Result<usize, Error> {
    match topology {
        Spec::SharedBottleneck(spec) => Ok(spec.rtts.len()),
        Spec::NonSharedBottleneck(spec) => Ok(spec.paths.len()),
        _ => Err(TOPOLOGY.error("topology".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netsim::{Rate, Span};
    use topology::{Properties, Queue, SharedBottleneck};

    fn network(paths: usize) -> NetworkSpec {
        let rate = Rate::from_bits_per_second(8_000_000_000);
        NetworkSpec {
            topology: Spec::SharedBottleneck(SharedBottleneck {
                bottleneck: Properties::shaped(rate, Queue::DropTailPackets(1), Span::ZERO),
                rtts: vec![Span::ZERO; paths],
                access: None,
            }),
            link_seed: 1,
            receive_window: None,
            backup: Vec::new(),
        }
    }

    #[test]
    fn the_number_of_paths_is_limited() {
        assert!(network(0).paths().is_err());
        assert_eq!(network(1).paths().ok(), Some(1));
        assert_eq!(network(9).paths().ok(), Some(9));
        assert!(network(10).paths().is_err());
    }
}
