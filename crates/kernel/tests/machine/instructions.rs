//! How much the verifier goes through for each callback of each algorithm, against what it was: `instructions.txt`, beside
//! this. A loop that it starts to follow once for each state multiplies that from one edit to the next, long before the
//! kernel refuses it.

use libbpf_rs::query::ProgInfoIter;
use lisa_kernel::load::{self, Options};
use lisa_kernel::owner::Owner;
use lisa_kernel::requirements;
use mpcc::Algorithm;
use std::collections::BTreeMap;
use std::fs;
use std::sync::LazyLock;

/// BPF_COMPLEXITY_LIMIT_INSNS (linux/bpf.h): there the kernel refuses a program.
const LIMIT: u32 = 1_000_000;

/// Of the limit: the rest is for kernels and compilers that nobody has tried.
const MOST: u32 = LIMIT / 4 * 3;

/// A count grew if it is more by a tenth, and by more than this. It is exact for an object and a kernel, so nothing is noise; but
/// a field more, or a compiler's minor release, moves it by some percent, and a small callback by some dozens. What this is
/// there to notice, a branch or a loop that is followed again for each state before it, is a factor.
const FEW: u32 = 100;

const BASELINE: &str = "tests/machine/instructions.txt";
const RENEW: &str = "UPDATE_INSTRUCTIONS=1 cargo test -p lisa-kernel --test machine instructions";

const CALLBACKS: [&str; 7] = [
    "init",
    "cong_avoid",
    "ssthresh",
    "undo_cwnd",
    "set_state",
    "cwnd_event",
    "release",
];

/// By algorithm: the counts of its callbacks, in their order.
type Counts = BTreeMap<String, Vec<u32>>;

/// What the running kernel counts.
static COUNTED: LazyLock<Counts> = LazyLock::new(|| {
    let ours = Algorithm::all().filter(|algorithm| !algorithm.in_linux());
    ours.map(|algorithm| (algorithm.name().into(), count(algorithm.name())))
        .collect()
});

fn count(algorithm: &str) -> Vec<u32> {
    let options = Options {
        register_as: Some(format!("t{}", std::process::id())),
        owner: Some(Owner::this()),
        ..Options::default()
    };
    let loaded = load::load(algorithm, &options)
        .unwrap_or_else(|error| panic!("`{algorithm}` does not load: {error}"));
    let programs: BTreeMap<String, u32> = ProgInfoIter::default()
        .filter(|program| loaded.program_ids().contains(&program.id))
        .map(|program| {
            (
                program.name.to_string_lossy().into_owned(),
                program.verified_insns,
            )
        })
        .collect();
    loaded.unload(None).expect("unloads");
    let counts: Vec<u32> = CALLBACKS
        .iter()
        .filter_map(|callback| programs.get(&format!("lisa_{callback}")).copied())
        .collect();
    assert_eq!(
        counts.len(),
        programs.len(),
        "other callbacks: {programs:?}"
    );
    counts
}

/// The kernel and the compiler, both of which decide the counts.
fn here() -> String {
    let release = requirements::release();
    let version: Vec<_> = release.split(['.', '-']).take(2).collect();
    format!("Linux {}, clang {}", version.join("."), env!("BPF_CLANG"))
}

/// A part of the file: its title, and its table.
fn table(title: &str, counts: &Counts) -> String {
    let mut text = format!("{title}\n{:<16}", "");
    CALLBACKS
        .iter()
        .for_each(|callback| text += &format!("{callback:>11}"));
    for (algorithm, counts) in counts {
        text += &format!("\n{algorithm:<16}");
        counts
            .iter()
            .for_each(|count| text += &format!("{count:>11}"));
    }
    text + "\n"
}

fn read(table: &str) -> Counts {
    let row = |line: &str| {
        let mut words = line.split_whitespace().map(String::from);
        let name = words.next().expect("a name");
        (
            name,
            words.map(|count| count.parse().expect("a count")).collect(),
        )
    };
    table.lines().skip(2).map(row).collect()
}

/// What there is to say of these counts beside the older ones.
fn grown(counted: &Counts, baseline: &Counts) -> Vec<String> {
    let mut said = Vec::new();
    for (algorithm, counts) in counted {
        let Some(older) = baseline.get(algorithm) else {
            said.push(format!("{algorithm} has no baseline"));
            continue;
        };
        for ((callback, &count), &was) in CALLBACKS.iter().zip(counts).zip(older) {
            if count > was + (was / 10).max(FEW) {
                said.push(format!(
                    "{algorithm}: {callback} went from {was} to {count}"
                ));
            }
        }
    }
    let gone = baseline.keys().filter(|name| !counted.contains_key(*name));
    said.extend(gone.map(|name| format!("{name} is no algorithm any more")));
    said
}

#[test]
fn no_callback_comes_near_the_limit() {
    if !crate::able() {
        return;
    }
    for (algorithm, counts) in COUNTED.iter() {
        for (callback, &count) in CALLBACKS.iter().zip(counts) {
            assert!(
                (1..=MOST).contains(&count),
                "{algorithm}: {callback} takes {count} of the verifier's {LIMIT} instructions, more than {MOST}"
            );
        }
    }
}

#[test]
fn no_callback_grew() {
    if !crate::able() {
        return;
    }
    let (text, here) = (fs::read_to_string(BASELINE).expect(BASELINE), here());
    let mut parts: Vec<String> = text
        .split("\n\n")
        .map(|part| part.trim_end().to_owned() + "\n")
        .collect();
    let found = parts
        .iter()
        .position(|part| part.starts_with(&format!("{here}\n")));
    if std::env::var_os("UPDATE_INSTRUCTIONS").is_some() {
        let ours = table(&here, &COUNTED);
        match found {
            Some(at) => parts[at] = ours,
            None => parts.push(ours),
        }
        fs::write(BASELINE, parts.join("\n")).expect(BASELINE);
        return;
    }
    let Some(at) = found else {
        eprintln!("skipped: {BASELINE} has nothing for {here}; `{RENEW}` adds it");
        return;
    };
    let said = grown(&COUNTED, &read(&parts[at]));
    assert!(
        said.is_empty(),
        "{here}: {}; if that is meant to be, `{RENEW}` writes {BASELINE} anew",
        said.join(", ")
    );
}

#[test]
fn a_tenth_is_growth_and_a_few_are_not() {
    let of = |counts: [u32; 7]| Counts::from([("lisa".to_owned(), counts.to_vec())]);
    let baseline = of([20_000, 60_000, 500, 30, 3_000, 9_000, 4_000]);
    let slightly = of([22_000, 66_000, 600, 130, 3_300, 9_900, 4_400]);
    assert_eq!(grown(&slightly, &baseline), [""; 0]);
    assert_eq!(read(&table("here", &baseline)), baseline);
    let more = of([20_000, 66_001, 601, 30, 3_000, 9_000, 4_000]);
    let said = [
        "lisa: cong_avoid went from 60000 to 66001",
        "lisa: ssthresh went from 500 to 601",
    ];
    assert_eq!(grown(&more, &baseline), said);
    assert_eq!(grown(&more, &Counts::new()), ["lisa has no baseline"]);
    assert_eq!(
        grown(&Counts::new(), &baseline),
        ["lisa is no algorithm any more"]
    );
}
