//! The table of metrics in docs/glossary.md is that of the program. `UPDATE_GLOSSARY=1 cargo test -p lisa-scenario --test glossary`
//! writes it after a change of the metrics or of the outcome's schema.

use std::fs;
use std::path::Path;

use lisa_scenario::metrics;
use serde_json::Value;

const BEGIN: &str =
    "<!-- measured: UPDATE_GLOSSARY=1 cargo test -p lisa-scenario --test glossary -->\n";
const END: &str = "<!-- end -->";

/// Metrics that are computed from the connections of a run, and so have no field in an outcome.
const COMPUTED: [(&str, &str); 2] = [
    (
        "share",
        "The connection's goodput over the sum of the goodputs of all connections of the run.",
    ),
    (
        "jain_index",
        "Jain's fairness index over the goodputs of all connections of the run.",
    ),
];

/// The table, from the list of metrics and the descriptions of the schema.
fn table(schema: &Value) -> String {
    let mut table =
        String::from("\n| metric | in tables | unit | meaning |\n| --- | --- | --- | --- |\n");
    for metric in metrics::all() {
        let parts: &[&str] = match metric.key.split_once('.') {
            Some(("subflows", _)) => &["SubflowOutcome"],
            Some(("links", _)) => &["LinkOutcome"],
            _ => &["ConnectionOutcome", "Transfers"],
        };
        let mut described = parts.iter().filter_map(|part| {
            schema["$defs"][part]["properties"][metric.field()]["description"].as_str()
        });
        let computed = COMPUTED.iter().find(|(key, _)| *key == metric.key);
        let meaning = match (described.next(), computed) {
            // Links of rustdoc lead nowhere here.
            (Some(text), _) => match text.replace('\n', " ").split_once(" ([`") {
                Some((before, link)) => {
                    format!(
                        "{before}{}",
                        link.split_once("))").map_or("", |(_, rest)| rest)
                    )
                }
                None => text.replace('\n', " "),
            },
            (None, Some((_, text))) => (*text).into(),
            (None, None) => panic!(
                "docs/outcome.schema.json has no description of `{}`",
                metric.key
            ),
        };
        table += &format!(
            "| `{}` | {} | {} | {meaning} |\n",
            metric.key, metric.title, metric.unit
        );
    }
    table + "\n"
}

#[test]
fn every_metric_is_in_the_glossary() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let schema = fs::read_to_string(docs.join("outcome.schema.json")).expect("the schema");
    let schema = serde_json::from_str(&schema).expect("JSON");
    let page = docs.join("glossary.md");
    let text = fs::read_to_string(&page).expect("the page");
    let (before, rest) = text.split_once(BEGIN).expect("the start of the table");
    let (old, after) = rest.split_once(END).expect("the end of the table");
    let new = table(&schema);
    if std::env::var_os("UPDATE_GLOSSARY").is_some() {
        fs::write(&page, format!("{before}{BEGIN}{new}{END}{after}")).expect("the page");
        return;
    }
    assert_eq!(
        old, new,
        "docs/glossary.md has another table: UPDATE_GLOSSARY=1 writes this one"
    );
}
