//! `--on vm`: a kernel in QEMU, in virtual time. The tests need no root, but QEMU and the kernel that `make setup`
//! fetches; without them they are skipped.

#[path = "vm/ends.rs"]
mod ends;
#[path = "../../scenario/tests/support/json_schema.rs"]
mod json_schema;
#[path = "vm/reproduce.rs"]
mod reproduce;
mod support;
#[path = "vm/time.rs"]
mod time;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::unistd::Uid;
use serde_json::Value;
use support::vm::{fetched, vmlinuz};
use support::{Folder, LISA, complaint, without_progress};

/// The kernel that boots by default.
const KERNEL: &str = "6.12";

/// The seed draws nothing in this scenario; it only decides the random numbers of the guest's kernel.
const SCENARIO: &str = r#"title = "A small bottleneck"
stop = "20s"

[topology]
kind = "shared-bottleneck"
rate = "5Mbit"
rtt = ["40ms", "40ms"]
queue = 17

[[connection]]
name = "download"
protocol = "mptcp"
algorithm = "lisa"
bytes = "300KB"

[[connection]]
name = "competitor"
protocol = "tcp"
algorithm = "reno"
bytes = "50KB"
"#;

/// A folder with the scenario, also for temporary files. It is deleted at the end of the test.
struct Place(Folder);

impl Place {
    fn new() -> Self {
        let folder = Folder::new();
        fs::set_permissions(&*folder, PermissionsExt::from_mode(0o777)).unwrap();
        fs::write(folder.join("small.toml"), SCENARIO).unwrap();
        Self(folder)
    }

    fn start(&self, program: &str, arguments: &str) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments.split_whitespace())
            .env("TMPDIR", &*self.0)
            .current_dir(&*self.0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn lisa(&self, arguments: &str) -> Command {
        self.start(LISA, arguments)
    }

    /// Creates a cache with this kernel that all users can read. Returns the kernel's folder in it.
    fn cache(&self, kernel: &Path) -> PathBuf {
        let kernels = self.0.join("cache/lisa/kernels");
        fs::create_dir_all(&kernels).unwrap();
        let mut copy = Command::new("cp");
        copy.arg("-r").arg(kernel).arg(&kernels);
        assert!(copy.status().unwrap().success());
        kernels.join(kernel.file_name().unwrap())
    }

    /// The program with that cache as an ordinary user: another user if this one is root.
    fn anybody(&self, arguments: &str) -> Command {
        fs::copy(LISA, self.0.join("lisa")).unwrap();
        let user = match Uid::effective().is_root() {
            true => "setpriv --reuid=65534 --regid=65534 --clear-groups",
            false => "",
        };
        let mut command = self.start("env", &format!("{user} ./lisa {arguments}"));
        command.env("XDG_CACHE_HOME", self.0.join("cache"));
        command
    }

    /// Names of the files beside the scenario.
    fn files(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(&*self.0).unwrap().map(|file| file.unwrap());
        let files = files.map(|file| file.path());
        files.filter(|file| !file.ends_with("small.toml")).collect()
    }
}

/// Output of a command that must succeed; `None` if no VM can run.
fn good(mut command: Command) -> Option<String> {
    let output = command.output().unwrap();
    let said = without_progress(&output.stderr);
    if said.starts_with("lisa: no kernel for the VM") || said.starts_with("lisa: no qemu") {
        eprintln!("skipped: {said}");
        return None;
    }
    let warnings = said.lines().all(|line| line.starts_with("warning: "));
    assert!(output.status.success() && warnings, "{said}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_seed_decides_every_byte_for_any_user() {
    let Some(kernel) = fetched(KERNEL) else {
        return;
    };
    let place = Place::new();
    let both = "run small.toml --on vm --seeds 2 --json --trace both --trace-format csv";
    let Some(both) = good(place.lisa(both)) else {
        return;
    };
    // The second seed again: alone, which runs without a snapshot; with the kernel named; as an
    // ordinary user, if there is one.
    let run = format!(
        "run small.toml --on vm --seed 2 --json --trace one --trace-format csv --kernel {}",
        vmlinuz(&place.cache(&kernel)).display()
    );
    let again = good(place.anybody(&run)).unwrap();
    let lines: Vec<&str> = both.lines().collect();
    assert_eq!(lines[1], again.trim_end());
    let name = "a-small-bottleneck-seed-2";
    for end in ["csv", "credits.jsonl"] {
        let [one, two] =
            ["one", "both"].map(|folder| fs::read(place.0.join(format!("{folder}/{name}.{end}"))));
        let (one, two) = (one.unwrap(), two.unwrap());
        assert!(one == two && !one.is_empty(), "{end}");
    }
    let [first, second] = [lines[0], lines[1]].map(|line| {
        let outcome: Value = serde_json::from_str(line).unwrap();
        outcome["connections"].clone()
    });
    assert_ne!(first, second, "the seed reaches the guest's kernel");
}

/// All subflows join, LISA moves a credit, every byte arrives, and time is virtual: the lateness of packets does not depend
/// on the load of this machine.
#[test]
fn the_guests_kernel_does_what_this_one_would() {
    let place = Place::new();
    let run = "run small.toml --on vm --json --trace .";
    let Some(text) = good(place.lisa(run)) else {
        return;
    };
    let outcome: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(outcome["backend"], "vm");
    assert_eq!(outcome["wall_seconds"], Value::Null);
    assert_eq!(outcome["spoiled_packets"], 0);
    assert!(outcome["lateness_s"].as_f64().unwrap() < 1e-3);
    let [download, competitor] = [0, 1].map(|number| &outcome["connections"][number]);
    assert_eq!(
        (&download["bytes"], &competitor["bytes"]),
        (&300_000.into(), &50_000.into())
    );
    let subflows = download["subflows"].as_array().unwrap();
    assert_eq!(subflows.len(), 2);
    for subflow in subflows {
        // No window exceeds the capacity of the network.
        let window = subflow["cwnd_at_end_segments"].as_u64().unwrap();
        assert!((1..200).contains(&window), "{subflow}");
    }
    let credits = fs::read_to_string(place.0.join("a-small-bottleneck-seed-1.credits.jsonl"));
    let credit: Value = serde_json::from_str(credits.unwrap().lines().next().unwrap()).unwrap();
    let settled = &credit["settled"];
    assert_eq!(settled["sum_before"], settled["sum_after"], "{credit}");
}

/// Linux's own CUBIC runs after linked slow start: a loss leaves 717/1024 of the window, which then grows again.
#[test]
fn over_cubic_a_join_takes_a_credit_and_a_loss_leaves_seven_tenths() {
    let place = Place::new();
    let run = "run small.toml --on vm --json --trace . --trace-format csv --set topology.queue=30 \
               --set connection.download.algorithm=lisa_cubic --set connection.download.bytes=1500KB";
    if good(place.lisa(run)).is_none() {
        return;
    }
    let trace = |end: &str| {
        // The names hold the settings, too.
        let end = format!("-seed-1.{end}");
        let mut files = place.files().into_iter();
        let file = files.find(|file| file.to_string_lossy().ends_with(&end));
        fs::read_to_string(file.expect("a trace")).unwrap()
    };
    let credits = trace("credits.jsonl");
    assert!(!credits.is_empty());
    for line in credits.lines() {
        let credit: Value = serde_json::from_str(line).unwrap();
        let settled = &credit["settled"];
        assert!(!settled.is_null(), "{credit}");
        assert_eq!(settled["sum_before"], settled["sum_after"], "{credit}");
    }
    let (mut reductions, mut grown) = (0, 0);
    let mut before = [("", 0.0); 3]; // phase and cwnd of each subflow, by its number from 1
    let rows = trace("csv");
    for row in rows.lines().skip(1) {
        let columns: Vec<_> = row.split(',').collect();
        let [_, connection, subflow, cwnd, ssthresh, _, _, phase, ..] = columns[..] else {
            panic!("{row}")
        };
        if connection != "download" {
            continue;
        }
        let subflow: usize = subflow.parse().unwrap();
        let (cwnd, threshold) = (cwnd.parse().unwrap(), ssthresh.parse().unwrap_or(f64::MAX));
        let (phase_before, cwnd_before) = before[subflow];
        if phase == "recovery" && !["", phase].contains(&phase_before) {
            let left = (cwnd_before * 717.0 / 1024.0_f64).floor();
            assert_eq!(left, threshold, "{cwnd_before} before {row}");
            reductions += 1;
        }
        grown += u32::from(phase == "avoidance" && cwnd > threshold + 2.0);
        before[subflow] = (phase, cwnd);
    }
    assert!(reductions >= 2 && grown > 0, "{reductions} {grown}");
}

/// The simulator compared with the guest's kernel: the means equal those of `run`, the differences are taken seed by seed.
#[test]
fn backends_are_compared_seed_by_seed() {
    let place = Place::new();
    let lines = |arguments: &str| -> Option<Vec<Value>> {
        let text = good(place.lisa(arguments))?;
        let line = |line| serde_json::from_str(line).unwrap();
        Some(text.lines().map(line).collect())
    };
    let small = "small.toml --set connection.*.bytes=30KB";
    let compare =
        format!("compare {small} -a lia,lisa --on sim,vm --seeds 2 --json --plot both.svg");
    let Some(compared) = lines(&compare) else {
        return;
    };
    // The means of `run`, which keeps no rows for a plot. On the VM only those of LISA, to save time.
    let value = |line: &Value| line["connections"][0]["completion_s"].clone();
    let of_runs = |algorithm: &str, on: &str| {
        let set = format!("--set connection.download.algorithm={algorithm}");
        let runs = lines(&format!("run {small} --on {on} --seeds 2 --json {set}")).unwrap();
        runs.iter()
            .map(|run| value(run).as_f64().unwrap())
            .sum::<f64>()
            / 2.0
    };
    let told = value(&compared[1])["mean"].as_f64().unwrap();
    let means = [
        [of_runs("lia", "sim"), told],
        [of_runs("lisa", "sim"), of_runs("lisa", "vm")],
    ];
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/compare.schema.json");
    let schema: Value = serde_json::from_slice(&fs::read(schema).unwrap()).unwrap();
    assert_eq!(compared.len(), 4);
    for (number, line) in compared.iter().enumerate() {
        json_schema::validate(line, &schema).unwrap();
        let (algorithm, backend) = (number / 2, number % 2);
        assert_eq!(line["algorithm"], ["lia", "lisa"][algorithm]);
        assert_eq!(line["backend"], ["sim", "vm"][backend]);
        assert_eq!((&line["baseline"], &line["n"]), (&"lia".into(), &2.into()));
        assert_eq!(line["baseline_backend"], "sim");
        let told = value(line);
        let is = |value: &Value, expected: Option<f64>| match expected {
            Some(expected) => assert!((value["mean"].as_f64().unwrap() - expected).abs() < 1e-9),
            None => assert_eq!(*value, Value::Null),
        };
        let mean = means[algorithm][backend];
        is(&told, Some(mean));
        let first = (algorithm > 0).then(|| mean - means[0][backend]);
        is(&told["difference"], first);
        let simulated = (backend > 0).then(|| mean - means[algorithm][0]);
        is(&told["backend_difference"], simulated);
    }
    let compare = format!("compare {small} -a lia,lisa --on vm,sim --seeds 1");
    let text = good(place.lisa(&compare)).unwrap();
    let svg = fs::read_to_string(place.0.join("both.svg")).unwrap();
    for words in [
        "download, lia: simulator ",
        "download, lisa: simulator ",
        "lia, kernel",
        "lisa, simulator",
    ] {
        assert!(svg.contains(words), "{words}");
    }
    for words in [
        "in a VM and simulated, seed 1",
        "download, with lisa",
        "download, lisa − lia",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    assert!(
        text.lines().all(|line| line.chars().count() <= 120),
        "{text}"
    );
}

/// A backup takes over while the first path is down, and yields when the path is up again: simulator and guest's kernel agree on
/// the bytes of each subflow, within 5 % or one piece of the scheduler, and on the completion within 5 %.
#[test]
fn a_backup_takes_over_as_in_the_simulator() {
    let place = Place::new();
    let file = |down: &str| {
        format!(
            "stop = '20s'\n[topology]\nkind = 'non-shared-bottleneck'\nrate = '5Mbit'\nrtt = '40ms'\nqueue = 30\n\
             down = [{down}, []]\n[[connection]]\nprotocol = 'mptcp'\nalgorithm = 'reno'\nbytes = '4MB'\n\
             backup = [false, true]"
        )
    };
    let downs = ["[]", "{ from = '2s' }", "{ from = '2s', to = '4s' }"];
    // The bytes of the backup: none, 60 % and more, a quarter.
    let shares = [0..1, 2_400_000..3_100_000, 900_000..1_300_000];
    for (down, share) in downs.into_iter().zip(shares) {
        fs::write(place.0.join("backup.toml"), file(down)).unwrap();
        let of = |on: &str| -> Option<[f64; 3]> {
            let text = good(place.lisa(&format!("run backup.toml --on {on} --json")))?;
            let outcome: Value = serde_json::from_str(&text).unwrap();
            let connection = &outcome["connections"][0];
            let bytes = |subflow: usize| connection["subflows"][subflow]["bytes"].as_f64();
            Some([connection["completion_s"].as_f64(), bytes(0), bytes(1)].map(Option::unwrap))
        };
        let Some(kernel) = of("vm") else { return };
        let simulated = of("sim").unwrap();
        // Linux's scheduler gives a subflow 64 KiB at once (MPTCP_SEND_BURST_SIZE): one piece more or less is chance.
        let pieces = [0.0, 65_536.0, 65_536.0];
        for ((kernel, simulated), piece) in kernel.into_iter().zip(simulated).zip(pieces) {
            let difference = (kernel - simulated).abs();
            let tolerance = f64::max(0.05 * kernel, piece);
            assert!(difference <= tolerance, "{down}: {kernel} {simulated}");
        }
        assert!(share.contains(&(kernel[2] as u64)), "{down}: {kernel:?}");
    }
}

/// Kinds of data that the lab's servers send, on networks with several hosts: simulator and guest's kernel agree on the goodput of
/// each connection within 3 %.
#[test]
fn applications_and_networks_are_those_of_the_simulator() {
    let place = Place::new();
    let rates = "stop = '4s'\nwarmup = '1s'\n[topology]\nkind = 'shared-bottleneck'\nrate = '5Mbit'\nrtt = '40ms'\nqueue = 300\n\
        [[connection]]\nname = 'udp'\nprotocol = 'udp'\nrate = '2Mbit'\npacket = 1000\n\
        [[connection]]\nname = 'on and off'\nprotocol = 'udp'\nrate = '1Mbit'\non = '300ms'\noff = '200ms'\n\
        [[connection]]\nname = 'paced'\nalgorithm = 'reno'\nrate = '1Mbit'";
    let replies = "stop = '9s'\n[topology]\nkind = 'scenario-c'\nn1 = 2\nn2 = 2\nc1 = '1Mbit'\nc2 = '1Mbit'\nrtt = '40ms'\nqueue = 300\n\
        [[connection]]\nname = 'replies'\nprotocol = 'tcp'\nalgorithm = 'reno'\npaths = 'single-path'\n\
        start = { from = '0s', to = '1s' }\nrequests = { count = 3, bytes = '30KB', gap = { from = '100ms', to = '900ms' } }";
    for text in [rates, replies] {
        fs::write(place.0.join("a.toml"), text).unwrap();
        let goodputs = |on: &str| -> Option<Vec<f64>> {
            let text = good(place.lisa(&format!("run a.toml --on {on} --json")))?;
            let outcome: Value = serde_json::from_str(&text).unwrap();
            let connections = outcome["connections"].as_array().unwrap();
            let of = |connection: &Value| connection["goodput_mbps"].as_f64().unwrap();
            Some(connections.iter().map(of).collect())
        };
        let Some(kernel) = goodputs("vm") else { return };
        let simulated = goodputs("sim").unwrap();
        assert_eq!(kernel.len(), simulated.len());
        for (one, other) in kernel.iter().zip(&simulated) {
            assert!((one / other - 1.0).abs() < 0.03, "{kernel:?} {simulated:?}");
        }
    }
}

/// Without root the demo reports the reason and runs on the kernel of the VM.
#[test]
fn the_demo_needs_no_root() {
    let Some(kernel) = fetched(KERNEL) else {
        return;
    };
    let place = Place::new();
    place.cache(&kernel);
    let mut demo = place.anybody("demo --runs 1 --out out");
    let output = demo.output().unwrap();
    let said = without_progress(&output.stderr);
    if said.contains("no qemu") {
        eprintln!("skipped: {said}");
        return;
    }
    let why = "lisa: the kernel is Linux 6.12 in a VM: loading an algorithm needs root";
    assert!(output.status.success() && said.starts_with(why), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    let tables = String::from_utf8(output.stdout).unwrap();
    assert!(
        tables.contains("LISA compared with MPTCP LIA on Linux 6.12 in a VM:"),
        "{tables}"
    );
    let file = |name: &str| fs::read_to_string(place.0.join("out").join(name)).unwrap();
    assert!(file("report.html").contains("<h1>LISA on Linux 6.12 in a VM</h1>"));
    // Six bottlenecks, four contenders.
    let outcomes = file("outcomes.jsonl");
    for backend in ["vm", "sim"] {
        let backend = format!("\"backend\":\"{backend}\"");
        let lines = outcomes.lines().filter(|line| line.contains(&backend));
        assert_eq!(lines.count(), 24, "{backend}");
    }
    for line in file("credits.jsonl").lines() {
        let credit: Value = serde_json::from_str(line).unwrap();
        let settled = &credit["credit"]["settled"];
        assert_eq!(settled["sum_before"], settled["sum_after"], "{credit}");
    }
}
