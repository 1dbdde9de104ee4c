//! The blocks of docs/server-guide.md.
//!
//! | fence | meaning |
//! | --- | --- |
//! | `sh` | Commands on the server. If a block `text` follows, the commands only read. |
//! | `sh client` | Commands on the client, which run beside the following blocks of the section. |
//! | `text` | Lines of the output of the commands before it, in this order; `…` is any text. |
//! | `yaml` | Part of a configuration of Prometheus. |

use super::packages::repository;
use std::fs;

/// A block of the page.
#[derive(Debug)]
pub struct Block {
    /// The heading above it.
    pub section: String,
    /// What follows the fence.
    pub kind: String,
    /// Its lines.
    pub text: String,
}

/// The blocks in their order.
pub fn blocks() -> Vec<Block> {
    let page = repository().join("docs/server-guide.md");
    let page = fs::read_to_string(page).expect("the page");
    let mut blocks: Vec<Block> = Vec::new();
    let (mut section, mut open) = (String::new(), false);
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some("") if open => open = false,
            Some(kind) => {
                assert!(!open, "{line}: the block before it is not closed");
                open = true;
                blocks.push(Block {
                    section: section.clone(),
                    kind: kind.into(),
                    text: String::new(),
                });
            }
            None if open => {
                let block = blocks.last_mut().expect("an open block");
                block.text += line;
                block.text.push('\n');
            }
            None => {
                if let Some(heading) = line.strip_prefix("## ") {
                    section = heading.into();
                }
            }
        }
    }
    assert!(!open, "the last block is not closed");
    blocks
}

/// The first expected line that `output` lacks, or has in another place.
pub fn missing<'e>(expected: &'e str, output: &str) -> Option<&'e str> {
    let mut lines = output.lines();
    expected
        .lines()
        .find(|pattern| !lines.any(|line| matches(pattern, line.trim_end())))
}

/// Whether a line matches a pattern with `…` for any text.
fn matches(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    let mut last = first;
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
        last = part;
    }
    // Text after the last part is permitted only behind a `…`.
    match pattern.contains('…') {
        true => last.is_empty() || rest.is_empty() || line.ends_with(last),
        false => rest.is_empty(),
    }
}

#[test]
fn patterns() {
    assert!(matches("lisa", "lisa"));
    assert!(!matches("lisa", "lisa_olia"));
    assert!(matches("…a:80 → …", "  0  a:80 → b:5"));
    assert!(!matches("…a:80 → …", "  0  a:8080 → b:5"));
    assert!(matches("…, 1 b", "a, 1 b, 1 b"));
    assert!(!matches("…, 1 b", "a, 1 b, 1 c"));
    assert_eq!(missing("a\nc\n", "a\nb\nc\n"), None);
    assert_eq!(missing("c\na\n", "a\nb\nc\n"), Some("a"));
}

/// Each block is one that the test of the page runs or compares, and the shell reads its commands.
#[test]
fn the_page_can_run() {
    let blocks = blocks();
    let mut before = "";
    for Block {
        section,
        kind,
        text,
    } in &blocks
    {
        let kind = kind.as_str();
        match kind {
            "sh" | "sh client" => {
                let mut shell = std::process::Command::new("bash");
                super::packages::run(shell.args(["-n", "-c", text]));
                lisa_knows(text);
            }
            "text" => assert_eq!(before, "sh", "{section}: output of which commands?\n{text}"),
            "yaml" => {}
            _ => panic!("{section}: nothing compares a block `{kind}`"),
        }
        before = kind;
    }
    let commands = blocks.iter().filter(|block| block.kind.starts_with("sh"));
    assert!(commands.count() > 20);
}

/// Checks that the commands and options of `lisa` in a block exist.
fn lisa_knows(text: &str) {
    let commands = text.lines().filter(|line| line.starts_with("lisa "));
    for line in commands {
        let words: Vec<_> = line.split_whitespace().skip(1).collect();
        let options = words.iter().position(|word| word.starts_with('-'));
        let (command, options) = words.split_at(options.unwrap_or(words.len()));
        let mut help = std::process::Command::new(super::support::LISA);
        let help = super::packages::run(help.args(command).arg("--help"));
        for option in options.iter().filter(|word| word.starts_with("--")) {
            assert!(help.contains(option), "{line}: no option {option}: {help}");
        }
    }
}
