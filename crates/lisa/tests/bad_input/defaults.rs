//! `load --default` in a network namespace, and what `unload` makes of it.

use super::*;
use crate::support::world::host;

fn default_of(host: &Namespace) -> String {
    host.run(|| kernel::default::get().expect("a sysctl"))
}

fn set_default(host: &Namespace, name: &str) {
    host.run(|| kernel::default::set(name).expect("a sysctl"));
}

#[test]
fn unload_restores_what_was() {
    let Some(turn) = Turn::take() else { return };
    let [host, other] = [(); 2].map(|()| host());
    let said = good(lisa_on(&host, &["load", "lisa", "--default"]));
    assert!(said.contains("(it was `reno`)"), "{said}");
    assert_eq!(
        (default_of(&host), default_of(&other)),
        ("lisa".into(), "reno".into())
    );
    let said = good(lisa_on(&host, &["unload", "lisa"]));
    assert_eq!(said, "unloaded `lisa`; the default is `reno` again\n");
    assert_eq!(default_of(&host), "reno");
    turn.unchanged();
}

#[test]
fn a_default_that_was_changed_meanwhile_stays() {
    let Some(turn) = Turn::take() else { return };
    let host = host();
    good(lisa_on(&host, &["load", "lisa", "--default"]));
    good(lisa(&["load", "mptcp"]));
    set_default(&host, "mptcp");
    assert_eq!(
        good(lisa_on(&host, &["unload", "lisa"])),
        "unloaded `lisa`\n"
    );
    assert_eq!(default_of(&host), "mptcp");
    // It is in use there, though it was not loaded as a default.
    bad(
        lisa(&["unload", "mptcp"]),
        1,
        "1 socket or namespace uses `mptcp`",
    );
    set_default(&host, "reno");
    good(lisa(&["unload", "mptcp"]));
    turn.unchanged();
}

#[test]
fn a_previous_default_that_was_unloaded() {
    let Some(turn) = Turn::take() else { return };
    let host = host();
    good(lisa_on(&host, &["load", "mptcp", "--default"]));
    good(lisa_on(&host, &["load", "lisa", "--default"]));
    good(lisa_on(&host, &["unload", "mptcp"]));
    let words = "`lisa` replaced `mptcp` as the default, which the kernel has no more";
    bad(lisa_on(&host, &["unload", "lisa"]), 1, words);
    assert_eq!(default_of(&host), "lisa");
    set_default(&host, "reno");
    good(lisa_on(&host, &["unload", "lisa"]));
    assert_eq!(default_of(&host), "reno");
    turn.unchanged();
}

#[test]
fn a_default_of_another_namespace() {
    let Some(turn) = Turn::take() else { return };
    let host = host();
    good(lisa_on(&host, &["load", "lisa", "--default"]));
    let loaded = Host::now();
    let netns = host.run(|| kernel::default::netns().expect("a namespace"));
    let words = format!("`lisa` is the default of another network namespace (net:[{netns}])");
    for arguments in [&["unload", "lisa"][..], &["unload", "lisa", "--wait"]] {
        bad(lisa(arguments), 1, &words);
        assert_eq!(
            (Host::now(), default_of(&host)),
            (loaded.clone(), "lisa".into())
        );
    }
    // Once that is no longer so, it can be unloaded from anywhere.
    set_default(&host, "reno");
    good(lisa(&["unload", "lisa"]));
    turn.unchanged();
}

#[test]
fn the_default_of_a_namespace_that_is_gone() {
    let Some(turn) = Turn::take() else { return };
    good(lisa_on(&host(), &["load", "lisa", "--default"]));
    until("the namespace's end", || {
        lisa(&["unload", "lisa"])
            .output()
            .expect("lisa")
            .status
            .success()
    });
    turn.unchanged();
}

#[test]
fn sockets_keep_a_default_from_being_taken_away() {
    let Some(turn) = Turn::take() else { return };
    let host = host();
    good(lisa_on(&host, &["load", "lisa", "--default"]));
    let loaded = Host::now();
    let socket = host
        .run(|| crate::support::stream::socket("lisa"))
        .expect("a socket");
    bad(
        lisa_on(&host, &["unload", "lisa"]),
        1,
        "1 socket or namespace uses `lisa`; nothing was",
    );
    assert_eq!((Host::now(), default_of(&host)), (loaded, "lisa".into()));
    drop(socket);
    until("the socket's end", || {
        lisa_on(&host, &["unload", "lisa"])
            .output()
            .expect("lisa")
            .status
            .success()
    });
    assert_eq!(default_of(&host), "reno");
    turn.unchanged();
}
