//! Tests of the file of the service.

use super::*;
use std::fs;

fn good(text: &str) -> Config {
    Config::parse(text).unwrap_or_else(|problem| panic!("{problem}"))
}

/// Line and text of the error.
fn wrong(text: &str) -> (usize, String) {
    let problem = Config::parse(text).expect_err("it is wrong");
    (problem.line.expect("a line"), problem.to_string())
}

#[test]
fn everything() {
    let config = good(
        r#"
default = "lisa"
[namespaces]
"customer-1" = "lia"
"customer-*" = "lisa_olia"
[algorithm.lisa]
max_connections = 100
[algorithm.css]
settings = { con_ssthresh = 45 }
[users]
unlimited = ["root", 33, "1000-1999"]
connections = 2_048
[metrics]
listen = "[::1]:9710"
textfile = "/var/lib/lisa.prom"
"#,
    );
    assert_eq!(config.default.as_deref(), Some("lisa"));
    let names: Vec<&String> = config.algorithms.keys().collect();
    assert_eq!(names, ["css", "lia", "lisa", "lisa_olia"]);
    assert_eq!(config.algorithms["lisa"].max_connections, 100);
    let without_table = Options {
        users: config.algorithms["lisa"].users.clone(),
        ..Options::default()
    };
    assert_eq!(config.algorithms["lia"], without_table);
    let settings = &config.algorithms["css"].settings;
    assert_eq!(settings, &[("con_ssthresh".to_owned(), 45)]);
    for options in config.algorithms.values() {
        let ranges = options.users.unlimited.as_deref().expect("a list");
        let ranges: Vec<String> = ranges.iter().map(UserRange::to_string).collect();
        assert_eq!(ranges, ["0", "33", "1000-1999"]);
        assert_eq!(options.users.connections, Some(2048));
    }
    assert_eq!(config.metrics.listen, Some("[::1]:9710".parse().unwrap()));
    let textfile = config.metrics.textfile.as_deref();
    assert_eq!(textfile, Some(Path::new("/var/lib/lisa.prom")));
}

/// The first pattern that matches decides, in the order of the file.
#[test]
fn patterns_of_namespaces() {
    let config = good(
        "namespaces = { z = \"lia\", \"b[0-9]\" = \"olia\", \"b*\" = \"lisa\", \"*\" = \"css\" }",
    );
    for (name, algorithm) in [("z", "lia"), ("b7", "olia"), ("blue", "lisa"), ("a", "css")] {
        let rule = config.rule_of(name).expect(name);
        assert_eq!(rule.algorithm, algorithm, "{name}");
    }
    assert_eq!(good("").rule_of("blue"), None);
    let (line, text) = wrong("[namespaces]\n\"a[\" = \"lisa\"");
    assert_eq!(line, 2);
    assert!(text.contains("no pattern"), "{text}");
}

#[test]
fn unknown_keys_and_names() {
    for (text, line, words) in [
        (
            "\ndefualt = \"lisa\"",
            2,
            "`defualt`: no key `defualt`, do you mean `default`?; there are default, namespaces",
        ),
        ("[algoritm.lisa]", 1, "do you mean `algorithm`?"),
        ("bananas = 1", 1, "no key `bananas`; there are"),
        (
            "default = \"lissa\"",
            1,
            "`default`: no algorithm `lissa` (do you mean `lisa`?)",
        ),
        ("default = \"cubic\"", 1, "Linux's own"),
        (
            "[algorithm.lissa]\n",
            1,
            "`algorithm.lissa`: no algorithm `lissa`",
        ),
        ("[algorithm.a_name_of_sixteen]\n", 1, "at most 15"),
        (
            "[algorithm.lisa]\n\nmax_connection = 1",
            3,
            "`algorithm.lisa.max_connection`: no key `max_connection`, do you mean `max_connections`?",
        ),
        (
            "[algorithm.css]\nsettings = { con_sthresh = 1 }",
            2,
            "`algorithm.css.settings.con_sthresh`: no key `con_sthresh`, do you mean `con_ssthresh`?",
        ),
        (
            "[algorithm.lia]\nsettings = { x = 1 }",
            2,
            "no key is possible here",
        ),
        (
            "[namespaces]\nblue = \"lissa\"",
            2,
            "`namespaces.blue`: no algorithm `lissa`",
        ),
        ("[users]\nconnection = 1", 2, "do you mean `connections`?"),
        (
            "[metrics]\nlisten = \"127.0.0.1:1\"\nfile = \"/x\"",
            3,
            "no key `file`; there are listen, textfile",
        ),
    ] {
        let (found, message) = wrong(text);
        assert!(message.contains(words), "{message:?} has {words:?}");
        assert_eq!(found, line, "{text:?}: {message}");
    }
}

#[test]
fn wrong_values() {
    for (text, line, words) in [
        (
            "default = 1",
            1,
            "`default`: expected text in quotes, found a whole number",
        ),
        ("default = [\"lisa\"]", 1, "found a list"),
        (
            "namespaces = [\"blue\"]",
            1,
            "`namespaces`: expected a table, found a list",
        ),
        ("algorithm = \"lisa\"", 1, "expected a table, found text"),
        (
            "[algorithm.lisa]\nmax_connections = 0",
            2,
            "0 is out of range: 1 to 1048576",
        ),
        (
            "[algorithm.lisa]\nmax_connections = 1048577",
            2,
            "1048577 is out of range",
        ),
        (
            "[algorithm.lisa]\nmax_connections = -1",
            2,
            "-1 is out of range",
        ),
        (
            "[algorithm.lisa]\nmax_connections = 99999999999999999999999999999999999999999",
            2,
            "is out of range",
        ),
        (
            "[algorithm.lisa]\nmax_connections = 1.5",
            2,
            "expected a whole number, found a number with a point",
        ),
        (
            "[algorithm.css]\nsettings = { con_ssthresh = 4000000000 }",
            2,
            "`algorithm.css.settings.con_ssthresh`: ",
        ),
        ("[users]\nunlimited = \"root\"", 2, "expected a list"),
        (
            "[users]\nunlimited = [\n 0,\n \"no-such-user\"]",
            4,
            "`users.unlimited.1`: `no-such-user` is no user of this host",
        ),
        (
            "[users]\nunlimited = [\"9-8\"]",
            2,
            "the first user id is above the last",
        ),
        ("[users]\nunlimited = [-1]", 2, "out of range"),
        (
            "[users]\nunlimited = [true]",
            2,
            "expected a whole number, found true or false",
        ),
        (
            "[metrics]\nlisten = \"localhost\"",
            2,
            "an address and a port are needed",
        ),
        (
            "[metrics]\ntextfile = \"lisa.prom\"",
            2,
            "the full path of a file is needed",
        ),
        (
            "[metrics]\ntextfile = \"/\"",
            2,
            "the full path of a file is needed",
        ),
        ("\n\ndefault = lisa", 3, "not TOML: "),
        ("default = \"lisa\"\ndefault = \"lia\"", 2, "not TOML: "),
        ("default = \"a\\u001b[2J\"", 1, "no algorithm"),
    ] {
        let (found, message) = wrong(text);
        assert!(message.contains(words), "{message:?} has {words:?}");
        assert_eq!(found, line, "{text:?}: {message}");
        assert!(!message.contains(char::is_control), "{message:?}");
    }
}

/// An installed package changes nothing until the administrator edits the file.
#[test]
fn the_example_names_nothing() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/lisa.toml");
    let config = Config::read(Path::new(example)).expect("it is valid");
    assert!(config.algorithms.is_empty() && config.default.is_none());
    assert_eq!(config.metrics, Metrics::default());
    // Without the marks it is valid, too, and has every key.
    let text = fs::read_to_string(example).expect("the example");
    let uncommented = |line: &str| match line.strip_prefix('#') {
        Some(entry) if !entry.starts_with(' ') => entry.to_owned(),
        _ => line.to_owned(),
    };
    let text: String = text.lines().map(|l| uncommented(l) + "\n").collect();
    let config = good(&text);
    assert_eq!(config.namespaces.len(), 2);
    assert_eq!(config.algorithms.len(), 3);
    let users = &config.algorithms["convoy"].users;
    assert!(users.connections.is_some() && users.unlimited.is_some());
    assert!(config.metrics.listen.is_some() && config.metrics.textfile.is_some());
}

#[test]
fn files() {
    let folder = std::env::temp_dir().join(format!("lisa-config-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("lisa.toml");
    let message = || Config::read(&file).unwrap_err().to_string();
    let name = file.display().to_string();
    assert!(
        message().starts_with(&format!("{name}: No such file")),
        "{}",
        message()
    );
    fs::write(&file, "\ndefault = 1").unwrap();
    assert!(
        message().starts_with(&format!("{name}:2: `default`: ")),
        "{}",
        message()
    );
    fs::write(&file, b"default = \"\xff\"").unwrap();
    assert!(message().contains("not UTF-8 text"), "{}", message());
    fs::write(&file, vec![b'#'; MAX_BYTES as usize + 1]).unwrap();
    assert!(message().contains("longer than"), "{}", message());
    let message = Config::read(&folder).unwrap_err().to_string();
    assert!(message.contains("not a regular file"), "{message}");
    fs::remove_dir_all(&folder).unwrap();
}

/// Each key of the file with wrong values: an error at its line, which says what is allowed.
#[test]
fn wrong_values_of_all_keys() {
    const VALUES: [&str; 9] = [
        "\"\"",
        "\"wörd 日本\"",
        "-1",
        "99999999999999999999",
        "1.5",
        "[]",
        "{}",
        "true",
        "1979-05-27",
    ];
    const ALLOWED: [&str; 9] = [
        "expected ",
        "out of range",
        "there are ",
        "there is ",
        "no algorithm",
        "is needed",
        "are needed",
        "is no user",
        "is possible",
    ];
    for (table, keys) in [
        (
            "",
            &["default", "namespaces", "algorithm", "users", "metrics"][..],
        ),
        ("[namespaces]", &["blue", "\"[\""]),
        ("[algorithm]", &["lisa", "lissa"]),
        (
            "[algorithm.css]",
            &["max_connections", "settings", "setings"],
        ),
        ("[algorithm.css.settings]", &["con_ssthresh", "con"]),
        ("[users]", &["unlimited", "connections"]),
        ("[metrics]", &["listen", "textfile"]),
    ] {
        for key in keys {
            let mut refused = 0;
            for value in VALUES {
                let text = format!("# one\n{table}\n{key} = {value}\n");
                let Err(problem) = Config::parse(&text) else {
                    continue;
                };
                refused += 1;
                let shown = problem.to_string();
                assert_eq!(problem.line, Some(3), "{text}: {shown}");
                assert!(
                    !shown.contains('\n') && !shown.contains("digit"),
                    "{text}: {shown}"
                );
                let is_helpful = ALLOWED.iter().any(|words| shown.contains(words));
                let is_helpful = is_helpful || shown.contains("no pattern");
                assert!(is_helpful, "{text}: {shown}");
            }
            assert!(refused >= VALUES.len() - 2, "{table} {key}: {refused}");
        }
    }
}
