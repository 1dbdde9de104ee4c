//! The mounts of a process: /proc/PID/mountinfo (proc_pid_mountinfo(5)).
//!
//! The kernel writes a space, tab, newline or backslash in a name as a backslash and three octal digits (`seq_escape`,
//! `mangle_path`). All other bytes are those of the name, which need not be UTF-8.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::{fs, io};

/// A mount.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    /// Mounted directory of the file system; of a namespace its type and inode number, as `net:[4026531840]`.
    pub(crate) root: OsString,
    /// Mount point.
    pub(crate) at: PathBuf,
    /// Type of the file system.
    pub(crate) kind: OsString,
    /// The source that mount(2) was given.
    pub(crate) source: OsString,
}

/// The mounts of a process: its number, `self` or `thread-self`.
pub(crate) fn of(process: &str) -> io::Result<Vec<Mount>> {
    let text = fs::read(format!("/proc/{process}/mountinfo"))?;
    Ok(parse(&text))
}

/// The mounts in the text of a mountinfo.
pub(crate) fn parse(text: &[u8]) -> Vec<Mount> {
    text.split(|byte| *byte == b'\n')
        .filter_map(mount)
        .collect()
}

fn mount(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ').skip(3);
    let (root, at, _options) = (fields.next()?, fields.next()?, fields.next()?);
    // Any number of optional fields precedes the separator.
    fields.find(|field| *field == b"-")?;
    let (kind, source) = (fields.next()?, fields.next()?);
    Some(Mount {
        root: unescaped(root),
        at: unescaped(at).into(),
        kind: unescaped(kind),
        source: unescaped(source),
    })
}

fn unescaped(mut field: &[u8]) -> OsString {
    let mut name = Vec::with_capacity(field.len());
    while let [first, rest @ ..] = field {
        let (byte, rest) = match field {
            [
                b'\\',
                a @ b'0'..=b'3',
                b @ b'0'..=b'7',
                c @ b'0'..=b'7',
                rest @ ..,
            ] => (((a - b'0') << 6) | ((b - b'0') << 3) | (c - b'0'), rest),
            _ => (*first, rest),
        };
        name.push(byte);
        field = rest;
    }
    OsString::from_vec(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optional_fields() {
        let mount = |root: &str, at: &str, kind: &str, source: &str| Mount {
            root: root.into(),
            at: at.into(),
            kind: kind.into(),
            source: source.into(),
        };
        let text = b"26 1 0:24 / /run rw,nosuid shared:12 master:1 - tmpfs tmpfs rw,size=10%\n\
            512 26 0:4 net:[4026532281] /run/netns/blue rw - nsfs nsfs rw\n\
            37 31 0:37 / /mnt rw - tmpfs  rw\n";
        let expected = [
            mount("/", "/run", "tmpfs", "tmpfs"),
            mount("net:[4026532281]", "/run/netns/blue", "nsfs", "nsfs"),
            mount("/", "/mnt", "tmpfs", ""),
        ];
        assert_eq!(parse(text), expected);
    }

    #[test]
    fn escapes() {
        for (written, name) in [
            (&br"/h1\040sp\040ace"[..], &b"/h1 sp ace"[..]),
            (br"/\011\012\134\043", b"/\t\n\\#"),
            (br"/\134040", br"/\040"),
            (br"/\377", b"/\xff"),
            (b"/\xff\xfe", b"/\xff\xfe"),
            (br"/\04", br"/\04"),
            (br"/\400\089\x20\", br"/\400\089\x20\"),
        ] {
            assert_eq!(unescaped(written).as_encoded_bytes(), name);
        }
    }

    #[test]
    fn lines_that_end_early() {
        for text in [
            &b""[..],
            b"\n",
            b"26 1 0:24 /",
            b"26 1 0:24 / /run rw shared:1 tmpfs tmpfs rw",
            b"26 1 0:24 / /run rw - tmpfs",
        ] {
            assert_eq!(parse(text), []);
        }
    }
}
