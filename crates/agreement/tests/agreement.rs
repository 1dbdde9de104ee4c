//! The simulator compared with the record of the kernel, and the record compared with the kernel.

use std::path::Path;
use std::process::Command;

/// Whether the record exists. Prints the reason of a skip if it does not.
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

/// The error of the program, if it fails, and its output.
fn agreement(task: &str) -> (Option<String>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_agreement"))
        .arg(task)
        .output()
        .unwrap();
    let [printed, error] =
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    ((!output.status.success()).then_some(error), printed)
}

#[test]
fn the_simulator_agrees_with_the_record() {
    if recorded() {
        let (error, printed) = agreement("check");
        print!("{printed}");
        assert_eq!(error, None);
    }
}

#[test]
fn the_kernel_agrees_with_the_record() {
    if !recorded() {
        return;
    }
    let (error, printed) = agreement("again");
    print!("{printed}");
    match error {
        Some(why) if why.contains("no kernel for the VM") || why.contains("no qemu") => {
            eprintln!("skipped: {why}");
        }
        error => assert_eq!(error, None),
    }
}
