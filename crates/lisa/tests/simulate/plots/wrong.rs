//! Wrong options and files: one line, and no figure.

use crate::{Place, complaint};

#[test]
fn wrong_figures_are_one_line() {
    let place = Place::new();
    place.good("run small.toml --trace out -o rows.csv");
    place.good("sweep small.toml --vary bottleneck.queue=5,9 --vary bottleneck.rtt=20ms,40ms --vary stop=9s,10s --seeds 1 -o three.csv");
    std::fs::write(place.0.join("other.csv"), "a,b\n1,2\n").unwrap();
    std::fs::write(
        place.0.join("empty.csv"),
        "time_s,connection,subflow,cwnd_segments,ssthresh_segments,phase\n",
    )
    .unwrap();
    std::fs::write(
        place.0.join("bad.csv"),
        "time_s,connection,subflow,cwnd_segments,ssthresh_segments,phase\nx,a,1,1,1,recovery\n",
    )
    .unwrap();
    std::fs::write(
        place.0.join("phase.csv"),
        "time_s,connection,subflow,cwnd_segments,ssthresh_segments,phase\n1,a,1,1,1,größer\n",
    )
    .unwrap();
    std::fs::write(place.0.join("false.parquet"), "PAR1 and more").unwrap();
    std::fs::write(place.0.join("old.svg"), "old").unwrap();
    let trace = "out/a-small-bottleneck-seed-1.parquet";
    for (arguments, code, words) in [
        ("plot", 2, "FILE"),
        ("plot none.parquet", 1, "none.parquet: No such file"),
        (
            "plot small.toml",
            1,
            "small.toml: the name of a table ends with .parquet or .csv",
        ),
        (
            "plot other.csv",
            1,
            "other.csv: neither a trace, nor time series, nor rows of runs",
        ),
        ("plot empty.csv", 1, "empty.csv: no connection has a window"),
        ("plot bad.csv", 1, "bad.csv: line 2: `x` is not a number"),
        ("plot phase.csv", 1, "phase.csv: `größer` is no phase"),
        ("plot false.parquet", 1, "false.parquet: no Parquet file"),
        ("plot rows.csv -o a.gif", 2, "ends with .svg, .png or .pdf"),
        ("plot rows.csv -o old.svg", 1, "-o old.svg: the file exists"),
        ("plot rows.csv -o no/a.svg", 1, "-o no/a.svg: No such file"),
        ("plot rows.csv --metric x", 2, "--metric x: the file has "),
        (
            "plot rows.csv --kind lines",
            1,
            "rows.csv: --kind lines: no key varies",
        ),
        (
            "plot rows.csv --kind heatmap",
            1,
            "rows.csv: a heat map is over two keys, and none varies",
        ),
        (
            "plot three.csv --kind heatmap",
            1,
            "over two keys, and 3 vary: bottleneck.queue, bottleneck.rtt, stop",
        ),
        (
            "plot rows.csv --difference",
            1,
            "--difference is for heat maps",
        ),
        (
            "plot rows.csv --kind rank --metric jain_index",
            1,
            "rows.csv: --kind rank: `jain_index` has one value for each run, which has no order: use --kind bars",
        ),
        (
            "plot rows.csv --kind ranks",
            2,
            "--kind ranks: did you mean `rank`?; write one of lines, heatmap",
        ),
        (
            "plot rows.csv --from 1s",
            2,
            "are for traces and time series",
        ),
        (
            "plot rows.csv --kind pie",
            2,
            "lines, heatmap, cdf, bars, rank",
        ),
        (
            "plot rows.csv --size 10x10",
            2,
            "an edge has 160 to 10000 px",
        ),
        (
            "plot rows.csv --size big",
            2,
            "WIDTHxHEIGHT in px, mm, cm, in or pt",
        ),
        (
            "plot three.csv --size 200x160",
            1,
            "the figure needs at least ",
        ),
        (
            "run small.toml --size 300x300",
            2,
            "--size: for a figure; add --plot FILE.svg",
        ),
        (
            "run small.toml --from 1s",
            2,
            "--from and --to: for a figure",
        ),
        (
            "run small.toml --plot a.svg --from 2s --to 1s",
            2,
            "--from and --to: the end is not after the start",
        ),
        ("run small.toml --plot a.svg --from -1s", 2, "--from"),
        ("run small.toml --plot a.svg --to x", 2, "--to"),
        (
            "run small.toml --plot a.svg --connection upload",
            2,
            "--connection upload: no such connection; there are download, competitor",
        ),
        (
            "run small.toml --plot a.svg --connection donwload",
            2,
            "--connection donwload: no such connection, did you mean `download`?; there are download, competitor",
        ),
        (
            "run small.toml --plot a.svg --from 30s",
            1,
            "--plot: no connection has a window in this time",
        ),
        (
            "compare small.toml -a lia --size 300x300",
            2,
            "--size: for a figure",
        ),
        (
            "sweep small.toml -a lia --kind bars",
            2,
            "--kind: for a figure",
        ),
        (
            "sweep small.toml -a lia --plot a.svg --metric goodput",
            2,
            "--metric: no metric `goodput`, did you mean",
        ),
        (
            "sweep small.toml -a lia --seeds 1 --plot a.svg --metric jain_index --set connection.1.bytes=1GB",
            1,
            "no row has a value of `jain_index`",
        ),
        ("show small.toml --size 300x300", 2, "--size: for a figure"),
        (
            "show small.toml --plot old.svg",
            1,
            "--plot old.svg: the file exists",
        ),
    ] {
        let output = place.lisa(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments}");
        let line = complaint_after_warnings(&output, code);
        assert!(line.contains(words), "{arguments}: {line}");
    }
    assert_eq!(place.read("old.svg"), b"old");
    assert!(!place.0.join("a.svg").exists() && !place.0.join("rows.svg").exists());
    let refused = format!("plot {trace} --kind bars");
    assert!(
        place
            .bad(&refused, 2)
            .contains("--kind is for rows of runs")
    );
    assert!(
        place
            .bad(&format!("plot {trace} rows.csv"), 2)
            .contains("several files are one figure only")
    );
}

/// The line of an error, after warnings about the runs.
fn complaint_after_warnings(output: &std::process::Output, code: i32) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let rest: String = text
        .lines()
        .filter(|line| !line.starts_with("warning: "))
        .map(|line| format!("{line}\n"))
        .collect();
    let output = std::process::Output {
        stderr: rest.into_bytes(),
        ..output.clone()
    };
    complaint(&output, code)
}
