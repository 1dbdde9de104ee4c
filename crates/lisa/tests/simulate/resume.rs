//! Sweeps that are killed and resumed, and sweeps in parts.

use super::Place;
use std::fs;
use std::process::{Child, Stdio};

/// Size of a file; 0 if there is none.
fn size(place: &Place, file: &str) -> u64 {
    fs::metadata(place.0.join(file)).map_or(0, |data| data.len())
}

/// Starts a sweep, waits until its journal has grown, and kills it with SIGKILL. Returns whether the sweep was killed.
pub(super) fn start_and_kill(place: &Place, sweep: &str, journal: &str) -> bool {
    let before = size(place, journal);
    let mut command = place.lisa(sweep);
    let command = command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child: Child = command.spawn().unwrap();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{sweep}: {status}");
            return false;
        }
        if size(place, journal) > before + 5000 {
            child.kill().unwrap();
            child.wait().unwrap();
            return true;
        }
        std::thread::yield_now();
    }
}

/// 2000 runs in three parts, each killed with SIGKILL and resumed, five times in all: the rows are those of one sweep.
#[test]
fn a_killed_sweep_goes_on() {
    let place = Place::new();
    let sweep = "sweep small.toml --vary bottleneck.queue=5..29 -a lia,lisa --seeds 40";
    place.good(&format!("{sweep} -o whole.csv"));
    let mut killed = 0;
    let mut rows = Vec::new();
    let mut heading = String::new();
    for (part, kills) in [(1, 2), (2, 2), (3, 1)] {
        let (file, journal) = (format!("{part}.csv"), format!("{part}.csv.part"));
        let sweep = format!("{sweep} --shard {part}/3 -o {file} --resume");
        for _ in 0..kills {
            killed += usize::from(start_and_kill(&place, &sweep, &journal));
            assert!(!place.0.join(&file).exists());
        }
        place.good(&sweep);
        assert!(!place.0.join(&journal).exists());
        let csv = String::from_utf8(place.read(&file)).unwrap();
        let mut lines = csv.lines();
        heading = lines.next().unwrap().into();
        rows.extend(lines.map(String::from));
    }
    assert_eq!(killed, 5);
    let whole = String::from_utf8(place.read("whole.csv")).unwrap();
    let mut lines: Vec<&str> = whole.lines().skip(1).collect();
    assert_eq!(lines.len(), 4000);
    lines.sort_unstable();
    rows.sort_unstable();
    assert_eq!(Some(heading.as_str()), whole.lines().next());
    assert!(
        rows == lines,
        "rows of the parts differ from those of the whole"
    );
}

/// Tables and JSON of a resumed sweep are those of one that was not killed.
#[test]
fn a_resumed_sweep_prints_and_writes_the_same() {
    let place = Place::new();
    let sweep = "sweep small.toml --vary bottleneck.queue=5..29 --seeds 20";
    let json = place.good(&format!("{sweep} --json -o whole.parquet --jobs 1"));
    let table = place.good(sweep);
    let resumed = format!("{sweep} -o rows.parquet --resume");
    assert!(start_and_kill(&place, &resumed, "rows.parquet.part"));
    assert_eq!(place.good(&format!("{resumed} --json --jobs 2")), json);
    assert!(place.read("rows.parquet") == place.read("whole.parquet"));
    let again = format!("{sweep} -o again.csv --resume");
    assert!(start_and_kill(&place, &again, "again.csv.part"));
    let without_time = |text: &str| text[..text.rfind("500 runs in").unwrap()].to_owned();
    assert_eq!(without_time(&place.good(&again)), without_time(&table));
}

#[test]
fn another_sweep_does_not_resume() {
    let place = Place::new();
    let sweep = "sweep small.toml --vary bottleneck.queue=5..29 --seeds 4000";
    assert!(start_and_kill(
        &place,
        &format!("{sweep} -o a.csv"),
        "a.csv.part"
    ));
    for (arguments, words) in [
        (
            format!("{sweep} -o a.csv"),
            "a.csv.part has the runs of an unfinished sweep: --resume continues",
        ),
        (
            format!("{sweep} -o a.csv --resume --set stop=9s"),
            "--set ``, not `stop=9s`; --force begins anew",
        ),
        (
            format!("{sweep} -o a.csv --resume --shard 1/2"),
            "--shard `1/1`, not `1/2`",
        ),
        (
            format!("{sweep} -o a.csv --resume --rows link"),
            "other columns",
        ),
        (
            sweep.replace("4000", "3999") + " -o a.csv --resume",
            "other --seeds",
        ),
    ] {
        let wrong = place.bad(&arguments, 1);
        assert!(wrong.contains(words), "{wrong}");
    }
    fs::write(
        place.0.join("small.toml"),
        super::SCENARIO.replace("40ms", "41ms"),
    )
    .unwrap();
    let wrong = place.bad(&format!("{sweep} -o a.csv --resume"), 1);
    assert!(wrong.contains("other scenario"), "{wrong}");
    let complete = "sweep small.toml -a lia --seeds 2 -o b.csv";
    place.good(complete);
    let wrong = place.bad(&format!("{complete} --resume"), 1);
    assert!(wrong.contains("the sweep is complete"), "{wrong}");
    place.good(&format!("{complete} --force"));
}

/// After SIGKILL the file has the runs that had finished: the journal is read as another process finds it, and each of its runs is
/// taken over. A run is in the journal before the next begins, so that no more than the runs in progress are lost.
#[test]
fn a_killed_sweep_leaves_its_runs_on_the_disk() {
    use scenario::export::journal::{Identity, Journal};
    let place = Place::new();
    let sweep = "sweep small.toml --vary bottleneck.queue=5..29 --seeds 4000 --jobs 1 -o a.csv";
    let mut child = (place
        .lisa(sweep)
        .stdout(Stdio::null())
        .stderr(Stdio::null()))
    .spawn()
    .unwrap();
    while size(&place, "a.csv.part") < 40_000 {
        assert!(child.try_wait().unwrap().is_none(), "the sweep has ended");
        std::thread::yield_now();
    }
    let before = size(&place, "a.csv.part");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        size(&place, "a.csv.part") >= before,
        "written rows are gone"
    );
    // Another identity is refused, but names the number of records only if the file is a journal.
    let path = place.0.join("a.csv.part");
    let wrong = Journal::resume(&path, &Identity::default(), 100_000).unwrap();
    // One process runs one after another: the runs on the disk are the first ones, without a gap.
    let finished = wrong.finished();
    assert!(finished > 20, "{finished}");
    for number in 0..finished {
        let run = wrong.read(number).unwrap();
        assert_eq!(run.outcome.seed, number as u64 / 25 + 1);
    }
    assert!(!wrong.has(finished));
}

/// A second process that resumes the sweep by mistake is refused, and the first one goes on.
#[test]
fn two_processes_do_not_resume_one_sweep() {
    let place = Place::new();
    let sweep = "sweep small.toml --vary bottleneck.queue=5..29 --seeds 4000 -o a.csv";
    assert!(start_and_kill(&place, sweep, "a.csv.part"));
    let resumed = format!("{sweep} --resume");
    let mut first = (place
        .lisa(&resumed)
        .stdout(Stdio::null())
        .stderr(Stdio::null()))
    .spawn()
    .unwrap();
    let before = size(&place, "a.csv.part");
    while size(&place, "a.csv.part") < before + 5000 {
        assert!(first.try_wait().unwrap().is_none(), "the sweep has ended");
        std::thread::yield_now();
    }
    for other in [&resumed, &format!("{sweep} --force")] {
        let wrong = place.bad(other, 1);
        assert!(
            wrong.contains("a.csv.part: another process writes this file"),
            "{wrong}"
        );
    }
    let now = size(&place, "a.csv.part");
    while size(&place, "a.csv.part") <= now {
        assert!(
            first.try_wait().unwrap().is_none(),
            "the first process has ended"
        );
        std::thread::yield_now();
    }
    first.kill().unwrap();
    first.wait().unwrap();
}
