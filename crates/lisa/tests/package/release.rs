//! Installation, upgrade, downgrade, removal and purge on each release, without a running systemd.

use super::packages::{BEFORE, Packages, has_explorer};
use super::roots::Root;
use std::collections::BTreeSet;
use std::fs;

#[test]
fn debian_12() {
    install_to_purge("debian-12");
}

#[test]
#[ignore = "is run by `make test-packages`"]
fn debian_13() {
    install_to_purge("debian-13");
}

#[test]
#[ignore = "is run by `make test-packages`"]
fn ubuntu_24_04() {
    install_to_purge("ubuntu-24.04");
}

/// Files of the package, but for the manual pages of the commands, and what its installation records.
const FILES: [&str; 20] = [
    "/etc/lisa.toml",
    "/usr/bin/lisa",
    "/usr/lib/systemd/system/lisa-assist.service",
    "/usr/lib/systemd/system/lisa-manager.service",
    "/usr/lib/systemd/system/lisa.service",
    "/usr/lib/systemd/system-preset/50-lisa.preset",
    "/usr/share/bash-completion/completions/lisa",
    "/usr/share/doc/lisa",
    "/usr/share/doc/lisa/changelog.gz",
    "/usr/share/doc/lisa/copyright",
    "/usr/share/doc/lisa/examples",
    "/usr/share/doc/lisa/examples/lisa.toml",
    "/usr/share/fish/vendor_completions.d/lisa.fish",
    "/usr/share/man/man1/lisa.1.gz",
    "/usr/share/man/man5/lisa-scenario.5.gz",
    "/usr/share/man/man5/lisa.toml.5.gz",
    "/usr/share/zsh/vendor-completions/_lisa",
    "/var/lib/systemd/deb-systemd-helper-enabled/lisa-assist.service.dsh-also",
    "/var/lib/systemd/deb-systemd-helper-enabled/lisa-manager.service.dsh-also",
    "/var/lib/systemd/deb-systemd-helper-enabled/lisa.service.dsh-also",
];

/// Each step of a package's life, and the files after it.
fn install_to_purge(release: &str) {
    let Some(root) = Root::unpack(release) else {
        return;
    };
    let Some(packages) = Packages::build() else {
        return;
    };
    root.copy(&packages.new, "new.deb");
    root.copy(&packages.before, "before.deb");
    let changed = "# changed by the next version\n";
    root.copy(&packages.with_other_file(changed), "other.deb");
    let shipped = fs::read_to_string(super::packages::repository().join("packaging/lisa.toml"));
    let shipped = shipped.unwrap();
    let before = files(&root);

    // Installation: the listed files, no others, the service neither enabled nor started.
    root.run("dpkg -i /new.deb");
    let installed = files(&root);
    let new: BTreeSet<String> = installed.difference(&before).cloned().collect();
    let (pages, others): (BTreeSet<String>, BTreeSet<String>) = new
        .into_iter()
        .partition(|file| file.starts_with("/usr/share/man/man1/lisa-"));
    let mut expected = BTreeSet::from(FILES.map(String::from));
    if has_explorer() {
        expected.extend(["/usr/share/lisa", "/usr/share/lisa/explorer.html"].map(String::from));
    }
    assert_eq!(others, expected, "{release}");
    assert!(
        pages.contains("/usr/share/man/man1/lisa-kernel-service.1.gz"),
        "{pages:?}"
    );
    assert_eq!(before.difference(&installed).next(), None);
    assert_eq!(enabled(&root), "disabled");
    assert_eq!(root.run("cat /etc/lisa.toml"), shipped);
    root.run("dpkg --verify lisa");
    // The program runs with the libraries of this release, and reads the file.
    let checked = root.run("lisa --version && lisa kernel service --check");
    assert!(checked.contains("/etc/lisa.toml: no errors"), "{checked}");

    // Enabled by the administrator, who also changes the file: both stay over an upgrade, a downgrade and a removal.
    root.run("dpkg -i /before.deb");
    assert_eq!(version(&root), BEFORE);
    root.run("systemctl enable lisa.service 2>/dev/null");
    let own = "# mine\ndefault = \"lisa\"\n";
    fs::write(root.path().join("etc/lisa.toml"), own).unwrap();
    for (package, conffile) in [
        ("new.deb", own),
        ("before.deb", own),
        ("new.deb", own),
        ("other.deb", own),
    ] {
        root.run(&format!("dpkg --force-confold -i /{package}"));
        assert_eq!(root.run("cat /etc/lisa.toml"), conffile, "{package}");
        assert_eq!(enabled(&root), "enabled", "{package}");
        assert_eq!(version(&root) == BEFORE, package == "before.deb");
    }
    // The shipped file and the administrator's had both changed: the new one stands beside it.
    assert_eq!(root.run("cat /etc/lisa.toml.dpkg-dist"), changed);

    root.run("dpkg -r lisa");
    let left: BTreeSet<String> = files(&root).difference(&before).cloned().collect();
    let kept = [
        "/etc/lisa.toml",
        "/etc/lisa.toml.dpkg-dist",
        "/etc/systemd/system/sysinit.target.wants/lisa.service",
        "/var/lib/systemd/deb-systemd-helper-enabled/lisa-assist.service.dsh-also",
        "/var/lib/systemd/deb-systemd-helper-enabled/lisa-manager.service.dsh-also",
        "/var/lib/systemd/deb-systemd-helper-enabled/lisa.service.dsh-also",
        "/var/lib/systemd/deb-systemd-helper-enabled/sysinit.target.wants/lisa.service",
    ];
    assert_eq!(left, kept.map(String::from).into(), "{release}: removed");

    // Installed again, it is as it was. Purged, nothing is left.
    root.run("dpkg --force-confold -i /new.deb");
    assert_eq!(root.run("cat /etc/lisa.toml"), own);
    assert_eq!(enabled(&root), "enabled");
    root.run("dpkg -P lisa");
    assert_eq!(files(&root), before, "{release}: purged");

    // An unchanged file follows the package.
    root.run("dpkg -i /new.deb && dpkg -i /other.deb");
    assert_eq!(root.run("cat /etc/lisa.toml"), changed);
    // Removed by the administrator, it is not brought back.
    root.run("rm /etc/lisa.toml && dpkg -i /other.deb");
    assert!(!root.path().join("etc/lisa.toml").exists());
    root.run("dpkg -P lisa");
    assert_eq!(files(&root), before, "{release}: purged again");
}

fn enabled(root: &Root) -> String {
    let output = root.output("systemctl is-enabled lisa.service");
    String::from_utf8_lossy(&output.stdout).trim().into()
}

fn version(root: &Root) -> String {
    root.run("dpkg-query -W -f '${Version}' lisa")
}

/// All files and folders, but for dpkg's own records and what other packages' triggers rebuild.
fn files(root: &Root) -> BTreeSet<String> {
    let ignored = [
        "/var/lib/dpkg",
        "/var/log",
        "/var/cache/ldconfig",
        "/etc/ld.so.cache",
        "/before.deb",
        "/new.deb",
        "/other.deb",
    ];
    let found = root.run("find / -xdev ! -type d -o -type d -path '*lisa*'");
    found
        .lines()
        .filter(|file| !ignored.iter().any(|prefix| file.starts_with(prefix)))
        .map(String::from)
        .collect()
}
