//! The default of network namespaces: `load --default`, `default`, and `unload` of the default.

use super::*;
use crate::support::named::Named;
use crate::support::world::host;

pub fn default_of(host: &Namespace) -> String {
    host.run(|| kernel::default::get().expect("a sysctl"))
}

pub fn set_default(host: &Namespace, name: &str) {
    host.run(|| kernel::default::set(name).expect("a sysctl"));
}

fn netns(host: &Namespace) -> u32 {
    host.run(|| kernel::default::netns().expect("a namespace"))
}

#[test]
fn unload_restores_what_was() {
    let Some(turn) = Turn::take() else { return };
    let [host, other] = [(); 2].map(|()| host());
    let said = good(lisa_on(&host, &["load", "lisa", "--default"]));
    let expected = "loaded `lisa`\nthe default of this network namespace: MPTCP sockets that are opened from now on use `lisa`, plain TCP uses `reno`\n";
    assert!(said.starts_with(expected), "{said}");
    assert_eq!(
        (default_of(&host), default_of(&other)),
        ("lisa".into(), "reno".into())
    );
    let said = good(lisa_on(&host, &["unload", "lisa"]));
    assert_eq!(said, "unloaded `lisa`; the default is `reno` again\n");
    assert_eq!(default_of(&host), "reno");
    turn.unchanged();
}

/// Without a name `load` takes the algorithm that docs/which.md recommends.
#[test]
fn without_a_name() {
    let Some(turn) = Turn::take() else { return };
    let host = host();
    let said = good(lisa_on(&host, &["load"]));
    assert!(said.starts_with("loaded `convoy`; "), "{said}");
    good(lisa_on(&host, &["unload", "convoy"]));
    turn.unchanged();
}

/// The congestion control of a plain TCP connection whose program chooses `algorithm`.
fn plain_tcp_with(host: &Namespace, algorithm: &str) -> String {
    host.run(|| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
        let address = listener.local_addr().expect("an address");
        let client = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
        let client = client.expect("a socket");
        client
            .set_tcp_congestion(algorithm.as_bytes())
            .expect("it is loaded");
        client.connect(&address.into()).expect("connects");
        support::stream::algorithm(&client)
    })
}

/// A program may choose another algorithm than the namespace's default. Its plain TCP sockets also get the previous default.
#[test]
fn plain_tcp_of_a_program_that_chooses_another_algorithm() {
    let Some(turn) = Turn::take() else { return };
    let host = host();
    good(lisa_on(&host, &["load", "lia"]));
    good(lisa_on(&host, &["load", "lisa", "--default"]));
    good(lisa_on(&host, &["load", "olia"]));
    for algorithm in ["lisa", "lia", "olia"] {
        assert_eq!(plain_tcp_with(&host, algorithm), "reno", "{algorithm}");
    }
    for algorithm in ["lisa", "lia", "olia"] {
        good(lisa_on(&host, &["unload", algorithm]));
    }
    turn.unchanged();
}

#[test]
fn each_namespace_has_its_own() {
    let Some(turn) = Turn::take() else { return };
    let [host, other] = [(); 2].map(|()| host());
    bad(
        lisa_on(&host, &["default", "lisa"]),
        1,
        "`lisa` is not loaded",
    );
    good(lisa_on(&host, &["load", "lisa", "--default"]));
    // A loaded algorithm becomes the default of another namespace, by `default` and by `load`.
    let said = good(lisa_on(&other, &["load", "lisa", "--default"]));
    assert!(
        said.starts_with("`lisa` is loaded already, with these settings\n"),
        "{said}"
    );
    assert_eq!(default_of(&other), "lisa");
    let said = good(lisa_on(&other, &["default", "lisa"]));
    assert!(
        said.contains("as before") && said.contains("plain TCP uses `reno`"),
        "{said}"
    );

    let said = good(lisa_on(&other, &["default"]));
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(
        lines[0],
        "this network namespace: `lisa`, and `reno` for plain TCP"
    );
    let theirs = format!("net:[{}] (process {} ", netns(&host), std::process::id());
    let named = |line: &&str| line.starts_with(&theirs) && line.ends_with(": `lisa`");
    assert!(lines[1..].iter().any(named), "{said}");
    let said = good(lisa(&["status"]));
    assert!(said.contains(&format!("default of {theirs}")), "{said}");

    assert_eq!(
        good(lisa_on(&other, &["default", "--off"])),
        "the default is `reno` again (it was `lisa`)\n"
    );
    assert_eq!(
        (default_of(&host), default_of(&other)),
        ("lisa".into(), "reno".into())
    );
    assert_eq!(
        good(lisa_on(&other, &["default", "--off"])),
        "nothing to do: the default is `reno`, no algorithm of lisa\n"
    );
    bad(
        lisa_on(&other, &["default", "lisa", "--off"]),
        2,
        "cannot be used with",
    );
    bad(lisa_on(&other, &["default", "--all"]), 2, "--off");
    bad(
        lisa_on(&other, &["default", "bbr2"]),
        1,
        "`bbr2` is not loaded; loaded: lisa",
    );
    good(lisa_on(&host, &["unload", "lisa"]));
    turn.unchanged();
}

/// A named namespace appears under its name. It keeps an algorithm loaded only while the algorithm is its own default.
#[test]
fn a_namespace_with_a_name() {
    let Some(turn) = Turn::take() else { return };
    let (host, named) = (host(), Named::new());
    good(lisa(&["load", "lisa"]));
    good(named.command(LISA, &["kernel", "default", "lisa"]));
    let refused = format!("it is the default of `{}`", named.0);
    bad(lisa_on(&host, &["unload", "lisa"]), 1, &refused);
    assert!(good(lisa(&["status"])).contains(&format!("default of `{}`", named.0)));
    let status = good(lisa(&["status", "--json"]));
    assert!(
        status.contains(&format!("\"name\":\"{}\"", named.0)),
        "{status}"
    );

    // It was no namespace's default: no restored default is reported.
    drop(named);
    assert_eq!(
        good(lisa_on(&host, &["unload", "lisa"])),
        "unloaded `lisa`\n"
    );
    turn.unchanged();
}

#[test]
fn a_default_that_was_changed_meanwhile_stays() {
    let Some(turn) = Turn::take() else { return };
    let host = host();
    good(lisa_on(&host, &["load", "lisa", "--default"]));
    good(lisa(&["load", "lia"]));
    set_default(&host, "lia");
    assert_eq!(
        good(lisa_on(&host, &["unload", "lisa"])),
        "unloaded `lisa`\n"
    );
    assert_eq!(default_of(&host), "lia");
    // It is the default there, but not by a command: the previous default is unknown.
    let words = format!("it is the default of net:[{}]", netns(&host));
    bad(lisa(&["unload", "lia"]), 1, &words);
    bad(lisa_on(&host, &["unload", "lia"]), 1, &words);
    set_default(&host, "reno");
    good(lisa(&["unload", "lia"]));
    turn.unchanged();
}

/// One of lisa's algorithms replaces another as default: plain TCP, and the namespace at the end, have the default before both.
#[test]
fn a_previous_default_that_was_unloaded() {
    let Some(turn) = Turn::take() else { return };
    let host = host();
    good(lisa_on(&host, &["load", "lia", "--default"]));
    let said = good(lisa_on(&host, &["load", "lisa", "--default"]));
    assert!(said.contains("plain TCP uses `reno`"), "{said}");
    good(lisa(&["unload", "lia"]));
    let said = good(lisa_on(&host, &["unload", "lisa"]));
    assert_eq!(said, "unloaded `lisa`; the default is `reno` again\n");
    // While it is loaded, it is the default that is restored.
    good(lisa_on(&host, &["load", "lia", "--default"]));
    good(lisa_on(&host, &["load", "lisa", "--default"]));
    let said = good(lisa_on(&host, &["unload", "lisa"]));
    assert_eq!(said, "unloaded `lisa`; the default is `lia` again\n");
    good(lisa_on(&host, &["unload", "lia"]));
    assert_eq!(default_of(&host), "reno");
    turn.unchanged();
}

#[test]
fn a_previous_default_that_the_kernel_has_no_more() {
    let Some(turn) = Turn::take() else { return };
    let (host, folder) = (host(), crate::support::Folder::new());
    let other = foreign::passing(&folder);
    set_default(&host, "passing");
    let said = good(lisa_on(&host, &["load", "lisa", "--default"]));
    assert!(said.contains("plain TCP uses `passing`"), "{said}");
    drop(other);
    let words = "the default before `lisa` was `passing`, which the kernel no longer has";
    bad(lisa_on(&host, &["unload", "lisa"]), 1, words);
    assert_eq!(default_of(&host), "lisa");
    set_default(&host, "reno");
    good(lisa_on(&host, &["unload", "lisa"]));
    assert_eq!(default_of(&host), "reno");
    until("the host is as it was", || Host::now() == turn.before);
}

/// The algorithm is loaded again while the namespace's default still is the unregistered one.
#[test]
fn the_same_name_again() {
    let Some(turn) = Turn::take() else { return };
    let host = host();
    let socket = || host.run(|| crate::support::stream::socket("lisa"));
    good(lisa_on(&host, &["load", "lisa", "--default"]));
    // `lisa kernel unload` would first restore the default.
    let registered = kernel::registry::find_one("lisa").expect("it is loaded");
    registered.unregister().expect("it is ours");
    assert_eq!(default_of(&host), "lisa");
    good(lisa(&["load", "lisa"]));
    let said = good(lisa_on(&host, &["default", "lisa"]));
    assert!(said.contains("plain TCP uses `reno`"), "{said}");
    // The new registration is in use, and the old one is freed.
    let line = bad(lisa(&["unload", "lisa"]), 1, "it is the default of net:[");
    assert!(!line.contains("unloaded already"), "{line}");
    until("the end of the first", || {
        kernel::registry::find_leaving("lisa")
            .expect("what is loaded")
            .is_empty()
    });
    assert!(socket().is_ok());
    let said = good(lisa_on(&host, &["unload", "lisa"]));
    assert!(said.contains("the default is `reno` again"), "{said}");
    turn.unchanged();
}

#[test]
fn a_default_of_another_namespace() {
    let Some(turn) = Turn::take() else { return };
    let host = host();
    good(lisa_on(&host, &["load", "lisa", "--default"]));
    let loaded = Host::now();
    let words = format!(
        "nothing was changed: it is the default of net:[{}]",
        netns(&host)
    );
    for arguments in [&["unload", "lisa"][..], &["unload", "lisa", "--wait"]] {
        let line = bad(lisa(arguments), 1, &words);
        assert!(
            line.contains("`lisa kernel default --off --all` sets"),
            "{line}"
        );
        assert_eq!(
            (Host::now(), default_of(&host)),
            (loaded.clone(), "lisa".into())
        );
    }
    // Without that default it can be unloaded from any namespace.
    set_default(&host, "reno");
    good(lisa(&["unload", "lisa"]));
    turn.unchanged();
}

#[test]
fn the_default_of_a_namespace_that_is_gone() {
    let Some(turn) = Turn::take() else { return };
    good(lisa_on(&host(), &["load", "lisa", "--default"]));
    assert_eq!(good(lisa(&["unload", "lisa"])), "unloaded `lisa`\n");
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
        "nothing was changed: 1 unconnected socket: not bound in ",
    );
    assert_eq!((Host::now(), default_of(&host)), (loaded, "lisa".into()));
    drop(socket);
    assert_eq!(
        good(lisa_on(&host, &["unload", "lisa"])),
        "unloaded `lisa`; the default is `reno` again\n"
    );
    turn.unchanged();
}
