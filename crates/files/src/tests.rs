//! Files that are none, links, and half written files.

use std::os::unix::fs::symlink;
use std::process::Command;

use super::*;

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("lisa-files-{}-{name}", std::process::id()));
        fs::create_dir(&folder).expect("a new folder");
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn only_regular_files_are_read() {
    let folder = Folder::new("kinds");
    let fifo = folder.0.join("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let link = folder.0.join("link");
    symlink(&fifo, &link).unwrap();
    for path in [&fifo, &link, &folder.0, Path::new("/dev/zero")] {
        let error = read(path, 100).unwrap_err().to_string();
        assert_eq!(error, "not a regular file", "{}", path.display());
    }
}

#[test]
fn a_file_has_a_bound() {
    let folder = Folder::new("bound");
    let file = folder.0.join("file");
    fs::write(&file, "12345").unwrap();
    assert_eq!(read_text(&file, 5).unwrap(), "12345");
    let error = read_text(&file, 4).unwrap_err().to_string();
    assert_eq!(error, "longer than 4 bytes");
}

#[test]
fn links_are_replaced() {
    let folder = Folder::new("links");
    let [target, link, temporary] = ["target", "link", "link.tmp"].map(|name| folder.0.join(name));
    fs::write(&target, "kept").unwrap();
    symlink(&target, &link).unwrap();
    symlink(&target, &temporary).unwrap();
    write(&link, "new").unwrap();
    assert_eq!(fs::read_to_string(&target).unwrap(), "kept");
    assert_eq!(fs::read_to_string(&link).unwrap(), "new");
    assert!(!link.is_symlink() && !temporary.exists());
}

#[test]
fn a_link_is_not_opened_for_writing() {
    let folder = Folder::new("open");
    let [file, link] = ["file", "link"].map(|name| folder.0.join(name));
    open_or_create(&file).unwrap().write_all(b"kept").unwrap();
    assert_eq!(read_text(&file, 4).unwrap(), "kept");
    symlink(&file, &link).unwrap();
    let error = open_or_create(&link).unwrap_err().to_string();
    assert_eq!(error, "a link; remove the link");
}

#[test]
fn half_a_file_has_no_name() {
    let folder = Folder::new("half");
    let path = folder.0.join("file");
    let mut file = NewFile::create(&path).unwrap();
    file.write_all(b"half").unwrap();
    drop(file);
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 0);
}

/// Half of the second file never gets the name.
#[test]
fn two_writers_do_not_mix() {
    let folder = Folder::new("two");
    let path = folder.0.join("file");
    let mut first = NewFile::create(&path).unwrap();
    first.write_all(b"first").unwrap();
    let mut second = NewFile::create(&path).unwrap();
    second.write_all(b"sec").unwrap();
    let error = first.finish().unwrap_err().to_string();
    assert_eq!(error, "another process writes this file, too");
    assert!(!path.exists());
    second.write_all(b"ond").unwrap();
    second.finish().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "second");
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
}
