//! Without root.

use super::*;
use crate::support::Folder;
use crate::support::world::run;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A copy of the program that all users may run.
pub fn public_copy(folder: &Folder) -> PathBuf {
    let copy = folder.join("lisa");
    fs::copy(LISA, &copy).expect("a copy");
    for path in [&**folder, &copy] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("permissions");
    }
    copy
}

/// `lisa kernel …` as an ordinary user, by such a copy.
pub fn nobody(copy: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(copy);
    command.arg("kernel").args(arguments);
    command
}

#[test]
fn an_ordinary_user() {
    let Some(turn) = Turn::take() else { return };
    let folder = Folder::new();
    let copy = public_copy(&folder);
    let nobody = |arguments: &[&str]| nobody(&copy, arguments);
    bad(
        nobody(&["load", "lisa"]),
        1,
        "loading an algorithm needs root",
    );
    bad(
        nobody(&["load", "lisa", "--default"]),
        1,
        "loading an algorithm needs root",
    );
    bad(nobody(&["load", "lissa"]), 2, "do you mean `lisa`?");
    bad(nobody(&["unload", "lisa"]), 1, "needs root");
    bad(nobody(&["unload", "lisa", "--wait"]), 1, "needs root");
    bad(
        nobody(&["status"]),
        1,
        "listing the loaded algorithms needs root",
    );
    bad(
        nobody(&["status", "--json"]),
        1,
        "listing the loaded algorithms needs root",
    );
    let refused = "listing the loaded algorithms needs root";
    bad(nobody(&["default", "lisa"]), 1, refused);
    bad(nobody(&["default", "--off"]), 1, refused);
    let refused = "listing the users of an algorithm needs root";
    bad(nobody(&["default"]), 1, refused);
    bad(nobody(&["default", "--off", "--all"]), 1, refused);
    for arguments in [
        &["group"][..],
        &["group", "1", "1=1"],
        &["group", "--reset"],
    ] {
        bad(
            nobody(arguments),
            1,
            "listing the loaded algorithms needs root",
        );
    }
    bad(
        nobody(&["exec", "lisa", "--", "true"]),
        1,
        "`lisa kernel load lisa` first",
    );
    let token = folder.join("token");
    fs::write(&token, "x").expect("a file");
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).expect("permissions");
    let nobody_id = Some(65534);
    std::os::unix::fs::chown(&token, nobody_id, nobody_id).expect("an owner");
    let token = token.display().to_string();
    bad(
        nobody(&["assist", "--from", "http://127.0.0.1:1", "--token", &token]),
        1,
        "(run it as root, or with CAP_NET_ADMIN)",
    );
    bad(
        nobody(&["metrics", "--listen", "127.0.0.1:0"]),
        1,
        "listing the loaded algorithms needs root",
    );
    // `doctor` needs no privilege, and says what is missing.
    let page = good(nobody(&["doctor"]));
    assert!(page.contains("the caller lacks CAP_BPF (load)"), "{page}");
    assert!(page.contains("cannot be listed by this user"), "{page}");
    // `top` reads the status before it changes the terminal, here that of `script`.
    let mut top = Command::new("script");
    let line = format!(
        "setpriv --reuid=65534 --regid=65534 --clear-groups {} kernel top",
        copy.display()
    );
    let output = top
        .args(["-qec", &line, "/dev/null"])
        .output()
        .expect("script");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.starts_with("lisa: listing the loaded algorithms needs root"),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
    turn.unchanged();

    // All users may use a loaded algorithm, and only root may unload it.
    good(lisa(&["load", "lisa"]));
    let loaded = Host::now();
    bad(nobody(&["load", "lisa"]), 1, "needs root");
    bad(nobody(&["unload", "lisa"]), 1, "needs root");
    run(&mut nobody(&["exec", "lisa", "--", "true"]));
    assert_eq!(Host::now(), loaded);
    good(lisa(&["unload", "lisa"]));
    turn.unchanged();
}

/// The capabilities decide, not the user id, and the error names those that are missing.
#[test]
fn a_user_with_capabilities() {
    let Some(turn) = Turn::take() else { return };
    let folder = Folder::new();
    let (copy, host) = (public_copy(&folder), crate::support::world::host());
    let with = |capabilities: &str, arguments: &[&str]| {
        let mut command = host.command("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        for set in ["--inh-caps", "--ambient-caps", "--bounding-set"] {
            command.arg(format!("{set}=-all{capabilities}"));
        }
        command.arg(&copy).arg("kernel").args(arguments);
        command
    };
    for (capabilities, missing) in [
        ("", "CAP_SYS_ADMIN, CAP_NET_ADMIN, CAP_BPF and CAP_PERFMON"),
        (",+sys_admin", "CAP_NET_ADMIN"),
        (",+net_admin,+bpf,+perfmon", "CAP_SYS_ADMIN"),
    ] {
        let words = format!(" needs root ({missing}); run it with sudo");
        bad(with(capabilities, &["load", "lisa"]), 1, &words);
        bad(
            with(capabilities, &["load", "lisa", "--dry-run"]),
            1,
            &words,
        );
    }
    turn.unchanged();
    let both = |arguments: &[&str]| {
        // Of the helper programs of `exec` it may not change the pins, which it reports.
        run(&mut with(",+sys_admin,+net_admin", arguments));
    };
    both(&["load", "lisa", "--dry-run"]);
    turn.unchanged();
    both(&["load", "lisa", "--default"]);
    for arguments in [
        &["load", "lisa", "--max-connections", "100"][..],
        &["load", "lisa", "--max-connections", "20000"],
        &["status"],
        &["group"],
        &["off"],
        &["on"],
        &["default"],
        &["default", "--off"],
        &["default", "lisa"],
        &["default", "--off", "--all"],
        &["unload", "lisa"],
    ] {
        both(arguments);
    }
    turn.unchanged();
}

#[test]
fn root_without_capabilities() {
    let Some(turn) = Turn::take() else { return };
    let bare = |arguments: &[&str]| {
        let mut command = Command::new("setpriv");
        command
            .args(["--bounding-set=-all", "--inh-caps=-all", LISA, "kernel"])
            .args(arguments);
        command
    };
    bad(bare(&["load", "lisa"]), 1, "needs root");
    bad(bare(&["status"]), 1, "needs root");
    turn.unchanged();
    good(lisa(&["load", "lisa"]));
    let loaded = Host::now();
    bad(bare(&["unload", "lisa"]), 1, "needs root");
    assert_eq!(Host::now(), loaded);
    turn_over(turn);
}

fn turn_over(turn: Turn) {
    good(lisa(&["unload", "lisa"]));
    turn.unchanged();
}
