//! `lisa kernel status` and `doctor` on hosts with connections: schemas, throughputs, filters, widths.
//!
//! Needs root. Every test has hosts and a registration of its own.

mod support;

#[path = "watching/doctor.rs"]
mod doctor;
#[path = "watching/endpoints.rs"]
mod endpoints;
#[path = "../../scenario/tests/support/json_schema.rs"]
mod json_schema;
#[path = "watching/many.rs"]
mod many;
#[path = "watching/remedies.rs"]
mod remedies;
#[path = "watching/status.rs"]
mod status;

use serde_json::Value;
use std::fs;
use std::path::Path;

/// JSON that is valid by a published schema.
fn valid(json: &str, schema: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(schema);
    let schema: Value = serde_json::from_slice(&fs::read(path).expect("a schema")).expect("JSON");
    let value: Value = serde_json::from_str(json).expect("JSON");
    json_schema::validate(&value, &schema).unwrap_or_else(|place| panic!("{place}: {json}"));
    value
}

#[test]
#[ignore = "is run by the tests in the VM, there"]
fn guest() {
    doctor::in_guest();
}
