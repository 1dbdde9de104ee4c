//! Wrong groups: no such connection, subflow or group, no algorithm loaded.

use super::*;
use crate::support::stream::{exchange, open, serve};
use crate::support::world::World;
use kernel::registry;

#[test]
fn arguments() {
    for (arguments, words) in [
        (&["group", "lisa"][..], "up to eight hexadecimal digits"),
        (&["group", "123456789"], "up to eight hexadecimal digits"),
        (&["group", "1=2"], "up to eight hexadecimal digits"),
        (
            &["group", "1a2b3c4d", "1"],
            "write SUBFLOW=GROUP with a group from 0 to 238",
        ),
        (&["group", "1a2b3c4d", "1=239"], "a number from 0 to 238"),
        (&["group", "1a2b3c4d", "1=-1"], "a number from 0 to 238"),
        (&["group", "1a2b3c4d", "eth0=1"], "`eth0` is no subflow"),
        (&["group", "1a2b3c4d", "1=1", "--reset"], "--reset"),
        (&["group", "1a2b3c4d", "--frobnicate"], "--frobnicate"),
    ] {
        bad(lisa(arguments), 2, words);
    }
}

#[test]
fn missing_connections_subflows_and_groups() {
    let Some(turn) = Turn::take() else { return };
    // Other tests may have loaded an algorithm under a name of their own.
    let nothing = [
        "no algorithm is loaded; `lisa kernel load`",
        "no connection 00000000",
    ];
    let loaded = registry::find().expect("what is loaded").len();
    let line = bad(lisa(&["group", "0", "1=1"]), 1, "");
    assert!(
        nothing.iter().any(|words| line.contains(words)),
        "{loaded} loaded: {line}"
    );

    good(lisa(&["load", "lisa"]));
    bad(
        lisa(&["group", "0", "1=1"]),
        1,
        "no connection 00000000; `lisa kernel group` lists those that are open",
    );
    bad(lisa(&["group", "0"]), 1, "no connection 00000000;");
    bad(
        lisa(&["group", "0", "--reset"]),
        1,
        "no connection 00000000;",
    );

    let world = World::new(1);
    let listener = serve(&world, "lisa");
    let (client, server) = open(&world, &listener, "lisa", None);
    exchange(&client, &server, b"established");
    let registered = registry::find_one("lisa").expect("it is loaded");
    let status = kernel::status::status(&registered, Default::default()).expect("status");
    let token = &status.connections[0].token;
    for (which, there) in [("1", "it has 0 10.7.0."), ("10.9.9.9", "it has 0 10.7.0.")] {
        let line = bad(lisa(&["group", token, &format!("{which}=1")]), 1, there);
        assert!(
            line.contains(&format!("has no subflow `{which}`")),
            "{line}"
        );
    }
    let two = "subflow 0 cannot be in group 1 and in group 2: ask for one of them";
    bad(lisa(&["group", token, "0=1", "0=2"]), 2, two);
    assert_eq!(
        good(lisa(&["group", token, "0=0"])),
        "nothing to do: these subflows are in these groups\n"
    );
    let after = kernel::status::status(&registered, Default::default()).expect("status");
    let asked = |s: &kernel::status::Subflow| s.group != 0 || s.group_asked.is_some();
    let mut subflows = after.connections.iter().flat_map(|c| &c.subflows);
    assert!(
        !subflows.any(asked),
        "a failing command asks for nothing: {after:?}"
    );
    drop((client, server, listener));
    good(lisa(&["unload", "lisa", "--wait"]));
    turn.unchanged();
}
