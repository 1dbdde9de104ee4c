//! Windows over time, by `run --plot`.

use crate::Place;
use crate::picture::{BLUE, CREDIT, GREY, ORANGE, RED, Shape};

#[test]
fn windows_have_marks_and_names() {
    let place = Place::new();
    let names = "--set topology.names=[\"Wi-Fi\",\"LTE\"] --set topology.rtt=[\"40ms\",\"40ms\"]";
    let picture = place.picture(&format!("run small.toml {names}"));
    assert_eq!(picture.size.0, 960.0);
    picture.must_have(&[
        "A small bottleneck",
        "subflow 1, Wi-Fi",
        "subflow 2, LTE",
        "sum of the subflows",
        "reduction",
        "end of slow start",
        "credit, in segments",
        "segment lost (at the foot)",
        "time since the run began [s]",
        "cwnd [segments]",
        "10",
    ]);
    // A panel for each connection; the competitor has one subflow.
    let captions = |name: &str| {
        picture
            .texts
            .iter()
            .filter(|(text, _)| text.starts_with(name))
            .count()
    };
    assert_eq!(
        (captions("download: lisa, "), captions("competitor: reno, ")),
        (1, 1)
    );
    // The legend has a line of two points of each colour.
    assert_eq!(
        (
            picture.lines(BLUE, 10),
            picture.lines(ORANGE, 10),
            picture.lines(GREY, 10)
        ),
        (2, 1, 1)
    );
    // A cross is two lines; a triangle has the colour of its subflow and four corners.
    assert!(picture.lines(RED, 2) >= 4 && picture.lines(RED, 2) % 2 == 0);
    assert!(picture.lines(BLUE, 4) > picture.lines(BLUE, 10));
    assert_eq!(picture.filled(CREDIT), 2);
    // The names belong to the scenario alone.
    assert!(!place.picture("run small.toml").has("subflow 1, Wi-Fi"));
    assert!(place.picture("run small.toml").has("subflow 1"));
}

#[test]
fn a_part_of_the_time_and_of_the_connections_is_drawn() {
    let place = Place::new();
    let picture = place
        .picture("run small.toml --from 100ms --to 300ms --connection download --size 16cmx9cm");
    assert_eq!(picture.size, (605.0, 340.0));
    assert!(
        picture
            .texts
            .iter()
            .any(|(text, _)| text.starts_with("download"))
    );
    assert!(
        !picture
            .texts
            .iter()
            .any(|(text, _)| text.starts_with("competitor"))
    );
    picture.must_have(&["time since the run began [ms]", "100", "300"]);
    assert!(!picture.has("0.0") && !picture.has("400"));
    // Each line begins at the left edge, where its window was reached before.
    let left = |shape: &&Shape| shape.colour == BLUE && shape.points > 10;
    let line = picture.shapes.iter().find(left).unwrap();
    let cwnd = picture
        .texts
        .iter()
        .find(|(text, _)| text == "100")
        .unwrap()
        .1;
    let middle = (cwnd.left() + cwnd.right()) / 2.0;
    assert!(
        (line.area.left() - middle).abs() < 3.0,
        "{:?} {cwnd:?}",
        line.area
    );
}

/// Ten minutes and more connections than panels.
#[test]
fn long_and_many_are_legible() {
    let place = Place::new();
    let long = "run small.toml --set stop=600s --set connection.1.bytes= --set connection.2.bytes=";
    let picture = place.picture(long);
    picture.must_have(&[
        "range of a window that changes often, and its mean",
        "reductions: of several close to each other the first",
    ]);
    assert!(picture.shapes.iter().all(|shape| shape.points < 5000));
    let many =
        place.picture("run small.toml --set connection.*.count=20 --set bottleneck.rate=50Mbit");
    many.must_have(&["24 of 40 connections; --connection NAME chooses."]);
    let panels = many
        .texts
        .iter()
        .filter(|(text, _)| text == "cwnd [segments]")
        .count();
    assert_eq!(panels, 24);
    // Panels that do not fit are left out.
    let few = place.picture(
        "run small.toml --set connection.*.count=20 --set bottleneck.rate=50Mbit --size 800x400",
    );
    assert!(
        few.texts
            .iter()
            .any(|(text, _)| text.ends_with("--connection NAME chooses."))
    );
}
