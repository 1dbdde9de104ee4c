//! Tables of runs in files.

use super::Place;
use std::fs;

/// The lines of a CSV file.
fn lines(place: &Place, file: &str) -> Vec<String> {
    let csv = String::from_utf8(place.read(file)).unwrap();
    csv.lines().map(String::from).collect()
}

/// The three commands write the same columns, so that their tables can be appended to each other.
#[test]
fn run_compare_and_sweep_write_the_same_rows() {
    let place = Place::new();
    let seeds = "--seeds 2,5..6 --set connection.1.bytes=80KB";
    place.good(&format!("run small.toml {seeds} -o run.csv"));
    place.good(&format!(
        "compare small.toml -a lisa {seeds} -o compare.csv"
    ));
    place.good(&format!("sweep small.toml -a lisa {seeds} -o sweep.csv"));
    let run = lines(&place, "run.csv");
    let heading =
        "connection.1.bytes,algorithm,backend,seed,connection,number,start_s,bytes,completion_s,";
    assert!(run[0].starts_with(heading), "{}", run[0]);
    assert!(
        run[1].starts_with("80000,lisa,sim,2,download,1,0,80000,"),
        "{}",
        run[1]
    );
    assert!(
        run[6].starts_with("80000,reno,sim,6,competitor,1,0,50000,"),
        "{}",
        run[6]
    );
    assert_eq!(run.len(), 7);
    assert_eq!(lines(&place, "compare.csv"), lines(&place, "sweep.csv"));
    // With -a the algorithm is that of the run, in each row.
    let named = |row: &String| row.replace(",reno,", ",lisa,");
    assert_eq!(
        run.iter().map(named).collect::<Vec<_>>(),
        lines(&place, "sweep.csv")
    );
}

#[test]
fn rows_are_connections_subflows_or_links() {
    let place = Place::new();
    let outcome = &place.json("run small.toml --json")[0];
    place.good("run small.toml --rows subflow -o subflows.csv");
    let subflows = lines(&place, "subflows.csv");
    let heading = "algorithm,backend,seed,connection,number,subflow,path,path_name,established_s,";
    assert!(subflows[0].starts_with(heading), "{}", subflows[0]);
    assert!(
        subflows[2].starts_with("lisa,sim,1,download,1,2,2,,"),
        "{}",
        subflows[2]
    );
    assert!(
        subflows[3].starts_with("reno,sim,1,competitor,1,1,1,,"),
        "{}",
        subflows[3]
    );
    let at = subflows[0]
        .split(',')
        .position(|name| name == "srtt_s")
        .unwrap();
    let srtt = outcome["connections"][0]["subflows"][1]["srtt_s"].to_string();
    assert_eq!(subflows[2].split(',').nth(at), Some(srtt.as_str()));
    let sweep = "sweep small.toml --vary bottleneck.queue=17 --seeds 1 --rows link";
    let links = place.valid_json(&format!("{sweep} --json -o links.csv"), "sweep.schema.json");
    for (row, link) in links.iter().zip(outcome["links"].as_array().unwrap()) {
        assert_eq!(row["link"], link["name"]);
        assert_eq!(row["queue_mean_packets"], link["queue_mean_packets"]);
    }
    let heading = "bottleneck.queue,algorithm,backend,seed,link,packets,";
    assert!(lines(&place, "links.csv")[0].starts_with(heading));
    let wrong = place.bad("run small.toml --rows link", 2);
    assert!(wrong.contains("--rows is for the table of -o"), "{wrong}");
    let wrong = place.bad(&format!("{sweep} --json --metrics share,links.drops"), 2);
    let words = "--metrics: rows of --rows link have no `share`: use --rows connection";
    assert!(wrong.contains(words), "{wrong}");
}

/// A file of any command is replaced only on request.
#[test]
fn nothing_is_overwritten() {
    let place = Place::new();
    for (command, file) in [
        ("run small.toml -o", "a.csv"),
        ("compare small.toml -a lia --seeds 1 -o", "b.parquet"),
        ("sweep small.toml -a lia --seeds 1 -o", "c.csv"),
        ("compare small.toml -a lia --seeds 1 --plot", "d.svg"),
        ("run small.toml --plot", "e.svg"),
        ("sweep small.toml -a lia --seeds 1 --plot", "f.svg"),
        ("show small.toml --plot", "g.svg"),
    ] {
        fs::write(place.0.join(file), "old").unwrap();
        let wrong = place.bad(&format!("{command} {file}"), 1);
        assert!(
            wrong.contains(&format!("{file}: the file exists")),
            "{wrong}"
        );
        assert_eq!(place.read(file), b"old");
        place.good(&format!("{command} {file} --force"));
        assert_ne!(place.read(file), b"old");
    }
    for option in ["--trace", "--pcap"] {
        let run = format!("run small.toml --seeds 2 {option} out");
        place.good(&run);
        let wrong = place.bad(&run, 1);
        assert!(wrong.contains("a-small-bottleneck-seed-1.p"), "{wrong}");
        place.good(&format!("{run} --force"));
        // Other settings have other names.
        place.good(&format!("{run} --set bottleneck.queue=9"));
    }
    let name = "out/a-small-bottleneck-bottleneck-queue-9-seed-2.parquet";
    assert!(place.0.join(name).exists());
    let left: Vec<_> = fs::read_dir(&*place.0)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".tmp") || name.ends_with(".part"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_scenario_comes_from_standard_input_and_loses_keys() {
    let place = Place::new();
    let with = |arguments: &str, text: &str| {
        use std::io::Write;
        use std::process::Stdio;
        let mut lisa = place.lisa(arguments);
        let lisa = lisa
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut lisa = lisa.spawn().unwrap();
        lisa.stdin
            .take()
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
        lisa.wait_with_output().unwrap()
    };
    let sweep = "sweep - --vary bottleneck.queue=9,17 -a lia,lisa --seeds 1 --json";
    let output = with(sweep, super::SCENARIO);
    assert!(output.status.success(), "{output:?}");
    let file = place.good(&sweep.replace(" - ", " small.toml "));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), file);
    let broken = with("run -", &super::SCENARIO.replace("rtt_spread", "rtt_spred"));
    let line = super::complaint(&broken, 1);
    assert!(
        line.contains("standard input:3: `rtt_spred`: no such key"),
        "{line}"
    );

    let endless = &place.json("run small.toml --set connection.*.bytes= --set stop=1s --json")[0];
    assert_eq!(endless["sim_seconds"], 1.0);
    let wrong = place.bad("run small.toml --set connection.1.byte=", 2);
    assert!(wrong.contains("no such key to remove"), "{wrong}");
    let wrong = place.bad("run small.toml --set stop=", 1);
    assert!(wrong.contains("`stop`"), "{wrong}");
    let titled = &place.json("run small.toml --set title=\"\" --json")[0];
    assert_eq!(titled["scenario"], "");
}

#[test]
fn points_can_be_random() {
    let place = Place::new();
    let vary = "--vary bottleneck.queue=5..30 --vary bottleneck.rate=1Mbit..9Mbit --vary stop=9s,10s --seeds 1";
    let rows = |design: &str| {
        let mut lines = place.json(&format!("sweep small.toml {vary} {design} --json"));
        lines.retain(|line| line.get("seed").is_some()); // the last line may have the warnings
        lines
    };
    let (uniform, latin) = (rows("--random 8"), rows("--latin 8"));
    assert_eq!((uniform.len(), latin.len()), (16, 16));
    assert_eq!(uniform, rows("--random 8"));
    assert_eq!(uniform[..8], rows("--random 4"));
    for row in uniform.iter().chain(&latin) {
        assert!((5..=30).contains(&row["bottleneck.queue"].as_i64().unwrap()));
        assert!((1_000_000..=9_000_000).contains(&row["bottleneck.rate"].as_i64().unwrap()));
    }
    let mut eighths: Vec<i64> = latin
        .iter()
        .step_by(2)
        .map(|row| (row["bottleneck.rate"].as_i64().unwrap() - 1_000_000) / 1_000_001)
        .collect();
    eighths.sort_unstable();
    assert_eq!(eighths, [0, 1, 2, 3, 4, 5, 6, 7]);
    let wrong = place.bad("sweep small.toml -a lia --random 3", 2);
    assert!(wrong.contains("--vary"), "{wrong}");
}

/// The points of a file, with lists in quotes; the error of a value names its key.
#[test]
fn points_can_be_a_file() {
    let place = Place::new();
    let sweep = "sweep small.toml --seeds 1 -a lia,lisa --points points.csv --json";
    let write = |text: &str| fs::write(place.0.join("points.csv"), text).unwrap();
    write("bottleneck.queue,bottleneck.rtt\n9,40ms\n30,\"[\"\"40ms\"\",\"\"50ms\"\"]\"\n");
    let rows = place.json(sweep);
    let mut found: Vec<_> = rows
        .iter()
        .map(|row| (row["bottleneck.queue"].as_i64(), row["algorithm"].as_str()))
        .collect();
    found.dedup(); // a row for each connection
    let expected = [(9, "lia"), (9, "lisa"), (30, "lia"), (30, "lisa")]
        .map(|(queue, algorithm)| (Some(queue), Some(algorithm)));
    assert_eq!(found, expected);
    let last = rows.last().unwrap();
    assert_eq!(last["bottleneck.rtt"], r#"["40ms","50ms"]"#);
    for (text, code, problem) in [
        ("bottleneck.queue\n9x\n", 2, "--points bottleneck.queue=9x"),
        ("connection.1.algorithm\nlia\n", 2, "use this key or -a"),
        (
            "bottleneck.queue,topology.queue\n9,9\n",
            2,
            "this key is varied already",
        ),
        ("bottleneck.queue\n", 1, "there is no point"),
    ] {
        write(text);
        let error = place.bad(sweep, code);
        assert!(error.contains(problem), "{text}: {error}");
    }
    let error = place.bad("sweep small.toml --points none.csv --json", 1);
    assert!(error.contains("--points none.csv"), "{error}");
}

/// Time series in a table: the rows of all runs, also of a sweep that is resumed, and as JSON.
#[test]
fn rows_are_samples() {
    let place = Place::new();
    let csv = |file: &str| String::from_utf8(place.read(file)).unwrap();
    let series = "--rows sample --sample 100ms --seeds 2";
    place.good(&format!("run small.toml {series} -o run.csv"));
    let run = csv("run.csv");
    let begin = "algorithm,backend,seed,time_s,kind,connection,number,subflow,path_name,link,queue_mean_packets,";
    assert!(run.starts_with(begin), "{run}");
    assert!(
        run.contains("\nlisa,sim,2,0.1,subflow,download,1,1,,,"),
        "{run}"
    );
    assert!(
        run.contains("\n,sim,1,0.1,link,,,,,bottleneck down,"),
        "{run}"
    );
    place.good(&format!(
        "compare small.toml -a lia,lisa {series} -o compare.csv"
    ));
    let of = |text: &str, algorithm: &str| -> Vec<String> {
        let rows = text.lines().filter(|row| row.starts_with(algorithm));
        rows.map(String::from).collect()
    };
    let compared = of(&csv("compare.csv"), "lisa,");
    let own: Vec<String> = of(&run, "lisa,");
    let of_download = |rows: &[String]| -> Vec<String> {
        let rows = rows.iter().filter(|row| row.contains(",download,"));
        rows.cloned().collect()
    };
    assert!(!own.is_empty());
    assert_eq!(of_download(&compared), of_download(&own));
    // As default 10 ms, and the journal has the samples.
    let sweep = "sweep small.toml -a lia,lisa --seeds 40 --rows sample";
    place.good(&format!("{sweep} -o whole.csv"));
    let resumed = format!("{sweep} -o again.csv --resume");
    super::resume::start_and_kill(&place, &resumed, "again.csv.part");
    place.good(&resumed);
    assert!(place.read("again.csv") == place.read("whole.csv"));
    let rows = place.valid_json(
        "sweep small.toml -a lia --seeds 1 --rows sample --sample 1s --json",
        "sweep.schema.json",
    );
    assert_eq!(rows[0]["kind"], "link");
    for (arguments, words) in [
        (
            "run small.toml --sample 1ms",
            "add `--rows sample -o series.parquet`",
        ),
        (
            "compare small.toml -a lia --sample 1ms",
            "add `--rows sample -o series.parquet`",
        ),
        ("run small.toml --rows sample", "add `-o rows.parquet`"),
        (
            "run small.toml --rows sample -o a.csv --sample 999us --on host",
            "from 1ms on",
        ),
        (
            "sweep small.toml -a lia --rows sample -o a.csv --sample 1us --on vm",
            "from 1ms on",
        ),
    ] {
        let wrong = place.bad(arguments, 2);
        assert!(wrong.contains(words), "{arguments}: {wrong}");
    }
}
