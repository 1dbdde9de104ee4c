//! `kind = "gml"`, and `routing` on it.

use std::fs;

use lisa_scenario::{Between, Routing, Scenario};
use netsim::Span;
use topology::{Graph, Loss, MapSpec, Queue, Spec};

use crate::{kbit, ms, parse};

/// The map of 13 nodes that the tests use.
const NSFNET: &str =
    "kind = 'gml'\nfile = '../../experiments/topologies/Nsfnet.gml'\nrate = '10Mbit'\nqueue = 50";

/// A scenario with these keys of the topology and of the connection.
fn scenario(topology: &str, connection: &str) -> Scenario {
    parse(&format!(
        "stop = '9s'\n[topology]\n{topology}\n[[connection]]\nprotocol = 'mptcp'\n{connection}\n"
    ))
}

fn map(topology: &str) -> MapSpec {
    match scenario(topology, "from = '0'\nto = '4'").topology {
        Spec::Map(map) => map,
        other => panic!("{other:?}"),
    }
}

#[test]
fn links_have_the_keys_of_the_topology_and_of_changes() {
    let text = format!(
        "{NSFNET}\ndelay = '5ms'\nloss = '1%'
        [[topology.change]]\nbetween = ['NCAR, Boulder', '5']\nrate = '2Mbit'\ndelay = '7ms'
        [[topology.change]]\nbetween = ['5', '9']\nqueue = 3"
    );
    let map = map(&text);
    assert_eq!((map.map.nodes.len(), map.map.edges.len()), (13, 15));
    for (edge, properties) in map.map.edges.iter().zip(&map.properties) {
        let ids = [edge.source, edge.target].map(|node| &*map.map.nodes[node].id);
        let is_changed = ids == ["5", "9"];
        let (rate, queue, delay) = match is_changed {
            true => (2000, 3, 7),
            false => (10_000, 50, 5),
        };
        assert_eq!(properties.rate, Some(kbit(rate)), "{ids:?}");
        assert_eq!(properties.queue, Queue::DropTailPackets(queue));
        assert_eq!(properties.delay, ms(delay));
        assert_eq!(properties.loss, Some(Loss::Random(0.01)));
    }
}

/// Houston and Atlanta are 1127 km apart: 29.76328, -95.36327 and 33.749, -84.38798 by the haversine formula, calculated apart.
#[test]
fn delays_follow_from_distances() {
    let map = map(&format!("{NSFNET}\ndelay = {{ per_km = '5us' }}"));
    let delay = map.properties[0].delay.as_nanos() as f64;
    let ids = [map.map.edges[0].source, map.map.edges[0].target];
    assert_eq!(ids, [0, 2]);
    assert!((delay / 5e3 - 1127.0).abs() < 1.0, "{delay}");
    // Two nodes have no coordinates.
    let folder = std::env::temp_dir().join(format!("lisa-maps-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let gml = "graph [ node [ id 1 ] node [ id 2 label \"b\" Longitude 1 Latitude 2 ] edge [ source 1 target 2 ] ]";
    fs::write(folder.join("small.gml"), gml).unwrap();
    let text = |delay: &str| {
        format!(
            "stop = '9s'\n[topology]\nkind = 'gml'\nfile = 'small.gml'\nrate = '1Mbit'\nqueue = 9\ndelay = {delay}\n[[connection]]\nfrom = '1'\nto = 'b'\n"
        )
    };
    let read = |delay| Scenario::parse(&text(delay), folder.join("a.toml"));
    let error = read("{ per_km = '5us' }").unwrap_err().to_string();
    let expected = ":7: `topology.delay`: `1` has no coordinates in the map: add `otherwise = \"5ms\"`, the delay of its links";
    assert!(error.ends_with(expected), "{error}");
    let Spec::Map(map) = read("{ per_km = '5us', otherwise = '3ms' }")
        .unwrap()
        .topology
    else {
        panic!()
    };
    assert_eq!(map.properties[0].delay, ms(3));
    fs::write(
        folder.join("small.gml"),
        gml.replace("target 2", "target 3"),
    )
    .unwrap();
    let error = read("'1ms'").unwrap_err().to_string();
    assert!(error.contains("a.toml:4: `topology.file`: "), "{error}");
    assert!(
        error.ends_with("small.gml:1: `…`: no node has this id"),
        "{error}"
    );
    fs::remove_dir_all(&folder).unwrap();
}

/// Reads a scenario whose topology has this map and these keys beside it.
fn with_map(name: &str, gml: &[u8], keys: &str) -> Result<Scenario, String> {
    let folder = std::env::temp_dir().join(format!("lisa-map-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("small.gml"), gml).unwrap();
    let text = format!(
        "stop = '9s'\n[topology]\nkind = 'gml'\nfile = 'small.gml'\nqueue = 9\n{keys}\n[[connection]]\npattern = 'permutation'\n"
    );
    let read = Scenario::parse(&text, folder.join("a.toml"));
    fs::remove_dir_all(&folder).unwrap();
    read.map_err(|error| error.to_string())
}

fn map_of(scenario: &Scenario) -> &MapSpec {
    match &scenario.topology {
        Spec::Map(map) => map,
        other => panic!("{other:?}"),
    }
}

/// A network graph of Shadow, and an edge in the form of the Internet Topology Zoo.
const MEASURED: &str = r#"graph [ node [ id 1 ] node [ id 2 ] node [ id 3 ]
    edge [ source 1 target 2 latency "10 ms" packet_loss 0.25 ]
    edge [ source 2 target 3 latency "1 s" LinkSpeed "2" LinkSpeedUnits "M" ] ]"#;

#[test]
fn links_have_what_the_file_gives_where_no_key_does() {
    let read = |keys: &str| with_map("measured", MEASURED.as_bytes(), keys);
    let found = |keys: &str| {
        let scenario = read(keys).unwrap();
        let links = map_of(&scenario).properties.iter();
        let links = links.map(|link| (link.rate, link.delay, link.loss.clone()));
        links.collect::<Vec<_>>()
    };
    let loss = Some(Loss::Random(0.25));
    assert_eq!(
        found("rate = { otherwise = '5Mbit' }"),
        [
            (Some(kbit(5000)), ms(10), loss.clone()),
            (Some(kbit(2000)), ms(1000), None)
        ]
    );
    assert_eq!(
        found("rate = '1Mbit'\ndelay = { otherwise = '5ms' }\nloss = '1%'"),
        [
            (Some(kbit(1000)), ms(10), Some(Loss::Random(0.01))),
            (Some(kbit(1000)), ms(1000), Some(Loss::Random(0.01)))
        ]
    );
    assert_eq!(found("rate = '1Mbit'\ndelay = '3ms'")[1].1, ms(3));
    let error = read("").unwrap_err();
    let words = "`topology.rate`: is missing: add one like `rate = \"10Mbit\"` or `rate = { otherwise = \"10Mbit\" }`, because the edge between `1` and `2` has no speed in the map";
    assert!(error.contains(words), "{error}");
    let without = MEASURED.replace("latency \"1 s\"", "latency 1");
    let error = with_map("without", without.as_bytes(), "rate = '1Mbit'").unwrap_err();
    let words = "`topology.delay`: is missing: add one like `delay = \"5ms\"` or `delay = { per_km = \"5us\" }`, because the edge between `2` and `3` has no `latency` in the map";
    assert!(error.contains(words), "{error}");
}

#[test]
fn keys_that_apply_to_nothing_are_warned_of() {
    let plain = "graph [ node [ id 1 lon 1 lat 2 ] node [ id 2 ] edge [ source 1 target 2 ] ]";
    let warnings = |gml: &str, keys: &str| {
        let scenario = with_map("unused", gml.as_bytes(), keys).unwrap();
        let warnings = scenario.warnings(1).unwrap();
        warnings
            .into_iter()
            .map(|warning| warning.text)
            .collect::<Vec<_>>()
    };
    let keys = "rate = '1Mbit'\ndelay = { per_km = '5us', otherwise = '5ms' }";
    let found = warnings(plain, keys);
    assert_eq!(
        found,
        [
            "`topology.delay.per_km` applies to nothing: no link of the map has coordinates (`Longitude` and `Latitude`, `lon` and `lat`) at both ends; remove the key"
        ]
    );
    let placed = plain.replace("id 2 ", "id 2 lon 1 lat 3 ");
    assert_eq!(warnings(&placed, keys), [""; 0]);
    let found = warnings(&placed, &format!("{keys}\nboth_ways = true"));
    assert_eq!(
        found,
        [
            "`topology.both_ways` applies to nothing: all links of the map have both directions; remove the key"
        ]
    );
    let one_way = placed.replace("graph [", "graph [ directed 1");
    assert_eq!(
        warnings(&one_way, &format!("{keys}\nboth_ways = true")),
        [""; 0]
    );
}

/// The problem names two nodes without a path, and what was found.
#[test]
fn a_map_without_a_path_is_refused_by_the_names_of_its_nodes() {
    let keys = "rate = '1Mbit'\ndelay = '1ms'";
    let drawn = |gml: &str, keys: &str| {
        let scenario = with_map("pieces", gml.as_bytes(), keys).unwrap();
        let drawn = scenario.draw(1).map(|drawn| drawn.flows.len());
        drawn.map_err(|error| error.to_string())
    };
    let pieces = "graph [ node [ id 1 label \"a\" ] node [ id 2 label \"b\" ] ]";
    let error = drawn(pieces, keys).unwrap_err();
    let words = "there is no path from `a` to `b`: `a` reaches 0 of 1 other nodes";
    assert!(error.ends_with(words), "{error}");
    let one_way = "graph [ directed 1 node [ id 1 label \"a\" ] node [ id 2 label \"b\" ] edge [ source 2 target 1 ] ]";
    let error = drawn(one_way, keys).unwrap_err();
    let words = "there is no path from `a` to `b`: `a` reaches 0 of 1 other nodes, and 1 link has one direction: `both_ways = true` gives";
    assert!(error.contains(words), "{error}");
    assert_eq!(drawn(one_way, &format!("{keys}\nboth_ways = true")), Ok(2));
}

/// Two nodes of this map have the label `CERN`.
#[test]
fn a_label_of_two_nodes_names_neither() {
    let text = NSFNET.replace("Nsfnet", "SwitchL3");
    let read = |from: &str| {
        let text = format!(
            "stop = '9s'\n[topology]\n{text}\ndelay = '1ms'\n[[connection]]\nfrom = '{from}'\nto = '0'\n"
        );
        Scenario::parse(&text, "a.toml")
    };
    let error = read("CERN").unwrap_err().to_string();
    let start = "a.toml:9: `connection.1.from`: several nodes have the label `CERN`: write `CERN (";
    assert!(error.starts_with(start), "{error}");
    let named = error.rsplit('`').nth(1).unwrap();
    assert!(read(named).is_ok(), "{named}");
}

/// Hosts beside the map, as the clients of the NMCC paper's experiments; the map's nodes then only forward.
#[test]
fn hosts_are_connected_by_links_of_their_own() {
    let text = format!(
        "{NSFNET}\ndelay = '5ms'\nhosts = ['client', 'server']
        [[topology.link]]\nfrom = 'client'\nto = 'NCAR, Boulder'\nrate = '100Mbit'\ndelay = '20ms'\nqueue = 100
        [[topology.link]]\nfrom = 'client'\nto = '5'\nrate = '12Mbit'\ndelay = '1ms'\nqueue = 100
        [[topology.link]]\nfrom = '0'\nto = 'server'\ndelay = '1ms'"
    );
    let scenario = scenario(
        &text,
        "from = 'server'\nto = 'client'\nrouting = 'link-disjoint'",
    );
    let drawn = scenario.draw(1).unwrap();
    assert_eq!(drawn.graph.hosts().len(), 2);
    // One link joins the server: there is one path.
    assert_eq!(drawn.flows[0].numbers, [0, 0]);
    let path = &drawn.flows[0].paths[0];
    assert_eq!(
        drawn.graph.rtt(path),
        Span::from_millis(2 * (1 + 5 + 5 + 20))
    );
    let error = Scenario::parse(
        &format!("stop = '9s'\n[topology]\n{text}\n[[connection]]\nfrom = '0'\nto = 'client'\n"),
        "a.toml",
    );
    let error = error.unwrap_err().to_string();
    assert!(
        error.ends_with("no host `0`; there are client, server"),
        "{error}"
    );
}

/// Names of the nodes on each path.
fn nodes(graph: &Graph, scenario: &Scenario) -> Vec<Vec<String>> {
    let flow = &scenario.draw(1).unwrap().flows[0];
    let names = |path: &topology::Path| {
        let ends = path.forward.iter().map(|link| graph.link(*link).to);
        ends.map(|node| graph.nodes()[node.index()][..4].to_owned())
            .collect()
    };
    flow.paths.iter().map(names).collect()
}

/// From Houston to Ithaca: Houston – Atlanta – Princeton – Ithaca, Houston – Champaign – Ann Arbor – Ithaca, and with four links over San
/// Diego, Palo Alto and Ann Arbor.
#[test]
fn subflows_take_the_paths_of_their_routing() {
    let text = format!("{NSFNET}\ndelay = '5ms'");
    let of = |routing: &str| {
        scenario(
            &text,
            &format!("from = '0'\nto = '4'\nsubflows = 3\n{routing}"),
        )
    };
    let graph = of("").topology.build().unwrap();
    let east: Vec<String> = ["SURA", "Jon ", "Corn"].map(Into::into).to_vec();
    let north: Vec<String> = ["NCSA", "Meri", "Corn"].map(Into::into).to_vec();
    let mut two = vec![east.clone(), north.clone()];
    for disjoint in ["link-disjoint", "node-disjoint"] {
        let scenario = of(&format!("routing = '{disjoint}'"));
        let found = nodes(&graph, &scenario);
        assert_eq!(
            found[2], found[0],
            "two paths are disjoint: the third subflow takes the first"
        );
        let mut found = found[..2].to_vec();
        found.sort();
        two.sort();
        assert_eq!(found, two, "{disjoint}");
    }
    let shortest = of("routing = 'k-shortest'");
    let found = nodes(&graph, &shortest);
    assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 4]);
    assert_eq!(shortest.connections[0].routing, Routing::KShortest);
    // Ids and labels become names.
    let names = Between::Hosts {
        from: "SEQSUINET, Rice University, Houston".into(),
        to: "Cornell Theory Center, Ithaca NY".into(),
    };
    assert_eq!(shortest.connections[0].between, names);
}
