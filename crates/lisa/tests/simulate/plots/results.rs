//! Figures of the results of runs, by `compare --plot` and `sweep --plot`.

use crate::Place;
use crate::picture::{BLUE, GREEN, ORANGE, Picture};

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
        "{sweep} --vary connection.2.profile=linux,ns3-newreno --kind lines"
    ));
    text.must_have(&["linux", "ns3-newreno", "connection.2.profile"]);
}

#[test]
fn a_sweep_over_two_keys_is_a_heat_map() {
    let place = Place::new();
    let sweep = "sweep small.toml -a lia,lisa --seeds 2 --vary bottleneck.queue=5,9,17 --vary bottleneck.rtt=20ms,40ms \
                 --set connection.2={protocol=\"udp\",rate=\"1Mbit\"}";
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
    let rank = place.picture("sweep small.toml -a lia,lisa --seeds 3 --kind rank --metric goodput_mbps --set connection.1.count=4");
    rank.must_have(&[
        "rank of the connection, from the largest value on",
        "1",
        "5",
    ]);
    assert_eq!((rank.lines(BLUE, 5), rank.lines(ORANGE, 5)), (1, 1));
    // All names are in one order: none of them is the caption.
    rank.must_have(&["One order of all connections: download; competitor."]);
    assert!(!rank.has("download"));
    // One value in all runs.
    place.picture("sweep small.toml -a lia --seeds 3 --set rtt_spread=0");
}

#[test]
fn a_rank_is_of_what_a_row_has() {
    let place = Place::new();
    let names = "--set topology.names=[\"Wi-Fi\",\"LTE\"]";
    place.good(&format!(
        "run small.toml --seeds 2 {names} --rows subflow -o subflows.csv"
    ));
    let subflows = place.picture("plot subflows.csv --kind rank");
    subflows.must_have(&[
        "rank of the subflow, from the largest value on",
        "One order of all subflows: download, subflow 1, Wi-Fi; download, subflow 2, LTE; competitor, subflow 1, Wi-Fi.",
    ]);
    place.good("run small.toml --seeds 2 --rows link -o links.csv");
    place
        .picture("plot links.csv --kind rank --metric links.packets")
        .must_have(&["rank of the link, from the largest value on"]);
}

/// The settings of `--set` stand below the title, with or without a file between the runs and the figure.
#[test]
fn a_figure_has_its_settings() {
    let place = Place::new();
    let set = "--set bottleneck.queue=9 --set stop=9s --set connection.download.bytes=60KB";
    let line = "with bottleneck.queue=9, stop=9s, connection.download.bytes=60KB";
    for command in [
        "run small.toml",
        "compare small.toml -a lia,lisa --seeds 2",
        "sweep small.toml --seeds 2 --vary bottleneck.rtt=20ms,40ms",
        "show small.toml",
    ] {
        place
            .picture(&format!("{command} {set}"))
            .must_have(&[line]);
        let plain = place.picture(command);
        let with = |(text, _): &(String, _)| text.starts_with("with ");
        assert!(!plain.texts.iter().any(with), "{command}");
    }
    place.good(&format!("run small.toml {set} --seeds 2 -o rows.csv"));
    place.good(&format!(
        "run small.toml {set} --rows sample --sample 100ms -o series.csv"
    ));
    // Tables have numbers: sizes in bytes, times in seconds.
    for file in ["rows.csv", "series.csv"] {
        place.picture(&format!("plot {file}")).must_have(&[line]);
    }
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
