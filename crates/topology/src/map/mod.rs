//! Maps of networks in GML, the Graph Modelling Language (Himsolt, "GML: A portable Graph File Format", Passau 1996), as the
//! Internet Topology Zoo publishes them.
//!
//! A file may have several edges between two nodes (also without `multigraph 1`), several nodes with the same label, and
//! unknown keys. Keys of other publishers are read, too: the arrows of SNDlib, `latency` and `packet_loss` of Shadow, `lat` and `lon`.
//! The existing crates do not read these maps: gml_parser 0.1.1 (2023) refuses numbers with a decimal point,
//! graph-io-gml 0.3.0 (2021) loses labels and coordinates, and neither reports the line of a missing node.

mod build;
mod names;
mod read;
mod syntax;

use std::collections::HashSet;
use std::str::FromStr;

use netsim::Span;
use serde::{Deserialize, Serialize};

pub use build::MapSpec;
pub use syntax::MapError;

/// The nodes and edges of a GML file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Map {
    /// The graph's `label`, or else its `Network`.
    pub title: Option<String>,
    /// Nodes, in the order of the file.
    pub nodes: Vec<MapNode>,
    /// Edges, in the order of the file.
    pub edges: Vec<MapEdge>,
    /// Keys of nodes and edges that are not read, as `edge.jitter`, in alphabetical order.
    pub unread: Vec<String>,
}

/// A node of a [`Map`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MapNode {
    /// `id`: a whole number of any size, or a text; no two nodes have the same.
    pub id: String,
    /// `label`; several nodes may have the same.
    pub label: Option<String>,
    /// Place on the map.
    pub place: Option<Place>,
}

/// Place of a node.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Place {
    /// `Longitude` and `Latitude`, or `lon` and `lat`, degrees.
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
    /// Whether the edge has the direction from source to target alone: `directed 1`, without arrows at both ends in `graphics`.
    pub is_one_way: bool,
    /// `LinkSpeedRaw`, or `LinkSpeed` in `LinkSpeedUnits`, bit/s.
    pub rate: Option<u64>,
    /// `latency` with its unit, one way.
    pub delay: Option<Span>,
    /// `packet_loss`: share of the packets that are lost in each direction.
    pub loss: Option<f64>,
}

impl Map {
    /// Reads a GML file: UTF-8, or else ISO 8859-1, the characters of GML.
    ///
    /// # Errors
    /// As those of [`Map::from_str`].
    pub fn read(bytes: &[u8]) -> Result<Self, MapError> {
        match std::str::from_utf8(bytes) {
            Ok(text) => text.parse(),
            Err(_) => (bytes.iter().map(|byte| char::from(*byte)))
                .collect::<String>()
                .parse(),
        }
    }

    /// Gives each one-way edge the other direction, too, unless another one-way edge has it. Returns the number of these edges.
    pub fn both_ways(&mut self) -> usize {
        let ends = |edge: &MapEdge| (edge.source, edge.target);
        let directions: HashSet<(usize, usize)> = self.edges.iter().map(ends).collect();
        let is_alone = |edge: &&mut MapEdge| {
            edge.is_one_way && !directions.contains(&(edge.target, edge.source))
        };
        let mut changed = 0;
        for edge in self.edges.iter_mut().filter(is_alone) {
            edge.is_one_way = false;
            changed += 1;
        }
        changed
    }

    /// Number of edges that have one direction.
    #[must_use]
    pub fn one_way_edges(&self) -> usize {
        self.edges.iter().filter(|edge| edge.is_one_way).count()
    }
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
