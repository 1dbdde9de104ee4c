//! Figures of kept files, by `plot`.

use crate::Place;
use crate::picture::{BLUE, ORANGE, Picture};

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
    // The keys of `--set` are no metrics; links without a rate have no utilisation.
    place.good("run small.toml --seeds 3 --rows link --set stop=9s -o set.csv");
    let links = place.picture("plot set.csv");
    links.must_have(&["utilisation: means of 3 seeds", "bottleneck down"]);
    assert!(!links.has("path 1 down"));
    assert!(
        place
            .bad("plot set.csv --metric stop", 2)
            .contains("the file has packets, drops,")
    );
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
fn subflows_have_the_names_of_their_paths() {
    let place = Place::new();
    let run = "run small.toml --set topology.names=[\"Wi-Fi\",\"LTE\"] --seed 1 --sample 10ms";
    place.good(&format!("{run} --trace out"));
    place.good(&format!("{run} --rows sample -o series.csv"));
    place.good("run small.toml --seeds 2 --set topology.names=[\"Wi-Fi\",\"LTE\"] --rows subflow -o rows.parquet");
    let name = "a-small-bottleneck-topology-names-wi-fi-lte-seed-1";
    for file in [
        &format!("out/{name}.subflows.parquet"),
        "series.csv",
        "rows.parquet",
    ] {
        let picture = place.picture(&format!("plot {file}"));
        picture.must_have(&["download, subflow 1, Wi-Fi", "download, subflow 2, LTE"]);
    }
    let series = place.picture(&format!("plot out/{name}.subflows.parquet"));
    series.must_have(&[
        "goodput [Mbit/s]",
        "cwnd [segments]",
        "smoothed RTT [ms]",
        &format!("time series of {name}.subflows.parquet"),
    ]);
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

/// The goodput of a connection is that of its subflows together; with it comes Jain's index of all.
#[test]
fn connections_are_drawn_over_time() {
    let place = Place::new();
    place.good("new fairness -o fairness.toml");
    place.good("run fairness.toml --set stop=10s --set warmup=1s --rows sample --sample 500ms -o series.csv");
    let picture = place.picture("plot series.csv --connections");
    picture.must_have(&[
        "goodput [Mbit/s]",
        "Jain's fairness index",
        "all connections",
    ]);
    assert!(
        picture
            .texts
            .iter()
            .all(|(text, _)| !text.contains("subflow"))
    );
    // Links and subflows have means of other metrics: the largest of each are drawn.
    let both = place.picture("plot series.csv");
    let texts: Vec<&str> = both.texts.iter().map(|(text, _)| text.as_str()).collect();
    let texts = texts.join(" ");
    for part in [
        "links with the largest means of throughput, and the",
        "subflows with the largest means of goodput;",
    ] {
        assert!(texts.contains(part), "{part}: {texts}");
    }
    place.good("run small.toml --trace out --sample 10ms");
    let of_trace =
        place.picture("plot out/a-small-bottleneck-seed-1.subflows.parquet --connections");
    of_trace.must_have(&["download", "Jain's fairness index"]);
    let trace = "plot out/a-small-bottleneck-seed-1.parquet --connections";
    assert!(
        place
            .bad(trace, 2)
            .contains("--connections is for time series")
    );
}
