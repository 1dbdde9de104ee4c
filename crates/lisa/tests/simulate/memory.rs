//! Memory of commands with many runs.

use std::fs;
use std::process::Stdio;

use super::Place;

const SCENARIO: &str = include_str!("../../../../bench/kilobyte.toml");

/// Peak resident memory of a command that must succeed, bytes.
#[allow(clippy::zombie_processes)] // wait4 waits
fn memory(place: &Place, arguments: &str) -> i64 {
    let mut command = place.lisa(arguments);
    let child = command.stdout(Stdio::null()).spawn().unwrap();
    let mut status = 0;
    // SAFETY: all zeros are valid, and the pointers outlive the call.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        let waited = libc::wait4(child.id() as i32, &mut status, 0, &mut usage);
        assert_eq!(waited, child.id() as i32);
        usage
    };
    assert_eq!(status, 0, "{arguments}");
    usage.ru_maxrss * 1024
}

/// 60 000 further runs of one connection need less than 60 bytes each: the journal keeps 8 bytes of a run, the list of seeds 8, the
/// runs that are missing 4, and quantiles 8 for each transfer. With fewer runs the limit would be within chance: the peak includes the
/// pages of the program's file that the kernel maps, 0.7 MB more or less. bench/README.md has the memory of a million runs.
#[test]
fn memory_does_not_grow_with_the_runs() {
    let place = Place::new();
    fs::write(place.0.join("tiny.toml"), SCENARIO).unwrap();
    for command in ["sweep tiny.toml -a reno -o a.csv", "run tiny.toml -o b.csv"] {
        let of = |seeds: u32| {
            memory(
                &place,
                &format!("{command} --force --jobs 1 --seeds {seeds}"),
            )
        };
        let growth = of(62_000) - of(2000);
        assert!(growth < 60 * 60_000, "{command}: {growth} bytes");
    }
    let plot = |file: &str| memory(&place, &format!("plot {file} -o a.svg --force"));
    // A figure keeps a seed and a value of 8 bytes each for a row; a vector may have twice the space.
    place.good("run tiny.toml --seeds 2000 -o few.csv");
    let growth = plot("b.csv") - plot("few.csv");
    assert!(growth < 100 * 60_000, "plot: {growth} bytes");
}
