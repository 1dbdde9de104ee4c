//! `lisa new` on a terminal: questions, and what is left after Ctrl-C.

use super::Place;
use super::terminal::Terminal;
use std::fs;

const ENTER: &str = "\r";
const DOWN: &str = "\u{1b}[B";
const CTRL_C: &str = "\u{3}";

#[test]
fn the_answers_become_a_scenario() {
    let place = Place::new();
    let mut terminal = Terminal::start(place.lisa("new"), 100);
    terminal.answer("Network", &format!("{DOWN}{ENTER}"));
    // Two paths need two rates: the answer is asked for again.
    terminal.answer("Rate, one for each path", "9Mbit\r");
    terminal.answer("1 items, but `rtt` gives 2 paths", "\u{15}8Mbit, 3Mbit\r");
    terminal.answer("Round-trip time without queues", ENTER);
    terminal.answer("Queue in packets", ENTER);
    terminal.answer("Size of the transfer", "100KB\r");
    terminal.answer("Algorithm of MPTCP connections", &format!("{DOWN}{ENTER}"));
    terminal.answer("File", "phone.toml\r");
    let (status, text) = terminal.end();
    assert!(status.success(), "{text}");
    let written = fs::read_to_string(place.0.join("phone.toml")).unwrap();
    for line in [
        "rate = [\"8Mbit\", \"3Mbit\"]",
        "bytes = \"100KB\"",
        "rtt = [\"20ms\", \"60ms\"]",
        "# A phone with",
    ] {
        assert!(written.contains(line), "{line}: {written}");
    }
    assert!(
        written.contains("algorithm = \"lisa_reno\"    # `lisa algorithms`"),
        "{written}"
    );
    place.good("run phone.toml");
}

#[test]
fn ctrl_c_leaves_nothing() {
    let place = Place::new();
    let before = fs::read_dir(&*place.0).unwrap().count();
    for answered in 0..3 {
        let mut terminal = Terminal::start(place.lisa("new"), 100);
        for prompt in ["Network", "Rate"].iter().take(answered) {
            terminal.answer(prompt, ENTER);
        }
        let prompt = ["Network", "Rate", "Round-trip"][answered];
        terminal.answer(prompt, CTRL_C);
        let (status, text) = terminal.end();
        assert_eq!(status.code(), Some(130), "{text}");
        assert!(
            text.contains("lisa: interrupted: no file is written"),
            "{text}"
        );
        assert!(
            text.contains("\u{1b}[?25h"),
            "the cursor is shown again: {text:?}"
        );
    }
    assert_eq!(fs::read_dir(&*place.0).unwrap().count(), before);
}

#[test]
fn without_a_terminal_the_presets_are_named() {
    let place = Place::new();
    let line = place.bad("new", 2);
    assert!(
        line.contains("PRESET is missing: one of shared-bottleneck, wifi-lte, home-two-lines, fairness, data-centre; on a terminal"),
        "{line}"
    );
}
