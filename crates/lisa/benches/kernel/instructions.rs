//! Cost of an ACK in instructions: in the VM one instruction takes a nanosecond, independent of other load. The kernel's own
//! measurement is included.

use crate::support::vm::{answer, fetched, guest, vmlinuz};
use lab::{Host, Vm};
use libbpf_rs::query::ProgInfoIter;
use mpcc::Algorithm;
use scenario::Scenario;
use serde::{Deserialize, Serialize};
use std::fs;
use std::sync::Arc;
use std::time::Duration;

/// The kernel of the VM.
const KERNEL: &str = "6.12";

/// Limit on the guest's clock.
const WITHIN: Duration = Duration::from_secs(600);

/// Calls of an algorithm's `cong_avoid`, with their duration.
#[derive(Serialize, Deserialize)]
struct Cost {
    algorithm: String,
    calls: u64,
    instructions: u64,
}

/// Prints the mean cost with each algorithm, over 1 MB on two subflows of one bottleneck.
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
    println!("{:<18}{:>8}{:>14}", "", "calls", "instructions");
    for cost in costs {
        let mean = cost.instructions / cost.calls.max(1);
        println!("{:<18}{:>8}{mean:>14}", cost.algorithm, cost.calls);
    }
}

/// The first process of the VM.
pub fn measure_in_guest() {
    guest(|(): ()| {
        fs::write("/proc/sys/kernel/bpf_stats_enabled", "1").expect("BPF statistics");
        let mut host = Host::new(1, Arc::default()).expect("a host");
        let ours = Algorithm::all().filter(|algorithm| !algorithm.in_linux());
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
    let (calls, instructions) = acks();
    host.run(&scenario, 1).expect("a run");
    let (all_calls, all_instructions) = acks();
    Cost {
        algorithm: algorithm.into(),
        calls: all_calls - calls,
        instructions: all_instructions - instructions,
    }
}

/// Number and total run time (ns) of `cong_avoid` calls, summed over all loaded programs. Both sums only grow, because no program is
/// unloaded between two readings.
fn acks() -> (u64, u64) {
    ProgInfoIter::default()
        .filter(|program| program.name.to_string_lossy() == "lisa_cong_avoid")
        .fold((0, 0), |(calls, ns), program| {
            (calls + program.run_cnt, ns + program.run_time_ns)
        })
}
