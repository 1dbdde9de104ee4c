//! `lisa run`, `lisa compare` and `lisa sweep` in the simulator, through the program. None of it needs root.

#[path = "simulate/compare.rs"]
mod compare;
#[path = "simulate/run.rs"]
mod run;
#[path = "simulate/sweep.rs"]
mod sweep;
#[path = "simulate/wrong.rs"]
mod wrong;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

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

/// A directory of this test's own, with the scenario in it; gone with it.
struct Place(PathBuf);

impl Place {
    fn new(test: &str) -> Self {
        let name = format!("simulate-{test}-{}", std::process::id());
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("small.toml"), SCENARIO).unwrap();
        Self(path)
    }

    /// `lisa …`, here.
    fn lisa(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lisa"));
        command
            .args(arguments.split_whitespace())
            .current_dir(&self.0);
        command
    }

    /// What it prints, where it must succeed without a complaint.
    fn good(&self, arguments: &str) -> String {
        let output = self.lisa(arguments).output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && complaint.is_empty(),
            "{arguments}: {complaint}"
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// The same, a value of JSON a line.
    fn json(&self, arguments: &str) -> Vec<Value> {
        let text = self.good(arguments);
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Its one line of complaint.
    fn bad(&self, arguments: &str, code: i32) -> String {
        failed(&self.lisa(arguments).output().unwrap(), code)
    }

    fn read(&self, file: &str) -> Vec<u8> {
        fs::read(self.0.join(file)).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn failed(output: &Output, code: i32) -> String {
    let line = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{line}");
    assert!(
        line.starts_with("lisa: ") && line.ends_with('\n'),
        "{line:?}"
    );
    assert_eq!(line.lines().count(), 1, "{line}");
    line
}
