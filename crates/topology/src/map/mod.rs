//! Maps of networks in GML, the Graph Modelling Language (Himsolt, "GML: A portable Graph File Format", Passau 1996), as the
//! Internet Topology Zoo publishes them.
//!
//! A file may have several edges between two nodes (also without `multigraph 1`), several nodes with the same label, and
//! unknown keys. The existing crates do not read these maps: gml_parser 0.1.1 (2023) refuses numbers with a decimal point,
//! graph-io-gml 0.3.0 (2021) loses labels and coordinates, and neither reports the line of a missing node.

mod build;
mod names;
mod read;
mod syntax;

use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use build::MapSpec;
pub use syntax::MapError;

/// The nodes and edges of a GML file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Map {
    /// The graph's `label`, or else its `Network`.
    pub title: Option<String>,
    /// Whether edges have one direction, from `source` to `target` (`directed 1`).
    pub is_directed: bool,
    /// Nodes, in the order of the file.
    pub nodes: Vec<MapNode>,
    /// Edges, in the order of the file.
    pub edges: Vec<MapEdge>,
}

/// A node of a [`Map`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MapNode {
    /// `id`; no two nodes have the same.
    pub id: i64,
    /// `label`; several nodes may have the same.
    pub label: Option<String>,
    /// Place on the map.
    pub place: Option<Place>,
}

/// Place of a node.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Place {
    /// `Longitude` and `Latitude`, degrees.
    Globe {
        /// Degrees east of Greenwich.
        longitude: f64,
        /// Degrees north of the equator.
        latitude: f64,
    },
    /// `x` and `y` of `graphics`; `y` grows downwards.
    Plane {
        /// Distance from the left.
        x: f64,
        /// Distance from above.
        y: f64,
    },
}

/// An edge of a [`Map`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MapEdge {
    /// Index of the `source` in [`Map::nodes`].
    pub source: usize,
    /// Index of the `target` in [`Map::nodes`].
    pub target: usize,
    /// `LinkSpeedRaw`, bit/s.
    pub rate: Option<u64>,
}

impl FromStr for Map {
    type Err = MapError;

    /// Reads the text of a GML file.
    ///
    /// # Errors
    /// The first problem, with its line: of the syntax, two nodes of one `id`, an edge without `source` or `target`, or with a node
    /// that does not exist.
    fn from_str(text: &str) -> Result<Self, MapError> {
        read::map(&syntax::parse(text)?)
    }
}

/// Kilometres between two places on the globe, along a great circle (haversine formula, mean radius 6371 km); none if one is not on
/// the globe.
#[must_use]
pub fn distance_km(one: Option<Place>, other: Option<Place>) -> Option<f64> {
    const RADIUS_KM: f64 = 6371.0;
    let radians = |place| match place {
        Some(Place::Globe {
            longitude,
            latitude,
        }) => Some([f64::to_radians(longitude), f64::to_radians(latitude)]),
        _ => None,
    };
    let ([east, north], [to_east, to_north]) = (radians(one)?, radians(other)?);
    let half_sine = |angle: f64| libm::pow(libm::sin(angle / 2.0), 2.0);
    let haversine = half_sine(to_north - north)
        + libm::cos(north) * libm::cos(to_north) * half_sine(to_east - east);
    Some(2.0 * RADIUS_KM * libm::asin(libm::sqrt(haversine.clamp(0.0, 1.0))))
}

#[cfg(test)]
mod tests;
