//! Refusals of the verifier that the design relies on: a subflow cannot write another's window.

use crate::skel::other_subflow::OtherSubflowSkelBuilder;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{ErrorKind, PrintLevel, set_print};
use lisa_kernel::requirements;
use std::{mem::MaybeUninit, sync::Mutex};

/// Messages of libbpf and the verifier.
static MESSAGES: Mutex<String> = Mutex::new(String::new());

/// Loads the operations whose `init` is this program, and no others. The error has the messages of the verifier.
fn load(program: &str) -> Result<(), (ErrorKind, String)> {
    MESSAGES.lock().unwrap().clear();
    set_print(Some((PrintLevel::Warn, |_, message| {
        MESSAGES.lock().unwrap().push_str(&message)
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
    loaded.map_err(|error| (error.kind(), MESSAGES.lock().unwrap().clone()))
}

#[test]
fn a_subflow_writes_itself_only() {
    if !crate::able() {
        return;
    }
    load("write_own").expect("a socket's own window may be written");

    let (kind, message) = load("write_address").expect_err("another's must not be");
    assert_eq!(kind, ErrorKind::PermissionDenied, "{message}");
    assert!(message.contains("invalid mem access 'scalar'"), "{message}");

    match load("write_typed") {
        Err((_, message)) => {
            assert!(message.contains("only read is supported"), "{message}")
        }
        // Without bpf_rdonly_cast (before 6.2) the program is empty.
        Ok(()) => assert!(
            requirements::version(&requirements::release()) < (6, 2),
            "another's window can be written: simplify cc/"
        ),
    }
}
