//! The picture of a map: its nodes at their coordinates, paths in colour, the links that they share, and the bottlenecks among these.

mod labels;
mod places;

use std::collections::BTreeMap;

use plotters::prelude::*;
use scenario::paths::{Network, Query};
use topology::{Graph, LinkIndex, Sharing};

use self::labels::Label;
use self::places::{Plane, Point};
use super::canvas::{Area, Canvas};
use super::legend::{Entry, Mark};
use super::network::draw::{SHARED, bent, beside};
use super::page::{self, Grid, Texts};
use super::palette::{self, GREY};
use super::size::Size;
use crate::output::counted;

/// Colour behind a friendliness bottleneck.
const BOTTLENECK: RGBColor = RGBColor(240, 140, 150);
/// Colour of a link without a path.
const LINK: RGBColor = RGBColor(190, 190, 190);
/// Distance of the colours of paths on one link, pixels.
const APART: f64 = 4.0;
/// Distance of parallel links.
const BOW: f64 = 9.0;
/// Largest number of paths with a colour each.
const MOST_PATHS: usize = 7;
/// Space around the nodes, for their names.
const SPACE: (f64, f64) = (70.0, 24.0);
/// Least and largest height of the map without `--size`, pixels.
const HEIGHTS: (f64, f64) = (300.0, 820.0);
/// Width of a page without `--size`, within its margins.
const WIDTH: f64 = 936.0;

/// A link with both directions, or with one.
struct Cable {
    ends: [usize; 2],
    /// Number among the cables between its ends, and their number.
    number: usize,
    parallel: usize,
    /// Indices of the paths on it.
    paths: Vec<usize>,
    /// Whether the first of them crosses it from its second end: colours then keep their sides along a path.
    is_reversed: bool,
    shared: bool,
    is_bottleneck: bool,
}

/// Draws a map as SVG, with the paths of a query.
///
/// # Errors
/// For a network without coordinates, and if the size has no space.
pub fn svg(network: &Network, query: Option<&Query>, size: Option<Size>) -> Result<String, String> {
    let graph = &network.graph;
    let paths = query.map_or(Vec::new(), |query| network.paths(query));
    let sharing = network.sharing(&paths);
    let cables = cables(graph, &paths, &sharing);
    let mut neighbours = vec![Vec::new(); graph.nodes().len()];
    for Cable {
        ends: [one, other], ..
    } in &cables
    {
        neighbours[*one].push(*other);
        neighbours[*other].push(*one);
    }
    let mut places = network.places.clone();
    places.resize(graph.nodes().len(), None);
    let plane = Plane::new(&places, &neighbours);
    let plane = plane.ok_or("the network has no coordinates: `lisa show FILE --plot` draws it")?;
    let texts = Texts {
        title: network.title.clone(),
        lines: about(network, query, paths.len()),
        legend: legend(&paths, &sharing, &cables),
        notes: notes(network, &plane, paths.len(), sharing.links.is_empty()),
    };
    let grid = Grid {
        panels: 1,
        columns: 1,
        height: plane.height(WIDTH - 2.0 * SPACE.0, HEIGHTS) + 2.0 * SPACE.1,
        least: (260.0, 160.0),
    };
    page::page(&texts, grid, size, |canvas, areas| {
        let area = areas[0];
        let inner = Area {
            x: area.x + SPACE.0,
            y: area.y + SPACE.1,
            width: area.width - 2.0 * SPACE.0,
            height: area.height - 2.0 * SPACE.1,
        };
        let points = plane.fitted(inner);
        draw_cables(canvas, &cables, &points);
        draw_nodes(canvas, area, graph, &cables, &points, query);
    })
}

/// The cables with the paths on them.
fn cables(graph: &Graph, paths: &[Vec<LinkIndex>], sharing: &Sharing) -> Vec<Cable> {
    let mut cables: Vec<Cable> = Vec::new();
    // Number of the cable of each link.
    let mut of = Vec::with_capacity(graph.links().len());
    let mut counts: BTreeMap<[usize; 2], usize> = BTreeMap::new();
    for link in graph.links() {
        // The second direction follows the first.
        if !link.is_second_direction() {
            let (from, to) = (link.from.index(), link.to.index());
            let ends = [from.min(to), from.max(to)];
            let number = counts.entry(ends).or_default();
            cables.push(Cable {
                ends,
                number: *number,
                parallel: 0,
                paths: Vec::new(),
                is_reversed: false,
                shared: false,
                is_bottleneck: false,
            });
            *number += 1;
        }
        of.push(cables.len() - 1);
    }
    for cable in &mut cables {
        cable.parallel = counts[&cable.ends];
    }
    for (index, path) in paths.iter().enumerate() {
        for link in path {
            let cable = &mut cables[of[link.index()]];
            if cable.paths.is_empty() {
                cable.is_reversed = graph.link(*link).from.index() == cable.ends[1];
            }
            cable.paths.push(index);
        }
    }
    for shared in &sharing.links {
        let cable = &mut cables[of[shared.link.index()]];
        cable.shared = true;
        cable.is_bottleneck |= shared.is_bottleneck;
    }
    cables
}

fn about(network: &Network, query: Option<&Query>, paths: usize) -> Vec<String> {
    let graph = &network.graph;
    let links = graph
        .links()
        .iter()
        .filter(|link| !link.is_second_direction());
    let size = format!(
        "{}, {}",
        counted(graph.nodes().len(), "node"),
        counted(links.count(), "link")
    );
    let Some(query) = query else {
        return vec![size];
    };
    let name = |node: topology::NodeIndex| &graph.nodes()[node.index()];
    let what = match query.disjoint {
        None => format!("{}, the shortest", counted(paths, "path")),
        Some(topology::Disjointness::Links) => {
            format!("{} without a common link", counted(paths, "path"))
        }
        Some(topology::Disjointness::Nodes) => {
            format!("{} without a common node", counted(paths, "path"))
        }
    };
    vec![format!(
        "{} → {}: {what}; {size}",
        name(query.from),
        name(query.to)
    )]
}

fn legend(paths: &[Vec<LinkIndex>], sharing: &Sharing, cables: &[Cable]) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (index, path) in paths.iter().enumerate().take(MOST_PATHS) {
        let group = match paths.len() {
            1 => String::new(),
            _ => format!(", group {}", sharing.groups[index]),
        };
        let text = format!("path {}: {}{group}", index + 1, counted(path.len(), "link"));
        entries.push(Entry::new(
            Mark::Line(palette::series(index).into(), 3, None),
            text,
        ));
    }
    let any = |is: fn(&Cable) -> bool| cables.iter().any(is);
    if any(|cable| cable.shared && !cable.is_bottleneck) {
        entries.push(Entry::new(
            Mark::Line(SHARED.into(), 12, None),
            "shared link, no friendliness bottleneck",
        ));
    }
    if any(|cable| cable.is_bottleneck) {
        entries.push(Entry::new(
            Mark::Line(BOTTLENECK.into(), 12, None),
            "shared link, friendliness bottleneck",
        ));
    }
    entries
}

fn notes(network: &Network, plane: &Plane, paths: usize, are_disjoint: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if paths > MOST_PATHS {
        notes.push(format!(
            "The first {MOST_PATHS} of {paths} paths have a colour; shared links are those of all."
        ));
    }
    if !are_disjoint && !network.has_rates {
        notes.push("Not all links have a rate: all count as equal, so that each shared link is a bottleneck.".into());
    }
    if plane.unknown > 0 {
        notes.push(format!(
            "{} without coordinates, drawn between {} neighbours.",
            counted(plane.unknown, "node"),
            if plane.unknown == 1 { "its" } else { "their" }
        ));
    }
    notes
}

/// The points of a cable, in the direction of its first path.
fn line(cable: &Cable, points: &[Point]) -> Vec<(f64, f64)> {
    let [one, other] = cable.ends.map(|end| (points[end].x, points[end].y));
    let bow = (cable.number as f64 - (cable.parallel as f64 - 1.0) / 2.0) * BOW;
    let mut line = bent(one, other, bow);
    if cable.is_reversed {
        line.reverse();
    }
    line
}

fn draw_cables(canvas: &mut Canvas<'_>, cables: &[Cable], points: &[Point]) {
    let drawn = |cable: &Cable| -> Vec<usize> {
        let paths = cable.paths.iter().copied();
        paths.filter(|path| *path < MOST_PATHS).collect()
    };
    for cable in cables.iter().filter(|cable| cable.paths.is_empty()) {
        canvas.line(line(cable, points), LINK.into(), 1);
    }
    for cable in cables.iter().filter(|cable| cable.shared) {
        let colour = if cable.is_bottleneck {
            BOTTLENECK
        } else {
            SHARED
        };
        let wide = 8 + 4 * drawn(cable).len() as u32;
        canvas.line(line(cable, points), colour.into(), wide);
    }
    for cable in cables.iter().filter(|cable| !cable.paths.is_empty()) {
        let on = drawn(cable);
        if on.is_empty() {
            canvas.line(line(cable, points), GREY.into(), 2);
        }
        for (place, path) in on.iter().enumerate() {
            let side = (place as f64 - (on.len() as f64 - 1.0) / 2.0) * APART;
            let colour = palette::series(*path).into();
            canvas.line(beside(&line(cable, points), side), colour, 3);
        }
    }
}

fn draw_nodes(
    canvas: &mut Canvas<'_>,
    area: Area,
    graph: &Graph,
    cables: &[Cable],
    points: &[Point],
    query: Option<&Query>,
) {
    let mut is_used = vec![false; points.len()];
    for cable in cables.iter().filter(|cable| !cable.paths.is_empty()) {
        for end in cable.ends {
            is_used[end] = true;
        }
    }
    let ends = query.map_or(Vec::new(), |query| {
        vec![query.from.index(), query.to.index()]
    });
    for (node, point) in points.iter().enumerate() {
        let at = (point.x, point.y);
        let (radius, colour) = match (ends.contains(&node), is_used[node]) {
            (true, _) => (6, BLACK),
            (_, true) => (4, BLACK),
            _ => (3, GREY),
        };
        canvas.circle(at, radius, colour.into(), true);
    }
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by_key(|node| (!ends.contains(node), !is_used[*node]));
    let labels: Vec<Label<'_>> = (order.iter())
        .map(|node| Label {
            name: &graph.nodes()[*node],
            at: points[*node],
            is_needed: is_used[*node] || ends.contains(node),
        })
        .collect();
    let coloured = cables.iter().filter(|cable| !cable.paths.is_empty());
    let lines: Vec<_> = coloured.map(|cable| line(cable, points)).collect();
    labels::write(canvas, area, &labels, &lines);
}
