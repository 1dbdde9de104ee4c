//! Registrations with the name `lisa` that this program did not make, or cannot read.

use super::*;
use crate::support::Folder;
use crate::support::foreign::{Foreign, register};

/// Another program's algorithm with the name `passing`, until this is dropped.
pub fn passing(folder: &Folder) -> impl Sized + use<> {
    register(folder, "-DNAME=\"passing\"")
}

/// With this registration every command that needs the name fails, and changes nothing.
fn refuses(turn: &Turn, foreign: Foreign, load: &str, unload: &str) {
    let host = Host::now();
    assert!(host.has("lisa"), "{host:?}");
    bad(lisa(&["load", "lisa"]), 1, load);
    bad(lisa(&["load", "lisa", "--default"]), 1, load);
    bad(lisa(&["unload", "lisa"]), 1, unload);
    bad(lisa(&["unload", "lisa", "--wait"]), 1, unload);
    // Other algorithms are not affected.
    good_but(lisa(&["load", "lia"]));
    good_but(lisa(&["unload", "lia"]));
    assert_eq!(Host::now(), host);
    drop(foreign);
    until("the host is as it was", || Host::now() == turn.before);
    good(lisa(&["load", "lisa"]));
    good(lisa(&["unload", "lisa"]));
    turn.unchanged();
}

fn good_but(mut command: Command) {
    support::world::run(&mut command);
}

#[test]
fn somebody_elses() {
    let Some(turn) = Turn::take() else { return };
    let folder = Folder::new();
    let foreign = register(&folder, "-DINIT=other_init");
    let load = "another program has registered `lisa` with the kernel";
    refuses(&turn, foreign, load, "`lisa` is not loaded");
}

#[test]
fn damaged() {
    let Some(turn) = Turn::take() else { return };
    let folder = Folder::new();
    let foreign = register(&folder, "-DINIT=lisa_init");
    let words = "is damaged: no map `.rodata`; `bpftool struct_ops unregister id ";
    refuses(&turn, foreign, words, words);
}

/// A registration of another version, whose settings are elsewhere: this one shows, unloads and replaces it.
#[test]
fn of_another_version() {
    let Some(turn) = Turn::take() else { return };
    let folder = Folder::new();
    let ours = kernel::contract::LISA_CONTRACT;
    let words =
        format!("`lisa` was loaded by another version of lisa (contract 99, this one has {ours})");
    let foreign = register(&folder, "-DCONTRACT=99");
    let output = lisa(&["status"]).output().expect("lisa");
    assert!(output.status.success());
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.contains(&words), "{complaint}");
    bad(lisa(&["default", "lisa"]), 1, &words);
    assert_eq!(good(lisa(&["unload", "lisa"])), "unloaded `lisa`\n");
    drop(foreign);
    until("the host is as it was", || Host::now() == turn.before);

    let foreign = register(&folder, "-DCONTRACT=99");
    let said = good(lisa(&["load", "lisa"]));
    assert!(said.starts_with("loaded `lisa` anew:"), "{said}");
    drop(foreign);
    good(lisa(&["unload", "lisa"]));
    turn.unchanged();
}
