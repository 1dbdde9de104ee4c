use std::process::{Command as Process, Stdio};

use clap::CommandFactory;

use super::*;
use crate::cli::Cli;

fn all_pages() -> Vec<(String, String)> {
    pages(Cli::command())
}

fn page_of(name: &str) -> String {
    let found = all_pages().into_iter().find(|(page, _)| page == name);
    found.expect("a page").1
}

#[test]
fn each_page_of_a_command_has_all_sections() {
    for (name, text) in all_pages() {
        for section in ["NAME", "DESCRIPTION", "EXAMPLES", "SEE ALSO"] {
            let heading = [format!(".SH {section}\n"), format!(".SH \"{section}\"\n")];
            assert!(
                heading.iter().any(|heading| text.contains(heading)),
                "{name}: {section}"
            );
        }
        let (_, examples) = text.split_once(".SH EXAMPLES\n.nf\n").expect("examples");
        assert!(!examples.starts_with(".fi"), "{name} has no examples");
        if name.ends_with(".1") {
            assert!(text.contains(".SH \"EXIT STATUS\"\n"), "{name}");
        }
        let is_without_files = ["lisa-algorithms.1", "lisa-man.1"].contains(&&name[..]);
        assert!(
            name.ends_with(".5") || is_without_files || text.contains(".SH FILES\n"),
            "{name}"
        );
    }
}

/// Every page that a page names exists, or is another program's.
#[test]
fn references_lead_to_pages() {
    let pages = all_pages();
    for (name, text) in &pages {
        let (_, references) = text.split_once(".SH \"SEE ALSO\"\n").expect("SEE ALSO");
        let plain = references
            .replace("\\-", "-")
            .replace("\\fB", "")
            .replace("\\fR", "");
        for reference in plain.split(',').map(str::trim) {
            let (page, section) = reference
                .split_once('(')
                .unwrap_or_else(|| panic!("{name}: {references}"));
            let file = format!("{page}.{}", section.trim_end().trim_end_matches(')'));
            let is_ours = page.starts_with("lisa");
            assert!(
                !is_ours || pages.iter().any(|(name, _)| *name == file),
                "{name}: {file}"
            );
        }
    }
}

/// groff, which formats the pages for man(1), has no warning about any of them.
#[test]
fn the_pages_are_well_formed() {
    for (name, text) in all_pages() {
        let mut groff = Process::new("groff")
            .args(["-ww", "-k", "-man", "-Tutf8", "-P-cbou", "-rLL=80n"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("groff: scripts/setup.sh installs it");
        let mut input = groff.stdin.take().expect("a pipe");
        let writer = std::thread::spawn(move || {
            std::io::Write::write_all(&mut input, text.as_bytes()).expect("groff reads");
        });
        let output = groff.wait_with_output().expect("groff");
        writer.join().expect("the text is written");
        let warnings = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && warnings.is_empty(),
            "{name}: {warnings}"
        );
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(shown.contains("SEE ALSO"), "{name}: {shown}");
    }
}

#[test]
fn tables_become_lists() {
    let mut roff = Roff::new();
    let text = "# Page\nintro\n\n## `[a]`\n| key | meaning | default |\n| --- | --- | --- |\n| `k` | the *key* | 3 |\n| | more | |\n\n## b\nnot wanted\n";
    markdown::write(&mut roff, text, |heading| ["", "[a]"].contains(&heading));
    let text = roff.render();
    for line in [
        "intro",
        ".SH [A]",
        ".TP\n\\fBk\\fR\nthe \\fIkey\\fR; default: 3",
        ".IP\nmore",
    ] {
        assert!(text.contains(line), "{text}");
    }
    assert!(!text.contains("not wanted"));
}

/// The keys of a scenario are those of docs/scenario.md (crates/scenario/tests/wrong_values.rs compares it with the parser).
#[test]
fn the_page_of_a_scenario_has_its_keys() {
    let text = page_of("lisa-scenario.5");
    for words in [
        "SS \"Sizes and loads\"",
        "\\fBreceive_window\\fR",
        "\\fBrtt_spread\\fR",
        "SH [[CONNECTION]]",
    ] {
        assert!(text.contains(words), "{words}");
    }
    let text = page_of("lisa.toml.5");
    assert!(text.contains("\\fBusers.unlimited\\fR"), "{text}");
}

#[test]
fn a_synopsis_has_the_values_of_options() {
    let plain = |name: &str| {
        let page = page_of(name);
        let (_, synopsis) = page.split_once(".SH SYNOPSIS\n").expect("a synopsis");
        let (synopsis, _) = synopsis.split_once(".SH").expect("more sections");
        let plain = synopsis.replace("\\-", "-");
        let plain = ["\\fB", "\\fI", "\\fR"]
            .iter()
            .fold(plain, |text, font| text.replace(font, ""));
        plain
            .lines()
            .filter(|line| !line.starts_with('.'))
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(
        plain("lisa-serve.1").trim(),
        "lisa serve [--listen ADDRESS:PORT] [--folder FOLDER] [--tls-certificate FILE] [--tls-key FILE] [--plain] \
         [--address-connections N] [--endpoint-subflows N] [--json] [--openapi]"
    );
    let paths = plain("lisa-kernel-assist.1");
    assert!(
        paths.contains("lisa kernel assist --from URL [--token FILE]"),
        "{paths}"
    );
    assert!(plain("lisa.1").ends_with("COMMAND"), "{}", plain("lisa.1"));
}

#[test]
fn rows_of_tables_are_sentences() {
    for (name, text) in all_pages() {
        assert!(!text.contains(".; "), "{name}");
    }
    let page = page_of("lisa.toml.5");
    assert!(
        page.contains("inherit it. Without it: The default stays."),
        "{page}"
    );
}
