//! `lisa explore`: a page with a scenario. Nothing is opened here.

use super::Place;
use std::fs;
use std::path::Path;

#[test]
fn a_wrong_scenario_is_refused_before_the_page() {
    let place = Place::new();
    fs::write(place.0.join("wrong.toml"), "stop = 1").unwrap();
    let line = place.bad("explore wrong.toml -o page.html", 1);
    assert!(line.starts_with("lisa: wrong.toml:1: `stop`: "), "{line}");
    assert!(!place.0.join("page.html").exists());
}

#[test]
fn a_page_begins_with_its_scenario() {
    let place = Place::new();
    fs::write(place.0.join("taken.html"), "").unwrap();
    let line = place.bad("explore small.toml -o taken.html", 1);
    assert!(line.contains("-o taken.html: the file exists"), "{line}");
    let built = concat!(env!("CARGO_MANIFEST_DIR"), "/../../out/explorer/index.html");
    // The program looks for the page from its own folder.
    let beside =
        Path::new(env!("CARGO_BIN_EXE_lisa")).with_file_name("../../out/explorer/index.html");
    if !beside.exists() || !Path::new(built).exists() {
        let line = place.bad("explore small.toml -o page.html", 1);
        assert!(line.contains("`make explorer` builds it"), "{line}");
        eprintln!("skipped: no page beside the program; `make explorer` builds it");
        return;
    }
    place.good("explore small.toml -o page.html");
    let page = fs::read_to_string(place.0.join("page.html")).unwrap();
    assert!(
        page.contains(r#"id="start">{"file":"small.toml","text":"title = \"A small bottleneck\""#)
    );
    assert_eq!(page.matches(r#"id="start""#).count(), 1);
}
