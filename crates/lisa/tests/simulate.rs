//! `lisa run`, `lisa compare` and `lisa sweep` in the simulator, `lisa paths` and `lisa algorithms`. The tests need
//! no root.

#[path = "simulate/algorithms.rs"]
mod algorithms;
#[path = "simulate/compare.rs"]
mod compare;
#[path = "simulate/examples.rs"]
mod examples;
#[path = "simulate/explore.rs"]
mod explore;
#[path = "simulate/files.rs"]
mod files;
#[path = "simulate/full_disk.rs"]
mod full_disk;
#[path = "../../scenario/tests/support/json_schema.rs"]
mod json_schema;
#[path = "simulate/memory.rs"]
mod memory;
#[path = "simulate/new.rs"]
mod new;
#[path = "simulate/paths.rs"]
mod paths;
#[path = "support/picture.rs"]
mod picture;
#[path = "simulate/plots.rs"]
mod plots;
#[path = "simulate/reproduce.rs"]
mod reproduce;
#[path = "simulate/resume.rs"]
mod resume;
#[path = "simulate/rows.rs"]
mod rows;
#[path = "simulate/run.rs"]
mod run;
#[path = "simulate/show.rs"]
mod show;
mod support;
#[path = "simulate/sweep.rs"]
mod sweep;
#[path = "simulate/terminal.rs"]
mod terminal;
#[path = "simulate/theory.rs"]
mod theory;
#[path = "simulate/tutorial.rs"]
mod tutorial;
#[path = "simulate/values.rs"]
mod values;
#[path = "simulate/width.rs"]
mod width;
#[path = "simulate/wrong.rs"]
mod wrong;
#[path = "support/wrong_values.rs"]
mod wrong_values;

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use support::{Folder, complaint, without_progress};

const SCENARIO: &str = r#"title = "A small bottleneck"
stop = "20s"
rtt_spread = "10%"

[topology]
kind = "shared-bottleneck"
rate = "5Mbit"
rtt = "40ms"
queue = 17

[[connection]]
name = "download"
protocol = "mptcp"
algorithm = "lisa"
bytes = "100KB"

[[connection]]
name = "competitor"
protocol = "tcp"
algorithm = "reno"
bytes = "50KB"
"#;

/// A folder with the scenario, which is deleted at the end of the test.
struct Place(Folder);

impl Place {
    fn new() -> Self {
        let folder = Folder::new();
        fs::write(folder.join("small.toml"), SCENARIO).unwrap();
        Self(folder)
    }

    /// `lisa …` in this folder.
    fn lisa(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lisa"));
        command
            .args(arguments.split_whitespace())
            .current_dir(&*self.0);
        command
    }

    /// Output of a command that must succeed without an error line; warnings are allowed.
    fn good(&self, arguments: &str) -> String {
        let output = self.lisa(arguments).output().unwrap();
        let complaint = without_progress(&output.stderr);
        let lines = complaint
            .lines()
            .filter(|line| !line.starts_with("warning: "));
        let complaint: String = lines.collect();
        assert!(
            output.status.success() && complaint.is_empty(),
            "{arguments}: {complaint}"
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// The same output, one JSON value per line.
    fn json(&self, arguments: &str) -> Vec<Value> {
        let text = self.good(arguments);
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The same output, each line valid by this schema of `docs`.
    fn valid_json(&self, arguments: &str, schema: &str) -> Vec<Value> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../docs")
            .join(schema);
        let schema: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        let lines = self.json(arguments);
        for line in &lines {
            json_schema::validate(line, &schema)
                .unwrap_or_else(|wrong| panic!("{arguments}: {wrong}"));
            assert_eq!(line["schema"], schema["$id"]);
        }
        assert!(!lines.is_empty());
        lines
    }

    /// The error of a command that must fail.
    fn bad(&self, arguments: &str, code: i32) -> String {
        complaint(&self.lisa(arguments).output().unwrap(), code)
    }

    fn read(&self, file: &str) -> Vec<u8> {
        fs::read(self.0.join(file)).unwrap()
    }
}
