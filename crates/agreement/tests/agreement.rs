//! The simulator against what is recorded of the kernel, and that record against the kernel.

use std::path::Path;
use std::process::Command;

/// Whether there is a record; says where not.
fn recorded() -> bool {
    let record = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../experiments/agreement/linux-6.12.csv"
    );
    let there = Path::new(record).exists();
    if !there {
        eprintln!("skipped: no record of the kernel: `make agreement` measures it");
    }
    there
}

/// What the program complains of, if it does, and what it prints.
fn agreement(task: &str) -> (Option<String>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_agreement"))
        .arg(task)
        .output()
        .unwrap();
    let [said, complaint] =
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    ((!output.status.success()).then_some(complaint), said)
}

#[test]
fn the_simulator_is_as_the_kernel_was() {
    if recorded() {
        let (complaint, said) = agreement("check");
        print!("{said}");
        assert_eq!(complaint, None);
    }
}

#[test]
fn the_kernel_is_as_it_was() {
    if !recorded() {
        return;
    }
    let (complaint, said) = agreement("again");
    print!("{said}");
    match complaint {
        Some(why) if why.contains("no kernel for the VM") || why.contains("no qemu") => {
            eprintln!("skipped: {why}");
        }
        complaint => assert_eq!(complaint, None),
    }
}
