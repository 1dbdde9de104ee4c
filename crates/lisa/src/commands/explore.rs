//! `lisa explore`: the explorer, opened in a browser.
//!
//! The page is one file without a server. `make explorer` builds it, `make install` copies it. With a scenario a copy of the page
//! begins with it: an address with the scenario in it would lose that part where the desktop opens files by their path.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::{Args, ValueHint};
use scenario::Source;
use serde::Serialize;

use crate::output::{Failure, print};
use crate::runs::files;
use crate::values;

/// Where the page is, from the folder of the program: installed, and in the source tree.
const PLACES: [&str; 2] = [
    "../share/lisa/explorer.html",
    "../../out/explorer/index.html",
];
/// Place of the start in the page.
const START: &str = r#"<script type="application/json" id="start">null</script>"#;

/// `lisa explore`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The scenario that the page begins with, or `-` for standard input [default: the first preset of the page].
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = values::path("the name of a file"))]
    pub file: Option<PathBuf>,
    /// Write the page into this file, and open nothing.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = values::path("the name of a file"))]
    pub output: Option<PathBuf>,
    /// Replace a file that exists.
    #[arg(long)]
    pub force: bool,
}

/// State that the page begins with.
#[derive(Serialize)]
struct Start<'a> {
    file: &'a str,
    text: &'a str,
}

/// Writes or opens the page.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(output) = &arguments.output {
        files::check("-o", output, arguments.force)?;
    }
    let source = arguments.file.as_deref().map(Source::read).transpose()?;
    if let Some(source) = &source {
        source.scenario(&[] as &[&str])?;
    }
    let page = find()?;
    if let (None, None) = (&source, &arguments.output) {
        return open(&page);
    }
    let named =
        |path: &Path, error: std::io::Error| Failure::new(format!("{}: {error}", path.display()));
    let mut text = fs::read_to_string(&page).map_err(|error| named(&page, error))?;
    if let Some(source) = &source {
        text = with_start(&text, source)
            .ok_or_else(|| Failure::new(format!("{}: not the explorer", page.display())))?;
    }
    if let Some(output) = &arguments.output {
        return ::files::write(output, text)
            .map_err(|error| Failure::new(format!("-o {}: {error}", output.display())));
    }
    // Of this user alone, and replaced each time.
    let folder = cache();
    let path = folder.join("explorer.html");
    let written = fs::create_dir_all(&folder).and_then(|()| ::files::write(&path, text));
    written.map_err(|error| named(&path, error))?;
    open(&path)
}

/// The page as built.
fn find() -> Result<PathBuf, Failure> {
    let program = std::env::current_exe().and_then(fs::canonicalize);
    let program = program.map_err(|error| Failure::new(format!("the program's place: {error}")))?;
    let folder = program.parent().unwrap_or(Path::new("/"));
    let mut places = PLACES.iter().map(|place| folder.join(place));
    let found = places.find_map(|place| fs::canonicalize(place).ok());
    found.ok_or_else(|| {
        Failure::new("the explorer is not built: `make explorer` builds it in the source tree, `make install` then installs it")
    })
}

/// The page with a scenario to begin with; none for another page.
fn with_start(page: &str, source: &Source) -> Option<String> {
    let file = source.name.display().to_string();
    let start = Start {
        file: &file,
        text: &source.text,
    };
    // No `</script>` ends the element within a text.
    let json = serde_json::to_string(&start)
        .expect("plain data")
        .replace('<', "\\u003c");
    let (before, after) = page.split_once(START)?;
    let element = START.replace("null", &json);
    Some(format!("{before}{element}{after}"))
}

/// The folder of this user for files that can be made again.
fn cache() -> PathBuf {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    base.filter(|path| path.is_absolute())
        .or_else(home)
        .unwrap_or_else(std::env::temp_dir)
        .join("lisa")
}

/// Opens the page in `$BROWSER` or the desktop's browser. Without one its path is printed.
fn open(page: &Path) -> Result<(), Failure> {
    let browser = std::env::var_os("BROWSER").filter(|browser| !browser.is_empty());
    let programs = browser.into_iter().chain([OsString::from("xdg-open")]);
    for program in programs {
        let started = Command::new(&program)
            .arg(page)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        if started.is_ok() {
            return print(&format!("{} is open in the browser\n", page.display()));
        }
    }
    print(&format!(
        "no browser was found: open {} in one\n",
        page.display()
    ))
}

const EXAMPLES: &str = "Examples:
  lisa explore                             # the presets: figures of the papers
  lisa new wifi-lte -o phone.toml && lisa explore phone.toml
  lisa explore phone.toml -o phone.html    # a page to pass on; it needs no server

The page runs the simulator itself. It reads nothing from elsewhere, and this command listens on no port.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_does_not_end_its_element() {
        let source = Source {
            name: "a.toml".into(),
            text: "title = \"</script>\"".into(),
        };
        let page = with_start(&format!("a{START}b"), &source).unwrap();
        assert_eq!(
            page,
            r#"a<script type="application/json" id="start">{"file":"a.toml","text":"title = \"\u003c/script>\""}</script>b"#
        );
        assert!(with_start("another page", &source).is_none());
    }
}
