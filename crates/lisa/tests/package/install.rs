//! `make install`: which files it installs, and where.

use super::packages::{has_explorer, repository, run};
use super::support::{Folder, LISA};
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

#[test]
fn make_install() {
    let folder = Folder::new();
    let mut install = Command::new("make");
    run(install
        .args(["--silent", "install", "PREFIX=/opt/lisa"])
        .arg(format!("DESTDIR={}", folder.display()))
        .env("LISA_PROGRAM", LISA)
        .env_remove("MAKEFLAGS")
        .current_dir(repository()));
    let found = run(Command::new("find")
        .args([".", "-type", "f"])
        .current_dir(&*folder));
    let found: BTreeSet<&str> = found
        .lines()
        .filter(|file| !file.contains("/man1/lisa-"))
        .collect();
    let mut expected = BTreeSet::from([
        "./opt/lisa/bin/lisa",
        "./opt/lisa/lib/systemd/system-preset/50-lisa.preset",
        "./opt/lisa/lib/systemd/system/lisa-assist.service",
        "./opt/lisa/lib/systemd/system/lisa-manager.service",
        "./opt/lisa/lib/systemd/system/lisa.service",
        "./opt/lisa/share/bash-completion/completions/lisa",
        "./opt/lisa/share/doc/lisa/examples/lisa.toml",
        "./opt/lisa/share/fish/vendor_completions.d/lisa.fish",
        "./opt/lisa/share/man/man1/lisa.1",
        "./opt/lisa/share/man/man5/lisa-scenario.5",
        "./opt/lisa/share/man/man5/lisa.toml.5",
        "./opt/lisa/share/zsh/site-functions/_lisa",
    ]);
    if has_explorer() {
        expected.insert("./opt/lisa/share/lisa/explorer.html");
    }
    assert_eq!(found, expected);
    // The unit runs the program that was installed.
    let unit = folder.join("opt/lisa/lib/systemd/system/lisa.service");
    let unit = fs::read_to_string(unit).unwrap();
    let starts: Vec<_> = unit
        .lines()
        .filter(|line| line.contains("/lisa kernel service"))
        .collect();
    assert_eq!(
        starts,
        [
            "ExecStart=/opt/lisa/bin/lisa kernel service",
            "ExecReload=/opt/lisa/bin/lisa kernel service --check",
        ]
    );
}
