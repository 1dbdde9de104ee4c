//! Cost of an ACK in instructions: in the VM one instruction takes a nanosecond, independent of other load. The kernel's own
//! measurement is included.

use crate::support::vm::{answer, fetched, guest, vmlinuz};
use lab::{Host, Vm};
use libbpf_rs::query::ProgInfoIter;
use mpcc::Algorithm;
use scenario::{Run, Scenario};
use serde::{Deserialize, Serialize};
use std::fs;
use std::sync::Arc;
use std::time::Duration;

/// The kernel of the VM.
const KERNEL: &str = "6.12";

/// Limit on the guest's clock.
const WITHIN: Duration = Duration::from_secs(600);

/// Seeds of the runs: what the ACKs of one run do, and so their mean, differs by 4 % from those of the next.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=8;

/// Calls of `cong_avoid`, with their duration.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Calls {
    number: u64,
    instructions: u64,
}

impl Calls {
    fn mean(self) -> u64 {
        self.instructions / self.number.max(1)
    }
}

/// Cost of an algorithm's ACKs.
#[derive(Serialize, Deserialize)]
struct Cost {
    algorithm: String,
    alone: Calls,
    /// While a listener receives the event of each ACK.
    with_listener: Calls,
}

/// Prints the mean cost with each algorithm, over transfers of 1 MB on two subflows of one bottleneck.
pub fn print() {
    let Some(kernel) = fetched(KERNEL) else {
        return;
    };
    let vm = Vm::new(Some(&vmlinuz(&kernel)), Arc::default());
    let costs = vm.and_then(|vm| vm.call("", &(), WITHIN));
    let Some(costs) = answer::<Vec<Cost>>(KERNEL, costs) else {
        return;
    };
    println!("\ninstructions an ACK (cong_avoid), Linux {KERNEL} in the VM");
    println!(
        "{:<18}{:>8}{:>10}{:>18}",
        "", "calls", "alone", "with a listener"
    );
    for Cost {
        algorithm,
        alone,
        with_listener,
    } in costs
    {
        println!(
            "{algorithm:<18}{:>8}{:>10}{:>18}",
            alone.number,
            alone.mean(),
            with_listener.mean()
        );
    }
}

/// The first process of the VM.
pub fn measure_in_guest() {
    guest(|(): ()| {
        fs::write("/proc/sys/kernel/bpf_stats_enabled", "1").expect("BPF statistics");
        let mut host = Host::new(1, Arc::default()).expect("a host");
        let ours = Algorithm::all().filter(|algorithm| algorithm.is_loadable());
        ours.map(|algorithm| measure(&mut host, algorithm.name()))
            .collect::<Vec<_>>()
    });
}

fn measure(host: &mut Host, algorithm: &str) -> Cost {
    let text = format!(
        "stop = '20s'\n[topology]\nkind = 'shared-bottleneck'\nrate = '20Mbit'\nrtt = ['20ms', '20ms']\n\
         queue = 40\n[[connection]]\nprotocol = 'mptcp'\nalgorithm = '{algorithm}'\nbytes = '1MB'\n"
    );
    let scenario = Scenario::parse(&text, "the benchmark").expect("a scenario");
    let mut calls_of = |run: &dyn Fn(&mut Host, u64) -> Result<Run, lab::Error>| {
        let before = acks();
        for seed in SEEDS {
            run(host, seed).expect("a run");
        }
        let after = acks();
        Calls {
            number: after.number - before.number,
            instructions: after.instructions - before.instructions,
        }
    };
    Cost {
        algorithm: algorithm.into(),
        alone: calls_of(&|host, seed| host.run_without_listener(&scenario, seed)),
        with_listener: calls_of(&|host, seed| host.run(&scenario, seed)),
    }
}

/// The `cong_avoid` calls of all loaded programs. Their number and run time (ns) only grow, because no program is unloaded between two
/// readings.
fn acks() -> Calls {
    let none = Calls {
        number: 0,
        instructions: 0,
    };
    ProgInfoIter::default()
        .filter(|program| program.name.to_string_lossy() == "lisa_cong_avoid")
        .fold(none, |sum, program| Calls {
            number: sum.number + program.run_cnt,
            instructions: sum.instructions + program.run_time_ns,
        })
}
