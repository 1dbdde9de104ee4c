//! The published schemas of `status --json` and `doctor --json`: equal to the schemas of the types. (Tests of the program validate
//! its output.)
//!
//! `UPDATE_SCHEMA=1 cargo test -p lisa-kernel --test schema` writes the files after a change of the types. A change that affects
//! readers of older output raises `status::SCHEMA` or `doctor::SCHEMA`.

use std::fs;
use std::path::Path;

use lisa_kernel::{doctor, status};
use serde_json::Value;

#[path = "../../scenario/tests/support/json_schema.rs"]
mod json_schema;

fn published(file: &str, id: &str, schema: schemars::Schema) -> Value {
    let mut schema = schema.to_value();
    schema["$id"] = id.into();
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(file);
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        fs::write(&path, &text).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == text,
        "docs/{file} differs from the schema of the types: UPDATE_SCHEMA=1 writes it"
    );
    schema
}

#[test]
fn the_published_schemas_are_those_of_the_types() {
    let schema = schemars::schema_for!(status::Report);
    published("kernel-status.schema.json", status::SCHEMA, schema);
    let schema = schemars::schema_for!(doctor::Report);
    let schema = published("kernel-doctor.schema.json", doctor::SCHEMA, schema);
    let report = serde_json::to_value(doctor::examine(None, &mut |_| ()).unwrap()).unwrap();
    json_schema::validate(&report, &schema).unwrap();
}

/// Every value, also those that are rare: a status without its usual gaps.
#[test]
fn a_full_status_is_valid() {
    let schema = schemars::schema_for!(status::Report).to_value();
    let status = status::Status {
        owner_pid: Some(7),
        connections: vec![status::Connection::default()],
        ..status::Status::default()
    };
    let report = status::Report {
        schema: status::SCHEMA,
        algorithms: vec![status],
    };
    let report = serde_json::to_value(report).unwrap();
    json_schema::validate(&report, &schema).unwrap();
    // The check can fail.
    let mut wrong = report.clone();
    wrong["algorithms"][0]["cwnd"] = 1.into();
    assert!(json_schema::validate(&wrong, &schema).is_err());
}
