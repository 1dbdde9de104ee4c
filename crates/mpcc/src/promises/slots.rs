//! What the slots of a connection show and count.

use super::{Holds, Step, ensure};
use crate::{ffi, vectors};
use ffi::mpcc_operation::*;
use ffi::mpcc_slow_starts::MPCC_NMCC;

/// Each open subflow has a slot of its own, where there is room, and a slot without a subflow shows and owes nothing.
pub(super) fn slots(bench: &ffi::mpcc_bench) -> Holds {
    let mut owned = 0;
    for s in bench.subflow.iter().filter(|s| s.ready != 0) {
        if u32::from(s.slot) != ffi::MPCC_NO_SLOT {
            ensure!(owned & 1 << s.slot == 0, "slot {} has two owners", s.slot);
            owned |= 1 << s.slot;
        }
    }
    let used = bench.connection.used & ffi::MPCC_EVERY_SLOT;
    ensure!(used == owned, "slots {used:b} are used, {owned:b} owned");
    for (i, slot) in bench.connection.slot.iter().enumerate() {
        ensure!(
            used >> i & 1 != 0
                || u32::from(slot.phase) == ffi::mpcc_phase::MPCC_ABSENT
                    && vectors::takers(slot) == 0
                    && vectors::debit(slot) == 0,
            "slot {i} is free, and not empty"
        );
    }
    Ok(())
}

/// From its next ACK on a subflow is in the group that it was asked to be in last.
pub(super) fn moves(step: &Step<'_>) -> Holds {
    let s = step.now().1;
    if step.is(MPCC_DO_ACK) && step.after.alone == 0 && u32::from(s.slot) != ffi::MPCC_NO_SLOT {
        let slot = &step.after.connection.slot[usize::from(s.slot)];
        let wish = vectors::wish(slot);
        ensure!(
            (slot.group, s.group) == (wish, wish),
            "in group {}, not in {wish}",
            s.group
        );
    }
    Ok(())
}

/// A subflow's slot shows the others where it stands when its callback is over, and counts what it did, once.
pub(super) fn shows(step: &Step<'_>) -> Holds {
    let ((_, old), (tcp, s)) = (step.old(), step.now());
    if step.after.alone != 0 || u32::from(s.slot) == ffi::MPCC_NO_SLOT {
        return Ok(());
    }
    let of = |bench: &ffi::mpcc_bench| bench.connection.slot[usize::from(s.slot)];
    let (before, slot, note) = (of(step.before), of(step.after), &step.after.note);
    if [MPCC_DO_ACK, MPCC_DO_INIT, MPCC_DO_STATE].contains(&step.callback.operation) {
        let shown = (vectors::cwnd(&slot), slot.ssthresh, slot.flight, slot.group);
        let stands = (
            tcp.cwnd.min(ffi::MPCC_CWND_MAX),
            tcp.ssthresh,
            tcp.flight,
            s.group,
        );
        ensure!(shown == stands, "shows {shown:?}, stands at {stands:?}");
        // NMCC's own, after an RTO.
        ensure!(
            u32::from(step.after.pair.slow_start) == MPCC_NMCC
                || slot.srtt8 == tcp.srtt8.min(ffi::MPCC_SRTT8_MAX),
            "shows an RTT of {}",
            slot.srtt8
        );
    }
    let counts = |slot: &crate::Slot| {
        [
            slot.losses,
            slot.credits_settled.into(),
            slot.credits_void.into(),
            slot.segments_ignored,
        ]
    };
    if step.is(MPCC_DO_INIT) {
        ensure!(
            slot.joined_cwnd == tcp.cwnd && counts(&slot) == [0; 4],
            "begins with a window of {} and {:?}",
            slot.joined_cwnd,
            counts(&slot)
        );
        return Ok(());
    }
    let mut expected = counts(&before);
    expected[0] += u32::from(step.is(MPCC_DO_SSTHRESH));
    expected[1] += note.settled.count_ones();
    expected[2] += note.voided.count_ones();
    expected[3] = match note.what {
        0 if step.is(MPCC_DO_ACK) => expected[3] + old.ignore - s.ignore,
        ffi::MPCC_NOTE_SETTLED if step.is(MPCC_DO_ACK) => expected[3] + note.ignored - s.ignore,
        _ => slot.segments_ignored, // or forgotten
    };
    ensure!(
        counts(&slot) == expected,
        "counts {:?}, not {expected:?}",
        counts(&slot)
    );
    Ok(())
}
