//! `lisa reproduce`.

use std::fs;
use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::Place;

/// A figure with two algorithms at 34 queues, on two days.
const FIGURE: &str = "reproduce lisa/fig6a --seeds 1 --no-causes";

/// Bytes in the store.
fn stored(place: &Place, cache: &str) -> u64 {
    let entries = fs::read_dir(place.0.join(cache)).into_iter().flatten();
    let sizes = entries.map(|entry| entry.unwrap().metadata().map_or(0, |data| data.len()));
    sizes.sum()
}

/// Two verdicts with the published rows, the same values in JSON, results.csv and page, and nothing that loads from elsewhere.
#[test]
fn a_figure() {
    let place = Place::new();
    let lines = place.valid_json(
        &format!("{FIGURE} --cache cache -o report --json"),
        "reproduce.schema.json",
    );
    let claims = lines[0]["claims"].as_array().unwrap();
    let values: Vec<_> = claims.iter().map(|claim| &claim["value"]).collect();
    assert_eq!(values, ["similar", "lower"]);
    // With fewer than eight packets both lose the first window: the paper's explanation of equal results.
    assert_eq!(claims[0]["verdict_then"], "confirmed");
    assert_eq!(claims[0]["printed_then"], "similar at 7 of 7; mean 0 %");
    assert_eq!(claims[1]["confirmed_by"], "lower at 25 of 27 points");
    assert_eq!(claims[0]["verdict_vm"], "not-run");
    let csv = String::from_utf8(place.read("report/results.csv")).unwrap();
    assert_eq!(csv.lines().count(), 3, "{csv}");
    assert!(
        csv.lines().nth(2).unwrap().contains("lisa vs mptcp,lower,"),
        "{csv}"
    );
    let page = String::from_utf8(place.read("report/report.html")).unwrap();
    assert_eq!(page.matches("<figure>").count(), 2);
    for word in [
        "similar at 7 of 7",
        "lower at 25 of 27 points",
        "Stated in the paper: join of the second subflow, 3 RTTs after the first one",
        "retransmissions in slow start, R_ss",
        "prefers-color-scheme: dark",
        "@media print",
    ] {
        assert!(page.contains(word), "{word}");
    }
    for outside in ["src=", "<link", "@import", "<script"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(place.0.join("report/lisa-fig6a-r_ss-then.svg").exists());
    // Nothing runs twice.
    let before = stored(&place, "cache");
    let table = place.good(&format!("{FIGURE} --cache cache"));
    assert_eq!(stored(&place, "cache"), before);
    assert!(table.contains("1 confirmed"), "{table}");
}

/// The numbers beside the vertical axis of a figure.
fn labels(svg: &str) -> Vec<&str> {
    let texts = svg.split("<text").skip(1);
    let right = texts.filter(|text| {
        text.split('>')
            .next()
            .is_some_and(|tag| tag.contains("\"end\""))
    });
    right
        .filter_map(|text| text.split(['>', '<']).nth(1))
        .map(str::trim)
        .collect()
}

/// Two figures of LISA, one with a third line and long titles of axes: each SVG has its name, no label is cut, both days share an axis, and
/// the page has its contents, and what is said once.
#[test]
fn the_page_reads_well() {
    let place = Place::new();
    let title = "credits that the second subflow (20 ms) paid";
    for (figure, measure) in [("lender", "second"), ("fig1", "completion")] {
        place.good(&format!(
            "reproduce lisa/{figure} --seeds 2 --no-causes --cache cache -o report"
        ));
        let page = String::from_utf8(place.read("report/report.html")).unwrap();
        let svgs = page.split("<svg").skip(1);
        for svg in svgs.clone() {
            let (tag, rest) = svg.split_once('>').unwrap();
            assert!(
                tag.contains("role=\"img\"") && rest.starts_with("<title>"),
                "{tag}"
            );
        }
        assert!(svgs.count() >= 4);
        for wrong in ['…', '`'] {
            assert!(!page.contains(wrong), "{figure}: {wrong}");
        }
        assert_eq!(page.matches("--on vm").count(), 1);
        assert!(
            page.contains(&format!("<a href=\"#lisa-{figure}\">{figure}: ")),
            "{figure}"
        );
        let [then, now] = ["then", "now"].map(|day| {
            let svg = place.read(&format!("report/lisa-{figure}-{measure}-{day}.svg"));
            String::from_utf8(svg).unwrap()
        });
        assert!(labels(&then).len() > 2, "{:?}", labels(&then));
        assert_eq!(labels(&then), labels(&now), "{figure}");
        // TCP is black, MPTCP blue and LISA orange, whatever their number.
        for (colour, is_there) in [("#0072B2", true), ("#D55E00", true), ("#009E73", false)] {
            assert_eq!(then.contains(colour), is_there, "{figure}: {colour}");
        }
        if figure == "lender" {
            let named = format!("<title>lender: {title}, paper's day</title>");
            assert!(then.contains(&named), "{then}");
        }
    }
}

/// Ctrl-C ends the command in one line; the same command then writes the same bytes as one that was not interrupted.
#[test]
fn an_interrupted_report_goes_on() {
    let place = Place::new();
    place.good(&format!("{FIGURE} --cache whole -o whole-report --jobs 1"));
    let interrupted = format!("{FIGURE} --cache parts -o report");
    let mut command = place.lisa(&interrupted);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while stored(&place, "parts") < 5000 {
        std::thread::yield_now();
    }
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    let complaint = super::complaint(&child.wait_with_output().unwrap(), 130);
    assert!(
        complaint.contains("of 136 runs are finished; the same command runs the rest"),
        "{complaint}"
    );
    // A crash leaves a line without an end.
    let file = fs::read_dir(place.0.join("parts"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let mut text = fs::read(&file).unwrap();
    text.truncate(text.len() - 100);
    fs::write(&file, text).unwrap();
    place.good(&interrupted);
    for name in ["report.html", "results.csv", "lisa-fig6a-r_ss-now.svg"] {
        let same =
            place.read(&format!("report/{name}")) == place.read(&format!("whole-report/{name}"));
        assert!(same, "{name} differs");
    }
}

#[test]
fn a_wrong_name_is_one_line() {
    let place = Place::new();
    let complaint = place.bad("reproduce lsia --cache cache", 2);
    assert_eq!(
        complaint.trim(),
        "lisa: no paper `lsia`, did you mean `lisa`?; there are lisa, css, lia-olia, nmcc"
    );
    let complaint = place.bad("reproduce nmcc/fig55 --cache cache", 2);
    assert!(
        complaint.contains("did you mean `nmcc/fig5`?; there are nmcc/table1, nmcc/fig6"),
        "{complaint}"
    );
    assert!(!place.0.join("cache").exists());
}
