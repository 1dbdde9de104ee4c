//! A network and what runs on it.

use std::path::Path;

use netsim::Span;
use serde::{Deserialize, Serialize};

use crate::{ConnectionSpec, Error, file};

/// A network and what runs on it.
///
/// Keys of a file: `title`, `stop`, `warmup`, `rtt_spread`, one `[topology]`, and any number of `[[connection]]` from 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// `title`: what it is, for people. Default: the file's name.
    pub title: String,
    /// `stop`: when to end, at the latest. Where there are transfers the run ends with the last of them.
    pub stop: Span,
    /// `warmup`: what endless connections deliver and what links do counts from here, and where there are such, until `stop`. Default: 0.
    pub warmup: Span,
    /// `[topology]`: the network.
    pub topology: topology::Spec,
    /// `rtt_spread`: each seed draws round-trip times within this share of those given. Results at one fixed RTT depend
    /// on where in a round trip things fall, and their mean says little. Default: 0, as given.
    pub rtt_spread: f64,
    /// `[[connection]]`: what runs, all at the same time.
    pub connections: Vec<ConnectionSpec>,
}

impl Scenario {
    /// The scenario that a file says. `file` is its name, for errors and for traces that stand beside it.
    pub fn parse(text: &str, file: impl AsRef<Path>) -> Result<Self, Error> {
        Self::parse_with(text, file, &[] as &[&str])
    }

    /// The same, with keys changed before anything is checked: each override is `KEY=VALUE`.
    ///
    /// A key is the way to it through the file, with dots: `stop`, `topology.queue.packets`. A connection is named by
    /// its name or its number from 0: `connection.download.algorithm`, `connection.0.bytes`; `connection.*.algorithm`
    /// means all. A key that is not there is added. A value is what would stand in the file; text needs no quotes.
    pub fn parse_with(
        text: &str,
        file: impl AsRef<Path>,
        overrides: &[impl AsRef<str>],
    ) -> Result<Self, Error> {
        file::parse(text, file.as_ref(), overrides)
    }

    /// The scenario in a file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::load_with(path, &[] as &[&str])
    }

    /// The same, with keys changed: see [`Scenario::parse_with`].
    pub fn load_with(path: impl AsRef<Path>, overrides: &[impl AsRef<str>]) -> Result<Self, Error> {
        let text = file::read(path.as_ref())?;
        Self::parse_with(&text, path, overrides)
    }
}
