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
        let ids = [edge.source, edge.target].map(|node| map.map.nodes[node].id);
        let is_changed = ids == [5, 9];
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
        error.ends_with("small.gml:1: `target 3`: no node has this id"),
        "{error}"
    );
    fs::remove_dir_all(&folder).unwrap();
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
