//! Figures of `run`, `compare`, `sweep`, `plot` and `show`. Reading a figure checks that nothing is outside of it and that no text
//! covers another.

use super::picture::{BLUE, CREDIT, GREEN, GREY, ORANGE, Picture, RED};
use super::{Place, complaint};

impl Place {
    /// The figure in `a.svg` that a command writes.
    fn picture(&self, arguments: &str) -> Picture {
        let output = match arguments.starts_with("plot ") {
            true => "-o",
            false => "--plot",
        };
        self.good(&format!("{arguments} {output} a.svg --force"));
        Picture::read(&String::from_utf8(self.read("a.svg")).unwrap())
    }
}

#[test]
fn windows_have_marks_and_names() {
    let place = Place::new();
    let names = "--set topology.names=[\"Wi-Fi\",\"LTE\"] --set topology.rtt=[\"40ms\",\"40ms\"]";
    let picture = place.picture(&format!("run small.toml {names}"));
    assert_eq!(picture.size.0, 960.0);
    picture.must_have(&[
        "A small bottleneck",
        "subflow 1, Wi-Fi",
        "subflow 2, LTE",
        "sum of the subflows",
        "reduction",
        "end of slow start",
        "credit, in segments",
        "segment lost (at the foot)",
        "time since the run began [s]",
        "cwnd [segments]",
        "10",
    ]);
    // A panel for each connection; the competitor has one subflow.
    let captions = |name: &str| {
        picture
            .texts
            .iter()
            .filter(|(text, _)| text.starts_with(name))
            .count()
    };
    assert_eq!(
        (captions("download: lisa, "), captions("competitor: reno, ")),
        (1, 1)
    );
    // The legend has a line of two points of each colour.
    assert_eq!(
        (
            picture.lines(BLUE, 10),
            picture.lines(ORANGE, 10),
            picture.lines(GREY, 10)
        ),
        (2, 1, 1)
    );
    // A cross is two lines; a triangle has the colour of its subflow and four corners.
    assert!(picture.lines(RED, 2) >= 4 && picture.lines(RED, 2) % 2 == 0);
    assert!(picture.lines(BLUE, 4) > picture.lines(BLUE, 10));
    assert_eq!(picture.filled(CREDIT), 2);
    // The names belong to the scenario alone.
    assert!(!place.picture("run small.toml").has("subflow 1, Wi-Fi"));
    assert!(place.picture("run small.toml").has("subflow 1"));
}

#[test]
fn a_part_of_the_time_and_of_the_connections_is_drawn() {
    let place = Place::new();
    let picture = place
        .picture("run small.toml --from 100ms --to 300ms --connection download --size 16cmx9cm");
    assert_eq!(picture.size, (605.0, 340.0));
    assert!(
        picture
            .texts
            .iter()
            .any(|(text, _)| text.starts_with("download"))
    );
    assert!(
        !picture
            .texts
            .iter()
            .any(|(text, _)| text.starts_with("competitor"))
    );
    picture.must_have(&["time since the run began [ms]", "100", "300"]);
    assert!(!picture.has("0.0") && !picture.has("400"));
    // Each line begins at the left edge, where its window was reached before.
    let left = |shape: &&super::picture::Shape| shape.colour == BLUE && shape.points > 10;
    let line = picture.shapes.iter().find(left).unwrap();
    let cwnd = picture
        .texts
        .iter()
        .find(|(text, _)| text == "100")
        .unwrap()
        .1;
    let middle = (cwnd.left() + cwnd.right()) / 2.0;
    assert!(
        (line.area.left() - middle).abs() < 3.0,
        "{:?} {cwnd:?}",
        line.area
    );
}

/// Ten minutes and more connections than panels.
#[test]
fn long_and_many_are_legible() {
    let place = Place::new();
    let long = "run small.toml --set stop=600s --set connection.0.bytes= --set connection.1.bytes=";
    let picture = place.picture(long);
    picture.must_have(&[
        "range of a window that changes often, and its mean",
        "reductions: of several close to each other the first",
    ]);
    assert!(picture.shapes.iter().all(|shape| shape.points < 5000));
    let many =
        place.picture("run small.toml --set connection.*.count=20 --set bottleneck.rate=50Mbit");
    many.must_have(&["24 of 40 connections; --connection NAME chooses."]);
    let panels = many
        .texts
        .iter()
        .filter(|(text, _)| text == "cwnd [segments]")
        .count();
    assert_eq!(panels, 24);
    // Panels that do not fit are left out.
    let few = place.picture(
        "run small.toml --set connection.*.count=20 --set bottleneck.rate=50Mbit --size 800x400",
    );
    assert!(
        few.texts
            .iter()
            .any(|(text, _)| text.ends_with("--connection NAME chooses."))
    );
}

#[test]
fn a_comparison_has_all_connections_and_metrics() {
    let place = Place::new();
    let picture = place.picture("compare small.toml -a lia,lisa,css --seeds 4");
    for name in ["download, lia", "download, css", "competitor, lisa"] {
        assert!(
            picture.texts.iter().any(|(text, _)| text.starts_with(name)),
            "{name}"
        );
    }
    picture.must_have(&[
        "means of 4 seeds with 95 % confidence intervals",
        "completion [s]",
        "share of goodput",
        "Jain's index",
        "lia: download",
        "css: competitor",
    ]);
    // Bars of both connections for each algorithm and metric, of which some are zero.
    assert!(picture.filled(BLUE) > 3 * 5 && picture.filled(ORANGE) > 3 * 5);
    let alone = place.picture(
        "compare small.toml -a lisa --seeds 1 --metrics links.drops,share --from 0s --to 200ms",
    );
    alone.must_have(&["drops [packets]", "share of goodput", "seed 1"]);
}

#[test]
fn a_sweep_over_one_key_has_lines_with_bands() {
    let place = Place::new();
    let sweep = "sweep small.toml -a lia,lisa --seeds 3 --connection download";
    let picture = place.picture(&format!("{sweep} --vary bottleneck.queue=5..25/5"));
    picture.must_have(&[
        "bottleneck.queue [packets]",
        "completion [s]",
        "completion: means of 3 seeds",
        "lia",
        "lisa",
        "bands: 95 % confidence intervals",
        "download",
        "competitor",
    ]);
    // A panel for each connection: a line and a band for each algorithm.
    for colour in [BLUE, ORANGE] {
        assert_eq!(picture.lines(colour, 5), 2, "{colour}");
        let bands = picture
            .shapes
            .iter()
            .filter(|s| s.colour == colour && s.is_filled && s.points >= 10);
        // Circles have many points, too, but are small.
        assert_eq!(
            bands.filter(|band| band.area.width() > 100.0).count(),
            2,
            "{colour}"
        );
    }
    let rate = place.picture(&format!(
        "{sweep} --vary bottleneck.rate=1Mbit,10Mbit,100Mbit --metric retransmits"
    ));
    // Equal ratios have equal lengths: 1, 10, 100 are marks.
    rate.must_have(&[
        "bottleneck.rate [Mbit/s]",
        "1",
        "10",
        "100",
        "retransmits [segments]",
    ]);
    let text = place.picture(&format!(
        "{sweep} --vary connection.1.profile=linux,ns3-newreno --kind lines"
    ));
    text.must_have(&["linux", "ns3-newreno", "connection.1.profile"]);
}

#[test]
fn a_sweep_over_two_keys_is_a_heat_map() {
    let place = Place::new();
    let sweep = "sweep small.toml -a lia,lisa --seeds 2 --vary bottleneck.queue=5,9,17 --vary bottleneck.rtt=20ms,40ms \
                 --set connection.1={protocol=\"udp\",rate=\"1Mbit\"}";
    let picture = place.picture(sweep);
    picture.must_have(&[
        "lia; download",
        "lisa; download",
        "bottleneck.queue [packets]",
        "bottleneck.rtt [ms]",
        "20",
        "40",
    ]);
    assert_eq!(
        picture
            .texts
            .iter()
            .filter(|(text, _)| text.starts_with("completion ["))
            .count(),
        2
    );
    let difference = place.picture(&format!("{sweep} --difference"));
    assert!(
        difference
            .texts
            .iter()
            .any(|(text, _)| text.starts_with("lisa − lia"))
    );
    assert!(!difference.has("lia"));
    let points = place.picture(
        "sweep small.toml --seeds 1 --vary bottleneck.queue=5..50 --vary bottleneck.rtt=20ms..90ms --latin 12",
    );
    // Circles, and no cells.
    assert!(
        !points
            .texts
            .iter()
            .any(|(text, _)| text.starts_with("0.") && text.len() > 4),
        "no numbers in cells"
    );
}

#[test]
fn a_sweep_over_seeds_is_a_distribution_or_bars() {
    let place = Place::new();
    let picture = place
        .picture("sweep small.toml -a lia,lisa,css --seeds 12 --metric sum_cwnd_at_end_segments");
    picture.must_have(&[
        "share of the runs",
        "Σcwnd at end [segments]",
        "download",
        "competitor",
    ]);
    for colour in [BLUE, ORANGE, GREEN] {
        assert_eq!(picture.lines(colour, 5), 2, "{colour}");
    }
    let bars = place.picture("sweep small.toml -a lia,lisa --seeds 3 --metric retransmits");
    bars.must_have(&[
        "lia: download",
        "lisa: competitor",
        "0",
        "retransmits [segments]",
    ]);
    assert!(bars.texts.iter().any(|(text, _)| text.contains(" ± ")));
    assert!(
        bars.texts
            .iter()
            .any(|(text, _)| text == "=" || text.ends_with(" %"))
    );
    // Bars begin at zero: all have one left edge.
    let edges: Vec<i32> = bars
        .shapes
        .iter()
        .filter(|shape| {
            [BLUE, ORANGE].contains(&shape.colour.as_str())
                && shape.is_filled
                && shape.area.left() > 60.0
        })
        .map(|shape| shape.area.left().round() as i32)
        .collect();
    let zero = *edges.iter().min().unwrap();
    let bars_at_zero = edges.iter().filter(|edge| **edge == zero).count();
    assert!(bars_at_zero >= 4, "{edges:?}");
    let rank = place.picture("sweep small.toml -a lia,lisa --seeds 3 --kind rank --metric goodput_mbps --set connection.0.count=4");
    rank.must_have(&[
        "rank of the connection, from the largest value on",
        "1",
        "5",
    ]);
    assert_eq!((rank.lines(BLUE, 5), rank.lines(ORANGE, 5)), (1, 1));
    // One value in all runs.
    place.picture("sweep small.toml -a lia,lia --seeds 3 --set rtt_spread=0");
}

#[test]
fn kept_files_are_drawn() {
    let place = Place::new();
    place.good("run small.toml --trace out --sample 10ms");
    place.good("run small.toml --trace csv --sample 10ms --trace-format csv");
    for (folder, ending) in [("out", "parquet"), ("csv", "csv")] {
        let file = |kind: &str| format!("plot {folder}/a-small-bottleneck-seed-1.{kind}{ending}");
        let trace = place.picture(&file(""));
        trace.must_have(&[
            "subflow 2",
            "credit, in segments",
            "download",
            "competitor",
            "reduction",
        ]);
        assert_eq!((trace.lines(BLUE, 10), trace.lines(ORANGE, 10)), (2, 1));
        let links = place.picture(&file("links."));
        links.must_have(&[
            "throughput [Mbit/s]",
            "queue, mean [packets]",
            "bottleneck down",
        ]);
        let subflows = place.picture(&format!(
            "{} --metric cwnd_segments --connection download --to 300ms",
            file("subflows.")
        ));
        subflows.must_have(&[
            "download, subflow 1",
            "download, subflow 2",
            "cwnd [segments]",
        ]);
        assert!(!subflows.has("competitor, subflow 1"));
    }
    // Rows are drawn as the command that wrote them draws them, also in parts.
    let sweep = "sweep small.toml --vary bottleneck.queue=5,9,17 -a lia,lisa --seeds 3";
    place.picture(&format!("{sweep} -o rows.parquet"));
    let drawn = place.read("a.svg");
    place.picture("plot rows.parquet");
    assert_eq!(place.read("a.svg"), drawn);
    for part in ["1/2", "2/2"] {
        let name = part.replace('/', "-");
        place.good(&format!("{sweep} --shard {part} -o {name}.parquet"));
    }
    place.picture("plot 1-2.parquet 2-2.parquet");
    let parts = place.read("a.svg");
    assert_eq!(parts.len(), drawn.len());
    place.good(&format!("{sweep} -o rows.csv"));
    place.picture("plot rows.csv --kind bars --metric retransmits");
    place.good("run small.toml --seeds 3 --rows link -o links.parquet");
    let links = place.picture("plot links.parquet --metric links.utilisation");
    links.must_have(&["utilisation"]);
    // The default name, and PDF and PNG.
    assert_eq!(place.good("plot rows.parquet"), "rows.svg\n");
    place.good("plot rows.parquet -o rows.pdf --size 12cmx12cm");
    place.good("plot rows.parquet -o rows.png");
    assert!(place.read("rows.pdf").starts_with(b"%PDF"));
    assert!(place.read("rows.png").starts_with(b"\x89PNG"));
    // 12 cm are 454 px, in points of 1/72 inch 340.5.
    let pdf = String::from_utf8_lossy(&place.read("rows.pdf")).into_owned();
    assert!(pdf.contains("[0 0 340.5 340.5]"), "the size of the page");
}

#[test]
fn networks_are_drawn() {
    let place = Place::new();
    let picture = place.picture("show small.toml");
    picture.must_have(&[
        "server",
        "client",
        "download, subflow 1",
        "download, subflow 2",
        "competitor",
        "link that several subflows share in one direction",
        "bottleneck *, shared by 3 subflows",
        "5 Mbit/s, 17 packets",
        "path 1, shared by 2 subflows",
    ]);
    // In the legend, on the own path and on the bottleneck.
    assert_eq!(
        (
            picture.lines(BLUE, 2),
            picture.lines(ORANGE, 2),
            picture.lines(GREEN, 2)
        ),
        (3, 3, 3)
    );
    place.good("new data-centre -o tree.toml");
    let tree = place.picture("show tree.toml");
    tree.must_have(&["core 4", "edge 4.2", "h16", "no data", "1 subflow"]);
    let large = place.picture("show tree.toml --set topology.k=10");
    large.must_have(&[
        "250 hosts",
        "50 edge routers",
        "50 aggregation routers",
        "25 core routers",
    ]);
    // The tables are a summary that fits a terminal.
    let text = place.good("show tree.toml --set topology.k=10");
    assert!(text.lines().count() < 60, "{text}");
    let widest = text
        .lines()
        .filter(|line| line.starts_with('─'))
        .map(|line| line.chars().count());
    assert!(widest.max().unwrap() <= 80, "{text}");
    assert!(
        text.contains("250 hosts") && text.contains("Paths by length"),
        "{text}"
    );
    for (name, what) in [
        ("home-two-lines", "path 1"),
        ("fairness", "bottleneck *, shared by 7 subflows"),
    ] {
        place.good(&format!("new {name} -o {name}.toml"));
        let picture = place.picture(&format!("show {name}.toml"));
        assert!(
            picture.texts.iter().any(|(text, _)| text.starts_with(what)),
            "{what}"
        );
    }
}

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
            "--from and --to: the end is not after the begin",
        ),
        ("run small.toml --plot a.svg --from -1s", 2, "--from"),
        ("run small.toml --plot a.svg --to x", 2, "--to"),
        (
            "run small.toml --plot a.svg --connection upload",
            2,
            "--connection upload: no such connection; there are download, competitor",
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
            "sweep small.toml -a lia --seeds 1 --plot a.svg --metric jain_index --set connection.0.bytes=1GB",
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

/// Of several seeds or settings the first is drawn; algorithms are lines of their own.
#[test]
fn time_series_of_several_runs_are_not_mixed() {
    let place = Place::new();
    let series = "--rows sample --sample 100ms --seeds 2,3";
    place.good(&format!("run small.toml {series} -o several.csv"));
    place.good("run small.toml --rows sample --sample 100ms --seed 2 -o one.csv");
    let several = place.picture("plot several.csv --connection download");
    several.must_have(&["The first of several runs: backend sim, seed 2. Others are left out."]);
    let one = place.picture("plot one.csv --connection download");
    let lines = |picture: &Picture| -> Vec<(usize, usize)> {
        let lines = [BLUE, ORANGE].map(|colour| {
            let of = picture.shapes.iter().filter(|shape| shape.colour == colour);
            of.map(|shape| shape.points).collect::<Vec<_>>()
        });
        lines.concat().into_iter().enumerate().collect()
    };
    assert_eq!(lines(&several), lines(&one));
    assert!(one.texts.iter().all(|(text, _)| !text.contains("first of")));
    place.good(&format!(
        "compare small.toml -a lia,lisa {series} -o both.parquet"
    ));
    place
        .picture("plot both.parquet --connection download")
        .must_have(&["lia: download, subflow 1", "lisa: download, subflow 2"]);
}

/// The command of docs/plots.md with recorded rates: a line for each algorithm.
#[test]
fn completion_over_recorded_rates() {
    let place = Place::new();
    place.good("new wifi-lte -o phone.toml");
    let opportunities = |step| -> String {
        let times = (1..=3000).step_by(step);
        times.map(|time| format!("{time}\n")).collect()
    };
    std::fs::write(place.0.join("wifi.up"), opportunities(1)).unwrap();
    std::fs::write(place.0.join("lte.up"), opportunities(2)).unwrap();
    let mut sweep = place.lisa("sweep phone.toml -a lia,olia,balia,lisa --seeds 10 --plot a.svg");
    let sweep = sweep.args([
        "--set",
        "topology.rate=[{ trace = \"wifi.up\" }, { trace = \"lte.up\" }]",
    ]);
    let output = sweep.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let picture = Picture::read(&String::from_utf8(place.read("a.svg")).unwrap());
    picture.must_have(&["completion [s]", "share of the runs"]);
    let legend = |name: &str| picture.texts.iter().any(|(text, _)| text.starts_with(name));
    assert!(
        [
            "lia: median ",
            "olia: median ",
            "balia: median ",
            "lisa: median "
        ]
        .iter()
        .all(|n| legend(n))
    );
}
