//! Features of scenarios and of their results, and the backends that have them.
//!
//! This is the only list: `supported` checks scenarios by it, and [`table`] is the table of docs/backends.md.

use std::fmt::Write;

use netsim::Span;
use scenario::{ConnectionSpec, Constants, PathManager, Profile};

use crate::error::Error;
use crate::network::MAX_PATHS;

/// A feature.
pub struct Feature {
    /// Name, as a phrase.
    pub name: &'static str,
    /// Keys of the scenario, or options of the command line.
    pub keys: &'static str,
    /// The simulator.
    pub sim: Support,
    /// The kernel of this host.
    pub host: Support,
    /// The kernel in a VM.
    pub vm: Support,
}

/// Whether a backend has a feature.
#[derive(Clone, Copy)]
pub enum Support {
    /// Without a restriction.
    Yes,
    /// With a condition or a limit.
    Partly(&'static str),
    /// Not; the cause, as a phrase.
    No(&'static str),
}

use Support::{No, Partly, Yes};

/// A feature that real endpoints lack, on the host as in a VM.
pub struct Restriction {
    /// Missing feature, as the end of "the lab does not support …".
    pub what: &'static str,
    /// Keys of the scenario.
    pub keys: &'static str,
    /// Cause, as a phrase.
    pub reason: &'static str,
    /// Connections that use the feature; none: [`supported`](crate::supported) examines the scenario as a whole.
    pub(crate) uses: Option<fn(&ConnectionSpec) -> bool>,
}

impl Restriction {
    /// The error of a scenario with the feature at this place.
    pub(crate) fn error(&self, place: String) -> Error {
        Error::Unsupported {
            place,
            what: self.what,
            reason: self.reason,
        }
    }
}

/// Largest number of connections of a run.
pub(crate) const MAX_FLOWS: u64 = 64;

/// Too many connections.
pub(crate) const FLOWS: Restriction = Restriction {
    what: "more than 64 connections",
    keys: "`count`, `arrivals`, `pattern`",
    reason: "each has two threads and up to twelve interfaces on the processors that also carry the packets",
    uses: None,
};

fn is_css(connection: &ConnectionSpec) -> bool {
    mpcc::Algorithm::find(&connection.algorithm).is_some_and(|found| found.slow_start() == "css")
}

/// All restrictions, in the order of the table.
pub static RESTRICTIONS: [Restriction; 10] = [
    FLOWS,
    Restriction {
        what: "an algorithm of the simulator alone",
        keys: "`algorithm = \"phi\"`",
        reason: "the kernel's object does not have it",
        uses: Some(|connection| {
            let algorithm = mpcc::Algorithm::find(&connection.algorithm);
            algorithm.is_some_and(|found| !found.runs_in_linux())
        }),
    },
    Restriction {
        what: "more than nine subflows",
        keys: "`subflows`",
        reason: "MPTCP's path manager knows eight addresses beyond the first",
        uses: Some(|connection| connection.subflows as usize > MAX_PATHS),
    },
    Restriction {
        what: "a `profile` other than the kernel's",
        keys: "`profile`: `linux-3.14`, `ns3-newreno`",
        reason: "the endpoints are those of the running kernel",
        uses: Some(|connection| connection.profile != Profile::linux()),
    },
    Restriction {
        what: "constants and rules other than the kernel's: `initial_window`, `rto_initial`, `rto_min`, `delayed_ack`, `quick_acks`, `push_acks`, `bursts`",
        keys: "`initial_window`, `rto_initial`, `rto_min`, `delayed_ack`, `quick_acks`, `push_acks`, `bursts`",
        reason: "a socket has no options for them",
        uses: Some(|connection| connection.constants != Constants::default()),
    },
    Restriction {
        what: "a `path_manager` other than fullmesh",
        keys: "`path_manager = \"ndiffports\"`",
        reason: "the kernel's path manager opens no second subflow to an address",
        uses: Some(|connection| connection.path_manager != PathManager::Announced),
    },
    Restriction {
        what: "a `join_delay`",
        keys: "`join_delay`",
        reason: "the kernel joins an address as soon as it is announced",
        uses: Some(|connection| connection.join_delay != Span::ZERO),
    },
    Restriction {
        what: "an `mss` of its own",
        keys: "`mss`",
        reason: "the lab's ports have an MTU of 1500 bytes",
        uses: Some(|connection| connection.mss != ConnectionSpec::default().mss),
    },
    Restriction {
        what: "an `initial_ssthresh` without CSS",
        keys: "`initial_ssthresh` of algorithms without CSS",
        reason: "a socket has no option for it; CSS has it as its setting con_ssthresh",
        uses: Some(|connection| connection.initial_ssthresh.is_some() && !is_css(connection)),
    },
    Restriction {
        what: "`groups`",
        keys: "`groups`, `regroup`",
        reason: "the lab requests no groups from the kernel",
        uses: Some(|connection| !connection.groups.is_empty() || !connection.regroup.is_empty()),
    },
];

/// The features that are no restriction of a scenario.
pub static FEATURES: [Feature; 16] = [
    Feature {
        name: "algorithms of lisa",
        keys: "`algorithm`",
        sim: Yes,
        host: Yes,
        vm: Yes,
    },
    Feature {
        name: "groups by the network",
        keys: "`assistance`",
        sim: Partly("decided at once"),
        host: Partly("by a topology manager and its agent"),
        vm: Partly("as on the host"),
    },
    Feature {
        name: "Linux's other algorithms",
        keys: "`algorithm = \"bbr\"`",
        sim: No("the simulator has the algorithms of `lisa algorithms` alone"),
        host: Partly("if the kernel has them"),
        vm: Partly("if the kernel has them"),
    },
    Feature {
        name: "rates, recorded rates, queues, losses, reordering, jitter, outages and detours of bottlenecks",
        keys: "`[topology]`",
        sim: Yes,
        host: Yes,
        vm: Yes,
    },
    Feature {
        name: "delays and phases of recorded rates drawn by the seed",
        keys: "`rtt_spread`, `rate_phase`",
        sim: Yes,
        host: Yes,
        vm: Yes,
    },
    Feature {
        name: "equal results of equal runs",
        keys: "`--seed`",
        sim: Partly("on any machine"),
        host: No("real time"),
        vm: Partly("with one kernel and one version of QEMU"),
    },
    Feature {
        name: "several runs at a time",
        keys: "`--jobs`",
        sim: Yes,
        host: No("runs in real time would delay each other"),
        vm: Yes,
    },
    Feature {
        name: "endless connections",
        keys: "no `bytes`, `warmup`",
        sim: Yes,
        host: Yes,
        vm: Yes,
    },
    Feature {
        name: "windows and phases after each event",
        keys: "`--trace`",
        sim: Yes,
        host: Partly("of Linux's algorithms one state a millisecond"),
        vm: Partly("of Linux's algorithms one state a millisecond"),
    },
    Feature {
        name: "what held a connection back",
        keys: "`limited_send_buffer`",
        sim: Yes,
        host: Partly(
            "from `tcp_info` each millisecond; the receive window from its `rwnd_limited`",
        ),
        vm: Partly("from `tcp_info` each millisecond; the receive window from its `rwnd_limited`"),
    },
    Feature {
        name: "credits between subflows",
        keys: "`--trace`, `credits_taken`",
        sim: Yes,
        host: Yes,
        vm: Yes,
    },
    Feature {
        name: "losses with their subflow, in figures",
        keys: "`--plot`",
        sim: Yes,
        host: No("the network does not record the owner of a packet"),
        vm: No("the network does not record the owner of a packet"),
    },
    Feature {
        name: "time series of subflows",
        keys: "`--sample`",
        sim: Yes,
        host: Partly("from 1 ms on"),
        vm: Partly("from 1 ms on"),
    },
    Feature {
        name: "time series of links",
        keys: "`--sample`",
        sim: Yes,
        host: No("the counters of a link are read at the end"),
        vm: No("the counters of a link are read at the end"),
    },
    Feature {
        name: "captures",
        keys: "`--pcap`",
        sim: Partly("without payload and FIN"),
        host: Yes,
        vm: Yes,
    },
    Feature {
        name: "requirements",
        keys: "",
        sim: Partly("none"),
        host: Partly("root, Linux 6.1 or later with MPTCP, TUN"),
        vm: Partly("x86-64, QEMU, the kernel of `make setup` or `--kernel`"),
    },
];

/// The table of docs/backends.md.
#[must_use]
pub fn table() -> String {
    let cell = |support: &Support| match support {
        Yes => "yes".into(),
        Partly(how) => (*how).to_owned(),
        No(reason) => format!("no: {reason}"),
    };
    let mut text = String::from(
        "| feature | keys, options | `sim` | `host` | `vm` |\n| --- | --- | --- | --- | --- |\n",
    );
    for feature in &FEATURES {
        let [sim, host, vm] = [&feature.sim, &feature.host, &feature.vm].map(cell);
        let (name, keys) = (feature.name, feature.keys);
        let _ = writeln!(text, "| {name} | {keys} | {sim} | {host} | {vm} |");
    }
    text += "\n| not on `host` and `vm` | keys | cause |\n| --- | --- | --- |\n";
    for restriction in &RESTRICTIONS {
        let Restriction {
            what, keys, reason, ..
        } = restriction;
        let _ = writeln!(text, "| {what} | {keys} | {reason} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page has the lists of the code. `UPDATE_BACKENDS=1` writes it.
    #[test]
    fn the_page_has_the_table() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/backends.md");
        let page = std::fs::read_to_string(file).unwrap();
        let begin =
            "<!-- measured: UPDATE_BACKENDS=1 cargo test -p lisa-lab --lib features -->\n\n";
        let from = page.find(begin).expect("the begin of the table") + begin.len();
        let to = from + page[from..].find("\n<!-- end -->").expect("its end");
        if page[from..to] == table() {
            return;
        }
        assert!(
            std::env::var_os("UPDATE_BACKENDS").is_some(),
            "docs/backends.md differs from crates/lab/src/features.rs: UPDATE_BACKENDS=1 writes it"
        );
        let page = [&page[..from], &table(), &page[to..]].concat();
        std::fs::write(file, page).unwrap();
    }

    #[test]
    fn causes_are_phrases() {
        let reasons = RESTRICTIONS.iter().map(|restriction| restriction.reason);
        let supports = FEATURES.iter().flat_map(|f| [f.sim, f.host, f.vm]);
        let causes = supports.filter_map(|support| match support {
            No(reason) => Some(reason),
            _ => None,
        });
        for cause in reasons.chain(causes) {
            assert!(!cause.is_empty() && !cause.ends_with('.'), "{cause}");
        }
    }
}
