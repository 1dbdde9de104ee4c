//! Registrations of congestion controls that this program did not make.

use super::Folder;
use super::bpf::compile;
use libbpf_rs::{Link, MapCore, Object, ObjectBuilder};
use std::fs;
use std::path::Path;

/// A registration, which ends when this is dropped. The link needs the object's descriptors until then.
pub struct Foreign {
    _link: Link,
    _object: Object,
}

/// Registers foreign.bpf.c, compiled with this definition.
pub fn register(folder: &Folder, define: &str) -> Foreign {
    register_object(&compiled(folder, define))
}

/// foreign.bpf.c, compiled with this definition.
pub fn compiled(folder: &Folder, define: &str) -> Vec<u8> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad_input/foreign.bpf.c");
    fs::read(compile(&source, folder, define)).expect("an object")
}

/// Registers such an object.
pub fn register_object(object: &[u8]) -> Foreign {
    let object = ObjectBuilder::default().open_memory(object);
    let mut object = object.expect("an object").load().expect("loads");
    let mut operations = object
        .maps_mut()
        .find(|map| map.name() == "lisa")
        .expect("operations");
    let link = operations.attach_struct_ops().expect("registers");
    Foreign {
        _link: link,
        _object: object,
    }
}
