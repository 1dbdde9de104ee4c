//! `lisa kernel doctor`: whether algorithms can run here, and what keeps connections from using several paths.

use std::io::IsTerminal;

use kernel::doctor::{Finding, Level, Path, Report, Topic, examine};

use crate::output::{Failure, counted, print as print_out, terminal_width, wrap};

/// Prints the findings. Fails if a finding prevents algorithms from running.
pub fn print(json: bool, path: Option<Path>) -> Result<(), Failure> {
    let shows = std::io::stderr().is_terminal();
    let report = examine(path, &mut |trial| {
        if shows {
            eprint!("\rtrying: {trial}\x1b[K");
        }
    });
    if shows {
        eprint!("\r\x1b[K");
    }
    let report = report?;
    if json {
        let json = serde_json::to_string(&report).expect("plain data");
        print_out(&(json + "\n"))?;
    } else {
        let is_terminal = std::io::stdout().is_terminal();
        print_out(&page(
            &report,
            terminal_width().map_or(WIDEST, |width| width.min(WIDEST)),
            is_terminal,
        ))?;
    }
    match report.can_run {
        true => Ok(()),
        false => {
            let failures = report.findings.iter().filter(|f| f.level == Level::Fail);
            let names: Vec<&str> = failures.map(|failure| failure.check).collect();
            Err(Failure::new(format!(
                "no algorithm can run here: {}",
                names.join(", ")
            )))
        }
    }
}

/// Lines longer than this are hard to read.
const WIDEST: usize = 100;

/// The page: a group of findings for each topic, and a line with their numbers.
fn page(report: &Report, width: usize, colours: bool) -> String {
    let mut lines = Vec::new();
    let mut topic = None;
    for finding in &report.findings {
        if topic != Some(finding.topic) {
            lines.push(title(finding.topic).into());
            topic = Some(finding.topic);
        }
        lines.extend(entry(finding, width, colours));
    }
    let count = |level| report.findings.iter().filter(|f| f.level == level).count();
    let (failures, warnings) = (count(Level::Fail), count(Level::Warn));
    let can_run = match report.can_run {
        true => "algorithms can run here",
        false => "algorithms cannot run here",
    };
    lines.push(format!(
        "\n{can_run}: {}, {}",
        counted(failures, "failure"),
        counted(warnings, "warning")
    ));
    lines.join("\n") + "\n"
}

fn title(topic: Topic) -> &'static str {
    match topic {
        Topic::Kernel => "kernel",
        Topic::Privilege => "privilege",
        Topic::Mptcp => "MPTCP",
        Topic::PathManager => "path manager",
        Topic::Endpoints => "endpoints",
        Topic::Tcp => "TCP",
        Topic::Peers => "peers, since this network namespace exists",
        Topic::Algorithms => "algorithms",
    }
}

/// The lines of a finding: the mark and the text, and what to do.
fn entry(finding: &Finding, width: usize, colours: bool) -> Vec<String> {
    let (mark, colour) = match finding.level {
        Level::Ok => ("ok  ", "\x1b[32m"),
        Level::Warn => ("warn", "\x1b[33m"),
        Level::Fail => ("fail", "\x1b[31m"),
    };
    let text = Failure::new(&finding.text); // without the numbers of the system's errors
    let mut lines = wrap(&format!("       {text}"), width, 7);
    lines[0].replace_range(2..6, mark);
    if colours {
        lines[0] = lines[0].replacen(mark, &format!("{colour}{mark}\x1b[39m"), 1);
    }
    let remedy = finding.remedy.iter();
    lines.extend(remedy.flat_map(|remedy| wrap(&format!("       → {remedy}"), width, 9)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let finding = |topic, level, text: &str, remedy: Option<&str>| Finding {
            topic,
            check: "check",
            level,
            text: text.into(),
            remedy: remedy.map(String::from),
        };
        Report {
            schema: kernel::doctor::SCHEMA,
            release: "6.18.44".into(),
            can_run: false,
            findings: vec![
                finding(Topic::Kernel, Level::Ok, "Linux 6.18.44", None),
                finding(
                    Topic::Mptcp,
                    Level::Fail,
                    "MPTCP is off",
                    Some("turn it on"),
                ),
                finding(
                    Topic::Mptcp,
                    Level::Warn,
                    "a text that is longer than a line of this width has further lines",
                    Some("what to do may also need more than one line, as this sentence does here"),
                ),
            ],
        }
    }

    #[test]
    fn a_page() {
        let expected = "\
kernel
  ok   Linux 6.18.44
MPTCP
  fail MPTCP is off
       → turn it on
  warn a text that is longer than a line of this width has
       further lines
       → what to do may also need more than one line, as
         this sentence does here

algorithms cannot run here: 1 failure, 1 warning
";
        assert_eq!(page(&report(), 60, false), expected);
        assert!(page(&report(), 60, true).contains("  \x1b[32mok  \x1b[39m Linux"));
    }
}
