//! Files with the results of a run: traces as Parquet or CSV, captures as pcap.

pub mod columns;
mod trace;

use std::io;
use std::path::{Path, PathBuf};

use crate::outcome::Outcome;
use crate::run::Run;

pub use trace::{json as credit, write_rows, write_trace};

/// Longest part of a title in a file's name, bytes.
const MAX_TITLE: usize = 60;

/// Writes the packets of a run, if it has them, into `TITLE-seed-SEED.pcap` of this directory. `TITLE` is the scenario's
/// title in small letters, digits and hyphens.
///
/// # Errors
/// With the file's name.
pub fn write_capture(run: &Run, directory: &Path) -> io::Result<()> {
    match &run.capture {
        Some(capture) => capture.write(&path(&run.outcome, directory, "pcap")),
        None => Ok(()),
    }
}

fn path(outcome: &Outcome, directory: &Path, extension: &str) -> PathBuf {
    let title = slug(&outcome.scenario);
    directory.join(format!("{title}-seed-{}.{extension}", outcome.seed))
}

fn slug(title: &str) -> String {
    let mut slug = String::new();
    for c in title.chars().flat_map(char::to_lowercase) {
        if slug.len() >= MAX_TITLE {
            break;
        }
        match c.is_ascii_alphanumeric() {
            true => slug.push(c),
            false if slug.ends_with('-') || slug.is_empty() => {}
            false => slug.push('-'),
        }
    }
    match slug.trim_end_matches('-') {
        "" => "scenario".into(),
        slug => slug.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_names_of_files() {
        assert_eq!(slug("300 KB over 2.5 Mbit/s"), "300-kb-over-2-5-mbit-s");
        assert_eq!(slug("../LISA fig. 6: (a)"), "lisa-fig-6-a");
        assert_eq!(slug("…"), "scenario");
        assert_eq!(slug(&"x".repeat(1000)).len(), 60);
    }
}
