//! Registrations of congestion controls that this program did not make.

use super::Folder;
use super::bpf::compile;
use libbpf_rs::{Link, MapCore, Object, ObjectBuilder};
use std::path::Path;

/// A registration, which ends when this is dropped. The link needs the object's descriptors until then.
pub struct Foreign {
    _link: Link,
    _object: Object,
}

/// Registers foreign.bpf.c, compiled with this definition.
pub fn register(folder: &Folder, define: &str) -> Foreign {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad_input/foreign.bpf.c");
    let path = compile(&source, folder, define);
    let object = ObjectBuilder::default().open_file(path).expect("an object");
    let mut object = object.load().expect("loads");
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
