//! Wrong values of all keys, which the parser itself lists: each error is one line with file, line, key and what is allowed. And each
//! key is documented.

use lisa_scenario::{Scenario, units};

/// A table of a scenario, with the lines around it.
struct Table {
    /// Lines before the entries; the last one is the table's head.
    before: &'static str,
    /// Entries without which another key would be missing.
    entries: &'static [(&'static str, &'static str)],
    /// Lines after the entries.
    after: &'static str,
}

const CONNECTION: &str = "[[connection]]\nprotocol = \"mptcp\"\nbytes = \"1KB\"\n";
macro_rules! topology {
    ($head:literal) => {
        concat!(
            "stop = \"9s\"\n[topology]\nkind = \"shared-bottleneck\"\nrtt = \"40ms\"\n",
            $head
        )
    };
}

macro_rules! connection {
    ($($line:literal),*) => {
        concat!(
            "stop = \"9s\"\n[topology]\nkind = \"shared-bottleneck\"\nrate = \"5Mbit\"\nrtt = \"40ms\"\nqueue = 9\n",
            "[[connection]]\n", $($line, "\n"),*
        )
    };
}

const NSFNET: &str = "\"../../experiments/topologies/Nsfnet.gml\"";
const ON_MAP: &str = "[[connection]]\nfrom = \"0\"\nto = \"4\"\nbytes = 1\n";
macro_rules! map {
    ($head:literal) => {
        concat!(
            "stop = \"9s\"\n[topology]\nkind = \"gml\"\nfile = \"../../experiments/topologies/Nsfnet.gml\"\n",
            "rate = \"5Mbit\"\nqueue = 9\n",
            $head
        )
    };
}

#[rustfmt::skip]
const TABLES: &[Table] = &[
    Table { before: "", entries: &[("stop", "\"9s\""), ("topology", "{ kind = \"shared-bottleneck\", rate = \"5Mbit\", rtt = \"40ms\", queue = 9 }"), ("connection", "[{ bytes = 9 }]")], after: "" },
    Table { before: "stop = \"9s\"\n[topology]\n", entries: &[("kind", "\"shared-bottleneck\""), ("rate", "\"5Mbit\""), ("rtt", "\"40ms\""), ("queue", "9")], after: CONNECTION },
    Table { before: "stop = \"9s\"\n[topology]\n", entries: &[("kind", "\"non-shared-bottleneck\""), ("rate", "\"5Mbit\""), ("rtt", "\"40ms\""), ("queue", "9")], after: CONNECTION },
    Table { before: "stop = \"9s\"\n[topology]\n", entries: &[("kind", "\"fat-tree\""), ("k", "4"), ("rate", "\"5Mbit\""), ("delay", "\"1ms\""), ("queue", "9")], after: "[[connection]]\npattern = \"permutation\"\nbytes = 1\n" },
    Table { before: "stop = \"9s\"\n[topology]\n", entries: &[("kind", "\"scenario-a\""), ("n1", "2"), ("n2", "2"), ("c1", "\"5Mbit\""), ("c2", "\"5Mbit\""), ("rtt", "\"9ms\"")], after: "[[connection]]\npaths = \"type1\"\nbytes = 1\n" },
    Table { before: "stop = \"9s\"\n[topology]\n", entries: &[("kind", "\"scenario-b\""), ("users", "2"), ("cx", "\"5Mbit\""), ("cy", "\"5Mbit\""), ("cz", "\"5Mbit\""), ("ct", "\"5Mbit\""), ("rtt", "\"9ms\"")], after: "[[connection]]\npaths = \"blue\"\nbytes = 1\n" },
    Table { before: "stop = \"9s\"\n[topology]\n", entries: &[("kind", "\"scenario-c\""), ("n1", "2"), ("n2", "2"), ("c1", "\"5Mbit\""), ("c2", "\"5Mbit\""), ("rtt", "\"9ms\"")], after: "[[connection]]\npaths = \"multipath\"\nbytes = 1\n" },
    Table { before: "stop = \"9s\"\n[topology]\n", entries: &[("kind", "\"graph\""), ("hosts", "[\"a\", \"b\"]"), ("link", "[{ from = \"a\", to = \"b\" }]")], after: "[[connection]]\nfrom = \"a\"\nto = \"b\"\nbytes = 1\n" },
    Table { before: "stop = \"9s\"\n[topology]\nkind = \"graph\"\nhosts = [\"a\", \"b\"]\n[[topology.link]]\n", entries: &[("from", "\"a\""), ("to", "\"b\"")], after: "[[connection]]\nfrom = \"a\"\nto = \"b\"\nbytes = 1\n" },
    Table { before: "stop = \"9s\"\n[topology]\n", entries: &[("kind", "\"gml\""), ("file", NSFNET), ("rate", "\"5Mbit\""), ("delay", "\"1ms\""), ("queue", "9")], after: ON_MAP },
    Table { before: map!("delay = \"1ms\"\n[[topology.change]]\n"), entries: &[("between", "[\"4\", \"12\"]")], after: ON_MAP },
    Table { before: map!("[topology.delay]\n"), entries: &[("per_km", "\"5us\"")], after: ON_MAP },
    Table { before: map!("delay = \"1ms\"\n[[connection]]\n"), entries: &[("from", "\"0\""), ("to", "\"4\""), ("routing", "\"k-shortest\""), ("protocol", "\"mptcp\"")], after: "" },
    Table { before: topology!("rate = \"5Mbit\"\n[topology.queue]\n"), entries: &[("kind", "\"droptail\""), ("packets", "9")], after: CONNECTION },
    Table { before: topology!("rate = \"5Mbit\"\n[topology.queue]\n"), entries: &[("kind", "\"red\"")], after: CONNECTION },
    Table { before: topology!("rate = \"5Mbit\"\n[topology.queue]\n"), entries: &[("kind", "\"red\""), ("min", "5"), ("max", "9"), ("max_p", "0.1")], after: CONNECTION },
    Table { before: topology!("rate = \"5Mbit\"\n[topology.queue]\n"), entries: &[("kind", "\"codel\"")], after: CONNECTION },
    Table { before: topology!("rate = \"5Mbit\"\n[topology.queue]\n"), entries: &[("kind", "\"fq-codel\"")], after: CONNECTION },
    Table { before: topology!("rate = \"5Mbit\"\n[topology.queue]\n"), entries: &[("kind", "\"pie\"")], after: CONNECTION },
    Table { before: topology!("queue = 9\n[topology.rate]\n"), entries: &[("trace", "\"none\"")], after: CONNECTION },
    Table { before: topology!("rate = \"5Mbit\"\nqueue = 9\n[topology.loss]\n"), entries: &[("enter", "0.1"), ("leave", "0.1"), ("bad", "0.1"), ("good", "0.1")], after: CONNECTION },
    Table { before: topology!("rate = \"5Mbit\"\nqueue = 9\n[topology.reorder]\n"), entries: &[("share", "0.1"), ("delay", "\"1ms\"")], after: CONNECTION },
    Table { before: topology!("rate = \"5Mbit\"\n[topology.queue]\n"), entries: &[("kind", "\"policer\""), ("rate", "\"2Mbit\""), ("burst", "9000")], after: CONNECTION },
    Table { before: "stop = \"9s\"\n[topology]\n", entries: &[("kind", "\"shared-bottleneck\""), ("rtt", "\"9ms\""), ("rate", "\"5Mbit\""), ("queue", "9"), ("jitter", "\"1ms\"")], after: CONNECTION },
    Table { before: topology!("rate = \"5Mbit\"\nqueue = 9\n[topology.down]\n"), entries: &[("from", "\"1s\"")], after: CONNECTION },
    Table { before: topology!("rate = \"5Mbit\"\nqueue = 9\n[topology.access]\n"), entries: &[("rate", "\"9Mbit\""), ("delay", "\"1ms\""), ("queue", "9")], after: CONNECTION },
    Table { before: connection!(), entries: &[("protocol", "\"mptcp\""), ("bytes", "9")], after: "" },
    Table { before: connection!("[connection.requests]"), entries: &[("count", "2"), ("bytes", "9"), ("gap", "\"1s\"")], after: "" },
    Table { before: connection!("bytes = 9", "[connection.arrivals]"), entries: &[("count", "2"), ("gap", "\"1s\"")], after: "" },
    Table { before: connection!("bytes = 9", "[connection.arrivals]"), entries: &[("count", "2"), ("load", "0.5")], after: "" },
    Table { before: connection!("[connection.bytes]"), entries: &[("mean", "9")], after: "" },
    Table { before: connection!("[connection.bytes]"), entries: &[("from", "9"), ("to", "10")], after: "" },
    Table { before: connection!("rate = \"1Mbit\"", "off = \"1s\"", "[connection.on]"), entries: &[("mean", "\"1s\"")], after: "" },
    Table { before: connection!("bytes = 9", "[connection.start]"), entries: &[("from", "\"1s\""), ("to", "\"2s\"")], after: "" },
    Table { before: connection!("protocol = \"mptcp\"", "[connection.regroup]"), entries: &[("at", "\"1s\""), ("groups", "[0, 1]")], after: "" },
    Table { before: connection!("protocol = \"mptcp\"", "algorithm = \"css\"", "[connection.settings]"), entries: &[("con_ssthresh", "45")], after: "" },
];

const WRONG: [&str; 11] = [
    "\"wörd 日本\"",
    "\"\"",
    "\"a\\nb\"",
    "-1",
    "0",
    "99999999999999999999999999",
    "nan",
    "[]",
    "{}",
    "true",
    "1979-05-27",
];

/// Words that say what is allowed.
#[rustfmt::skip]
const ALLOWED: &[&str] = &[
    "expected ", "out of range: ", "there are ", "there is ", "write ", "units are", "a name has ", "a title has ", "add one like", "add a ", "must ", "needs ",
    "need a ", "only for ", "not for ", "use ", "possible", "has one of", "at least", "a path ", "not both", ": 0 to 1, or ", " like ",
    "is relative to the folder", "has no reverse direction", "has one value", "no link is connected",
];

impl Table {
    /// The scenario with this entry instead of another of its key, and the entry's line.
    fn with(&self, key: &str, value: &str) -> (String, usize) {
        let mut text = self.before.to_string();
        for (known, value) in self.entries.iter().filter(|(known, _)| *known != key) {
            text += &format!("{known} = {value}\n");
        }
        let line = text.lines().count() + 1;
        text += &format!("{key} = {value}\n{}", self.after);
        (text, line)
    }

    /// The keys of the table, from the error of an unknown one.
    fn keys(&self) -> Vec<String> {
        let (text, _) = self.with("zzzzzzzz", "1");
        let error = Scenario::parse(&text, "a.toml")
            .expect_err("an unknown key")
            .to_string();
        let (_, keys) = error
            .split_once("; there are ")
            .or_else(|| error.split_once("; there is "))
            .unwrap_or_else(|| panic!("{error}\n{text}"));
        keys.split(", ").map(Into::into).collect()
    }
}

#[test]
fn a_wrong_value_of_any_key_is_one_line_with_place_and_remedy() {
    let (mut refused, mut poor) = (0, Vec::new());
    for table in TABLES {
        for key in table.keys() {
            for value in WRONG {
                let (text, line) = table.with(&key, value);
                let Err(error) = Scenario::parse(&text, "a.toml") else {
                    continue;
                };
                refused += 1;
                let shown = error.to_string();
                let place = format!("a.toml:{line}: `");
                let named =
                    shown.starts_with(&place) && error.key.split('.').any(|part| part == key);
                let elsewhere = shown.starts_with("a.toml:") && !error.key.is_empty();
                let helpful = ALLOWED.iter().any(|words| shown.contains(words));
                let foreign = ["digit", "Err(", "panicked"];
                let foreign = foreign.iter().any(|words| error.problem.contains(words));
                if shown.contains('\n') || !(named || elsewhere) || !helpful || foreign {
                    poor.push(format!("{key} = {value}: {shown}"));
                }
            }
        }
    }
    assert!(
        poor.is_empty(),
        "{} of {refused}:\n{}",
        poor.len(),
        poor.join("\n")
    );
    assert!(refused > 1500, "{refused}");
}

/// Values of a wrong type, of keys of the table itself, are errors of this key at its line.
#[test]
fn a_value_of_no_possible_type_is_refused_at_its_line() {
    for table in TABLES {
        for key in table.keys() {
            let (text, line) = table.with(&key, "1979-05-27");
            let error = Scenario::parse(&text, "a.toml").expect_err(&key);
            let shown = error.to_string();
            let own = shown.starts_with(&format!("a.toml:{line}: `")) && error.key.ends_with(&key);
            // Another key excludes this one, or this one another.
            let excluded = [
                "not both",
                "only for",
                "has one of",
                "not for",
                "use one of",
                "`on` and `off`",
                "is missing",
            ];
            assert!(
                own || excluded.iter().any(|words| shown.contains(words)),
                "{key}: {shown}\n{text}"
            );
        }
    }
}

#[test]
fn every_key_is_documented() {
    let text = include_str!("../../../docs/scenario.md");
    let code: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    for table in TABLES {
        for key in table.keys() {
            let known = code
                .iter()
                .any(|code| code.split(|c| !is_word(c)).any(|word| word == key));
            assert!(known, "docs/scenario.md has no `{key}`");
        }
    }
    // The units of the parser, too.
    let error = units::parse_time("1x").unwrap_err();
    let (_, names) = error.split_once("units are ").expect("the units");
    for unit in names.split(", ").filter(|unit| *unit != "µs") {
        assert!(text.contains(unit), "{unit}");
    }
}
