//! `lisa paths`.

use std::fs;

use serde_json::Value;

use super::Place;
use crate::picture::{BLUE, GREEN, ORANGE};

/// A map of experiments/topologies.
fn map(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/topologies");
    format!("{folder}/{name}.gml")
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect()
}

/// Houston – Atlanta – Princeton – Ithaca, Houston – Champaign – Ann Arbor – Ithaca, and over San Diego, Palo Alto and Ann Arbor: the last two
/// share the link to Ithaca. Ids and labels name the same nodes.
#[test]
fn paths_of_a_map() {
    let place = Place::new();
    let nsfnet = map("Nsfnet");
    let query = format!("paths {nsfnet} --from 0 --to 4 -k 3");
    let found = &place.valid_json(&format!("{query} --json"), "paths.schema.json")[0];
    let lengths = found["paths"]
        .as_array()
        .unwrap()
        .iter()
        .map(|path| names(&path["links"]).len());
    assert_eq!(lengths.collect::<Vec<_>>(), [3, 3, 4]);
    assert_eq!(found["groups"], serde_json::json!([0, 1, 1]));
    let shared = &found["shared_links"][0];
    assert_eq!(shared["from"], "Merit Univ of Michigan, Ann Arbor");
    assert_eq!(shared["paths"], serde_json::json!([2, 3]));
    assert_eq!(
        (&shared["is_bottleneck"], &found["has_rates"]),
        (&true.into(), &false.into())
    );
    let text = place.good(&query);
    for part in [
        "Nsfnet: 13 nodes, 15 links",
        "groups = [0, 1, 1]",
        "all count as equal",
        "2, 3 ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let pair = &place.valid_json(&format!("{query} --disjoint --json"), "paths.schema.json")[0];
    assert_eq!((names_of(pair), &pair["disjoint"]), (2, &"links".into()));
    assert_eq!(pair["shared_links"].as_array().unwrap().len(), 0);
    let nodes = &place.valid_json(&format!("paths {nsfnet} --json"), "paths.schema.json")[0];
    assert_eq!(
        nodes["nodes"][12]["name"],
        "Merit Univ of Michigan, Ann Arbor"
    );
    assert_eq!(
        (&nodes["nodes"][12]["links"], &nodes["from"]),
        (&4.into(), &Value::Null)
    );
    let listed = place.good(&format!("paths {nsfnet}"));
    assert!(
        listed.contains("NCAR, Boulder") && listed.contains("-105.27°"),
        "{listed}"
    );
}

fn names_of(found: &Value) -> usize {
    found["paths"].as_array().unwrap().len()
}

/// Speeds of Janetlense are complete; others have those of --rate.
#[test]
fn rates_are_those_of_the_file_or_the_option() {
    let place = Place::new();
    let has_rates = |arguments: &str| {
        let arguments = format!("paths {arguments} --json");
        place.valid_json(&arguments, "paths.schema.json")[0]["has_rates"] == true
    };
    assert!(has_rates(&map("Janetlense")));
    assert!(
        !has_rates(&map("Geant2012")) && has_rates(&format!("{} --rate 10Gbit", map("Geant2012")))
    );
    // (2) at its boundary: two paths of 20 and 10 Mbit/s over one link are limited by it up to 30 Mbit/s.
    let text = |bits: u32| {
        format!(
            "graph [ node [ id 0 label \"a\" ] node [ id 1 label \"r\" ] node [ id 2 label \"b\" ]
            edge [ source 0 target 1 LinkSpeedRaw 20000000 ] edge [ source 0 target 1 ]
            edge [ source 1 target 2 LinkSpeedRaw {bits} ] ]"
        )
    };
    for (bits, group, cell) in [(30_000_000, 0, "yes"), (30_000_001, 1, "no")] {
        fs::write(place.0.join("small.gml"), text(bits)).unwrap();
        let query = "paths small.gml --from a --to b --rate 10Mbit";
        let found = &place.valid_json(&format!("{query} --json"), "paths.schema.json")[0];
        assert_eq!(found["groups"], serde_json::json!([0, group]));
        assert_eq!(found["shared_links"][0]["bottleneck_up_to_mbps"], 30.0);
        let table = place.good(query);
        let row = (table.lines())
            .find(|line| line.starts_with(" r → b "))
            .unwrap();
        assert!(row.contains(cell) && row.ends_with("30 "), "{row}");
        assert!(table.contains("a → r (link 2) → b"), "{table}");
    }
}

/// The form of SNDlib's converter and of Shadow, in ISO 8859-1: `directed 1` with each link once.
#[test]
fn maps_of_other_publishers() {
    let place = Place::new();
    let text = b"graph [ directed 1 node [ id 18446744073709551616 label \"Z\xfcrich\" ] node [ id 2 label \"S&atilde;o Paulo\" ]
        node [ id 3 ] edge [ source 18446744073709551616 target 2 latency \"10 ms\" jitter \"0 ms\" ]
        edge [ source 2 target 3 latency \"20 ms\" graphics [ sourceArrow \"standard\" targetArrow \"standard\" ] ] ]";
    fs::write(place.0.join("other.gml"), text).unwrap();
    let output = place.lisa("paths other.gml").output().unwrap();
    let [listed, warned] =
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    let words = "warning: there is no path from `São Paulo` to `Zürich`: `São Paulo` reaches 1 of 2 other nodes, and 1 link";
    assert!(warned.starts_with(words), "{warned}");
    for part in ["Zürich", "São Paulo", "Not read: edge.jitter\n"] {
        assert!(listed.contains(part), "{part}: {listed}");
    }
    let found = &place.valid_json("paths other.gml --json", "paths.schema.json")[0];
    assert_eq!(found["nodes"][0]["id"], "18446744073709551616");
    assert_eq!(found["unread"], serde_json::json!(["edge.jitter"]));
    let query = "paths other.gml --from 3 --to 18446744073709551616";
    let problem = place.bad(query, 1);
    let words = "other.gml: there is no path from `3` to `Zürich`: `3` reaches 1 of 2 other nodes, and 1 link has one direction: --both-ways gives them both";
    assert!(problem.contains(words), "{problem}");
    let both = format!("{query} --both-ways --by delay --json");
    let found = &place.valid_json(&both, "paths.schema.json")[0];
    assert_eq!(found["paths"][0]["delay_s"], 0.03);
}

#[test]
fn paths_of_a_scenario() {
    let place = Place::new();
    place.good("new data-centre -o tree.toml");
    let query = "paths tree.toml --from h1 --to h16 -k 9 --by delay --json";
    let found = &place.valid_json(query, "paths.schema.json")[0];
    let first_four = found["groups"].as_array().unwrap()[..4].iter();
    assert!(first_four.clone().all(|group| *group == 0), "{found}");
    assert_eq!(names(&found["paths"][0]["nodes"])[0], "h1");
    let twice = format!("{query} --set topology.delay=200us");
    let slower = &place.valid_json(&twice, "paths.schema.json")[0];
    let delay = |found: &Value| found["paths"][0]["delay_s"].as_f64().unwrap();
    assert!(delay(slower) > delay(found));
    let example = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../experiments/examples/map.toml"
    );
    let found = &place.valid_json(
        &format!("paths {example} --from 0 --to 4 --disjoint=nodes --json"),
        "paths.schema.json",
    )[0];
    assert_eq!(found["groups"], serde_json::json!([0, 1]));
    // The subflows of the scenario take these paths.
    let shown = &place.valid_json(&format!("show {example} --json"), "show.schema.json")[0];
    let subflows = shown["connections"][0]["subflows"].as_array().unwrap();
    let taken: Vec<&Value> = subflows.iter().map(|subflow| &subflow["nodes"]).collect();
    let paths: Vec<&Value> = found["paths"]
        .as_array()
        .unwrap()
        .iter()
        .map(|path| &path["nodes"])
        .collect();
    assert_eq!(taken, paths);
}

#[test]
fn a_wrong_query_is_one_line() {
    let place = Place::new();
    let nsfnet = map("Nsfnet");
    let two = "graph [ node [ id 1 ] node [ id 2 ] ]";
    fs::write(place.0.join("two.gml"), two).unwrap();
    fs::write(
        place.0.join("wrong.gml"),
        "graph [\n  node [ id 1 ]\n  edge [ source 1 target 2 ]\n]\n",
    )
    .unwrap();
    for (arguments, code, words) in [
        ("paths missing.gml", 1, "missing.gml: No such file"),
        (
            "paths wrong.gml",
            1,
            "lisa: wrong.gml:3: `target 2`: no node has this id",
        ),
        (
            "paths small.toml --rate 1Mbit",
            2,
            "--rate is for maps (.gml); a scenario has rates",
        ),
        (
            "paths small.toml --both-ways",
            2,
            "--both-ways is for maps (.gml); a scenario has --set topology.both_ways=true",
        ),
        (
            "paths two.gml --set stop=1s",
            2,
            "--set is for scenarios; a map has --rate",
        ),
        (
            "paths two.gml --from 1 --to 2",
            1,
            "two.gml: there is no path from `1` to `2`: `1` reaches 0 of 1 other nodes",
        ),
        (
            "paths two.gml --from 1 --to 1",
            2,
            "--from and --to: a path has two ends",
        ),
        ("paths two.gml --from 1", 2, "--to NODE is missing"),
        ("paths two.gml -k 2", 2, "--from NODE is missing"),
        (
            "paths two.gml --from 1 --to 2 -k 0",
            2,
            "--paths 0: write a whole number from 1 to 1024",
        ),
        (
            "paths two.gml --from 1 --to 2 --disjoint=edges",
            2,
            "write one of links, nodes",
        ),
        (
            "paths two.gml --from 1 --to 3",
            2,
            "--to: no node `3`; there are 1, 2",
        ),
        (
            "paths two.gml --plot a.svg",
            1,
            "--plot: the network has no coordinates",
        ),
        ("paths two.gml --size 3in", 2, "--size"),
        (
            "paths FILE --from 0 --to boulder",
            2,
            "--to: no node `boulder`, did you mean `NCAR, Boulder`?; there are `SEQSUINET, Rice",
        ),
        ("paths FILE --from 99 --to 0", 2, "--from: no node `99`"),
    ] {
        let line = place.bad(&arguments.replace("FILE", &nsfnet), code);
        assert!(line.contains(words), "{arguments}: {line:?} has {words:?}");
    }
    let no_coordinates = format!("paths {} --from UK --to GR --by delay", map("Geant2012"));
    assert!(
        place
            .bad(&no_coordinates, 2)
            .contains("has neither a `latency` nor coordinates")
    );
    let several = format!("paths {} --from CERN --to 4", map("SwitchL3"));
    let line = place.bad(&several, 2);
    assert!(line.contains("write `CERN (17)` or `CERN (34)`"), "{line}");
}

#[test]
fn a_map_is_drawn_at_its_coordinates() {
    let place = Place::new();
    let picture = place.picture(&format!("paths {} --from 0 --to 4 -k 3", map("Nsfnet")));
    picture.must_have(&[
        "Nsfnet",
        "path 2: 3 links, group 1",
        "shared link, friendliness bottleneck",
        "SURANET, Georgia Tech, Atlanta",
        "Cornell Theory Center, Ithaca NY",
    ]);
    // In the legend, and a line for each link.
    let lines = [BLUE, ORANGE, GREEN].map(|colour| picture.lines(colour, 2));
    assert_eq!(lines, [4, 4, 5]);
    let at = |name: &str| {
        let found = picture.texts.iter().find(|(text, _)| text.contains(name));
        let area = found.unwrap().1;
        (area.left(), area.top())
    };
    assert!(at("Palo Alto").0 < at("Boulder").0 && at("Boulder").0 < at("Atlanta").0);
    assert!(at("Seattle").1 < at("Palo Alto").1 && at("Palo Alto").1 < at("San Diego").1);
    // Every map, also those with nodes at one place or at none: texts do not overlap.
    for name in [
        "Bren",
        "Geant2012",
        "Internetmci",
        "Uninett2011",
        "Aarnet",
        "Globalcenter",
    ] {
        place.picture(&format!("paths {} --from 0 --to 5 -k 9", map(name)));
        place.picture(&format!("paths {}", map(name)));
    }
    place.picture(&format!(
        "paths {} --from 0 --to 5 --size 12cmx13cm",
        map("Uninett2011")
    ));
}
