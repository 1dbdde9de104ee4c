//! Options that MPTCP sockets refuse, on the running kernel and on those in the VM: each is tried on real sockets, and the answers are
//! those of the table in docs/options.md.
//!
//! `UPDATE_OPTIONS=1 cargo test -p lisa --test options` writes the table. Needs root.

mod support;

#[path = "options/list.rs"]
mod list;
#[path = "options/page.rs"]
mod page;
#[path = "options/probe.rs"]
mod probe;

use lab::{Namespace, Vm};
use list::OPTIONS;
use probe::answer_of;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use support::vm::{GUEST, answer, fetched, set_loopback, vmlinuz};

/// Limit on the guest's clock.
const WITHIN: Duration = Duration::from_secs(60);

/// What a kernel answers: a cell of the table for each of [`OPTIONS`].
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Column {
    /// Version of the kernel, as `6.18`.
    linux: String,
    cells: Vec<String>,
}

fn examine() -> Column {
    let (major, minor) = kernel::requirements::version(&kernel::requirements::release());
    let host = Namespace::new().expect("a network namespace");
    host.run(|| {
        set_loopback(true);
        Column {
            linux: format!("{major}.{minor}"),
            cells: OPTIONS.iter().map(answer_of).collect(),
        }
    })
}

#[test]
#[ignore = "is run by the tests in the VM, there"]
fn guest() {
    support::vm::guest(|(): ()| examine());
}

fn in_vm(version: &str) {
    let Some(kernel) = fetched(version) else {
        return;
    };
    let vm = Vm::new(Some(&vmlinuz(&kernel)), Arc::default());
    let column = vm.and_then(|vm| vm.call(GUEST, &(), WITHIN));
    if let Some(column) = answer::<Column>(version, column) {
        assert_eq!(column.linux, version);
        page::compare(&column);
    }
}

#[test]
fn linux_6_1() {
    in_vm("6.1");
}

#[test]
fn linux_6_12() {
    in_vm("6.12");
}

#[test]
fn linux_7_3() {
    in_vm("7.3");
}

#[test]
fn this_linux() {
    match lab::check() {
        Ok(()) => page::compare(&examine()),
        Err(error) => eprintln!("skipped: {error}"),
    }
}

#[test]
fn the_help_of_exec_names_the_table() {
    let help = support::turn::good(support::turn::lisa(&["exec", "--help"]));
    for word in ["TCP_MD5SIG", "TCP_ULP", "docs/options.md"] {
        assert!(help.contains(word), "{word}: {help}");
    }
}
