//! Wrong arguments, wrong files, closed pipes, and shell completions.

use super::{Place, SCENARIO, complaint};
use std::fs::{self, File};

#[test]
fn an_error_is_one_line() {
    let place = Place::new();
    let broken = SCENARIO.replace("bytes = \"100KB\"", "byte = \"100KB\"");
    fs::write(place.0.join("broken.toml"), broken).unwrap();
    std::os::unix::fs::symlink("/dev/full", place.0.join("full.csv.part")).unwrap();
    for (arguments, code, words) in [
        ("run missing.toml", 1, "missing.toml: No such file"),
        ("run .", 1, ".: not a regular file"),
        (
            "run broken.toml",
            1,
            "broken.toml:15: `connection.download.byte`: no such key, did you mean `bytes`?",
        ),
        (
            "run small.toml --set stpo=9s",
            2,
            "--set stpo=9s: `stpo`: no such key, did you mean `stop`?",
        ),
        (
            "run small.toml --set stop",
            2,
            "--set stop: write KEY=VALUE, like stop=10s",
        ),
        ("run small.toml --seeds 0", 2, "--seeds"),
        (
            "run small.toml --seed 1 --seeds 2",
            2,
            "cannot be used with",
        ),
        ("run small.toml --timing", 2, "--json"),
        ("run small.toml --jobs 0", 2, "--jobs"),
        (
            "run small.toml --on moon",
            2,
            "--on moon: write one of sim, host, vm",
        ),
        (
            "run small.toml --on sim,vm",
            2,
            "--on sim,vm: write one of sim, host, vm",
        ),
        (
            "compare small.toml -a lisa --on sim,sim",
            2,
            "--on names `sim` twice: name each backend once",
        ),
        (
            "compare small.toml -a lisa --on sim,foo",
            2,
            "--on foo: write one of sim, host, vm",
        ),
        (
            "compare small.toml -a lisa --on sim,host --kernel x",
            2,
            "--kernel is for the VM",
        ),
        (
            "compare small.toml -a bbr --on vm,sim",
            2,
            "-a bbr: the simulator has no algorithm of this name",
        ),
        (
            "run small.toml --on host --jobs 2",
            2,
            "--jobs is for simulations",
        ),
        (
            "run small.toml --trace small.toml",
            1,
            "--trace small.toml: ",
        ),
        (
            "run small.toml --pcap small.toml",
            1,
            "--pcap small.toml: File exists",
        ),
        (
            "run small.toml --set connection.1.algorithm=bbr",
            1,
            "lisa: small.toml, seed 1: `connection.download.algorithm`: the simulator has no `bbr`; there are lisa, ",
        ),
        (
            "compare small.toml -a lia,lisa --set bottleneck.rate=1bit --set stop=365d --set bottleneck.queue=100000000",
            1,
            "lisa: small.toml with lia, seed 1: a packet might leave `bottleneck up`",
        ),
        (
            "sweep small.toml --set bottleneck.rate=1bit --vary bottleneck.queue=10,100000000 -a lia,lisa --seeds 2",
            1,
            "lisa: small.toml with bottleneck.queue=100000000, lia, seed 1: a packet might leave `bottleneck up`",
        ),
        ("run", 2, "FILE"),
        ("compare small.toml", 2, "--algorithms"),
        (
            "compare small.toml -a lia,lsia",
            2,
            "-a lsia: no algorithm `lsia`, did you mean `lisa`?",
        ),
        (
            "compare small.toml -a lia,bbr",
            2,
            "-a bbr: the simulator has no algorithm of this name",
        ),
        (
            "compare small.toml -a lisa --connection upload",
            2,
            "there are download, competitor",
        ),
        (
            "compare small.toml -a lisa --plot no/where.svg",
            1,
            "--plot no/where.svg: No such file",
        ),
        (
            "compare small.toml -a lisa --plot where.gif",
            2,
            "ends with .svg, .png or .pdf",
        ),
        (
            "compare small.toml -a lisa --metrics goodput",
            2,
            "lisa: --metrics: no metric `goodput`, did you mean `goodput_mbps` or `subflows.goodput_mbps`?",
        ),
        (
            "compare small.toml -a lisa --metrics share,srtt",
            2,
            "lisa: --metrics: no metric `srtt`, did you mean `subflows.srtt_s`?\n",
        ),
        (
            "sweep small.toml --vary stop=9s --metrics losses",
            2,
            "no metric `losses`, did you mean `subflows.losses` or `links.losses`?\n",
        ),
        (
            "sweep small.toml --vary stop=9s --metrics bytes --metrics bytes",
            2,
            "--metrics: `bytes` is named twice: name each metric once",
        ),
        (
            "compare small.toml -a lisa --metrics share,,bytes",
            2,
            "--metrics",
        ),
        (
            "sweep small.toml",
            2,
            "nothing varies: give --vary KEY=VALUES, like topology.queue.packets=1..34, or -a LIST",
        ),
        (
            "run small.toml --set topology.rate=[{trace=wifi.up}]",
            2,
            "--set topology.rate=[{trace=wifi.up}]: `topology.rate`: `[{trace=wifi.up}]` is no list or table: texts in it have quotes, like",
        ),
        (
            "sweep small.toml --vary stop",
            2,
            "--vary stop: write it as KEY=VALUES",
        ),
        (
            "sweep small.toml --vary bottleneck.queue=9..1",
            2,
            "`9..1`: a range must not descend",
        ),
        (
            "sweep small.toml --vary bottleneck.queue=1..x",
            2,
            "`x` is not a number",
        ),
        (
            "sweep small.toml --vary bottleneck.queu=1..3",
            2,
            "--vary bottleneck.queu=1: ",
        ),
        (
            "sweep small.toml --vary bottleneck.queue=1,soon",
            2,
            "--vary bottleneck.queue=soon: ",
        ),
        (
            "sweep small.toml --vary stop=1s --vary stop=2s",
            2,
            "varied already",
        ),
        (
            "sweep small.toml --vary topology.queue=1,2 --vary bottleneck.queue=3,4",
            2,
            "--vary bottleneck.queue=3,4: this key is varied already",
        ),
        (
            "sweep small.toml --vary connection.1.algorithm=lisa -a lisa",
            2,
            "use this key or -a, not both",
        ),
        (
            "sweep small.toml --vary bottleneck.queue=1..90000 --seeds 90000",
            2,
            "runs: at most",
        ),
        (
            "sweep small.toml --vary stop=9s -o out.txt",
            2,
            "-o out.txt: a name ends with .parquet or .csv",
        ),
        (
            "sweep small.toml --vary stop=9s -o no/where.csv",
            1,
            "no/where.csv: No such file",
        ),
        (
            "sweep small.toml --vary stop=9s -o full.csv --force",
            1,
            "full.csv.part: a link; remove the link",
        ),
    ] {
        let line = place.bad(arguments, code);
        assert!(line.contains(words), "{arguments}: {line:?} has {words:?}");
    }
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = place.lisa("run small.toml").stdout(full).output().unwrap();
    assert!(complaint(&output, 1).contains("standard output: No space left"));
}

#[test]
fn completions_offer_files_for_arguments_that_are_files() {
    let place = Place::new();
    let zsh = place.good("completions zsh");
    for argument in ["':file -- The scenario", "--plot=[", "--output=["] {
        let lines: Vec<&str> = zsh.lines().filter(|line| line.contains(argument)).collect();
        assert!(!lines.is_empty(), "{argument}");
        assert!(
            lines.iter().all(|line| line.contains(":_files")),
            "{lines:?}"
        );
    }
    for (shell, text) in [("zsh", &zsh), ("help", &place.good("compare --help"))] {
        for metric in [
            "goodput_mbps",
            "jain_index",
            "subflows.srtt_s",
            "links.queue_mean_packets",
        ] {
            assert!(text.contains(metric), "{shell}: {metric}");
        }
    }
    // If bash finds no word, `-o default` completes files.
    let bash = place.good("completions bash");
    assert!(bash.contains("-o bashdefault -o default lisa"), "{bash}");
}
