//! A full disk ends a command with one line, and leaves no file of the name that was asked for, nor anything that prevents the same
//! command once there is room.

use super::{Place, complaint};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Output};

/// Commands that write files, each in an empty folder. The parent folder has the scenario and a table.
const WRITING: [&str; 14] = [
    "run ../small.toml --pcap out",
    "run ../small.toml --trace out",
    "run ../small.toml --trace out --trace-format csv",
    "run ../small.toml --trace out --sample 10ms",
    "run ../small.toml -o rows.csv",
    "run ../small.toml -o rows.parquet",
    "run ../small.toml --plot windows.svg",
    "compare ../small.toml -a lia,lisa --plot windows.png",
    "sweep ../small.toml --vary bottleneck.queue=3,5 -o rows.csv",
    "show ../small.toml --plot network.svg",
    "plot ../rows.csv -o bars.svg",
    "new shared-bottleneck -o new.toml",
    "reproduce lisa/fig6a --seeds 1 --no-causes --cache ../cache -o .",
    "man .",
];

/// Runs a script of the shell in the folder `disk`, a file system of its own with this many KB. `lisa` is the program. None: this user
/// may not mount one.
fn on_a_disk(place: &Place, kilobytes: u32, script: &str) -> Option<Output> {
    fs::create_dir_all(place.0.join("disk")).unwrap();
    let mount = format!("mount -t tmpfs -o size={kilobytes}k lisa disk && cd disk || exit 77");
    let script = format!(
        "{mount}; lisa() {{ '{}' \"$@\"; }}; {script}",
        env!("CARGO_BIN_EXE_lisa")
    );
    let mut shell = Command::new("unshare");
    shell.args(["--map-root-user", "--mount", "sh", "-c", &script]);
    let output = shell.current_dir(&*place.0).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(77) || said.starts_with("unshare: ") {
        eprintln!("skipped: no file system of its own: {said}");
        return None;
    }
    Some(output)
}

/// The one line beside warnings about the runs: the file and the reason.
fn refusal(output: &Output) {
    let said = String::from_utf8_lossy(&output.stderr);
    let lines = said.split_inclusive('\n');
    let alone: String = lines
        .filter(|line| !line.starts_with("warning: "))
        .collect();
    let line = complaint(
        &Output {
            stderr: alone.into(),
            ..output.clone()
        },
        1,
    );
    let is_plain = line.contains(": No space left on device") && !line.contains("External");
    assert!(is_plain, "{line}");
}

#[test]
fn no_file_has_its_name() {
    let place = Place::new();
    place.good("run small.toml -o rows.csv");
    for command in WRITING {
        let script = format!(
            "head -c 1M /dev/zero >filler 2>/dev/null; lisa {command} >/dev/null; code=$?; \
             find . -type f ! -name filler; exit $code"
        );
        let Some(output) = on_a_disk(&place, 64, &script) else {
            return;
        };
        refusal(&output);
        let left = String::from_utf8_lossy(&output.stdout);
        assert_eq!(left, "", "left by {command}");
    }
}

/// The journal keeps the runs that fitted, and the table is that of a sweep with room.
#[test]
fn a_sweep_continues_when_there_is_room() {
    let place = Place::new();
    let sweep = "sweep ../small.toml --vary bottleneck.queue=1..30 -o rows.csv";
    // A record has about 1 KB, the table at most 8 KB.
    let script = format!(
        "lisa {sweep} >/dev/null; echo $?; ls; mount -o remount,size=4M .; lisa {sweep} --resume >/dev/null; echo $?; ls; \
         cat rows.csv >../full.csv"
    );
    let Some(output) = on_a_disk(&place, 16, &script) else {
        return;
    };
    refusal(&Output {
        status: ExitStatus::from_raw(1 << 8), // of the first command; the script's is that of the last
        ..output.clone()
    });
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(printed, "1\nrows.csv.part\n0\nrows.csv\n");
    fs::create_dir(place.0.join("room")).unwrap();
    let mut whole = place.lisa(sweep);
    assert!(
        whole
            .current_dir(place.0.join("room"))
            .output()
            .unwrap()
            .status
            .success()
    );
    let read = |file: &str| fs::read(place.0.join(file)).unwrap();
    assert!(read("full.csv") == read("room/rows.csv"));
}
