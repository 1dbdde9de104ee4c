//! Algorithms that a scenario's connections need.

use scenario::{ConnectionSpec, InitialSsthresh, Protocol};
use serde::{Deserialize, Serialize};

/// Setting of CSS: the initial slow start threshold.
const CON_SSTHRESH: &str = "con_ssthresh";

/// CSS's con_ssthresh by the connection's initial threshold, segments.
fn con_ssthresh(connection: &ConnectionSpec) -> Option<u32> {
    match connection.initial_ssthresh? {
        InitialSsthresh::Bytes(bytes) => u32::try_from(bytes / u64::from(connection.mss)).ok(),
        // Has been replaced by its size: `Scenario::with_thresholds`.
        InitialSsthresh::Bdp => None,
    }
}

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
            let value = (connection.settings.get(setting.name).copied())
                .filter(|value| *value != setting.standard)
                .or_else(|| con_ssthresh(connection).filter(|_| setting.name == CON_SSTHRESH))?;
            let value = value.clamp(*setting.range.start(), *setting.range.end());
            (value != setting.standard).then(|| (setting.name.into(), value))
        });
        Self {
            name: connection.algorithm.clone(),
            // Linux's own algorithms run on plain TCP in any case.
            runs_plain: connection.protocol == Protocol::Tcp
                && algorithm.is_some_and(|a| a.is_loadable()),
            settings: settings.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 500 KB are 345 segments of 1448 bytes.
    #[test]
    fn css_takes_its_threshold_from_the_connection() {
        let settings = |algorithm: &str, set: Option<u32>| {
            let connection = ConnectionSpec {
                algorithm: algorithm.into(),
                initial_ssthresh: Some(InitialSsthresh::Bytes(500_000)),
                settings: set
                    .map(|n| (CON_SSTHRESH.to_owned(), n))
                    .into_iter()
                    .collect(),
                ..ConnectionSpec::default()
            };
            LoadRequest::of(&connection).settings
        };
        assert_eq!(settings("css", None), [(CON_SSTHRESH.to_owned(), 345)]);
        assert_eq!(
            settings("css_olia", Some(0)),
            [(CON_SSTHRESH.to_owned(), 345)]
        );
        assert_eq!(settings("css", Some(90)), [(CON_SSTHRESH.to_owned(), 90)]);
        assert_eq!(settings("lia", None), []);
    }
}
