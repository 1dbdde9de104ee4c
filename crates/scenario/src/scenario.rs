//! A scenario: a network and the connections on it.

use netsim::Span;
use serde::{Deserialize, Serialize};

use crate::connection::{ConnectionSpec, Length};

/// A network and the connections on it.
///
/// Keys of a file: `title`, `stop`, `warmup`, `rtt_spread`, one `[topology]`, and one `[[connection]]` or more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// `title`: title. Default: the file's name.
    pub title: String,
    /// `stop`: latest end. A run of transfers ends with the last one.
    pub stop: Span,
    /// `warmup`: time from which endless connections and links are measured. A run with an endless connection then ends at
    /// `stop`. Default: 0.
    pub warmup: Span,
    /// `[topology]`: network.
    pub topology: topology::Spec,
    /// `topology.names`: names of the paths of a topology between one server and one client, for figures; empty: none.
    pub path_names: Vec<String>,
    /// `rtt_spread`: each seed draws round-trip times within this share of the given ones. Results at one fixed RTT depend on
    /// the phase of events within a round trip, so that their mean is not representative. Default: 0.
    pub rtt_spread: f64,
    /// `rate_phase`: time of the recorded rates at which a run begins, the same for all links; each seed draws its own. Default: 0.
    pub rate_phase: Length,
    /// `[[connection]]`: connections, which run at the same time.
    pub connections: Vec<ConnectionSpec>,
}

impl Scenario {
    /// Whether a connection has no end of its own.
    #[must_use]
    pub fn has_endless(&self) -> bool {
        let mut all = self.connections.iter();
        all.any(|connection| !connection.application.is_finite())
    }

    /// Name of a path, by its number from 1.
    #[must_use]
    pub fn path_name(&self, number: u64) -> Option<&str> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        self.path_names.get(index).map(String::as_str)
    }
}
