//! The pages of files, from the pages of docs/ that describe them.

use clap_mangen::roff::{Roff, roman};

use super::{markdown, sections};

/// A page of section 5.
struct File {
    name: &'static str,
    about: &'static str,
    /// A page of docs/.
    text: &'static str,
    /// The headings whose sections belong to the file; the text before the first heading does not need one.
    headings: &'static [&'static str],
    example: &'static str,
    see_also: &'static [&'static str],
}

const FILES: [File; 2] = [
    File {
        name: "lisa-scenario",
        about: "a network and the connections on it, for lisa run, compare, sweep, show and paths",
        text: include_str!("../../../../../docs/scenario.md"),
        headings: &[
            "",
            "[topology]",
            "[[connection]]",
            "--set",
            "Files",
            "Metrics",
            "Warnings",
        ],
        example: include_str!("../../../presets/shared-bottleneck.toml"),
        see_also: &[
            "lisa-new(1)",
            "lisa-show(1)",
            "lisa-paths(1)",
            "lisa-run(1)",
            "lisa-compare(1)",
            "lisa-sweep(1)",
        ],
    },
    File {
        name: "lisa.toml",
        about: "the state in which the service of lisa keeps the kernel",
        text: include_str!("../../../../../docs/server.md"),
        headings: &["The file", "Bounds"],
        example: include_str!("../../../../../packaging/lisa.toml"),
        see_also: &[
            "lisa-kernel-service(1)",
            "lisa-kernel-load(1)",
            "systemctl(1)",
        ],
    },
];

/// The names of the files, and their text.
pub fn pages() -> Vec<(String, String)> {
    let page = |file: &File| (format!("{}.5", file.name), text(file));
    FILES.iter().map(page).collect()
}

fn text(file: &File) -> String {
    let mut roff = Roff::new();
    let title = file.name.to_uppercase();
    let source = concat!("lisa ", env!("CARGO_PKG_VERSION"));
    roff.control("TH", [&title[..], "5", "", source, "lisa"]);
    roff.control("SH", ["NAME"]);
    roff.text([roman(format!("{} - {}", file.name, file.about))]);
    roff.control("SH", ["DESCRIPTION"]);
    markdown::write(&mut roff, file.text, |heading| {
        file.headings.contains(&heading)
    });
    sections::examples(&mut roff, file.example);
    let pages: Vec<String> = file.see_also.iter().map(ToString::to_string).collect();
    sections::references(&mut roff, &pages);
    roff.to_roff()
}
