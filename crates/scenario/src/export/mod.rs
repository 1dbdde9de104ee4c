//! Files with the results of runs: tables and traces as Parquet or CSV, captures as pcap, and the journal of a sweep.

pub mod columns;
pub mod journal;
pub mod read;
pub mod rows;
mod samples;
mod trace;

use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::run::Run;

pub use samples::{SAMPLES, write_samples};
pub use trace::{
    COLUMNS as TRACE_COLUMNS, LOSS_COLUMNS, json as credit, loss_values,
    properties as trace_properties, values as trace_values, write_rows, write_trace,
};

/// Longest part of a title in a file's name, bytes.
const MAX_TITLE: usize = 60;

/// Start of the names of a run's files: the scenario's title and the changed settings in small letters, digits and hyphens.
/// Long settings are cut and followed by a digest, so that different settings have different names.
#[must_use]
pub fn stem(title: &str, settings: &str) -> String {
    let title = slug(title);
    if settings.is_empty() {
        return title;
    }
    let digest = Sha256::digest(settings.as_bytes());
    let settings = slug(settings);
    match settings.len() < MAX_TITLE {
        true => format!("{title}-{settings}"),
        false => format!(
            "{title}-{settings}-{:02x}{:02x}{:02x}",
            digest[0], digest[1], digest[2]
        ),
    }
}

/// Name of a run's file: `STEM-seed-SEED.EXTENSION`.
#[must_use]
pub fn file_name(stem: &str, seed: u64, extension: &str) -> String {
    format!("{stem}-seed-{seed}.{extension}")
}

/// Writes the packets of a run, if it has them, into `STEM-seed-SEED.pcap` of this directory ([`stem`]).
///
/// # Errors
/// With the file's name.
pub fn write_capture(run: &Run, directory: &Path, stem: &str) -> io::Result<()> {
    match &run.capture {
        Some(capture) => capture.write(&directory.join(file_name(stem, run.outcome.seed, "pcap"))),
        None => Ok(()),
    }
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
        let queue = stem("A b", "bottleneck.queue=9 stop=2s");
        assert_eq!(queue, "a-b-bottleneck-queue-9-stop-2s");
        let long = |end: &str| stem("A", &("x".repeat(100) + end));
        assert_ne!(long("1"), long("2"));
        assert_eq!(file_name("a-b", 4, "pcap"), "a-b-seed-4.pcap");
    }
}
