//! Metrics of the loaded algorithms, for Prometheus and other programs that read OpenMetrics.
//!
//! All come from counters that the BPF programs keep: a scrape costs the same with one connection and with ten thousand.

mod bounded;
mod encode;
mod server;

use crate::limits::{Limits, Usage};
use crate::namespace::Namespaces;
use crate::registry::{self, Registered};
use crate::totals::{self, Totals};
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::path::Path;

pub use encode::{Format, encode};
pub use server::Server;

/// Label of the counters that belong to no network namespace with counters of its own.
pub const OTHER: &str = "other";

/// The metrics of an algorithm: of its present load, and of former ones that open sockets keep in the kernel.
#[derive(Debug)]
pub struct Algorithm {
    /// The name of its registration.
    pub name: String,
    /// The algorithm: the name in the table.
    pub algorithm: String,
    /// Counters by network namespace: its name, or its inode number if it has none.
    pub namespaces: BTreeMap<String, Totals>,
    /// Bounds and use of the present load; `None` if it is unloaded.
    pub present: Option<Present>,
    /// Number of former loads.
    pub former: u64,
}

/// The present load of an algorithm.
#[derive(Debug)]
pub struct Present {
    /// Bounds.
    pub limits: Limits,
    /// Use of the room within the bounds.
    pub usage: Usage,
    /// Whether coupling is switched off.
    pub off: bool,
    /// Number of network namespaces with counters of their own.
    pub namespaces: u64,
    /// Number of records of defaults of network namespaces.
    pub defaults: u64,
}

/// Reads the metrics of all loaded algorithms, by name.
///
/// # Errors
/// Those of [`registry::find`] and [`Namespaces::mounted`].
pub fn read() -> Result<Vec<Algorithm>> {
    let names = Namespaces::mounted()?;
    let mut algorithms: BTreeMap<String, Algorithm> = BTreeMap::new();
    for registered in registry::find()? {
        let algorithm = algorithms
            .entry(registered.name().into())
            .or_insert_with(|| Algorithm {
                name: registered.name().into(),
                algorithm: registered.algorithm().into(),
                namespaces: BTreeMap::new(),
                present: None,
                former: 0,
            });
        let by_namespace = totals::by_namespace(&registered)?;
        let present = by_namespace.len() as u64;
        for namespace in by_namespace {
            let name = names.get(namespace.netns).name;
            let label = name.unwrap_or_else(|| namespace.netns.to_string());
            *algorithm.namespaces.entry(label).or_default() += namespace.totals;
        }
        *algorithm.namespaces.entry(OTHER.into()).or_default() += totals::other(&registered)?;
        match registered.is_leaving() {
            true => algorithm.former += 1,
            false => algorithm.present = Some(of_present(&registered, present)?),
        }
    }
    Ok(algorithms.into_values().collect())
}

fn of_present(registered: &Registered, namespaces: u64) -> Result<Present> {
    Ok(Present {
        limits: registered.limits()?,
        usage: registered.usage()?,
        off: registered.is_off()?,
        namespaces,
        defaults: registered.default_cookies().len() as u64,
    })
}

/// Writes the metrics into a file for node_exporter's textfile collector, in one step: a reader sees the former file or the new one.
///
/// # Errors
/// If the metrics cannot be read or the file cannot be written.
pub fn write(to: &Path) -> Result<()> {
    let text = encode(read()?, Format::Prometheus);
    files::write(to, text).map_err(Error::io(to.display().to_string()))
}
