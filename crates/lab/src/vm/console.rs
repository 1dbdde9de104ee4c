//! The guest's console: the cause of its end.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// Number of last lines that an error shows.
const LAST_LINES: usize = 4;
/// First words of a fatal error of a program or the kernel.
const CAUSES: [&str; 4] = ["panicked at", "BUG: ", "Oops", "Kernel panic"];

/// Content of a file.
fn read(file: &File) -> String {
    let mut text = vec![0; file.metadata().map_or(0, |data| data.len() as usize)];
    let _ = file.read_exact_at(&mut text, 0);
    String::from_utf8_lossy(&text).into_owned()
}

/// Cause of a guest's end, in one line: the last lines of its console and of QEMU's errors.
pub(crate) fn last_lines(console: &File, errors: Option<&File>) -> String {
    summary(&read(console), &errors.map(read).unwrap_or_default())
}

fn summary(console: &str, errors: &str) -> String {
    let lines = console.lines().chain(errors.lines()).map(str::trim);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let (before, last) = lines.split_at(lines.len().saturating_sub(LAST_LINES));
    // The message of a panic ends with registers. Its first two lines have the cause.
    let is_cause = |line: &&str| CAUSES.iter().any(|cause| line.contains(cause));
    let cause = before.iter().copied().skip_while(|line| !is_cause(line));
    let shown: Vec<&str> = cause.take(2).chain(last.iter().copied()).collect();
    match shown[..] {
        [] => "it said nothing".into(),
        _ => shown.join(" | "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_one_line() {
        assert_eq!(summary("", " \n"), "it said nothing");
        let console = "[ 1.0] one\r\n\r\n[ 1.1] two\r\n[ 1.2] three\r\n[ 1.3] four\r\n";
        assert_eq!(
            summary(console, "qemu: five\n"),
            "[ 1.1] two | [ 1.2] three | [ 1.3] four | qemu: five"
        );
        let console = "[ 1.0] BUG: unable to handle page fault\n1\n2\n3\n4\n5\n";
        assert_eq!(
            summary(console, ""),
            "[ 1.0] BUG: unable to handle page fault | 1 | 2 | 3 | 4 | 5"
        );
    }
}
