//! Tables fit into the terminal, and no number is broken.

use super::Place;
use super::terminal::{Terminal, plain};
use std::collections::BTreeMap;

const COMMANDS: [&str; 6] = [
    "run small.toml",
    "run small.toml --seeds 3",
    "compare small.toml -a lia,lisa,css,olia,balia --seeds 3",
    "sweep small.toml --vary bottleneck.queue=9,17 --vary bottleneck.rate=2Mbit,5Mbit -a lia,lisa --seeds 2",
    "show small.toml",
    "algorithms",
];

/// The numbers of a text, with how often each stands there.
fn numbers(text: &str) -> BTreeMap<String, usize> {
    let mut numbers = BTreeMap::new();
    for word in text.split(|c: char| c.is_whitespace() || "()[],:".contains(c)) {
        if word.contains('.') && word.parse::<f64>().is_ok() {
            *numbers.entry(word.into()).or_default() += 1;
        }
    }
    numbers
}

/// The lines of tables: those with a column, and the lines around.
fn widest(text: &str) -> usize {
    let mut in_table = false;
    let lines = text.lines().filter(|line| {
        let is_rule = line.starts_with(['─', '═']);
        in_table ^= line.starts_with('─');
        in_table || is_rule
    });
    lines.map(|line| line.chars().count()).max().unwrap_or(0)
}

/// Without the lines about the speed of this machine.
fn stable(text: &str) -> String {
    let lines = text
        .lines()
        .filter(|line| !line.contains("packet hops") && !line.contains(" runs in "));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn tables_have_the_width_that_columns_gives() {
    let place = Place::new();
    for arguments in COMMANDS {
        let output = |columns: Option<&str>| {
            let mut command = place.lisa(arguments);
            command.env_remove("COLUMNS");
            command.envs(columns.map(|columns| ("COLUMNS", columns)));
            stable(&String::from_utf8(command.output().unwrap().stdout).unwrap())
        };
        let wide = output(None);
        assert!(widest(&wide) > 60, "{wide}");
        for columns in [60, 80, 200] {
            let text = output(Some(&columns.to_string()));
            assert!(widest(&text) <= columns, "{arguments}, {columns}:\n{text}");
            let (narrow, all) = (numbers(&text), numbers(&wide));
            for (number, times) in &all {
                // Repeated columns repeat their numbers.
                assert!(
                    narrow.get(number) >= Some(times),
                    "{arguments}, {columns}: {number}\n{text}"
                );
            }
            assert!(
                narrow.keys().all(|number| all.contains_key(number)),
                "{text}"
            );
        }
    }
}

#[test]
fn a_terminal_has_its_own_width() {
    let place = Place::new();
    for columns in [60, 80, 200] {
        let terminal = Terminal::start(place.lisa("run small.toml"), columns);
        let (status, text) = terminal.end();
        assert!(
            status.success() && text.contains("\u{1b}[1m"),
            "bold headings: {text:?}"
        );
        let shown = stable(&plain(&text));
        let piped = place
            .lisa("run small.toml")
            .env("COLUMNS", columns.to_string())
            .output();
        assert_eq!(
            shown,
            stable(&String::from_utf8(piped.unwrap().stdout).unwrap())
        );
        assert!(
            widest(&shown) > 40 && widest(&shown) <= columns.into(),
            "{shown}"
        );
    }
}

/// Notes and settings below a table, too.
#[test]
fn lines_of_text_fit() {
    let place = Place::new();
    for columns in [60, 80] {
        let mut command = place.lisa("algorithms");
        let output = command
            .env("COLUMNS", columns.to_string())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(columns), "{columns}: {text}");
    }
}
