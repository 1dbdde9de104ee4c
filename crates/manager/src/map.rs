//! Maps from requests, and the bounds of their names.

use std::collections::HashMap;

use topology::{Map, MapEdge, MapNode, Place};

use crate::api;
use crate::error::{Error, Result};

/// A map from its description.
///
/// # Errors
/// For two nodes of one name, and links whose ends are not on the map.
pub fn map_of(request: &api::MapRequest) -> Result<Map> {
    let mut indices = HashMap::new();
    let mut map = Map::default();
    for (index, node) in request.nodes.iter().enumerate() {
        if indices.insert(&node.name[..], index).is_some() {
            let text = format!(
                "nodes.{index}: a second node `{}`: names are unique",
                node.name
            );
            return Err(Error::invalid(text));
        }
        map.nodes.push(MapNode {
            id: node.name.clone(),
            label: None,
            place: node.x.zip(node.y).map(|(x, y)| Place::Plane { x, y }),
        });
    }
    for (index, link) in request.links.iter().enumerate() {
        let end = |name: &str| {
            let unknown = || {
                Error::invalid(format!(
                    "links.{index}: no node `{name}`: add it to `nodes`"
                ))
            };
            indices.get(name).copied().ok_or_else(unknown)
        };
        let (source, target) = (end(&link.from)?, end(&link.to)?);
        if source == target {
            let text = format!(
                "links.{index}: from `{0}` to `{0}`: a link joins two nodes",
                link.from
            );
            return Err(Error::invalid(text));
        }
        map.edges.push(MapEdge {
            source,
            target,
            is_one_way: true,
            rate: link.capacity_bps,
            delay: None,
            loss: None,
        });
    }
    Ok(map)
}

/// Longest name of a node and longest title of a map, bytes.
const MOST_NAME: usize = 200;

/// Names are shown on the page and on terminals.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    match (1..=MOST_NAME).contains(&name.len()) && !name.chars().any(char::is_control) {
        true => Ok(()),
        false => Err(format!(
            "a name has 1 to {MOST_NAME} bytes, without control characters"
        )),
    }
}
