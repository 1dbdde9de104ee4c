//! Every algorithm on the running kernel, and in the VM on the kernels that `make setup` fetched. It loads,
//! its worked examples hold, it carries transfers over two and over eight subflows, and the state of closed connections is
//! freed.
//!
//! `KERNELS_ALGORITHMS` names the algorithms, or is `all`; the default is a selection (support/selection.rs).

mod support;

#[path = "kernels/effects.rs"]
mod effects;
#[path = "kernels/examine.rs"]
mod examine;
#[path = "kernels/pacing.rs"]
mod pacing;
#[path = "kernels/page.rs"]
mod page;

use examine::{Findings, Job, Row, examine};
use lab::Vm;
use mpcc_harness::instructions::{self, BASELINE, Baseline};
use std::sync::Arc;
use std::time::Duration;
use support::bpf::storage_counter;
use support::selection::algorithms;
use support::vm::{GUEST, answer, fetched, found, vmlinuz};

/// Limit for each algorithm, on the guest's clock.
const EACH: Duration = Duration::from_secs(20);

fn job() -> Job {
    Job {
        algorithms: algorithms(),
        counter: storage_counter(),
    }
}

#[test]
#[ignore = "is run by the tests in the VM, there"]
fn guest() {
    support::vm::guest(|job: Job| examine(&job));
}

#[test]
#[ignore = "is run by the tests in the VM, there"]
fn guest_of_effects() {
    support::vm::guest(|(): ()| {
        [
            found(effects::a_quiet_lender_settles_before_it_sends),
            found(pacing::a_paced_sender_leaves_slow_start_as_cubic_does),
            found(effects::the_end_of_an_agent_couples),
            // The last: it changes the parameters of CUBIC's module.
            found(effects::an_initial_threshold_of_cubic_stays),
        ]
    });
}

/// [`effects`] on a kernel in the VM.
fn effects_in_vm(version: &str) {
    let Some(kernel) = fetched(version) else {
        return;
    };
    let guest = GUEST.replacen("guest", "guest_of_effects", 1);
    let vm = Vm::new(Some(&vmlinuz(&kernel)), Arc::default());
    let results = vm.and_then(|vm| vm.call(&guest, &(), EACH * 2));
    if let Some(results) = answer::<[Result<(), String>; 4]>(version, results) {
        assert_eq!(results, [Ok(()), Ok(()), Ok(()), Ok(())]);
    }
}

fn in_vm(version: &str) {
    let Some(kernel) = fetched(version) else {
        return;
    };
    let job = job();
    let within = EACH * job.algorithms.len() as u32;
    let vm = Vm::new(Some(&vmlinuz(&kernel)), Arc::default());
    let findings = vm.and_then(|vm| vm.call(GUEST, &job, within));
    if let Some(findings) = answer(version, findings) {
        judge(&findings, true);
    }
}

/// Checks that all tests passed and that the page has these findings. With `known` the page must have this kernel.
fn judge(findings: &Findings, known: bool) {
    let linux = &findings.linux;
    let failures = findings.rows.iter().flat_map(Row::failures);
    let mut said: Vec<String> = failures.map(|what| format!("{linux}, {what}")).collect();
    let faults = findings.faults.iter();
    said.extend(faults.map(|line| format!("{linux}'s log: {line}")));
    let (page, renew) = (page::PAGE, page::RENEW);
    if std::env::var_os("UPDATE_KERNELS").is_some() {
        page::write(findings);
    } else {
        let grown = grown(findings).into_iter();
        said.extend(grown.map(|what| format!("{linux}, {what}; `{renew}` if it is meant to")));
        match page::missing(findings) {
            Some(lines) if lines.is_empty() => {}
            Some(lines) => said.push(format!(
                "{page} lacks: {}; `{renew}` writes it anew",
                lines.join(" ")
            )),
            None if known => {
                said.push(format!("{page} has nothing for {linux}; `{renew}` adds it"))
            }
            None => eprintln!("{page} has nothing for {linux}, on which all held"),
        }
    }
    assert!(said.is_empty(), "{}", said.join("\n"));
}

/// Sentences about callbacks whose verification takes more instructions than in the baseline.
fn grown(findings: &Findings) -> Vec<String> {
    let title = instructions::title(&findings.linux);
    let Some(baseline) = Baseline::open().counts(&title) else {
        eprintln!("{BASELINE} has nothing for {title} to compare with");
        return Vec::new();
    };
    let counted = |row: &Row| match row.loads.as_deref() {
        Ok(counts @ [_, ..]) => instructions::grown(&row.algorithm, counts, &baseline),
        _ => Vec::new(),
    };
    findings.rows.iter().flat_map(counted).collect()
}

#[test]
fn linux_6_1() {
    in_vm("6.1");
}

#[test]
fn linux_6_12() {
    in_vm("6.12");
}

#[test]
fn linux_7_3() {
    in_vm("7.3");
}

#[test]
fn effects_on_6_1() {
    effects_in_vm("6.1");
}

#[test]
fn effects_on_6_12() {
    effects_in_vm("6.12");
}

#[test]
fn effects_on_7_3() {
    effects_in_vm("7.3");
}

#[test]
fn this_linux() {
    if let Err(error) = lab::check() {
        eprintln!("skipped: {error}");
        return;
    }
    judge(&examine(&job()), false);
}
