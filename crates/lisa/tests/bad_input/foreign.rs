//! Registrations with the name `lisa` that this program did not make, or cannot read.

use super::defaults::{default_of, set_default};
use super::privilege::{nobody, public_copy};
use super::*;
use crate::support::Folder;
use crate::support::foreign::{Foreign, register};
use crate::support::world::host;

const SOMEBODY_ELSES: &str = "another program has registered `lisa` with the kernel";

/// Another program's algorithm with the name `passing`, until this is dropped.
pub fn passing(folder: &Folder) -> impl Sized + use<> {
    register(folder, "-DNAME=\"passing\"")
}

/// With this registration every command that needs the name fails, and changes nothing.
fn refuses(turn: &Turn, foreign: Foreign, words: &str) {
    let host = Host::now();
    assert!(host.has("lisa"), "{host:?}");
    let (load, unload) = (words, words);
    let folder = Folder::new();
    let copy = public_copy(&folder);
    bad(lisa(&["load", "lisa"]), 1, load);
    bad(lisa(&["load", "lisa", "--default"]), 1, load);
    bad(lisa(&["unload", "lisa"]), 1, unload);
    bad(lisa(&["unload", "lisa", "--wait"]), 1, unload);
    bad(lisa(&["default", "lisa"]), 1, words);
    let run = ["exec", "lisa", "--", "true"];
    bad(lisa(&run), 1, words);
    // A user cannot read registrations, but sees what the algorithm does.
    bad(nobody(&copy, &run), 1, SOMEBODY_ELSES);
    // Other algorithms are not affected.
    good_but(lisa(&["load", "lia"]));
    good_but(lisa(&["exec", "lia", "--", "true"]));
    good_but(nobody(&copy, &["exec", "lia", "--", "true"]));
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
    refuses(&turn, foreign, SOMEBODY_ELSES);
}

/// A former load is kept by the default of a namespace when another program takes the name and is the default of a second namespace.
#[test]
fn somebody_elses_default() {
    let Some(turn) = Turn::take() else { return };
    let (folder, ours, others) = (Folder::new(), host(), host());
    good(lisa_on(&ours, &["load", "lisa", "--default"]));
    let registered = kernel::registry::find_one("lisa").expect("it is loaded");
    registered.unregister().expect("it is ours");
    let foreign = register(&folder, "-DNAME=\"lisa\"");
    set_default(&others, "lisa");
    let nothing = "nothing to do: the default is `lisa`, no algorithm of lisa\n";
    assert_eq!(good(lisa_on(&others, &["default", "--off"])), nothing);
    let shown = good(lisa_on(&others, &["default"]));
    assert!(
        shown.starts_with("this network namespace: `lisa`\n"),
        "{shown}"
    );
    // Sockets without MPTCP keep the other program's algorithm where it was the default.
    let said = good(lisa_on(&others, &["load", "lia", "--default"]));
    assert!(said.contains("plain TCP uses `lisa`"), "{said}");
    good(lisa_on(&others, &["default", "--off"]));
    assert_eq!(default_of(&others), "lisa");
    good(lisa(&["unload", "lia"]));
    assert_eq!(
        good(lisa_on(&ours, &["default", "--off"])),
        "the default is `reno` again (it was `lisa`)\n"
    );
    set_default(&others, "reno");
    drop(foreign);
    until("the host is as it was", || Host::now() == turn.before);
}

#[test]
fn damaged() {
    let Some(turn) = Turn::take() else { return };
    let folder = Folder::new();
    let foreign = register(&folder, "-DINIT=lisa_init");
    let words = "is damaged: no map `.rodata`; `bpftool struct_ops unregister id ";
    refuses(&turn, foreign, words);
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
