//! `lisa kernel service --check` and `lisa kernel load --dry-run`.

use super::*;
use crate::support::turn::{Host, Turn, good, lisa};
use crate::support::world::host;
use kernel::registry::find_one;
use std::os::unix::fs::PermissionsExt;

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

/// Who can write the file can change the congestion control of the host.
#[test]
fn a_file_that_others_can_write() {
    let Some(turn) = Turn::take() else { return };
    let here = host();
    let file = File::new("default = \"lisa\"\n");
    for mode in [0o664, 0o646] {
        fs::set_permissions(&file.path, fs::Permissions::from_mode(mode)).expect("permissions");
        for arguments in [&["--check"][..], &[]] {
            let line = refused(file.command(&here, arguments));
            assert!(line.contains("other users may write it"), "{line}");
        }
    }
    fs::set_permissions(&file.path, fs::Permissions::from_mode(0o644)).expect("permissions");
    std::os::unix::fs::chown(&file.path, Some(65534), None).expect("another owner");
    let line = refused(file.command(&here, &["--check"]));
    assert!(line.contains("belongs to user id 65534"), "{line}");
    turn.unchanged();
}

#[test]
fn an_ordinary_user_and_the_running_service() {
    let Some(turn) = Turn::take() else { return };
    let here = host();
    let file = File::new("default = \"lisa\"\n");
    let (service, _) = Service::start(&here, &file);
    let record = "/run/lisa/service";
    let id = service.running.id();
    for attempt in [
        format!("cat {record}"),
        format!("flock --nonblock {record} true"),
        format!("rm -f {record} && test ! -e {record}"),
        "touch /run/lisa/other".into(),
        "mv /run/lisa /run/lisa.other".into(),
        format!("kill -HUP {id}"),
        format!("kill -KILL {id}"),
        format!("ls /proc/{id}/fd"),
    ] {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        let output = command.args(["sh", "-c", &attempt]).output();
        let output = output.expect("setpriv");
        assert!(!output.status.success(), "{attempt}: {output:?}");
    }
    assert_eq!(default_of(&here), "lisa");
    service.stop(Signal::SIGTERM);
    turn.unchanged();
}
