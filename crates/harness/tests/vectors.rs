//! The worked examples in native code.

use mpcc_harness::{Native, vectors};

#[test]
fn worked_examples() {
    let vectors = vectors::all();
    let failures: Vec<String> = vectors
        .iter()
        .filter_map(|vector| vector.run(&mut Native).err())
        .collect();
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    assert!(vectors.len() > 30);
}
