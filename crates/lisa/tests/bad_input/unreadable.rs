//! State of the kernel that cannot be read: too few file descriptors, /proc or /sys not mounted. No command takes it for missing,
//! damaged or another program's.

use super::*;

/// `lisa kernel …` in a shell, after these commands.
fn after(commands: &str, arguments: &str) -> Output {
    let mut shell = Command::new("unshare");
    let line = format!("{commands} && exec {LISA} kernel {arguments}");
    shell.args(["--mount", "sh", "-c", &line]);
    shell.output().expect("a shell")
}

/// Commands that read the state, and words of their output while `lisa` is loaded.
const READERS: [(&str, &str); 9] = [
    ("status", "lisa (linked slow start"),
    ("status --json", "\"name\":\"lisa\""),
    ("off", "`lisa` "),
    ("on", "`lisa` "),
    ("group", "no connection is open"),
    ("default", "this network namespace: "),
    ("default --off", "nothing to do: the default is "),
    ("default --off --all", "nothing to do: no network namespace"),
    ("exec lisa -- true", ""),
];

/// A failure is one line with these words, and advises nothing about what was not read.
fn says(output: &Output, words: &[&str], what: &str) {
    let line = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{what}: {line}");
    assert_eq!(line.lines().count(), 1, "{what}: {line}");
    assert!(
        words.iter().any(|words| line.contains(words)),
        "{what}: {line}"
    );
    for wrong in [
        "damaged",
        "bpftool",
        "not loaded",
        "no algorithm",
        "another program",
        "panicked",
    ] {
        assert!(!line.contains(wrong), "{what}: {line}");
    }
}

#[test]
fn few_file_descriptors() {
    let Some(turn) = Turn::take() else { return };
    good(lisa(&["load", "lisa"]));
    let loaded = Host::now();
    for limit in [4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 28, 32, 40, 48, 64, 128] {
        let shell = format!("ulimit -n {limit}");
        for (command, words) in READERS {
            let (output, what) = (after(&shell, command), format!("{command}, {limit}"));
            if output.status.success() {
                let said = String::from_utf8_lossy(&output.stdout);
                assert!(said.contains(words), "{what}: {said}");
            } else {
                says(&output, &["Too many open files"], &what);
            }
        }
        // All or nothing.
        let load = after(&shell, "load lia");
        if load.status.success() {
            good(lisa(&["unload", "lia"]));
        } else {
            says(&load, &["Too many open files"], &format!("load, {limit}"));
        }
        assert_eq!(Host::now(), loaded, "{limit}");
        let doctor = after(&shell, "doctor");
        if !doctor.status.success() {
            says(
                &doctor,
                &["Too many open files"],
                &format!("doctor, {limit}"),
            );
        }
        assert_eq!(doctor.status.success(), limit > 64, "{limit}");
    }
    good(lisa(&["unload", "lisa"]));
    turn.unchanged();
}

/// Other files are mounted over those of the kernel.
#[test]
fn files_of_the_kernel_are_hidden() {
    let Some(turn) = Turn::take() else { return };
    good(lisa(&["load", "lisa"]));
    let all = READERS.map(|(command, _)| command);
    let changes = ["load lia", "unload lisa", "doctor"];
    for (folder, words) in [
        (
            "/proc",
            "/proc is not mounted here; `mount -t proc proc /proc`",
        ),
        (
            "/sys",
            "/sys is not mounted here; `mount -t sysfs sysfs /sys`",
        ),
        ("/sys/kernel/btf", "/sys/kernel/btf/vmlinux"),
    ] {
        let shell = format!("mount -t tmpfs none {folder}");
        for command in all.iter().chain(&changes) {
            let (output, what) = (after(&shell, command), format!("{command}, {folder}"));
            // These need less.
            let works = ["off", "on", "group"].contains(command) && folder == "/proc";
            match works || *command == "exec lisa -- true" {
                true => assert!(output.status.success(), "{what}: {output:?}"),
                false if *command == "doctor" && folder == "/sys/kernel/btf" => {
                    let page = String::from_utf8_lossy(&output.stdout);
                    assert!(page.contains(words), "{page}");
                }
                false => says(&output, &[words], &what),
            }
        }
    }
    // Without these nothing is missing but the programs of `exec`.
    for folder in ["/sys/fs/bpf", "/sys/fs/cgroup"] {
        for (command, words) in READERS {
            let output = after(&format!("mount -t tmpfs none {folder}"), command);
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(
                output.status.success() && said.contains(words),
                "{command}, {folder}: {output:?}"
            );
        }
    }
    // Processes of other users are hidden.
    let output = after("mount -t proc -o hidepid=2 proc /proc", "status");
    assert!(output.status.success(), "{output:?}");
    good(lisa(&["unload", "lisa"]));
    turn.unchanged();
}
