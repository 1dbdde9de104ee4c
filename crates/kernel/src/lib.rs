#[allow(dead_code, missing_docs, unreachable_pub, clippy::all)]
pub mod contract {
    include!(concat!(env!("OUT_DIR"), "/contract.rs"));
}
mod skel { include!(concat!(env!("OUT_DIR"), "/lisa.skel.rs")); }
