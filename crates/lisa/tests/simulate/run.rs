//! One seed or several: outcomes, tables, traces.

use super::{Place, complaint};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

#[test]
fn a_run_is_the_same_on_any_number_of_threads() {
    let place = Place::new();
    let run = |jobs: u32, more: &str| {
        place.good(&format!(
            "run small.toml --seeds 12 --json --jobs {jobs} {more}"
        ))
    };
    let one = run(1, "--trace one");
    assert_eq!(one, run(2, "--trace two"));
    assert_eq!(one, run(5, ""));
    for seed in 1..=12 {
        for end in ["parquet", "credits.jsonl"] {
            let file = format!("a-small-bottleneck-seed-{seed}.{end}");
            let [one, two] =
                ["one", "two"].map(|place_of| place.read(&format!("{place_of}/{file}")));
            assert!(one == two && !one.is_empty(), "{file}");
            assert!(end != "parquet" || one.starts_with(b"PAR1") && one.ends_with(b"PAR1"));
        }
    }
    let outcomes: Vec<Value> = one
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for (outcome, seed) in outcomes.iter().zip(1..) {
        assert_eq!(outcome["schema"], "lisa.outcome/7");
        assert_eq!(outcome["seed"], seed);
        assert_eq!(outcome["backend"], "sim");
        assert_eq!(outcome["connections"][0]["bytes"], 100_000);
        assert_eq!(outcome["wall_seconds"], Value::Null);
    }
    assert_eq!(outcomes.len(), 12);
    // Seeds differ, and a single seed has the same result as among others.
    assert_ne!(outcomes[0]["connections"], outcomes[1]["connections"]);
    assert_eq!(
        one.lines().nth(6),
        place.good("run small.toml --seed 7 --json").lines().next()
    );
    let timed = place.valid_json("run small.toml --json --timing", "outcome.schema.json");
    assert!(timed[0]["wall_seconds"].as_f64().unwrap() > 0.0);
}

#[test]
fn tables_without_a_terminal_have_no_colours() {
    let place = Place::new();
    let one = place.good("run small.toml");
    let first = "A small bottleneck\nsimulated, seed 1\n";
    assert!(one.starts_with(first), "{one}");
    for words in [
        "download, subflow 2",
        "tcp reno",
        "bottleneck down",
        "hops/s",
    ] {
        assert!(one.contains(words), "{words}: {one}");
    }
    assert!(!one.contains('\x1b'), "no colours where nobody sees them");
    let several = place.good("run small.toml --seeds 4");
    for words in [
        "4 seeds",
        "download: mptcp lisa",
        "competitor: tcp reno",
        " ± ",
    ] {
        assert!(several.contains(words), "{words}: {several}");
    }
    let endless = place.good("run small.toml --set stop=1s --set connection.1.bytes=1GB");
    assert!(endless.contains("download: did not finish"), "{endless}");
}

#[test]
fn a_trace_can_be_csv() {
    let place = Place::new();
    place.good("run small.toml --seed 3 --trace new/out --trace-format csv --sample 100ms");
    let outcome = place.json("run small.toml --seed 3 --json").remove(0);
    let samples = |end: &str| {
        let files = fs::read_dir(place.0.join("new/out")).unwrap();
        let mut files = files.map(|file| file.unwrap().path());
        let file = files.find(|file| file.to_string_lossy().ends_with(end));
        fs::read_to_string(file.expect(end)).unwrap()
    };
    let links = samples(".links.csv");
    // Each link has a row for each interval of the run.
    let intervals = (outcome["sim_seconds"].as_f64().unwrap() / 0.1).ceil() as usize;
    let count = outcome["links"].as_array().unwrap().len();
    assert_eq!(links.lines().count(), 1 + count * intervals);
    assert!(links.starts_with("time_s,link,queue_mean_packets,"));
    let subflows = samples(".subflows.csv");
    assert!(subflows.starts_with("time_s,connection,number,subflow,path_name,cwnd_segments,"));
    assert!(
        subflows.lines().any(|line| line.contains(",1,2,")),
        "the second subflow"
    );
    let text = place.read("new/out/a-small-bottleneck-seed-3.csv");
    let text = String::from_utf8(text).unwrap();
    let heading = "time_s,connection,subflow,cwnd_segments,ssthresh_segments,srtt_s,flight_segments,phase,\
         rtt_s,published_1,published_2";
    assert_eq!(text.lines().next(), Some(heading));
    let row = |line: &str| line.split(',').map(String::from).collect::<Vec<_>>();
    let rows: Vec<_> = text.lines().skip(1).map(row).collect();
    assert!(rows.iter().all(|row| row.len() == 11));
    assert!(rows.iter().any(|row| row[1] == "download" && row[2] == "1"));
    // Linux's initial window (RFC 6928), and no threshold yet.
    assert_eq!((rows[0][3].as_str(), rows[0][4].as_str()), ("10", ""));
    let credit = place.read("new/out/a-small-bottleneck-seed-3.credits.jsonl");
    let credit: Value = serde_json::from_slice(&credit).unwrap();
    assert_eq!(
        (&credit["from"], &credit["to"]),
        (&Value::from(1), &Value::from(2))
    );
}

/// A run can write both, each into its directory, with the same outcome.
#[test]
fn a_run_writes_its_packets() {
    let place = Place::new();
    let run = "run small.toml --seeds 2 --json";
    let outcomes = place.good(&format!("{run} --pcap new/packets --trace rows --jobs 2"));
    assert_eq!(outcomes, place.good(run));
    place.good(&format!("{run} --pcap again --jobs 1"));
    for seed in 1..=2 {
        let file = format!("a-small-bottleneck-seed-{seed}.pcap");
        let packets = place.read(&format!("new/packets/{file}"));
        // Nanosecond timestamps, little-endian.
        assert_eq!(packets[..4], 0xa1b2_3c4d_u32.to_le_bytes());
        assert!(packets == place.read(&format!("again/{file}")), "{file}");
        place.read(&format!("rows/a-small-bottleneck-seed-{seed}.parquet"));
    }
    assert_eq!(
        fs::read_dir(place.0.join("new/packets")).unwrap().count(),
        2
    );
}

/// A run that does not end: a year of 100 Gbit/s. /proc shows whether it handles Ctrl-C (proc_pid_status(5)).
#[test]
fn a_run_without_end_can_be_interrupted() {
    let place = Place::new();
    let long = "run small.toml --set stop=365d --set topology.rate=100Gbit --set connection.1.bytes=1000TB";
    let mut run = place.lisa(long);
    let mut run = run
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let listens = |run: &Child| {
        let status = fs::read_to_string(format!("/proc/{}/status", run.id())).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = u64::from_str_radix(caught.unwrap_or("0").trim(), 16).unwrap();
        caught & 1 << (Signal::SIGINT as u32 - 1) != 0
    };
    while !listens(&run) {
        assert!(run.try_wait().unwrap().is_none(), "it has ended");
        std::thread::sleep(Duration::from_millis(5));
    }
    kill(Pid::from_raw(run.id() as i32), Signal::SIGINT).unwrap();
    let line = complaint(&run.wait_with_output().unwrap(), 130);
    assert!(
        line.contains("interrupted: 0 of 1 runs are finished"),
        "{line}"
    );
}

/// The trace of each run has about 400 kB, so that the signal often arrives during a write, which is then completed.
#[test]
fn an_interrupted_run_leaves_no_half_of_a_trace() {
    let place = Place::new();
    let long = "run small.toml --set stop=5s --set bottleneck.rate=200Mbit --set bottleneck.queue=200 \
                --set connection.*.bytes=1GB --seeds 100000 --json --trace";
    for folder in ["one", "two", "three", "four", "five"] {
        let mut run = place.lisa(&format!("{long} {folder}"));
        let mut run = run
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut reader = BufReader::new(run.stdout.take().unwrap());
        reader.read_line(&mut String::new()).unwrap();
        kill(Pid::from_raw(run.id() as i32), Signal::SIGINT).unwrap();
        std::io::copy(&mut reader, &mut std::io::sink()).unwrap();
        complaint(&run.wait_with_output().unwrap(), 130);
        let mut files = Vec::new();
        for file in fs::read_dir(place.0.join(folder)).unwrap() {
            files.push(file.unwrap().path());
        }
        assert!(files.len() >= 2 && files.len() % 2 == 0, "{files:?}");
        for file in files {
            let whole = match file.extension() {
                Some(end) if end == "parquet" => fs::read(&file).unwrap().ends_with(b"PAR1"),
                _ => true,
            };
            assert!(whole, "{}", file.display());
        }
    }
}

/// Each bottleneck of scenario C has its rate and its queue from the lists.
#[test]
fn bottlenecks_of_the_drafts_differ() {
    let place = Place::new();
    let scenario = "stop = '5s'\n[topology]\nkind = 'scenario-c'\nn1 = 2\nn2 = 2\n\
                    rate = ['8Mbit', '2Mbit']\nqueue = [40, 10]\nrtt = '40ms'\n\
                    [[connection]]\nprotocol = 'mptcp'\npaths = 'multipath'\n\
                    [[connection]]\nprotocol = 'tcp'\npaths = 'single-path'\n";
    fs::write(place.0.join("c.toml"), scenario).unwrap();
    let most = |more: &str, link: &str| {
        let outcome =
            &place.valid_json(&format!("run c.toml --json {more}"), "outcome.schema.json")[0];
        let links = outcome["links"].as_array().unwrap();
        let link = links.iter().find(|l| l["name"] == link).unwrap();
        assert!(link["drops"].as_u64().unwrap() > 0, "{link}");
        link["queue_max_packets"].as_u64().unwrap()
    };
    assert_eq!(most("", "AP1 down"), 40);
    assert_eq!(most("", "AP2 down"), 10);
    assert_eq!(most("--set topology.queue.2=15", "AP2 down"), 15);
    let wrong = place.bad("run c.toml --set topology.queue=[9]", 2);
    let words = "--set topology.queue=[9]: `topology.queue`: 1 items: needs 2, for AP1, AP2";
    assert!(wrong.contains(words), "{wrong}");
    let sweep = "sweep c.toml --vary topology.queue.1=20,40 --seeds 1 --metrics links.queue_max_packets --rows link --json";
    let rows = place.valid_json(sweep, "sweep.schema.json");
    let first = rows.iter().find(|row| row["link"] == "AP1 down").unwrap();
    assert_eq!(first["queue_max_packets"], 20);
}

#[test]
fn each_warning_is_one_line_for_all_runs() {
    let place = Place::new();
    let warned = |arguments: &str| {
        let output = place.lisa(arguments).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let few = "--set connection.download.subflows=1 --set topology.kind=non-shared-bottleneck \
               --set connection.competitor.path=1";
    let rates = "--set topology.rate=[\"5Mbit\",\"5Mbit\"]";
    let text = "warning: connection `download`: path 2 carries no data, because there are 2 paths and `subflows` is 1: set \
                `subflows = 2` (3 of 3 runs)\n";
    assert_eq!(
        warned(&format!("run small.toml --seeds 3 --json {few} {rates}")),
        text
    );
    let equal = "--set rtt_spread=0 --set connection.download.subflows=1 --set connection.*.profile=ns3-newreno --seeds 2";
    let fixed = warned(&format!("compare small.toml -a lia,lisa {equal}"));
    let seeds =
        "warning: all 2 seeds have the same results, and several seeds are one observation: ";
    assert!(fixed.contains(seeds), "{fixed}");
    let same = "warning: `lia` and `lisa` have the same results with all 2 seeds: ";
    assert!(fixed.contains(same), "{fixed}");
    // The profile `linux` draws the phase of the reader, and results differ in microseconds.
    let phase = warned("run small.toml --set rtt_spread=0 --seeds 2");
    let timing = "warning: a seed draws the timing of the endpoints (up to 1 ms) and nothing else";
    assert!(phase.contains(timing), "{phase}");
    assert!(!phase.contains("same results"), "{phase}");
    let vary = "--vary bottleneck.queue=17,30 --vary bottleneck.rate=5Mbit,6Mbit";
    let sweep = warned(&format!("sweep small.toml -a lia,lisa {vary} {equal}"));
    for text in [
        "warning: all 2 seeds have the same results at all 4 points",
        "warning: `lia` and `lisa` have the same results with all 2 seeds at all 4 points: ",
    ] {
        assert!(sweep.contains(text), "{sweep}");
    }
    // The results of the algorithms differ at one of the two points only.
    let some = equal.replace(
        "--set connection.download.subflows=1",
        "--vary connection.download.subflows=1,2",
    );
    let sweep = warned(&format!("sweep small.toml -a lia,lisa {some}"));
    let text = "have the same results with all 2 seeds at 1 of 2 points";
    assert!(sweep.contains(text), "{sweep}");
}

/// Warnings are in the JSON of all three commands, and in the metadata of a table. The number of transfers is that of all runs.
#[test]
fn warnings_are_in_json() {
    let place = Place::new();
    let late = "--set connection.download.bytes=2MB --set stop=2s --set connection.download.count=3 --seeds 4";
    let texts = |value: &serde_json::Value, kind: &str| {
        let list = value["warnings"].as_array().unwrap().iter();
        let of_kind = list.filter(|w| w["kind"] == kind && w["connection"] == "download");
        of_kind
            .map(|w| w["text"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let runs = place.valid_json(
        &format!("run small.toml {late} --json"),
        "outcome.schema.json",
    );
    let each = texts(&runs[0], "unfinished-transfers");
    assert!(
        each[0].starts_with("3 of 3 transfers did not finish before `stop`"),
        "{each:?}"
    );
    let download = &runs[0]["transfers"][0];
    assert_eq!(
        (&download["count"], &download["unfinished"]),
        (&3.into(), &3.into())
    );
    let lines = place.valid_json(
        &format!("compare small.toml -a lia,lisa {late} --json"),
        "compare.schema.json",
    );
    for line in &lines {
        let all = texts(line, "unfinished-transfers");
        assert!(all[0].starts_with("12 of 12 transfers did not"), "{all:?}");
        assert_eq!(line["connections"][0]["all"], 12);
    }
    let sweep = format!("sweep small.toml -a lia,lisa {late} --json");
    let lines = place.valid_json(&sweep, "sweep.schema.json");
    let (last, rows) = lines.split_last().unwrap();
    assert!(rows.iter().all(|row| row.get("warnings").is_none()));
    let all = texts(last, "unfinished-transfers");
    assert!(all[0].starts_with("24 of 24 transfers did not"), "{all:?}");
    let mut list = last["warnings"].as_array().unwrap().iter();
    let is_meant =
        |w: &&Value| w["kind"] == "unfinished-transfers" && w["connection"] == "download";
    let runs = list.find(is_meant).unwrap();
    assert_eq!(runs["runs"], 8);
    let sound = place.json("sweep small.toml -a lia,lisa --seeds 2 --json");
    assert_eq!(sound.len(), 8);
    // Metrics of links alone say nothing about equal connections.
    let output = place
        .lisa("compare small.toml -a lia,lisa --metrics links.drops --seeds 2")
        .output()
        .unwrap();
    assert!(output.stderr.is_empty(), "{output:?}");
}

/// `… | head -1`: a command that also writes files completes them, and others end at once.
#[test]
fn a_closed_pipe_ends_quietly() {
    use std::io::{BufRead, BufReader, Read};
    use std::process::Stdio;
    let place = Place::new();
    for (command, file) in [
        ("run small.toml --seeds 400 --json", "-o run.csv"),
        (
            "sweep small.toml --vary bottleneck.queue=9,17 --seeds 200 --json",
            "-o sweep.csv",
        ),
        ("run small.toml --seeds 400 --json", "--plot windows.svg"),
        ("run small.toml --seeds 4000 --json", ""),
    ] {
        let mut lisa = place.lisa(&format!("{command} {file}"));
        let lisa = lisa.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut lisa = lisa.spawn().unwrap();
        let mut first = String::new();
        let mut output = BufReader::with_capacity(1, lisa.stdout.take().unwrap());
        output.read_line(&mut first).unwrap();
        assert!(first.starts_with("{\"schema\""), "{first}");
        drop(output);
        let mut errors = String::new();
        lisa.stderr
            .take()
            .unwrap()
            .read_to_string(&mut errors)
            .unwrap();
        let errors: Vec<&str> = errors
            .lines()
            .filter(|line| !line.starts_with("warning: "))
            .collect();
        assert!(errors.is_empty(), "{command} {file}: {errors:?}");
        let status = lisa.wait().unwrap();
        let Some((_, file)) = file.split_once(' ') else {
            assert_eq!(
                std::os::unix::process::ExitStatusExt::signal(&status),
                Some(libc::SIGPIPE)
            );
            continue;
        };
        assert!(status.success(), "{command}: {status}");
        let text = String::from_utf8(place.read(file)).unwrap();
        match file {
            "windows.svg" => assert!(text.ends_with("</svg>\n"), "{text}"),
            // Two connections a run, and the heading.
            _ => assert_eq!(text.lines().count(), 801, "{file}"),
        }
    }
}
