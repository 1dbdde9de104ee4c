//! Instructions that the kernel's verifier processes for each callback of an algorithm, and a baseline of these counts.

use libbpf_rs::query::ProgInfoIter;
use std::collections::BTreeMap;
use std::fs;

/// The file with the recorded counts, for each kernel and compiler.
pub const BASELINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/instructions.txt");

/// A count grew if it increased by more than a tenth and by more than this. Counts are exact for an object and a kernel, without noise; but
/// another field, or a compiler's minor release, changes them by some per cent, and those of a small callback by some dozens. The test
/// finds a branch or a loop that the verifier follows again for each earlier state, which multiplies the count.
const FEW: u32 = 100;

/// Callbacks, in the order of the counts.
pub const CALLBACKS: [&str; 8] = [
    "init",
    "cong_avoid",
    "ssthresh",
    "undo_cwnd",
    "set_state",
    "cwnd_event",
    "release",
    "tx_start", // since Linux 7.1; the last, so that the counts of older kernels are without it
];

/// For each algorithm the counts of its callbacks, in their order.
pub type Counts = BTreeMap<String, Vec<u32>>;

/// The counts of the running kernel from loading these programs.
///
/// # Panics
/// If there are other callbacks than [`CALLBACKS`].
pub fn count(programs: &[u32]) -> Vec<u32> {
    let programs: BTreeMap<String, u32> = ProgInfoIter::default()
        .filter(|program| programs.contains(&program.id))
        .map(|program| {
            (
                program.name.to_string_lossy().into_owned(),
                program.verified_insns,
            )
        })
        .collect();
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

/// Name of the running kernel in the baseline.
pub fn linux() -> String {
    let release = nix::sys::utsname::uname().expect("every Linux has it");
    let release = release.release().to_string_lossy();
    let numbers = release.split(|c: char| !c.is_ascii_digit());
    let version: Vec<_> = numbers.take(2).collect();
    format!("Linux {}", version.join("."))
}

/// Title of a part: a kernel and this program's compiler, which both affect the counts.
pub fn title(linux: &str) -> String {
    format!("{linux}, clang {}", env!("BPF_CLANG"))
}

/// The baseline: a comment, and then a part for each kernel and compiler.
pub struct Baseline(Vec<String>);

impl Baseline {
    /// Reads the file.
    ///
    /// # Panics
    /// If the file is missing.
    pub fn open() -> Self {
        let text = fs::read_to_string(BASELINE).expect(BASELINE);
        let parts = text.split("\n\n");
        Self(
            parts
                .map(|part| part.trim_end().to_owned() + "\n")
                .collect(),
        )
    }

    /// The counts of the first part whose title starts with `title`.
    pub fn counts(&self, title: &str) -> Option<Counts> {
        let part = self.0.iter().find(|part| part.starts_with(title))?;
        Some(read(part))
    }

    /// Replaces the counts with this title in the file.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn renew(mut self, title: &str, counts: &Counts) {
        let new = part(title, counts);
        let first = format!("{title}\n");
        match self.0.iter_mut().find(|part| part.starts_with(&first)) {
            Some(part) => *part = new,
            None => self.0.push(new),
        }
        fs::write(BASELINE, self.0.join("\n")).expect(BASELINE);
    }
}

/// A part: its title, and its table.
fn part(title: &str, counts: &Counts) -> String {
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

/// The counts of a part.
fn read(part: &str) -> Counts {
    let row = |line: &str| {
        let mut words = line.split_whitespace().map(String::from);
        let name = words.next().expect("a name");
        (
            name,
            words.map(|count| count.parse().expect("a count")).collect(),
        )
    };
    part.lines().skip(2).map(row).collect()
}

/// A sentence for each count of an algorithm that grew.
pub fn grown(algorithm: &str, counts: &[u32], baseline: &Counts) -> Vec<String> {
    let Some(older) = baseline.get(algorithm) else {
        return vec![format!("{algorithm} has no baseline")];
    };
    let grew = |((callback, &count), &was): ((&&str, &u32), &u32)| {
        let grew = count > was + (was / 10).max(FEW);
        grew.then(|| format!("{algorithm}: {callback} went from {was} to {count}"))
    };
    let each = CALLBACKS.iter().zip(counts).zip(older);
    each.filter_map(grew).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_is_growth_and_a_few_are_not() {
        let of = |counts: [u32; 7]| Counts::from([("lisa".to_owned(), counts.to_vec())]);
        let baseline = of([20_000, 60_000, 500, 30, 3_000, 9_000, 4_000]);
        assert_eq!(read(&part("here", &baseline)), baseline);
        let slightly = [22_000, 66_000, 600, 130, 3_300, 9_900, 4_400];
        assert_eq!(grown("lisa", &slightly, &baseline), [""; 0]);
        let more = [20_000, 66_001, 601, 30, 3_000, 9_000, 4_000];
        let sentences = [
            "lisa: cong_avoid went from 60000 to 66001",
            "lisa: ssthresh went from 500 to 601",
        ];
        assert_eq!(grown("lisa", &more, &baseline), sentences);
        assert_eq!(
            grown("lisa", &more, &Counts::new()),
            ["lisa has no baseline"]
        );
    }
}
