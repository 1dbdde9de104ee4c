//! Text from outside: safe to print.

use std::path::Path;
use std::{fs, io};

/// Text that any user can choose, as it may reach a terminal: control characters, other characters that cannot be seen, and bytes
/// that are not UTF-8 are escaped. A backslash is not, so that names with one can be given as they are printed.
#[must_use]
pub fn printable(text: &[u8]) -> String {
    let mut shown = String::new();
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' | '\'' | '"' => shown.push(c),
                c => shown.extend(c.escape_debug()),
            }
        }
        let invalid = chunk.invalid().iter();
        shown.extend(invalid.map(|byte| format!(r"\x{byte:02x}")));
    }
    shown
}

/// Reads a file of /proc that has a process's name in it. The name need not be UTF-8.
pub(crate) fn read(path: impl AsRef<Path>) -> io::Result<String> {
    fs::read(path).map(|text| String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_control_a_terminal() {
        for (name, printed) in [
            (&b"h1 sp ace"[..], "h1 sp ace"),
            ("a\u{1b}[2J\nb\u{9b}é".as_bytes(), r"a\u{1b}[2J\nb\u{9b}é"),
            // Text behind it would run from right to left.
            ("a\u{202e}b".as_bytes(), r"a\u{202e}b"),
            (b"\xff\xfe.", r"\xff\xfe."),
            (br#"a\b'c"d"#, r#"a\b'c"d"#),
        ] {
            assert_eq!(printable(name), printed);
        }
    }
}
