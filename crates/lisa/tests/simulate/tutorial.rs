//! The commands of docs/tutorial.md, from the page's own text.

use super::Place;
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn the_tutorial_ends_in_a_figure() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorial.md");
    let page = fs::read_to_string(page).unwrap();
    let blocks = page.split("```sh\n").skip(1);
    let commands: Vec<&str> = blocks
        .filter_map(|block| block.split("```").next())
        .collect();
    assert!(commands.len() >= 3, "{page}");
    let lines = page
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("```"))
        .count();
    assert!(lines <= 25, "{lines} lines: a tutorial is short");
    let place = Place::new();
    let program = Path::new(env!("CARGO_BIN_EXE_lisa")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-euxc", &commands.concat()])
        .env("PATH", path)
        .current_dir(&*place.0)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    for word in [
        "Links with data",
        "R_ss [segments]",
        "bottleneck.queue",
        "40 ",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let figure = fs::read_to_string(place.0.join("windows.svg")).unwrap();
    assert!(
        figure.starts_with("<svg") && figure.contains("lisa"),
        "{figure}"
    );
    assert!(place.0.join("queues.parquet").is_file());
}
