//! Algorithms that a scenario's connections need.

use scenario::{ConnectionSpec, Protocol};
use serde::{Deserialize, Serialize};

/// Request to load an algorithm for connections with the same algorithm, settings and protocol.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct LoadRequest {
    pub(crate) name: String,
    /// Whether plain TCP sockets may run it ([`kernel::load::Options::keeps_plain`]): only in a scenario with such a connection.
    pub(super) runs_plain: bool,
    /// The settings that differ from their standard values, by name.
    pub(super) settings: Vec<(String, u32)>,
}

impl LoadRequest {
    /// The request for this connection.
    pub(crate) fn of(connection: &ConnectionSpec) -> Self {
        let algorithm = mpcc::Algorithm::find(&connection.algorithm);
        let own = algorithm.into_iter().flat_map(|a| a.settings());
        let settings = own.filter_map(|setting| {
            let value = *connection.settings.get(setting.name)?;
            (value != setting.standard).then(|| (setting.name.into(), value))
        });
        Self {
            name: connection.algorithm.clone(),
            // Linux's own algorithms run on plain TCP in any case.
            runs_plain: connection.protocol == Protocol::Tcp
                && algorithm.is_some_and(|a| !a.in_linux()),
            settings: settings.collect(),
        }
    }
}
