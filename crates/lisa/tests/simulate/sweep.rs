//! Sweeps, complete and interrupted.

use super::{Place, complaint};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

#[test]
fn a_sweep_runs_every_combination() {
    let place = Place::new();
    let sweep = "sweep small.toml --vary bottleneck.queue=5..9/2 --vary connection.download.bytes=50KB,80KB \
                 -a lia,lisa --seeds 2";
    let text = place.good(&format!("{sweep} -o rows.csv --jobs 1"));
    assert!(text.contains("24 runs in"), "{text}");
    assert!(text.contains("Second lines: the difference to lia, seed by seed."));
    let csv = String::from_utf8(place.read("rows.csv")).unwrap();
    let heading = "bottleneck.queue,connection.download.bytes,algorithm,backend,seed,connection,number,start_s,bytes,\
                   completion_s,goodput_mbps,retransmits,retransmits_slow_start,sum_cwnd_at_slow_start_exit_segments,\
                   sum_cwnd_at_end_segments,share,jain_index,note";
    assert_eq!(csv.lines().next(), Some(heading));
    let rows: Vec<&str> = csv.lines().skip(1).collect();
    let starts = |at: usize, with: &str| assert!(rows[at].starts_with(with), "{}", rows[at]);
    // Three queues, two sizes, two algorithms, two seeds, two connections.
    assert_eq!(rows.len(), 48);
    starts(0, "5,50000,lia,sim,1,download,1,0,50000,");
    starts(1, "5,50000,lia,sim,1,competitor,1,0,50000,");
    starts(2, "5,50000,lisa,sim,1,download,");
    starts(4, "5,80000,lia,sim,1,download,1,0,80000,");
    starts(24, "5,50000,lia,sim,2,download,");
    starts(47, "9,80000,lisa,sim,2,competitor,");
    // The same values as of a single run.
    let run =
        "run small.toml --seed 2 --json --set bottleneck.queue=9 --set connection.1.bytes=80KB";
    let completion = place.json(run)[0]["connections"][0]["completion_s"].to_string();
    assert_eq!(rows[46].split(',').nth(9), Some(completion.as_str()));
    // The same bytes with any number of threads, in each format.
    let json = place.good(&format!("{sweep} -o one.parquet --json --jobs 1"));
    assert_eq!(
        json,
        place.good(&format!("{sweep} -o two.parquet --json --jobs 3"))
    );
    assert!(place.read("one.parquet") == place.read("two.parquet"));
    let mut lines = place.valid_json(&format!("{sweep} --json"), "sweep.schema.json");
    lines.retain(|line| line.get("seed").is_some()); // the last line may have the warnings
    assert_eq!(lines.len(), 48);
    assert_eq!(lines[0]["connection.download.bytes"], 50_000);
}

/// With the same values and seeds, the differences of a point equal those of `compare`.
#[test]
fn algorithms_are_compared_at_each_point() {
    let place = Place::new();
    let list = "-a lisa,lia,cubic --seeds 3";
    let text = place.good(&format!(
        "sweep small.toml --vary bottleneck.queue=9,17 {list}"
    ));
    for queue in [9, 17] {
        let set = format!("--set bottleneck.queue={queue}");
        let lines = place.json(&format!("compare small.toml {list} {set} --json"));
        let difference = &lines[2]["connections"][0]["goodput_mbps"]["difference"];
        let [mean, half] = ["mean", "ci95"].map(|of| difference[of].as_f64().unwrap());
        let cell = format!("{mean:+.3} ± {half:.3}");
        assert!(text.contains(&cell), "{queue}: no {cell} in {text}");
    }
}

/// Interrupts a `sweep` of too many runs after its first row. Returns the number of finished runs
/// that it reports.
fn interrupted(place: &Place, output: &str) -> usize {
    let sweep =
        format!("sweep small.toml --vary bottleneck.queue=10..29 --seeds 50000 --json -o {output}");
    let mut sweep = place.lisa(&sweep);
    let mut sweep = sweep
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut reader = BufReader::new(sweep.stdout.take().unwrap());
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    kill(Pid::from_raw(sweep.id() as i32), Signal::SIGINT).unwrap();
    let rows = 1 + reader.lines().map_while(Result::ok).count();
    let output_of = sweep.wait_with_output().unwrap();
    let line = complaint(&output_of, 130);
    let words: Vec<&str> = line.split_whitespace().collect();
    let (finished, of) = (words[2].parse().unwrap(), words[4]);
    assert_eq!((words[1], of), ("interrupted:", "1000000"), "{line}");
    assert!(
        line.ends_with(&format!("their rows are in {output}; --resume continues\n")),
        "{line}"
    );
    // Two connections a run.
    assert_eq!(rows, 2 * finished);
    finished
}

#[test]
fn an_interrupted_sweep_writes_the_finished_runs() {
    let place = Place::new();
    let finished = interrupted(&place, "rows.csv");
    let csv = String::from_utf8(place.read("rows.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + 2 * finished);
    interrupted(&place, "rows.parquet");
    assert!(place.read("rows.parquet").ends_with(b"PAR1"));
}

/// Scenarios of more than 1000 points are read again for each run, and give the same rows. There is no table of them.
#[test]
fn many_points_have_rows_and_no_table() {
    let place = Place::new();
    let csv = |file: &str| String::from_utf8(place.read(file)).unwrap();
    let sweep = "sweep small.toml --vary connection.download.bytes=1500..2500 --seeds 1";
    let wrong = place.bad(sweep, 2);
    assert!(
        wrong.contains("1001 points are too many for a table"),
        "{wrong}"
    );
    let text = place.good(&format!("{sweep} -o many.csv"));
    assert!(text.contains("1001 points: too many for a table"), "{text}");
    let rows = csv("many.csv");
    let last = rows
        .lines()
        .filter(|row| row.starts_with("2500,"))
        .collect::<Vec<_>>();
    let few = sweep.replace("1500..2500", "2500");
    place.good(&format!("{few} -o few.csv"));
    assert_eq!(last, csv("few.csv").lines().skip(1).collect::<Vec<_>>());
    // The algorithms of points that are not kept.
    let both = sweep.replace("1500..2500", "1500..2000");
    place.good(&format!("{both} -a lia,css -o both.csv"));
    let css = csv("both.csv")
        .lines()
        .filter(|row| row.starts_with("2000,css,"))
        .count();
    assert_eq!(css, 2);
}
