//! The questions of `lisa new` on a terminal. Their defaults are the values of the preset, and each answer is checked as a file is.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use dialoguer::console::Term;
use dialoguer::theme::ColorfulTheme;
use dialoguer::{Input, Select};
use mpcc::Algorithm;
use scenario::Scenario;
use toml_edit::{Array, DocumentMut, Item, Value};

use super::Preset;
use crate::output::Failure;
use crate::runs::files;

/// Keys that are asked for, if the preset has them.
const KEYS: [(&str, &str, &str); 5] = [
    ("topology", "rate", "Rate"),
    ("topology", "rtt", "Round-trip time without queues"),
    ("topology", "delay", "Delay of each link, one way"),
    (
        "topology",
        "queue",
        "Queue in packets, or { kind = \"codel\" }",
    ),
    ("connection", "bytes", "Size of the transfer"),
];

/// The answers.
pub struct Answers {
    /// Text of the scenario.
    pub text: String,
    /// File to write.
    pub file: PathBuf,
}

/// Asks for a scenario, and for the file unless it is given.
pub fn ask(file: Option<&Path>, force: bool) -> Result<Answers, Failure> {
    // A list hides the cursor, and Ctrl-C must not leave it hidden.
    let interrupted = || {
        let _ = Term::stderr().show_cursor();
        eprintln!("\nlisa: interrupted: no file is written");
        std::process::exit(130);
    };
    ctrlc::set_handler(interrupted).map_err(|error| Failure::new(error.to_string()))?;
    answers(file, force).map_err(|error| {
        let dialoguer::Error::IO(error) = error;
        while error.kind() == ErrorKind::Interrupted {
            // Ctrl-C: the handler runs in a thread of its own, and ends the process.
            std::thread::park();
        }
        let _ = Term::stderr().show_cursor();
        Failure::new(format!("the terminal: {error}; no file is written"))
    })
}

fn answers(file: Option<&Path>, force: bool) -> dialoguer::Result<Answers> {
    let theme = ColorfulTheme::default();
    let presets: Vec<_> = Preset::value_variants()
        .iter()
        .filter_map(ValueEnum::to_possible_value)
        .collect();
    let abouts = presets.iter().map(|preset| {
        let about = preset.get_help().map(ToString::to_string);
        format!("{}: {}", preset.get_name(), about.unwrap_or_default())
    });
    let abouts: Vec<String> = abouts.collect();
    let chosen = Select::with_theme(&theme)
        .with_prompt("Network")
        .items(&abouts)
        .default(0)
        .interact()?;
    let preset = Preset::value_variants()[chosen];
    let mut text = preset.text().to_string();
    for (table, key, prompt) in KEYS {
        let Some(default) = value(&text, table, key) else {
            continue;
        };
        let several = if default.is_array() {
            ", one for each path"
        } else {
            ""
        };
        let answer: String = Input::with_theme(&theme)
            .with_prompt(format!("{prompt}{several}"))
            .default(shown(&default))
            .validate_with(|answer: &String| checked(&text, table, key, answer).map(|_| ()))
            .interact_text()?;
        text = checked(&text, table, key, &answer).map_err(std::io::Error::other)?;
    }
    let algorithms: Vec<Algorithm> = Algorithm::all().collect();
    let names = algorithms
        .iter()
        .map(|a| format!("{}: {}", a.name(), a.about()));
    let names: Vec<String> = names.collect();
    let chosen = Select::with_theme(&theme)
        .with_prompt("Algorithm of MPTCP connections")
        .items(&names)
        .default(
            algorithms
                .iter()
                .position(|a| a.name() == "lisa")
                .unwrap_or(0),
        )
        .max_length(10)
        .interact()?;
    text = with_algorithm(&text, algorithms[chosen].name());
    let file = match file {
        Some(file) => file.into(),
        None => {
            let answer: String = Input::with_theme(&theme)
                .with_prompt("File")
                .default(format!("{}.toml", presets_name(preset)))
                .validate_with(|name: &String| {
                    files::check("", Path::new(name), force)
                        .map_err(|f| f.message.trim().to_string())
                })
                .interact_text()?;
            answer.into()
        }
    };
    Ok(Answers { text, file })
}

fn presets_name(preset: Preset) -> String {
    let value = preset.to_possible_value().expect("no preset is hidden");
    value.get_name().into()
}

fn document(text: &str) -> DocumentMut {
    text.parse().expect("a preset is TOML")
}

/// The item of a key; of connections that of the first one.
fn item<'a>(document: &'a mut DocumentMut, table: &str, key: &str) -> Option<&'a mut Item> {
    let table = document.get_mut(table)?;
    if table.is_array_of_tables() {
        return table.as_array_of_tables_mut()?.get_mut(0)?.get_mut(key);
    }
    table.get_mut(key)
}

fn value(text: &str, table: &str, key: &str) -> Option<Value> {
    let mut document = document(text);
    item(&mut document, table, key)?.as_value().cloned()
}

/// A value as an answer: without quotes, a list with commas.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        Value::String(text) => text.value().clone(),
        Value::Integer(number) => number.value().to_string(),
        other => other.to_string().trim().into(),
    }
}

/// An answer as a value: TOML if it is a table or list, else a number or text.
fn read(answer: &str, is_list: bool) -> Result<Value, String> {
    let answer = answer.trim();
    if answer.starts_with(['{', '[']) {
        return answer
            .parse()
            .map_err(|_| format!("`{answer}` is not TOML"));
    }
    if is_list {
        let items = answer.split(',').map(|item| read(item, false));
        return items.collect::<Result<Array, _>>().map(Into::into);
    }
    Ok(match answer.parse::<i64>() {
        Ok(number) => number.into(),
        Err(_) => answer.into(),
    })
}

/// The text with this answer as the key's value. The error is that of the scenario.
fn checked(text: &str, table: &str, key: &str, answer: &str) -> Result<String, String> {
    let mut document = document(text);
    let old = item(&mut document, table, key).and_then(Item::as_value_mut);
    let old = old.ok_or("no such key")?;
    let mut new = read(answer, old.is_array())?;
    // Spaces, and the comment behind the value.
    *new.decor_mut() = old.decor().clone();
    *old = new;
    let text = document.to_string();
    match Scenario::parse(&text, "") {
        Ok(_) => Ok(text),
        Err(error) => Err(error.problem),
    }
}

/// The text with this algorithm on all MPTCP connections.
fn with_algorithm(text: &str, name: &str) -> String {
    let mut document = document(text);
    let connections = document["connection"].as_array_of_tables_mut();
    for connection in connections.into_iter().flat_map(|tables| tables.iter_mut()) {
        let is_mptcp = connection.get("protocol").and_then(Item::as_str) == Some("mptcp");
        let value = connection.get_mut("algorithm").and_then(Item::as_value_mut);
        if let (true, Some(value)) = (is_mptcp, value) {
            let decor = value.decor().clone();
            *value = name.into();
            *value.decor_mut() = decor;
        }
    }
    document.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_the_preset() {
        for preset in Preset::value_variants() {
            let text = preset.text();
            let mut changed = text.to_string();
            for (table, key, _) in KEYS {
                if let Some(default) = value(text, table, key) {
                    changed = checked(&changed, table, key, &shown(&default)).expect("a default");
                }
            }
            assert_eq!(with_algorithm(&changed, "lisa"), text);
        }
    }

    #[test]
    fn answers_are_checked_as_a_file_and_keep_the_comments() {
        let text = Preset::WifiLte.text();
        let changed = checked(text, "topology", "rate", "9Mbit, 3Mbit").unwrap();
        assert!(
            changed.contains("rate = [\"9Mbit\", \"3Mbit\"]\n"),
            "{changed}"
        );
        let changed = checked(text, "topology", "queue", "[{ kind = \"codel\" }, 9]").unwrap();
        assert!(changed.contains("# packets: base stations"), "{changed}");
        for (key, answer, problem) in [
            ("rate", "9, 9", "expected a rate"),
            ("rate", "9Mbit", "1 items, but `rtt` gives 2 paths"),
            ("rtt", "40 parsec, 1s", "no unit `parsec`"),
            ("queue", "-1, 2", "out of range"),
            ("queue", "{ kind", "is not TOML"),
        ] {
            let error = checked(text, "topology", key, answer).unwrap_err();
            assert!(error.contains(problem), "{key} = {answer}: {error}");
        }
        let changed = with_algorithm(Preset::Fairness.text(), "olia");
        assert!(
            changed.contains("algorithm = \"olia\"    # `lisa") && changed.contains("\"reno\"")
        );
    }
}
