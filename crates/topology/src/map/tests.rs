//! GML files: errors with their lines, names of nodes, and the fifteen maps of experiments/topologies.

use std::collections::BTreeSet;
use std::path::Path;

use netsim::Span;
use proptest::prelude::*;

use super::*;
use crate::{Metric, Properties};

/// A valid file, to whose lines the errors refer.
const SMALL: &str = r#"# a comment
Creator "someone"
graph [
  label "Small &amp; &#8211; &unknown;"
  directed 0
  node [ id 0 label "A" graphics [ x 1.5 y -2 ] ]
  node [
    id 5
    label "B"
    Longitude -95.5
    Latitude 29
  ]
  node [ id -7 label "B" ]
  node [ id 9 ]
  edge [ source 0 target 5 LinkSpeedRaw 1000000.0 ]
  edge [ source 5 target 0 ]
  edge [ source 5 target -7 unknown [ deeper [ deepest 1 ] ] ]
  edge [ source 9 target 9 ]
]
"#;

#[test]
fn a_file() {
    let map: Map = SMALL.parse().unwrap();
    assert_eq!(map.title.as_deref(), Some("Small & – &unknown;"));
    let ids: Vec<&str> = map.nodes.iter().map(|node| &*node.id).collect();
    assert_eq!(ids, ["0", "5", "-7", "9"]);
    assert_eq!(map.nodes[0].place, Some(Place::Plane { x: 1.5, y: -2.0 }));
    let globe = Place::Globe {
        longitude: -95.5,
        latitude: 29.0,
    };
    assert_eq!(map.nodes[1].place, Some(globe));
    assert_eq!(map.edges[0].rate, Some(1_000_000));
    assert_eq!(map.names(), ["A", "B (5)", "B (-7)", "9"]);
    assert_eq!(map.find("A"), [0]);
    assert_eq!(map.find("B"), [1, 2]);
    assert_eq!((map.find("5"), map.find("B (5)")), (vec![1], vec![1]));
    assert!(map.find("C").is_empty());
    let graph = map.graph(|_| Properties::line(Span::ZERO));
    let names: Vec<&str> = graph.links().iter().map(|link| &*link.name).collect();
    let expected = [
        "A – B (5) up",
        "A – B (5) down",
        "B (5) – A (2) up",
        "B (5) – A (2) down",
        "B (5) – B (-7) up",
        "B (5) – B (-7) down",
    ];
    assert_eq!(names, expected);
    assert_eq!(graph.find("B").len(), 2);
    assert_eq!(graph.find("-7"), graph.find("B (-7)"));
}

#[test]
fn edges_of_a_directed_map_have_one_direction() {
    let map: Map = SMALL.replace("directed 0", "directed 1").parse().unwrap();
    let graph = map.graph(|_| Properties::line(Span::ZERO));
    assert_eq!(graph.links().len(), 3);
    let [a, b, c] = ["A", "5", "-7"].map(|name| graph.find(name)[0]);
    assert_eq!(graph.loopless_paths(a, c, Metric::Hops).count(), 1);
    assert_eq!(graph.loopless_paths(c, a, Metric::Hops).count(), 0);
    // The second edge is the way back of the first.
    let path = graph.loopless_paths(a, b, Metric::Hops).next().unwrap();
    assert!(graph.path(path).is_some());
}

/// An id precedes a label with the same digits, and a label may look like the name that another node is given.
#[test]
fn names_are_unique_whatever_the_labels_are() {
    let text = r#"graph [ node [ id 1 label "2" ] node [ id 2 label "1" ] node [ id 3 label "x" ] node [ id 4 label "x" ] node [ id 5 label "x (4)" ] node [ id 6 label 6 ] node [ id 7 label "" ] ]"#;
    let map: Map = text.parse().unwrap();
    assert_eq!(
        map.names(),
        ["2 (1)", "1 (2)", "x (3)", "4", "x (4)", "6", "7"]
    );
    assert_eq!((map.find("2"), map.find("x (4)")), (vec![1], vec![4]));
    let graph = map.graph(|_| Properties::line(Span::ZERO));
    for text in ["1", "2", "x (4)", "x", "6", "7"] {
        let indices: Vec<usize> = graph.find(text).iter().map(|node| node.index()).collect();
        assert_eq!(indices, map.find(text), "{text}");
    }
}

#[test]
fn an_error_has_its_line() {
    for (piece, replacement, expected) in [
        (
            "graph [",
            "grph [",
            "line 1: no `graph [ … ]`: this is no GML file",
        ),
        (
            "graph [",
            "graph 1\n other [",
            "line 3: `graph` is no list: write `graph [ … ]`",
        ),
        (
            "Creator \"someone\"",
            "graph [ ]",
            "line 3: a second `graph`: a file has one",
        ),
        ("id 5", "", "line 7: `node` has no `id`"),
        ("id 5", "id 5.5", "line 8: `id` must be a whole number"),
        ("id 5", "id 0", "line 7: a second node with the id 0"),
        ("id 5", "id -00", "line 7: a second node with the id 0"),
        (
            "id 5",
            "id five",
            "line 8: `five` is no value: texts have quotes",
        ),
        ("id 5", "id", "line 8: `id` has no value"),
        ("id 5", "id ]", "line 8: `id` has no value"),
        (
            "id 5",
            "5 id",
            "line 8: `5` is no key: keys have letters, digits and `_`",
        ),
        (
            "id 5",
            "\"id\" 5",
            "line 8: the text \"id\" without a key before it",
        ),
        ("id 5", "id 5 [ ]", "line 8: `[` without a key before it"),
        (
            "Longitude -95.5",
            "Longitude -195.5",
            "line 7: `Longitude` is -195.5: must be from -180 to 180",
        ),
        (
            "Longitude -95.5",
            "Longitude [ ]",
            "line 10: `Longitude` must be a number",
        ),
        (
            "Latitude 29\n  ]",
            "Latitude 29",
            "line 3: the `[` of `graph` has no `]`",
        ),
        (
            "source 9 target 9 ]\n]",
            "source 9 target 9 ]\n]\n]",
            "line 20: `]` without a `[`",
        ),
        (
            "source 5 target 0",
            "source 5",
            "line 16: `edge` has no `target`",
        ),
        (
            "source 5 target 0",
            "source 55 target 0",
            "line 16: `source 55`: no node has this id",
        ),
    ] {
        assert!(SMALL.contains(piece), "{piece}");
        let error = SMALL.replacen(piece, replacement, 1).parse::<Map>();
        let error = error
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert_eq!(error, expected, "{replacement}");
    }
    let unclosed = "graph [\nnode [ id 1 label \"a\n\n".parse::<Map>();
    let line = "line 2: a text without its end: a quote is missing";
    assert_eq!(unclosed.unwrap_err().to_string(), line);
    let deep = "a [\n".repeat(33);
    let line = "line 33: more than 32 lists inside each other; is this a GML file?";
    assert_eq!(deep.parse::<Map>().unwrap_err().to_string(), line);
}

/// Nodes, edges and nodes of degree one of each file, as experiments/topologies/README.md has them, and pairs of nodes with several
/// edges.
const MAPS: [(&str, [usize; 4]); 15] = [
    ("Aarnet", [19, 24, 2, 0]),
    ("Ans", [18, 25, 1, 0]),
    ("Bics", [33, 48, 5, 0]),
    ("Bren", [37, 38, 20, 0]),
    ("Geant2012", [40, 61, 8, 0]),
    ("Globalcenter", [9, 36, 0, 0]),
    ("Goodnet", [17, 31, 4, 0]),
    ("Gridnet", [9, 20, 0, 0]),
    ("Iij", [37, 66, 10, 1]),
    ("Internetmci", [19, 45, 1, 12]),
    ("Janetlense", [20, 40, 3, 6]),
    ("Nsfnet", [13, 15, 3, 0]),
    ("PionierL3", [38, 52, 10, 7]),
    ("SwitchL3", [42, 63, 12, 0]),
    ("Uninett2011", [69, 98, 11, 2]),
];

#[test]
fn the_fifteen_maps() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/topologies");
    for (name, expected) in MAPS {
        let text = std::fs::read_to_string(folder.join(format!("{name}.gml"))).unwrap();
        let map: Map = text
            .parse()
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut neighbours = vec![BTreeSet::new(); map.nodes.len()];
        for edge in &map.edges {
            neighbours[edge.source].insert(edge.target);
            neighbours[edge.target].insert(edge.source);
        }
        let pairs: usize = neighbours.iter().map(BTreeSet::len).sum::<usize>() / 2;
        let ends = neighbours.iter().filter(|others| others.len() == 1).count();
        let found = [
            map.nodes.len(),
            map.edges.len(),
            ends,
            map.edges.len() - pairs,
        ];
        assert_eq!(found, expected, "{name}");
        let names = map.names();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        for (index, name) in names.iter().enumerate() {
            assert_eq!(map.find(name), [index]);
        }
        let graph = map.graph(|_| Properties::line(Span::ZERO));
        assert_eq!(graph.links().len(), 2 * map.edges.len());
    }
}

/// Houston and Ithaca: 2321 km by the haversine formula with 29.76328, -95.36327 and 42.44063, -76.49661, calculated apart.
#[test]
fn distances_are_great_circles() {
    let globe = |longitude, latitude| {
        Some(Place::Globe {
            longitude,
            latitude,
        })
    };
    // A quarter of the circumference, and half of it.
    let quarter = 6371.0 * std::f64::consts::FRAC_PI_2;
    for (one, other, expected) in [
        (globe(0.0, 0.0), globe(90.0, 0.0), quarter),
        (globe(13.0, 90.0), globe(50.0, 0.0), quarter),
        (globe(-180.0, 0.0), globe(0.0, 0.0), 2.0 * quarter),
        (globe(7.0, 7.0), globe(7.0, 7.0), 0.0),
    ] {
        let found = distance_km(one, other).unwrap();
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
    assert_eq!(distance_km(globe(0.0, 0.0), None), None);
    let plane = Some(Place::Plane { x: 0.0, y: 0.0 });
    assert_eq!(distance_km(plane, globe(0.0, 0.0)), None);
}

/// A link of SNDlib with both directions has arrows at both ends (http://sndlib.zib.de/docu.formats.gml.action), also where the file has
/// `directed 1`.
#[test]
fn arrows_at_both_ends_are_both_directions() {
    let edge = |arrows: &str| {
        let text = format!(
            "graph [ directed 1 node [ id 0 ] node [ id 1 ] edge [ id 0 source 0 target 1 graphics [ fill \"#000000\" {arrows} ] ] ]"
        );
        text.parse::<Map>().unwrap().edges[0].is_one_way
    };
    for both in [
        r#"sourceArrow "standard" targetArrow "standard""#,
        r#"arrow "both""#,
    ] {
        assert!(!edge(both), "{both}");
    }
    for one in [
        "",
        r#"targetArrow "standard""#,
        r#"sourceArrow "none" targetArrow "standard""#,
        r#"arrow "last""#,
    ] {
        assert!(edge(one), "{one}");
    }
}

/// 0 → 1, 1 → 0 and 1 → 2: the last edge alone lacks its other direction.
#[test]
fn both_ways_adds_the_directions_that_no_edge_has() {
    let text = "graph [ directed 1 node [ id 0 ] node [ id 1 ] node [ id 2 ] edge [ source 0 target 1 ] edge [ source 1 target 0 ] edge [ source 1 target 2 ] ]";
    let mut map: Map = text.parse().unwrap();
    assert_eq!(map.one_way_edges(), 3);
    assert_eq!(map.both_ways(), 1);
    let graph = map.graph(|_| Properties::line(Span::ZERO));
    let names: Vec<&str> = graph.links().iter().map(|link| &*link.name).collect();
    assert_eq!(names, ["0 – 1", "1 – 0", "1 – 2 up", "1 – 2 down"]);
    assert_eq!(map.both_ways(), 0);
}

#[test]
fn places_have_any_of_the_usual_keys() {
    let globe = Some(Place::Globe {
        longitude: 13.4,
        latitude: 52.5,
    });
    for keys in [
        "Longitude 13.4 Latitude 52.5",
        "lon 13.4 lat 52.5",
        "longitude \"13.4\" latitude 52.5",
        "lng 13.4 Lat 52.5 graphics [ x 1 y 2 ]",
    ] {
        let text = format!("graph [ node [ id 0 {keys} ] ]");
        let map: Map = text.parse().unwrap();
        assert_eq!(map.nodes[0].place, globe, "{keys}");
    }
}

/// The form of the Internet Topology Zoo, and of Shadow's network graphs; what has another form is not read, and named.
#[test]
fn edges_have_rates_delays_and_losses() {
    let edge = |keys: &str| {
        let text = format!("graph [ node [ id 0 ] edge [ source 0 target 0 {keys} ] ]");
        let map: Map = text.parse().unwrap();
        let edge = &map.edges[0];
        (edge.rate, edge.delay, edge.loss, map.unread.join(" "))
    };
    let rate = |bits| (Some(bits), None, None, String::new());
    let unread = |keys: &str| (None, None, None, keys.into());
    assert_eq!(
        edge(r#"LinkSpeed "2.5" LinkSpeedUnits "G""#),
        rate(2_500_000_000)
    );
    assert_eq!(
        edge(r#"LinkSpeed 155 LinkSpeedUnits "M""#),
        rate(155_000_000)
    );
    assert_eq!(
        edge(r#"LinkSpeed "1" LinkSpeedUnits "G" LinkSpeedRaw 2.0"#),
        rate(2)
    );
    assert_eq!(edge(r#"LinkSpeed "10""#), unread("edge.LinkSpeed"));
    assert_eq!(
        edge(r#"LinkSpeed "<10" LinkSpeedUnits "M""#),
        unread("edge.LinkSpeed")
    );
    let shadow = r#"latency "10 ms" packet_loss 0.25 jitter "0 ms""#;
    let expected = (
        None,
        Some(Span::from_millis(10)),
        Some(0.25),
        "edge.jitter".into(),
    );
    assert_eq!(edge(shadow), expected);
    let delay = |text: &str| edge(&format!("latency \"{text}\"")).1;
    assert_eq!(delay("1500us"), Some(Span::from_micros(1500)));
    assert_eq!(delay("2 seconds"), Some(Span::from_secs(2)));
    // Without a unit it may be milliseconds or seconds.
    assert_eq!(edge("latency 10"), unread("edge.latency"));
    assert_eq!(edge("latency \"-1 ms\""), unread("edge.latency"));
    assert_eq!(edge("packet_loss 25"), unread("edge.packet_loss"));
}

#[test]
fn ids_have_any_number_of_digits() {
    let text = r#"graph [ node [ id 18446744073709551616 ] node [ id 18446744073709551617 ] node [ id "n1" ] edge [ source 018446744073709551616 target "18446744073709551617" ] edge [ source "n1" target 18446744073709551617 ] ]"#;
    let map: Map = text.parse().unwrap();
    let ends: Vec<[usize; 2]> = (map.edges.iter())
        .map(|edge| [edge.source, edge.target])
        .collect();
    assert_eq!(ends, [[0, 1], [2, 1]]);
    assert_eq!(map.names()[0], "18446744073709551616");
}

/// GML has 7-bit ASCII with character references; files with bytes of ISO 8859-1 are common.
#[test]
fn labels_have_all_characters() {
    let label = |bytes: &[u8]| {
        let text = [b"graph [ node [ id 0 label \"", bytes, b"\" ] ]"].concat();
        Map::read(&text).unwrap().nodes[0].label.clone().unwrap()
    };
    assert_eq!(label(b"Z&uuml;rich"), "Zürich");
    assert_eq!(label(b"Z&#252;rich"), "Zürich");
    assert_eq!(label(b"Z&#XFC;rich &ndash; S&atilde;o"), "Zürich – São");
    assert_eq!(label(b"Z\xfcrich"), "Zürich");
    assert_eq!(label("Zürich".as_bytes()), "Zürich");
    assert_eq!(
        label(b"AT&T; &unknown; &#xffffffff;"),
        "AT&T; &unknown; &#xffffffff;"
    );
}

#[test]
fn files_of_other_formats_are_named() {
    for (text, format) in [
        (
            "<?xml version=\"1.0\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">",
            "GraphML",
        ),
        (
            "<?xml version=\"1.0\"?>\n<network xmlns=\"http://sndlib.zib.de/network\">",
            "XML of SNDlib",
        ),
        (
            "?SNDlib native format; type: network; version: 1.0\n# network abilene",
            "the native format of SNDlib",
        ),
        (
            "# source:topology|BGP\n1|11537|0|bgp\n",
            "AS relationships of CAIDA",
        ),
    ] {
        let error = text.parse::<Map>().unwrap_err().to_string();
        let expected = format!(
            "line 1: {format}, not GML: docs/paths.md (Other formats) has a command that converts it"
        );
        assert_eq!(error, expected);
    }
}

/// Pieces that replace others.
const PIECES: &[&str] = &[
    "",
    "[",
    "]",
    "\"",
    "#",
    "\n",
    "-",
    "1e999",
    "nan",
    "id",
    "&#x110000;",
    "&amp;",
    "é",
    "\0",
    "graph [",
    "9223372036854775808",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// Any text is a map or an error on one of its lines, and a map makes a graph.
    #[test]
    fn mutated_files_are_read_or_refused(edits in prop::collection::vec((any::<prop::sample::Index>(), 0..4usize, prop::sample::select(PIECES)), 1..5)) {
        let mut characters: Vec<char> = SMALL.chars().collect();
        for (at, length, piece) in edits {
            let at = at.index(characters.len());
            let end = (at + length).min(characters.len());
            characters.splice(at..end, piece.chars());
            characters.push('\n');
        }
        let text: String = characters.into_iter().collect();
        match text.parse::<Map>() {
            Ok(map) => drop(map.graph(|_| Properties::line(Span::ZERO))),
            Err(error) => {
                prop_assert!((1..=text.lines().count().max(1)).contains(&error.line));
                prop_assert!(!error.problem.contains('\n'));
            }
        }
    }
}
