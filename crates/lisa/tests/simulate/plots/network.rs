//! Networks, by `show --plot`.

use crate::Place;
use crate::picture::{BLUE, GREEN, ORANGE};

#[test]
fn networks_are_drawn() {
    let place = Place::new();
    let picture = place.picture("show small.toml");
    picture.must_have(&[
        "server",
        "client",
        "download, subflow 1",
        "download, subflow 2",
        "competitor",
        "link that several subflows share in one direction",
        "bottleneck *, shared by 3 subflows",
        "5 Mbit/s, 17 packets",
        "path 1, shared by 2 subflows",
    ]);
    // In the legend, on the own path and on the bottleneck.
    assert_eq!(
        (
            picture.lines(BLUE, 2),
            picture.lines(ORANGE, 2),
            picture.lines(GREEN, 2)
        ),
        (3, 3, 3)
    );
    place.good("new data-centre -o tree.toml");
    let tree = place.picture("show tree.toml");
    tree.must_have(&["core 4", "edge 4.2", "h16", "no data", "1 subflow"]);
    // The names of the subflows on the busiest links.
    let shares = |picture: &crate::picture::Picture| {
        let texts = picture.texts.iter().map(|(text, _)| text);
        texts
            .filter(|text| text.contains(": host ") && text.contains(" #"))
            .count()
    };
    assert_eq!(shares(&tree), 5);
    let large = place.picture("show tree.toml --set topology.k=10");
    large.must_have(&[
        "250 hosts",
        "50 edge routers",
        "50 aggregation routers",
        "25 core routers",
    ]);
    assert_eq!(shares(&large), 5);
    // The tables are a summary that fits a terminal.
    let text = place.good("show tree.toml --set topology.k=10");
    assert!(text.lines().count() < 70, "{text}");
    let widest = text
        .lines()
        .filter(|line| line.starts_with('─'))
        .map(|line| line.chars().count());
    assert!(widest.max().unwrap() <= 80, "{text}");
    assert!(
        text.contains("250 hosts") && text.contains("Paths by length"),
        "{text}"
    );
    assert!(
        text.contains("10 of 746 shared links") && text.contains(" more "),
        "{text}"
    );
    for (name, what) in [
        ("home-two-lines", "path 1"),
        ("fairness", "bottleneck *, shared by 7 subflows"),
    ] {
        place.good(&format!("new {name} -o {name}.toml"));
        let picture = place.picture(&format!("show {name}.toml"));
        assert!(
            picture.texts.iter().any(|(text, _)| text.starts_with(what)),
            "{what}"
        );
    }
}
