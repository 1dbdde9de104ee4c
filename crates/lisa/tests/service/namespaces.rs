//! Named network namespaces, and namespaces that inherit nothing.

use super::*;
use crate::support::named::Named;
use crate::support::turn::Turn;
use crate::support::world::host;

/// A pattern of names that no other test has.
fn prefix() -> String {
    format!("lisa-test-{}-{}-", std::process::id(), support::number())
}

#[test]
fn namespaces_that_exist_and_that_appear_later() {
    let Some(turn) = Turn::take() else { return };
    let (here, prefix) = (host(), prefix());
    let existing = Named::with(format!("{prefix}a1"));
    let before = existing.default();
    let file = File::new(&format!(
        "[namespaces]\n\"{prefix}a?\" = \"lisa\"\n\"{prefix}b*\" = \"lia\"\n"
    ));
    let (service, status) = Service::start(&here, &file);
    assert_eq!(status, "lia, lisa; 1 named network namespace");
    assert_eq!(existing.default(), "lisa");
    assert_eq!(default_of(&here), "reno");

    let later = Named::with(format!("{prefix}b"));
    until("the default of a new namespace", || {
        later.default() == "lia"
    });
    let other = Named::with(format!("{prefix}c"));
    // Events come in order: the next namespace has its default, so that this one was looked at.
    let next = Named::with(format!("{prefix}b2"));
    until("the default of a new namespace", || next.default() == "lia");
    assert_eq!(other.default(), before);

    let lines = service.stop(Signal::SIGTERM);
    for named in [&existing, &later, &next] {
        assert_eq!(named.default(), before);
        let words = format!("`{}`: the default is `{before}`", named.0);
        assert!(has_line(&lines, &words), "{lines:#?} has {words:?}");
    }
    assert_eq!(loaded(), [""; 0]);
    turn.unchanged();
}

/// The new namespace has the name and the inode number of the deleted one.
#[test]
fn a_namespace_that_is_deleted_and_made_again() {
    let Some(turn) = Turn::take() else { return };
    let (here, prefix) = (host(), prefix());
    let name = format!("{prefix}a");
    let file = File::new(&format!("[namespaces]\n\"{name}\" = \"lisa\"\n"));
    let (service, _) = Service::start(&here, &file);
    let named = Named::with(name.clone());
    until("the default of a new namespace", || {
        named.default() == "lisa"
    });
    // The service looks when both have happened.
    service.running.signal(Signal::SIGSTOP);
    let inode = named.inode();
    drop(named);
    let mut again = None;
    until("the same inode number", || {
        again = None; // deletes the namespace of the last turn
        let named = again.insert(Named::with(name.clone()));
        named.inode() == inode
    });
    let again = again.expect("a namespace");
    assert_ne!(again.default(), "lisa");
    service.running.signal(Signal::SIGCONT);
    until("the default of the namespace with the same number", || {
        again.default() == "lisa"
    });
    service.stop(Signal::SIGTERM);
    turn.unchanged();
}

/// Many at a time.
#[test]
fn many_namespaces() {
    let Some(turn) = Turn::take() else { return };
    let (here, prefix) = (host(), prefix());
    let file = File::new(&format!("[namespaces]\n\"{prefix}*\" = \"lisa\"\n"));
    let (service, _) = Service::start(&here, &file);
    let all: Vec<Named> = (0..30)
        .map(|i| Named::with(format!("{prefix}{i}")))
        .collect();
    for named in &all {
        until("the default of a new namespace", || {
            named.default() == "lisa"
        });
    }
    service.stop(Signal::SIGTERM);
    for named in &all {
        assert_ne!(named.default(), "lisa");
    }
    drop(all);
    turn.unchanged();
}

#[test]
fn rules_that_change() {
    let Some(turn) = Turn::take() else { return };
    let (here, prefix) = (host(), prefix());
    let [a, b] = ["a", "b"].map(|name| Named::with(format!("{prefix}{name}")));
    let before = a.default();
    let file = File::new(&format!("[namespaces]\n\"{prefix}*\" = \"lisa\"\n"));
    let (mut service, _) = Service::start(&here, &file);
    assert_eq!([a.default(), b.default()], ["lisa", "lisa"]);
    file.write(&format!("[namespaces]\n\"{prefix}a\" = \"lia\"\n"));
    assert_eq!(service.reload(), "lia; 1 named network namespace");
    assert_eq!([a.default(), b.default()], ["lia".into(), before.clone()]);

    // The service is killed, and the rule is gone when it starts again.
    service.kill();
    file.write("");
    let (service, _) = Service::start(&here, &file);
    assert_eq!(a.default(), before);
    assert_eq!(loaded(), [""; 0]);
    service.stop(Signal::SIGTERM);
    turn.unchanged();
}

/// An administrator made the algorithm the default of a namespace that the file does not name. The end of the service frees it.
#[test]
fn a_default_that_a_command_has_set() {
    let Some(turn) = Turn::take() else { return };
    let (here, other) = (host(), host());
    let file = File::new("algorithm.lisa = {}\n");
    let (mut service, _) = Service::start(&here, &file);
    let mut command = other.command(LISA);
    support::turn::good({
        command.args(["kernel", "default", "lisa"]);
        command
    });
    service.reload();
    assert_eq!(default_of(&other), "lisa");
    service.stop(Signal::SIGTERM);
    assert_eq!(default_of(&other), "reno");
    turn.unchanged();
}
