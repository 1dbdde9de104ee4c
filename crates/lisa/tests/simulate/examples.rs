//! The examples of `--help`, and the scenarios of the docs: they name no file, option or key that is not there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Place;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a line of a shell in the folder, with fewer runs. Returns the error, if it fails.
fn run(place: &Place, line: &str) -> Option<String> {
    let mut words: Vec<&str> = Vec::new();
    let mut is_number = None;
    for word in line.split(' ') {
        words.push(is_number.take().unwrap_or(word));
        is_number = match word {
            "--seeds" => Some("2"),
            "--latin" => Some("5"),
            _ => None,
        };
    }
    let mut line = words.join(" ");
    if line.starts_with("lisa sweep") && !line.contains("--seeds") {
        line += " --seeds 1";
    }
    let program = Path::new(env!("CARGO_BIN_EXE_lisa")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", &line])
        .env("PATH", format!("{}:{path}", program.display()))
        .current_dir(&*place.0)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    (!output.status.success()).then(|| format!("{line}: {error}"))
}

/// The lines of examples of a command, without their comments.
fn examples(place: &Place, command: &str) -> Vec<String> {
    let mut help = place.lisa(&format!("{command} --help"));
    let help = help.env("COLUMNS", "300").output().unwrap().stdout;
    let help = String::from_utf8(help).unwrap();
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    let lines = lines.take_while(|line| line.starts_with("  "));
    lines
        .map(|line| line.split("  #").next().unwrap().trim().to_owned())
        .collect()
}

#[test]
fn the_examples_of_help_run() {
    for command in [
        "run", "compare", "sweep", "show", "plot", "paths", "new", "theory",
    ] {
        let place = Place::new();
        std::os::unix::fs::symlink(root().join("experiments"), place.0.join("experiments"))
            .unwrap();
        let examples = examples(&place, command);
        assert!(examples.len() > 1, "{command}");
        if !examples
            .iter()
            .any(|line| line.ends_with("-o download.toml"))
        {
            place.good("new shared-bottleneck -o download.toml");
        }
        for line in examples {
            // Without a terminal, other programs and kernels.
            let apart = ["--on ", "tshark", "jq ", "less", "sudo "];
            if line == "lisa new" || apart.iter().any(|word| line.contains(word)) {
                continue;
            }
            if let Some(error) = run(&place, &line) {
                // Two examples with one name are alternatives.
                assert!(error.contains("the file exists"), "{error}");
            }
        }
    }
}

/// Scenarios of the docs that have a network, completed where they are parts.
#[test]
fn the_scenarios_of_the_docs_are_valid() {
    let folder = root().join("docs");
    let files = fs::read_dir(&folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let mut found = 0;
    for file in files.filter(|file| file.extension().is_some_and(|end| end == "md")) {
        let text = fs::read_to_string(&file).unwrap();
        for block in text.split("```toml\n").skip(1) {
            let mut block = block.split("```").next().unwrap().to_owned();
            if !block.contains("[topology]") {
                continue;
            }
            found += 1;
            if !block.starts_with("stop") && !block.contains("\nstop") {
                block = format!("stop = \"60s\"\n{block}");
            }
            if !block.contains("[[connection]]") {
                block += "[[connection]]\npattern = \"permutation\"\n";
            }
            let beside = root().join("experiments/examples/block.toml");
            let read = scenario::Scenario::parse(&block, beside);
            let problem = read.err().map(|error| error.to_string());
            assert_eq!(problem, None, "{}: {block}", file.display());
        }
    }
    assert!(found >= 1, "{found}");
}
