//! `lisa kernel service --check` and `lisa kernel load --dry-run`.

use super::*;
use crate::support::turn::{Host, Turn, good, lisa};
use crate::support::world::host;
use kernel::registry::find_one;

fn dry_run(host: &Namespace, arguments: &[&str]) -> String {
    let mut command = host.command(LISA);
    command
        .args(["kernel", "load", "--dry-run"])
        .args(arguments);
    good(command)
}

#[test]
fn what_a_load_would_do() {
    let Some(turn) = Turn::take() else { return };
    let here = host();
    let said = dry_run(&here, &["lisa", "--default"]);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "`lisa` would be loaded", "{said}");
    assert!(
        lines[1].contains("at most 16384 coupled connections, 2048 of one user"),
        "{said}"
    );
    assert!(lines[2].starts_with("  memory: "), "{said}");
    assert!(lines[3].contains("accepts the 7 programs ("), "{said}");
    assert!(
        lines[4].contains("would be `lisa` instead of `reno`")
            && lines[4].contains("plain TCP would use `reno`"),
        "{said}"
    );
    assert_eq!(lines[5], "nothing was changed");
    assert_eq!(loaded(), [""; 0]);
    assert_eq!(default_of(&here), "reno");
    turn.unchanged();

    good(lisa(&["load", "lisa"]));
    let (before, map) = (
        Host::now(),
        find_one("lisa").expect("it is loaded").map_id(),
    );
    for (arguments, words) in [
        (
            &["lisa"][..],
            "`lisa` is loaded already, with these settings",
        ),
        (
            &["lisa", "--max-connections", "7"],
            "is loaded with other settings",
        ),
        (&["lisa", "--max-connections", "20000"], "loaded anew"),
    ] {
        let said = dry_run(&here, arguments);
        assert!(said.lines().next().unwrap().contains(words), "{said}");
    }
    let lisa_now = find_one("lisa").expect("it is loaded");
    assert_eq!(lisa_now.map_id(), map);
    assert_eq!(lisa_now.limits().expect("limits").connections, 16_384);
    assert_eq!(Host::now(), before);
    good(lisa(&["unload", "lisa"]));
    turn.unchanged();
}

#[test]
fn what_the_service_would_do() {
    let Some(turn) = Turn::take() else { return };
    let here = host();
    let file = File::new("default = \"lisa\"\n[namespaces]\n\"no-such-*\" = \"lia\"\n");
    let said = good(file.command(&here, &["--check"]));
    for words in [
        "lisa.toml: no errors\n",
        "`lia` would be loaded\n",
        "`lisa` would be loaded\n",
        "would be `lisa` instead of `reno`",
        "named network namespaces `no-such-*` would be `lia` (none has this name now)\n",
    ] {
        assert!(said.contains(words), "{said:?} has {words:?}");
    }
    assert_eq!(default_of(&here), "reno");
    turn.unchanged();
    file.write("defalt = \"lisa\"\n");
    let line = refused(file.command(&here, &["--check"]));
    assert!(line.contains("lisa.toml:1: `defalt`: "), "{line}");
    file.write("");
    let said = good(file.command(&here, &["--check"]));
    assert!(
        said.ends_with("would load nothing and change nothing\n"),
        "{said}"
    );
}
