//! State and counters of the slots of a connection.

use super::{Holds, Step, ensure};
use crate::{Harness, ffi, state};
use ffi::mpcc_operation::*;
use mpcc::Algorithm;

/// Each open subflow has a slot of its own, if one is free; a slot without a subflow has no state and no debit.
pub(super) fn slots(harness: &Harness) -> Holds {
    let mut owned = 0;
    for s in harness.subflow.iter().filter(|s| s.ready() != 0) {
        if u32::from(s.slot) < ffi::MPCC_SUBFLOWS {
            ensure!(owned & 1 << s.slot == 0, "slot {} has two owners", s.slot);
            owned |= 1 << s.slot;
        }
    }
    let used = harness.connection.used & ffi::MPCC_EVERY_SLOT;
    ensure!(used == owned, "slots {used:b} are used, {owned:b} owned");
    for (i, slot) in harness.connection.slot.iter().enumerate() {
        ensure!(
            used >> i & 1 != 0
                || u32::from(slot.phase) == ffi::mpcc_phase::MPCC_ABSENT
                    && state::borrowers(slot) == 0
                    && state::debit(slot) == 0,
            "slot {i} is free, and not empty"
        );
    }
    Ok(())
}

/// A subflow is in the requested group from its next ACK on, and in one of its own while coupling is off.
pub(super) fn groups(step: &Step<'_>) -> Holds {
    let s = step.now().1;
    if step.is(MPCC_DO_ACK) && step.after.alone == 0 && u32::from(s.slot) < ffi::MPCC_SUBFLOWS {
        let slot = &step.after.connection.slot[usize::from(s.slot)];
        let requested = match step.now().0.uncoupled {
            0 => state::requested_group(slot),
            _ => ffi::MPCC_GROUP_MAX as u8 + 1 + s.slot,
        };
        ensure!(
            (slot.group, s.group) == (requested, requested),
            "in group {}, not in {requested}",
            s.group
        );
    }
    Ok(())
}

/// After a callback the slot has the subflow's state, and counts each event once.
pub(super) fn published(step: &Step<'_>, algorithm: Algorithm) -> Holds {
    let ((_, old), (tcp, s)) = (step.old(), step.now());
    if step.after.alone != 0 || u32::from(s.slot) >= ffi::MPCC_SUBFLOWS {
        return Ok(());
    }
    let of = |harness: &Harness| harness.connection.slot[usize::from(s.slot)];
    let (before, slot, note) = (of(step.before), of(step.after), &step.after.note);
    if [MPCC_DO_ACK, MPCC_DO_INIT, MPCC_DO_STATE].contains(&step.callback.operation) {
        let shown = (state::cwnd(&slot), slot.ssthresh, slot.flight, slot.group);
        let stands = (
            tcp.cwnd.min(ffi::MPCC_CWND_MAX),
            tcp.ssthresh,
            tcp.flight,
            s.group,
        );
        ensure!(shown == stands, "shows {shown:?}, stands at {stands:?}");
        // After an RTO NMCC publishes an RTT of its own.
        ensure!(
            algorithm.slow_start() == "nmcc" || slot.srtt8 == tcp.srtt8.min(ffi::MPCC_SRTT8_MAX),
            "shows an RTT of {}",
            slot.srtt8
        );
    }
    let counts = |slot: &ffi::mpcc_slot| {
        [
            slot.losses,
            slot.credits_settled.into(),
            slot.credits_void.into(),
            slot.segments_ignored,
        ]
    };
    if step.is(MPCC_DO_INIT) {
        ensure!(
            slot.initial_cwnd == tcp.cwnd && counts(&slot) == [0; 4],
            "begins with a window of {} and {:?}",
            slot.initial_cwnd,
            counts(&slot)
        );
        return Ok(());
    }
    let mut expected = counts(&before);
    expected[0] += u32::from(step.is(MPCC_DO_SSTHRESH));
    expected[1] += note.settled.count_ones();
    expected[2] += note.voided.count_ones();
    // What LISA ignored in this ACK; at other callbacks it may drop the rest without counting it.
    let ignored = |before: u32| before - state::lisa(s).ignore;
    expected[3] = match note.what {
        _ if algorithm.slow_start() != "lisa" => 0,
        0 if step.is(MPCC_DO_ACK) => expected[3] + ignored(state::lisa(old).ignore),
        ffi::MPCC_NOTE_SETTLED if step.is(MPCC_DO_ACK) => expected[3] + ignored(note.ignored),
        _ => slot.segments_ignored,
    };
    ensure!(
        counts(&slot) == expected,
        "counts {:?}, not {expected:?}",
        counts(&slot)
    );
    Ok(())
}
