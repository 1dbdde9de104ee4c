//! The files of a manager: rights, kinds, and damage.

mod support;

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::process::Command;

use lisa_manager::server::{Config, Server, TlsFiles};
use support::{Folder, World, chmod, config, start, write_private};

const OPERATOR: &str = "lisa_operator_0123456789";

/// The error of a server that must not start.
fn refused(config: Config) -> String {
    let error = Server::start(config).err().expect("it must not start").text;
    assert!(!error.contains('\n'), "{error}");
    error
}

fn mode(file: &Path) -> u32 {
    fs::metadata(file).unwrap().mode() & 0o777
}

#[test]
fn a_new_database_is_private() {
    let folder = Folder::new();
    chmod(&folder, 0o755);
    drop(start(&folder));
    for file in ["manager.redb", "operator.token", "viewer.token"] {
        assert_eq!(mode(&folder.join(file)), 0o600, "{file}");
    }
    // One that was copied with other rights.
    chmod(&folder.join("manager.redb"), 0o644);
    drop(start(&folder));
    assert_eq!(mode(&folder.join("manager.redb")), 0o600);
}

#[test]
fn rights_of_others() {
    let folder = Folder::new();
    for open in [0o777, 0o1777, 0o775] {
        chmod(&folder, open);
        let error = refused(config(&folder));
        assert!(error.contains("`chmod go-w`"), "{error}");
    }
    chmod(&folder, 0o755);
    let token = folder.join("operator.token");
    write_private(&token, OPERATOR);
    for open in [0o644, 0o660, 0o602] {
        chmod(&token, open);
        let error = refused(config(&folder));
        assert!(error.contains("operator.token: other users"), "{error}");
    }
    chmod(&token, 0o640); // a group that the owner has chosen
    drop(start(&folder));
    write_private(&folder.join("viewer.token"), OPERATOR);
    let error = refused(config(&folder));
    assert!(error.contains("the operator has the same token"), "{error}");
    write_private(&token, "short\n");
    let error = refused(config(&folder));
    assert!(error.contains("at least 16 characters"), "{error}");
}

/// A FIFO is not waited for, and a device is not read.
#[test]
fn what_is_no_file() {
    let folder = Folder::new();
    let fifo = folder.join("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    chmod(&fifo, 0o600);
    let regular = "not a regular file";
    for name in ["operator.token", "viewer.token"] {
        let token = folder.join(name);
        for (target, words) in [
            (fifo.as_path(), regular),
            (Path::new("/dev/zero"), regular),
            (&folder, regular),
        ] {
            symlink(target, &token).unwrap();
            let error = refused(config(&folder));
            assert!(error.contains(name) && error.contains(words), "{error}");
            fs::remove_file(&token).unwrap();
        }
        write_private(&token, &"x".repeat(5000));
        let error = refused(config(&folder));
        assert!(error.contains("longer than 4096 bytes"), "{error}");
        fs::remove_file(&token).unwrap();
    }
    let tls = TlsFiles {
        certificate: fifo.clone(),
        key: "/dev/zero".into(),
    };
    let error = refused(Config {
        tls: Some(tls),
        ..config(&folder)
    });
    assert!(error.contains("fifo: not a regular file"), "{error}");
    fs::rename(&fifo, folder.join("manager.redb")).unwrap();
    let error = refused(config(&folder));
    assert!(
        error.contains("manager.redb: not a regular file"),
        "{error}"
    );
}

#[test]
fn a_damaged_database() {
    let folder = Folder::new();
    let server = start(&folder);
    let world = World::at(server.address(), &folder);
    world.endpoint("one", &["10.0.0.0/15"]);
    drop(server);
    let file = folder.join("manager.redb");
    let whole = fs::read(&file).unwrap();
    let damaged = |bytes: &[u8], what: &str| {
        fs::write(&file, bytes).unwrap();
        let error = refused(config(&folder));
        assert!(
            error.contains("manager.redb: damaged") && error.contains("restore a copy"),
            "{what}: {error}"
        );
    };
    damaged(b"", "empty");
    damaged(b"no database at all", "another file");
    for length in [1, 100, 320, 4096, 5000, whole.len() / 2, whole.len() - 1] {
        damaged(&whole[..length], &format!("{length} bytes"));
    }
    // A changed byte, in the database and in the copies that it has freed.
    for part in ["n0 \u{2013} n2", "10.4.0.0/16", "\"addresses\""] {
        let is_part = |at: &usize| whole[*at..].starts_with(part.as_bytes());
        let places: Vec<usize> = (0..whole.len()).filter(is_part).collect();
        assert!(!places.is_empty(), "{part}");
        let mut altered = whole.clone();
        for at in places {
            altered[at] ^= 1;
        }
        damaged(&altered, part);
    }
    fs::write(&file, whole).unwrap();
    drop(start(&folder));
}
