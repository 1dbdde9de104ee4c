//! The tables and figures of the documentation: a script fills each of them, and no page has measured numbers of another source.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Pages whose tables other programs write, and which name the command.
const GENERATED: [&str; 3] = [
    "docs/agreement.md",            // make agreement
    "docs/kernels.md",              // make test-kernels UPDATE_KERNELS=1
    "docs/algorithms/exactness.md", // UPDATE_EXACTNESS=1 cargo test -p mpcc-harness --test exact table
];

/// Start of the marker of a table that no script of `experiments/` writes; its command follows.
const MEASURED: &str = "measured: ";
const END: &str = "<!-- end -->";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Files below a folder of the repository with this extension, relative to it.
fn files(folder: &str, extension: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(repository().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{folder}/{}", entry.file_name().into_string().unwrap());
        if entry.file_type().unwrap().is_dir() {
            found.extend(files(&name, extension));
        } else if Path::new(&name).extension().is_some_and(|e| e == extension) {
            found.push(name);
        }
    }
    found.sort();
    found
}

/// Every page of the documentation.
fn pages() -> Vec<String> {
    let mut pages = vec!["README.md".to_string(), "CONTRIBUTING.md".into()];
    for folder in ["docs", "experiments", "bench"] {
        pages.extend(files(folder, "md"));
    }
    pages
}

/// The scripts of `experiments/`.
fn scripts() -> Vec<String> {
    let mut scripts = files("experiments", "py");
    scripts.retain(|name| name.ends_with("/tables.py"));
    assert!(scripts.len() >= 6, "{scripts:?}");
    scripts
}

/// A part of a page between markers.
struct Block {
    page: String,
    /// The name in its marker: a script and the block's own name, or a command.
    name: String,
    text: String,
}

/// The content of the marker at the start of a line.
fn marker(line: &str) -> Option<&str> {
    line.strip_prefix("<!-- ")?.strip_suffix(" -->")
}

/// The blocks of a page, and the lines outside of them.
fn blocks<'a>(page: &str, text: &'a str) -> (Vec<Block>, Vec<&'a str>) {
    let (mut blocks, mut outside) = (Vec::<Block>::new(), Vec::new());
    let mut open = false;
    for line in text.lines() {
        match marker(line) {
            _ if line == END => {
                assert!(open, "{page}: {END} without a begin");
                open = false;
            }
            Some(name) => {
                assert!(
                    !open,
                    "{page}: `{line}` before the {END} of the block above"
                );
                open = true;
                let (page, name) = (page.into(), name.into());
                let text = String::new();
                blocks.push(Block { page, name, text });
            }
            None if open => {
                let text = &mut blocks.last_mut().unwrap().text;
                text.push_str(line);
                text.push('\n');
            }
            None => outside.push(line),
        }
    }
    assert!(!open, "{page}: no {END} after the last block");
    (blocks, outside)
}

fn read(root: &Path, page: &str) -> String {
    fs::read_to_string(root.join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// The blocks of all pages with a table that a script fills.
fn filled(root: &Path) -> Vec<Block> {
    let mut all = Vec::new();
    for page in pages()
        .iter()
        .filter(|page| !GENERATED.contains(&page.as_str()))
    {
        let text = read(root, page);
        all.extend(blocks(page, &text).0);
    }
    all.retain(|block| !block.name.starts_with(MEASURED));
    all
}

/// Whether a row of a table has a measured number: an interval, or a decimal fraction that is no version.
fn is_measured(row: &str) -> bool {
    let decimal = |cell: &str| {
        let mut parts = cell.trim_matches(['*', ' ', '−', '+', '%']).split('.');
        let is_number = |part: Option<&str>| {
            part.is_some_and(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()))
        };
        is_number(parts.next()) && is_number(parts.next()) && parts.next().is_none()
    };
    row.starts_with('|') && (row.contains('±') || row.split('|').any(decimal))
}

/// A table with measured numbers stands between markers, so that its source is named.
#[test]
fn measured_tables_stand_between_markers() {
    for page in pages()
        .iter()
        .filter(|page| !GENERATED.contains(&page.as_str()))
    {
        let text = read(&repository(), page);
        let (_, outside) = blocks(page, &text);
        let wrong: Vec<_> = outside.iter().filter(|line| is_measured(line)).collect();
        assert!(
            wrong.is_empty(),
            "{page}: a table with measured numbers and without a marker (`<!-- SCRIPT: BLOCK -->` or \
             `<!-- {MEASURED}COMMAND -->` before it, `{END}` after it): {wrong:#?}"
        );
    }
    assert!(is_measured("| lia | 4.9 ± 0.1 |") && is_measured("| a | **−0.5** |"));
    assert!(!is_measured("| `lisa` | Linux 6.12 | 17 |") && !is_measured("4.9 of 10"));
}

/// Every marker names a script that exists, and no block stands twice.
#[test]
fn markers_name_a_script() {
    let scripts = scripts();
    let mut seen = BTreeSet::new();
    for block in filled(&repository()) {
        let Block { page, name, text } = block;
        let (script, _) = name.split_once(": ").unwrap_or((&name, ""));
        assert!(
            scripts.iter().any(|s| s == script),
            "{page}: no script `{script}`"
        );
        assert!(
            text.contains("\n| --- |"),
            "{page}: `{name}` is empty: run {script}"
        );
        assert!(
            seen.insert((page.clone(), name.clone())),
            "{page}: `{name}` twice"
        );
    }
    assert!(seen.len() >= 30, "{}", seen.len());
}

/// The intervals of the tables have the quantiles of Student's t.
#[test]
fn intervals_are_right() {
    if !has_python() {
        return;
    }
    let output = Command::new("python3")
        .args(["-m", "doctest"])
        .arg(repository().join("experiments/support/mean.py"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{complaint}");
}

/// The statistics of RFC 8382 in integers are those of its definitions.
#[test]
fn statistics_are_right() {
    if !has_python() {
        return;
    }
    let output = Command::new("python3")
        .arg(repository().join("experiments/detection/sbd_test.py"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
}

/// Whether there is a Python; prints the reason for skipping.
fn has_python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: there is no python3");
    }
    found
}

/// Every script runs, at a small size and on a copy of the pages, and together they fill all blocks but those of a kernel.
#[test]
fn scripts_fill_all_blocks() {
    if !has_python() {
        return;
    }
    let root =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("experiments-{}", std::process::id()));
    for page in pages() {
        let copy = root.join(&page);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::write(copy, emptied(&page)).unwrap();
    }
    for script in scripts() {
        let output = Command::new("python3")
            .arg(repository().join(&script))
            .args(["--seeds", "1", "--seconds", "0.5", "--root"])
            .arg(&root)
            .env("LISA", env!("CARGO_BIN_EXE_lisa"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output()
            .unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{script}: {complaint}");
    }
    for Block { page, name, text } in filled(&root) {
        let is_of_a_kernel = name.ends_with("-vm") || name.ends_with("-host");
        assert_eq!(
            text.contains("\n| --- |"),
            !is_of_a_kernel,
            "{page}: `{name}`: {text}"
        );
    }
    for figure in files("docs/img", "svg")
        .iter()
        .chain(&files("experiments/lisa/img", "svg"))
    {
        let by_others = figure.starts_with("docs/img/agreement") || figure == "docs/img/demo.svg"; // make agreement, make demo
        assert_eq!(root.join(figure).exists(), !by_others, "{figure}");
    }
    fs::remove_dir_all(&root).unwrap();
}

/// A page with nothing between the markers of scripts.
fn emptied(page: &str) -> String {
    let text = read(&repository(), page);
    let (mut kept, mut skips) = (String::new(), false);
    for line in text.lines() {
        skips &= line != END;
        if !skips {
            kept.push_str(line);
            kept.push('\n');
        }
        skips |= marker(line).is_some_and(|name| name.starts_with("experiments/"));
    }
    kept
}
