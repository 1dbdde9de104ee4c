//! Text from outside: safe to print.

/// Text that any user can choose, without control characters, because it may reach a terminal.
pub(crate) fn printable(text: &[u8]) -> String {
    let replace = |c: char| if c.is_control() { '?' } else { c };
    String::from_utf8_lossy(text).chars().map(replace).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_control_a_terminal() {
        assert_eq!(printable("a\u{1b}[2J\nb\u{9b}é".as_bytes()), "a?[2J?b?é");
        assert_eq!(printable(b"\xff"), "\u{fffd}");
    }
}
