//! Files that are links, FIFOs or devices.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use super::Place;

/// `--force` replaces a link, and never what it leads to.
#[test]
fn a_link_is_replaced() {
    let place = Place::new();
    let at = |name: &str| place.0.join(name);
    place.good("run small.toml --trace traces --pcap captures --plot figure.svg -o rows.csv");
    fs::create_dir(at("links")).unwrap();
    for folder in ["traces", "captures"] {
        for entry in fs::read_dir(at(folder)).unwrap() {
            let path = entry.unwrap().path();
            fs::remove_file(&path).unwrap();
            symlink(at("precious"), &path).unwrap();
        }
    }
    let written = [
        ("figure.svg", "run small.toml --plot figure.svg --force"),
        ("rows.csv", "run small.toml -o rows.csv --force"),
        (
            "rows.parquet",
            "compare small.toml -a lia -o rows.parquet --force",
        ),
        ("new.toml", "new shared-bottleneck -o new.toml --force"),
        (
            "table.csv",
            "sweep small.toml --vary bottleneck.queue=9 -o table.csv --force",
        ),
        (
            "captures",
            "run small.toml --trace traces --pcap captures --force",
        ),
    ];
    for (name, command) in written {
        fs::write(at("precious"), "kept").unwrap();
        if name.contains('.') {
            let _ = fs::remove_file(at(name));
            symlink(at("precious"), at(name)).unwrap();
            // A process that was killed may have left this name, and so may anybody else.
            symlink(at("precious"), at(&format!("{name}.tmp"))).unwrap();
        }
        place.good(command);
        assert_eq!(place.read("precious"), b"kept", "{command}");
        assert!(!at(name).is_symlink(), "{command}");
    }
    for folder in ["traces", "captures"] {
        for entry in fs::read_dir(at(folder)).unwrap() {
            let path = entry.unwrap().path();
            assert!(!path.is_symlink(), "{}", path.display());
        }
    }
}

/// What is no regular file is neither waited for nor replaced.
#[test]
fn only_regular_files() {
    let place = Place::new();
    let mut made = Command::new("mkfifo");
    made.arg(place.0.join("fifo.toml"));
    assert!(made.status().unwrap().success());
    for name in ["fifo.csv", "fifo.gml", "fifo.svg"] {
        symlink("fifo.toml", place.0.join(name)).unwrap();
    }
    let map = "stop = \"1s\"\n[topology]\nkind = \"gml\"\nfile = \"fifo.gml\"\nqueue = 9\n[[connection]]\nprotocol = \"tcp\"\n";
    fs::write(place.0.join("map.toml"), map).unwrap();
    for command in [
        "run fifo.toml",
        "show fifo.toml",
        "run /dev/zero",
        "run map.toml",
        "paths fifo.gml",
        "plot fifo.csv -o figure.svg",
        "sweep small.toml --points fifo.csv -o rows.csv",
        "new shared-bottleneck -o fifo.toml --force",
        "kernel service --check --config fifo.toml",
    ] {
        let output = place.lisa(command).output().unwrap();
        let line = String::from_utf8_lossy(&output.stderr);
        assert!(
            line.contains("not a regular file") && line.lines().count() == 1,
            "{command}: {line}"
        );
    }
}
