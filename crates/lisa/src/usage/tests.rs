use super::*;
use crate::cli::Cli;
use crate::values;
use clap::CommandFactory;

#[path = "../../tests/support/wrong_values.rs"]
mod wrong_values;
use wrong_values::{FOREIGN, WRONG};

/// The commands that have no commands of their own, with the words that call them.
fn leaves(command: &Command, path: &[String], found: &mut Vec<(Vec<String>, Command)>) {
    let mut commands = command.get_subcommands().peekable();
    if commands.peek().is_none() {
        return found.push((path.to_vec(), command.clone()));
    }
    for command in commands.filter(|command| command.get_name() != "help") {
        leaves(
            command,
            &[path, &[command.get_name().into()]].concat(),
            found,
        );
    }
}

fn commands() -> Vec<(Vec<String>, Command)> {
    let mut found = Vec::new();
    let mut command = Cli::command();
    command.build();
    leaves(&command, &["lisa".into()], &mut found);
    found
}

/// The error of these words; none if they are well-formed.
fn error(words: &[String]) -> Option<(ErrorKind, String)> {
    let error = Cli::command().try_get_matches_from(words).err()?;
    let arguments: Vec<OsString> = words.iter().map(OsString::from).collect();
    Some((error.kind(), line(&error, &Cli::command(), &arguments)))
}

fn check(words: &[String], line: &str, wanted: &str) {
    let shown = words.join(" ");
    assert!(
        !line.contains('\n') && line.len() < 400,
        "{shown:?}: {line}"
    );
    for words in FOREIGN {
        assert!(!line.contains(words), "{shown:?}: {line}");
    }
    assert!(line.contains(wanted), "{shown:?}: {line} has {wanted:?}");
}

/// A new option needs no line here: the list is that of the parser.
#[test]
fn every_wrong_value_of_every_option_is_one_line_with_what_is_allowed() {
    let mut refused = 0;
    for (path, command) in commands() {
        for argument in command.get_arguments() {
            if !argument.get_action().takes_values() || argument.is_last_set() {
                continue;
            }
            let form = values::form(argument.get_value_parser());
            assert!(
                !form.is_empty(),
                "{path:?} {argument} has no form: use crate::values"
            );
            let option = argument.get_long().map(|long| format!("--{long}"));
            for value in WRONG {
                let word = match &option {
                    Some(option) if argument.is_require_equals_set() => {
                        vec![format!("{option}={value}")]
                    }
                    Some(option) => vec![option.clone(), value.into()],
                    None if value == "-1" => continue,
                    None => {
                        // `1` is a token, and a name.
                        let before = argument.get_index().map_or(0, |index| index - 1);
                        [vec!["1".to_string(); before], vec![value.into()]].concat()
                    }
                };
                let words = [&path[..], &word].concat();
                let error = error(&words);
                let about = |line: &str| match &option {
                    Some(option) => line.starts_with(option),
                    None => !line.contains("is missing"),
                };
                match error {
                    Some((
                        ErrorKind::ValueValidation
                        | ErrorKind::InvalidValue
                        | ErrorKind::UnknownArgument,
                        line,
                    )) => {
                        assert!(about(&line), "{words:?}: {line}");
                        check(&words, &line, &form);
                        refused += 1;
                    }
                    // The value is fine; something else is missing.
                    other => assert!(
                        !value.is_empty() && (value != "-1" || option.is_none()),
                        "{words:?} is accepted: {other:?}"
                    ),
                }
            }
            if let Some(option) = option
                && argument
                    .get_num_args()
                    .is_none_or(|number| number.min_values() > 0)
            {
                let words = [&path[..], &[option]].concat();
                let (_, line) = error(&words).expect("a value is missing");
                check(&words, &line, &form);
                assert!(line.contains("needs a value"), "{line}");
            }
        }
    }
    assert!(refused > 200, "{refused}");
}

#[test]
fn every_flag_refuses_a_value() {
    for (path, command) in commands() {
        for argument in command
            .get_arguments()
            .filter(|a| !a.get_action().takes_values())
        {
            let Some(long) = argument
                .get_long()
                .filter(|long| !["help", "version"].contains(long))
            else {
                continue;
            };
            let words = [&path[..], &[format!("--{long}=3")]].concat();
            let (_, line) = error(&words).expect("a flag has no value");
            check(&words, &line, &format!("--{long} takes no value: `3`"));
        }
    }
}

#[test]
fn other_wrong_words_name_the_right_ones() {
    for (words, expected) in [
        (
            "lisa ru",
            "no command `ru`, did you mean `run`?; there are run, compare, sweep",
        ),
        (
            "lisa kernel stat",
            "no command `stat`, did you mean `status`?; there are load, unload",
        ),
        (
            "lisa run x --jsn",
            "no option `--jsn`, did you mean `--json`?; see `lisa run --help`",
        ),
        (
            "lisa run x y",
            "one argument too many: `y`; see `lisa run --help`",
        ),
        (
            "lisa compare x",
            "--algorithms LIST is missing: the name of an algorithm, like lisa or lia: `lisa algorithms` lists them; see `lisa compare --help`",
        ),
        (
            "lisa run",
            "FILE is missing: the name of a scenario file, or `-` for standard input; see `lisa run --help`",
        ),
        (
            "lisa run x --seed 1 --seeds 2",
            "--seed N cannot be used with --seeds N; see `lisa run --help`",
        ),
        (
            "lisa run x --seed 1 --seed 2",
            "--seed N is given twice: give it once",
        ),
        (
            "lisa run x --jobs -1",
            "--jobs -1: write a whole number from 1 to 1024",
        ),
        (
            "lisa run x --sample -5ms --trace y",
            "--sample -5ms: write a time of more than 0",
        ),
        (
            "lisa run x --on moon",
            "--on moon: write one of sim, host, vm",
        ),
        (
            "lisa kernel unload lisa --wait=soon",
            "--wait soon: write a number of seconds from 0 to 86400",
        ),
        (
            "lisa kernel unload lisa --wait 5",
            "one argument too many: `5`",
        ),
        (
            "lisa kernel status --port 70000",
            "--port 70000: write a whole number from 0 to 65535",
        ),
        (
            "lisa sweep x -a lisa --shard 4/3",
            "--shard 4/3: write the part and the number of parts",
        ),
        (
            "lisa compare x -a lia lisa",
            "one argument too many: `lisa`; a list has commas and no blanks: `-a lia,lisa`",
        ),
        (
            "lisa compare -a lia lisa x.toml",
            "one argument too many: `x.toml`; a list has commas and no blanks: `-a lia,lisa`",
        ),
        (
            "lisa compare x -a lia, lisa",
            "one argument too many: `lisa`; a list has commas and no blanks: `-a lia,lisa`",
        ),
        (
            "lisa run x --set stop = 9s",
            "one argument too many: `=`; a value with blanks is in quotes: --set 'KEY=VALUE'",
        ),
        (
            "lisa run --set title=a b x.toml",
            "one argument too many: `x.toml`; a value with blanks is in quotes: --set 'KEY=VALUE'",
        ),
        (
            "lisa compare -a lia, lisa",
            "--algorithms needs a value: a list has commas and no blanks: `-a lia,lisa`",
        ),
        (
            "lisa compare -a lia x.toml y.toml",
            "one argument too many: `y.toml`; see `lisa compare --help`",
        ),
        (
            "lisa new wifi-let",
            "PRESET wifi-let: did you mean `wifi-lte`?; write one of shared-bottleneck, wifi-lte",
        ),
        (
            "lisa run x --seeds 5..3",
            "--seeds 5..3: `5..3`: a range must not descend; write a number of seeds",
        ),
    ] {
        let words: Vec<String> = words.split(' ').map(Into::into).collect();
        let (_, line) = error(&words).expect("wrong words");
        check(&words, &line, expected);
    }
}
