//! Wrong values of all options of `run`, `compare`, `sweep`, `show`, `paths` and `new`, as their help lists them. (The parser's own refusals are
//! in src/usage/tests.rs; here a value that it accepts meets the files and the scenario.)

use super::Place;
use super::wrong_values::{FOREIGN, WRONG};

/// The long options with a value, from the help.
fn options(place: &Place, command: &str) -> Vec<String> {
    let help = place.good(&format!("{command} --help"));
    let names = help.lines().filter_map(|line| {
        let (name, _) = line.trim_start().split_once(" <")?;
        name.starts_with('-').then_some(name)?.split("--").nth(1)
    });
    names.map(Into::into).collect()
}

#[test]
fn every_wrong_value_of_every_option_is_one_line() {
    let mut tried = 0;
    for (command, rest) in [
        ("run", "small.toml"),
        ("compare", "small.toml -a lisa --seeds 2"),
        ("sweep", "small.toml -a lisa --seeds 2"),
        ("show", "small.toml"),
        ("paths", "small.toml --from server --to client"),
        ("new", "wifi-lte"),
    ] {
        let place = Place::new();
        let options = options(&place, command);
        assert!(!options.is_empty(), "{command}");
        for option in options {
            for value in WRONG.into_iter().chain(["/"]) {
                // Given once more, an option of `rest` would be refused.
                let rest = match &option[..] {
                    "algorithms" => rest.replace("-a lisa", ""),
                    "seeds" => rest.replace("--seeds 2", ""),
                    "from" => rest.replace("--from server", ""),
                    "to" => rest.replace("--to client", ""),
                    _ => rest.into(),
                };
                let with = match &option[..] {
                    "sample" => " --rows sample -o rows.csv --force",
                    "trace-format" => " --trace out --force",
                    "connection" if command == "run" => " --plot a.svg --force",
                    _ => "",
                };
                let mut run = place.lisa(&format!("{command} {rest}{with}"));
                let output = run.arg(format!("--{option}")).arg(value).output().unwrap();
                let shown = format!("{command} --{option} {value:?}");
                let errors = String::from_utf8(output.stderr).unwrap();
                let errors: Vec<&str> = (errors.lines())
                    .filter(|line| !line.starts_with("warning: "))
                    .collect();
                match output.status.code() {
                    Some(0) => assert!(errors.is_empty(), "{shown}: {errors:?}"),
                    Some(1 | 2) => {
                        assert!(errors.len() == 1, "{shown}: {errors:?}");
                        let line = errors[0];
                        assert!(
                            line.starts_with("lisa: ") && line.len() < 1500,
                            "{shown}: {line}"
                        );
                        assert!(
                            FOREIGN.iter().all(|words| !line.contains(words)),
                            "{shown}: {line}"
                        );
                        // The option, or its key or file, is named.
                        let named = line.contains(&format!("--{option}"))
                            || option.starts_with(|c| line.contains(&format!("-{c} ")))
                            || (!value.is_empty() && line.contains(value.trim_end_matches('=')));
                        assert!(named, "{shown}: {line}");
                    }
                    code => panic!("{shown}: exit code {code:?}, {errors:?}"),
                }
                tried += 1;
            }
        }
    }
    assert!(tried > 300, "{tried}");
}
