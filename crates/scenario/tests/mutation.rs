//! Mutated files: each is read or refused in one line, in short time and without a panic. A valid one can be drawn, and its run
//! starts. `fuzz/` does the same without a time limit.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lisa_scenario::{Scenario, simulate_within};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Longest time of reading and drawing, in a debug build on a busy machine. The largest fat tree takes longest.
const PATIENCE: Duration = Duration::from_secs(30);

/// Number of events in which connections open and have losses.
const EVENTS: u64 = 1000;
/// Largest number of subflows of a run: more take longer to set up than to run.
const SUBFLOWS: usize = 200;

/// All scenario files of the repository.
fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let mut files = Vec::new();
    for folder in fs::read_dir(&root).unwrap() {
        let inside = fs::read_dir(folder.unwrap().path()).unwrap();
        files.extend(inside.map(|file| file.unwrap().path()));
    }
    files.retain(|file| {
        file.extension()
            .is_some_and(|extension| extension == "toml")
    });
    files.sort();
    assert!(files.len() >= 6, "{files:?}");
    files
}

fn texts() -> Vec<String> {
    let mut texts: Vec<String> = files()
        .iter()
        .map(|file| fs::read_to_string(file).unwrap())
        .collect();
    // Kinds of network without a file in the repository.
    let rest = "[[connection]]\nprotocol = 'mptcp'\nsubflows = 2\nbytes = '300KB'\nreceive_window = '4MiB'\n";
    for topology in [
        "kind = 'non-shared-bottleneck'\nrate = ['5Mbit', '1Gbit']\nrtt = ['40ms', '1us']\nqueue = [{ kind = 'pie' }, { kind = 'codel' }]\naccess = { rate = '1Gbit', delay = '0s', queue = { kind = 'fq-codel' } }\ndown = [[], [{ from = '1s', to = '2s' }, { from = '2s' }]]",
        "kind = 'non-shared-bottleneck'\nrate = '100Mbit'\nrtt = '40ms'\nqueue = { kind = 'policer', rate = '10Mbit', burst = '64KB' }\njitter = ['5ms', '1us']",
        "kind = 'scenario-a'\nn1 = 10\nn2 = 10\nc1 = '1Mbit'\nc2 = '1Mbit'\nrtt = '100ms'\nqueue = { kind = 'red' }",
    ] {
        texts.push(format!(
            "stop = '30s'\nrtt_spread = 0.1\n[topology]\n{topology}\n{rest}paths = 'type1'\n"
        ));
        texts.push(format!("stop = '30s'\nwarmup = '1s'\n[topology]\n{topology}\n{rest}arrivals = {{ count = 3, gap = {{ mean = '1s' }} }}\n"));
    }
    texts
}

/// Replacements of tokens.
const PIECES: &[&str] = &[
    "",
    " ",
    "\n",
    "\0",
    "=",
    ".",
    "..",
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    "\"",
    "'",
    "'''",
    "#",
    "-",
    "+",
    ",",
    "0",
    "-1",
    "1e999",
    "-1e-999",
    "nan",
    "inf",
    "-inf",
    "true",
    "1979-05-27T07:32:00Z",
    "0x7fffffffffffffff",
    "18446744073709551616",
    "1000000000",
    "32",
    "99999999999999999999999999999999999999999999999",
    "\"0s\"",
    "\"1ns\"",
    "\"365d\"",
    "\"1d\"",
    "\"1bit\"",
    "\"100Tbit\"",
    "\"1000TB\"",
    "\"100%\"",
    "0.9",
    "\"\"",
    "[]",
    "{}",
    "[[]]",
    "\"a.b\"",
    "é",
    "\u{202e}",
    "a.b.c.d",
    "\"shared-bottleneck\"",
    "\"non-shared-bottleneck\"",
    "\"fat-tree\"",
    "\"graph\"",
    "\"scenario-b\"",
    "\"tcp\"",
    "\"udp\"",
    "\"mptcp\"",
    "\"permutation\"",
    "\"random\"",
    "pattern",
    "paths",
    "count",
    "arrivals",
    "[topology]",
    "[[connection]]",
    "[[topology.link]]",
    "{ mean = \"365d\" }",
    "{ from = \"0s\", to = \"1s\" }",
    "{ mean = \"1s\", shape = 1.5 }",
    "{ distribution = \"data-mining\" }",
    "{ mean = 1000, shape = 1.5 }",
    "{ count = 3, load = 0.5 }",
];

/// Reads a file; draws and starts a valid one.
fn check(text: &str) -> Result<(), TestCaseError> {
    let start = Instant::now();
    match Scenario::parse(text, "a.toml") {
        Ok(scenario) => {
            run(&scenario).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?
        }
        Err(error) => {
            let error = error.to_string();
            prop_assert!(!error.contains('\n'), "{}", error);
            prop_assert!(error.starts_with("a.toml:"), "{}", error);
            prop_assert!(error.chars().count() < 1000, "{}", error);
        }
    }
    prop_assert!(
        start.elapsed() < PATIENCE,
        "{:?}\n{}",
        start.elapsed(),
        text
    );
    Ok(())
}

/// Any scenario can be drawn. Its run may exceed a limit, or use an algorithm of the lab alone.
fn run(scenario: &Scenario) -> Result<(), String> {
    let drawn = scenario.draw(1).map_err(|error| error.to_string())?;
    if drawn
        .flows
        .iter()
        .map(|flow| flow.paths.len())
        .sum::<usize>()
        > SUBFLOWS
    {
        return Ok(());
    }
    match simulate_within(scenario, 1, false, EVENTS) {
        Err(error) if error.to_string().contains('\n') => Err(error.to_string()),
        _ => Ok(()),
    }
}

/// Ranges of words, numbers and signs.
fn tokens(text: &str) -> Vec<(usize, usize)> {
    let kind = |c: char| match c {
        _ if c.is_alphanumeric() || c == '_' || c == '-' => 'w',
        ' ' => ' ',
        other => other,
    };
    let mut tokens: Vec<(usize, usize)> = Vec::new();
    let mut last = None;
    for (at, c) in text.char_indices() {
        match tokens.last_mut() {
            Some(token) if last == Some(kind(c)) => token.1 = at + c.len_utf8(),
            _ => tokens.push((at, at + c.len_utf8())),
        }
        last = Some(kind(c));
    }
    tokens
}

#[derive(Clone, Debug)]
enum Change {
    Replace(Index, &'static str),
    Remove(Index),
    Repeat(Index),
    Swap(Index, Index),
    RemoveLine(Index),
    RepeatLine(Index),
    SwapLines(Index, Index),
}

fn change() -> impl Strategy<Value = Change> {
    let index = any::<Index>;
    prop_oneof![
        4 => (index(), select(PIECES)).prop_map(|(at, piece)| Change::Replace(at, piece)),
        1 => index().prop_map(Change::Remove),
        1 => index().prop_map(Change::Repeat),
        2 => (index(), index()).prop_map(|(a, b)| Change::Swap(a, b)),
        1 => index().prop_map(Change::RemoveLine),
        1 => index().prop_map(Change::RepeatLine),
        1 => (index(), index()).prop_map(|(a, b)| Change::SwapLines(a, b)),
    ]
}

fn apply(text: &str, change: &Change) -> String {
    let by_token = matches!(
        change,
        Change::Replace(..) | Change::Remove(_) | Change::Repeat(_) | Change::Swap(..)
    );
    let mut pieces: Vec<&str> = match by_token {
        true => tokens(text)
            .into_iter()
            .map(|(from, to)| &text[from..to])
            .collect(),
        false => text.split_inclusive('\n').collect(),
    };
    if pieces.is_empty() {
        return String::new();
    }
    let at = |index: &Index| index.index(pieces.len());
    match change {
        Change::Replace(index, piece) => {
            let at = at(index);
            pieces[at] = piece;
        }
        Change::Remove(index) | Change::RemoveLine(index) => drop(pieces.remove(at(index))),
        Change::Repeat(index) | Change::RepeatLine(index) => {
            let at = at(index);
            pieces.insert(at, pieces[at]);
        }
        Change::Swap(a, b) | Change::SwapLines(a, b) => {
            let (a, b) = (at(a), at(b));
            pieces.swap(a, b);
        }
    }
    pieces.concat()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn words_are_changed(text in select(texts()), changes in prop::collection::vec(change(), 1..5)) {
        let text = changes.iter().fold(text, |text, change| apply(&text, change));
        check(&text)?;
    }

    #[test]
    fn bytes_are_changed(text in select(texts()), changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..4)) {
        let mut bytes = text.into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        // A file that is not UTF-8 is refused when it is read.
        check(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn overrides_are_anything(text in select(texts()), at in any::<Index>(), piece in select(PIECES), key in "[a-z.0-9*]{0,12}") {
        let keys = ["stop", "rtt_spread", "topology.kind", "topology.rtt", "topology.queue", "topology.k", "topology.down", "topology.down.2.1.to",
            "connection.1.count", "connection.*.subflows", "connection.1.start", "connection.1.bytes", &key];
        let set = format!("{}={piece}", keys[at.index(keys.len())]);
        match Scenario::parse_with(&text, "a.toml", &[&set]) {
            Ok(scenario) => run(&scenario).map_err(TestCaseError::fail)?,
            // The error quotes the override, with its spaces and line breaks.
            Err(error) => prop_assert!(!error.problem.contains('\n'), "{}", error),
        }
    }
}

#[test]
fn the_files_of_the_repository_are_valid() {
    for file in files() {
        let scenario = Scenario::load(&file).unwrap_or_else(|error| panic!("{error}"));
        for seed in [0, 1, u64::MAX] {
            let drawn = scenario
                .draw(seed)
                .unwrap_or_else(|error| panic!("{error}"));
            assert!(!drawn.flows.is_empty(), "{}", file.display());
        }
    }
}

/// The largest network, with a connection of each host.
#[test]
fn the_largest_fat_tree_is_drawn_in_time() {
    let text = fs::read_to_string(
        files()
            .iter()
            .find(|file| file.ends_with("fat-tree.toml"))
            .unwrap(),
    );
    check(&text.unwrap().replace("k     = 4", "k = 32")).unwrap();
}
