//! What the kernel refuses to load, on which the design rests: a subflow cannot write another's window.

use crate::skel::other_subflow::OtherSubflowSkelBuilder;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{ErrorKind, PrintLevel, set_print};
use lisa_kernel::requirements;
use std::{mem::MaybeUninit, sync::Mutex};

/// What libbpf and the verifier have said.
static SAID: Mutex<String> = Mutex::new(String::new());

/// Loads the operations whose `init` is this program, and no others: what the verifier said of a refusal.
fn load(program: &str) -> Result<(), (ErrorKind, String)> {
    SAID.lock().unwrap().clear();
    set_print(Some((PrintLevel::Warn, |_, words| {
        SAID.lock().unwrap().push_str(&words)
    })));
    let mut object = MaybeUninit::uninit();
    let mut open = OtherSubflowSkelBuilder::default()
        .open(&mut object)
        .unwrap();
    let mut found = false;
    for mut map in open.open_object_mut().maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        if let Some(init) = name.strip_prefix("ops_") {
            found |= init == program;
            map.set_autocreate(init == program).unwrap();
        }
    }
    assert!(found, "{program}");
    let loaded = open.load().map(drop);
    set_print(None);
    loaded.map_err(|error| (error.kind(), SAID.lock().unwrap().clone()))
}

#[test]
fn a_subflow_writes_itself_only() {
    if !crate::able() {
        return;
    }
    load("write_own").expect("a socket's own window may be written");

    let (kind, said) = load("write_address").expect_err("another's must not be");
    assert_eq!(kind, ErrorKind::PermissionDenied, "{said}");
    assert!(said.contains("invalid mem access 'scalar'"), "{said}");

    match load("write_typed") {
        Err((_, said)) => assert!(said.contains("only read is supported"), "{said}"),
        // Without bpf_rdonly_cast (before 6.2) nothing is left of the program.
        Ok(()) => assert!(
            requirements::version(&requirements::release()) < (6, 2),
            "another's window can be written: simplify cc/"
        ),
    }
}
