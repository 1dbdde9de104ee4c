//! Compiles bpf/ and generates the types of its contract for Rust.

#[path = "../mpcc/build/bpf.rs"]
mod bpf;
#[path = "../mpcc/build/common.rs"]
mod common;

fn main() {
    for name in [
        "lisa",
        "requests",
        "agent_exit",
        "exec",
        "holders",
        "other_subflow",
    ] {
        bpf::compile(name);
    }
    println!("cargo:rustc-env=LISA_OBJECT={}", bpf::object_hash("lisa"));
    println!(
        "cargo:rustc-env=LISA_EXEC_OBJECT={:016x}",
        bpf::object_hash("exec")
    );
    let contract = common::root().join("bpf/contract.h");
    let patterns = [
        "(lisa|LISA)_.*",
        "mpcc_(phase|slot|connection|pair)",
        "MPCC_NO_GROUP",
    ];
    common::bindings(&contract, &patterns, "contract.rs");
}
