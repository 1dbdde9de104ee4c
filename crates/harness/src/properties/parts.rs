//! Properties of single slow starts and avoidances.

use super::{Holds, Step, ensure};
use crate::{ffi, state};
use ffi::mpcc_operation::*;
use mpcc::Algorithm;

/// CSS: in initial slow start a window grows by at least one segment in a round trip, and at most by one for each segment that is
/// acknowledged, and by two for an ACK.
pub(super) fn css(step: &Step<'_>, algorithm: Algorithm) -> Holds {
    let (tcp, before) = step.old();
    let coupled = usize::from(before.slot) < mpcc::SUBFLOWS;
    let initial = coupled && before.initial() != 0 && tcp.cwnd < tcp.ssthresh;
    if !step.is(MPCC_DO_ACK) || !initial || !step.callback.limited {
        return Ok(());
    }
    let (grown, after) = (step.grown(), step.now().0);
    let acked = f64::from(step.callback.argument);
    let reno = acked / f64::from(tcp.cwnd);
    // Growth if this ACK ends slow start.
    let avoidance = match algorithm.avoidance() {
        "cubic" => acked / 2.0,
        "olia" => 1.5 * reno, // α is at most 1/2
        _ => reno,
    };
    // Q40, for each acknowledged segment.
    let rounding = 1e-11 * acked + 1e-9;
    ensure!(
        grown < acked.min(2.0).max(avoidance) + rounding,
        "CSS grows by {grown} for {acked}"
    );
    ensure!(
        after.ssthresh != tcp.ssthresh
            || after.cwnd >= after.ssthresh.min(after.cwnd_clamp)
            || grown > reno.min(2.0) - rounding,
        "CSS grows by {grown} for {acked} of {}",
        tcp.cwnd
    );
    Ok(())
}

/// NMCC: no subflow grows faster than a TCP on its path.
pub(super) fn nmcc(step: &Step<'_>) -> Holds {
    if !step.is(MPCC_DO_ACK) {
        return Ok(());
    }
    let (tcp, acked) = (step.old().0, f64::from(step.callback.argument));
    let alone = if tcp.cwnd < tcp.ssthresh {
        acked
    } else {
        acked / f64::from(tcp.cwnd)
    };
    let grown = step.grown();
    // Reno's increase is rounded up, by 2^-40.
    ensure!(
        grown < alone + 1e-12 * acked + 1e-9,
        "NMCC grows by {grown}, TCP by {alone}"
    );
    let m2 = state::m2(step.now().1);
    ensure!(
        (ffi::MPCC_M2_ONE..=ffi::MPCC_SUBFLOWS * ffi::MPCC_M2_ONE).contains(&m2),
        "m² = {m2} · 2^-20"
    );
    Ok(())
}

/// CUBIC over its whole range, times up to hours: its state stays within bounds, and two acknowledged segments add at most one.
pub(super) fn cubic(step: &Step<'_>, algorithm: Algorithm) -> Holds {
    let ((old, _), (new, s)) = (step.old(), step.now());
    let (cubic, callback) = (state::cubic(s), step.callback);
    let most = ffi::MPCC_CWND_MAX;
    ensure!(
        cubic.w_max() <= most && cubic.origin <= most && cubic.reno <= u64::from(most) << 40,
        "CUBIC's window is beyond all: {cubic:?}"
    );
    // ∛(2^20 / 0.4) = 138 s
    ensure!(cubic.k < 139 * 1024, "K = {}", cubic.k);
    if step.is(MPCC_DO_STATE) && u32::from(s.state) == crate::ffi::mpcc_state::MPCC_STATE_LOSS {
        ensure!(
            (cubic.rtt_min, cubic.w_max(), cubic.running()) == (0, 0, 0),
            "an RTO leaves {cubic:?} and a least RTT of {}",
            cubic.rtt_min
        );
    }
    if step.is(MPCC_DO_EVENT) {
        ensure!(
            cubic.running() == 0 || cubic.epoch_start <= new.now,
            "CUBIC's epoch begins later than now"
        );
    }
    if step.is(MPCC_DO_ACK) {
        ensure!(
            old.cwnd < new.ssthresh
                || new.cwnd.saturating_sub(old.cwnd) <= callback.argument.div_ceil(2),
            "CUBIC: {} → {}",
            old.cwnd,
            new.cwnd
        );
        ensure!(
            callback.rtt_us == 0 || cubic.rtt_min <= callback.rtt_us && cubic.rtt_min > 0,
            "a least RTT of {}",
            cubic.rtt_min
        );
        // HyStart lowers the threshold to the window, and never below its least window.
        ensure!(
            algorithm.slow_start() != "uncoupled"
                || new.ssthresh == old.ssthresh
                || new.ssthresh == old.cwnd && old.cwnd >= 16,
            "HyStart's threshold is {}",
            new.ssthresh
        );
    }
    Ok(())
}

/// HyStart++ ends slow start at the current window after five rounds of slow growth, and an ACK adds at most eight
/// segments, unless the sender paces.
pub(super) fn hystartpp(step: &Step<'_>) -> Holds {
    let ((old, before), (new, after)) = (step.old(), step.now());
    let is = state::hystartpp(after);
    ensure!(
        is.samples() <= 8 && is.rounds() <= 5 && is.remaining() <= 2 * ffi::MPCC_CWND_MAX,
        "HyStart++ keeps {is:?}"
    );
    let (was_initial, is_initial) = (before.initial() != 0, after.initial() != 0);
    ensure!(
        was_initial || !is_initial || step.is(MPCC_DO_INIT) || step.is(MPCC_DO_UNDO),
        "HyStart++ begins again"
    );
    if step.is(MPCC_DO_ACK) && old.cwnd < old.ssthresh && was_initial {
        ensure!(
            (new.cwnd - old.cwnd <= 8 || old.paced != 0)
                && (new.ssthresh == old.ssthresh || new.ssthresh == old.cwnd && is.rounds() == 5)
                && (new.cwnd >= new.ssthresh) != is_initial,
            "HyStart++: {old:?} → {new:?}, {is:?}"
        );
    }
    Ok(())
}

/// Convoy ends slow start at the current window, once, and finds a shared queue only where there are others.
pub(super) fn convoy(step: &Step<'_>, algorithm: Algorithm) -> Holds {
    let ((old, before), (new, after)) = (step.old(), step.now());
    let (was, is) = (state::convoy(before), state::convoy(after));
    ensure!(
        is.samples() <= 8
            && is.remaining() <= ffi::MPCC_CWND_MAX + 1
            && is.train <= ffi::MPCC_CWND_MAX,
        "convoy keeps {is:?}"
    );
    let slot = step.after.connection.slot.get(usize::from(after.slot));
    ensure!(
        slot.is_some() || is.shared() == 0,
        "convoy shares a queue with nobody"
    );
    ensure!(
        is.shared() == 0 || is.jitter() == 0,
        "convoy has evidence from an RTT with jitter"
    );
    if step.is(MPCC_DO_ACK) {
        let ends = was.over() == 0 && is.over() != 0;
        // Coupled CUBIC lowers it where another subflow has a loss.
        let lowered = algorithm.avoidance() == "coupled_cubic"
            && (ends || old.cwnd >= old.ssthresh)
            && new.ssthresh <= old.cwnd.min(old.ssthresh);
        ensure!(
            new.ssthresh == old.ssthresh || lowered || ends && new.ssthresh == old.cwnd,
            "convoy's threshold is {}",
            new.ssthresh
        );
    }
    Ok(())
}

/// Coupled CUBIC: evidence and its sum belong together, a subflow shares with no subflow but another one, and the published curve is that
/// of the state when the group was last read.
pub(super) fn coupled_cubic(step: &Step<'_>) -> Holds {
    let ((_, before), (tcp, s)) = (step.old(), step.now());
    let (was, v) = (state::coupled_cubic(before), state::coupled_cubic(s));
    let slot = step.after.connection.slot.get(usize::from(s.slot));
    ensure!(
        v.score() <= ffi::MPCC_COUPLED_CUBIC_SCORE_MAX && v.total <= ffi::MPCC_CWND_MAX,
        "coupled CUBIC keeps {v:?}"
    );
    let (shares, partner) = (v.curve.shares() != 0, v.curve.partner());
    ensure!(
        if shares {
            v.score() > 0
        } else {
            v.score() < ffi::MPCC_COUPLED_CUBIC_SHARES
        },
        "coupled CUBIC shares ({shares}) with evidence of {}",
        v.score()
    );
    ensure!(
        !shares || slot.is_some() && partner != u64::from(s.slot),
        "coupled CUBIC shares a queue with itself"
    );
    ensure!(
        slot.is_some() || v.reducing() == 0 && v.set == 0,
        "coupled CUBIC follows other subflows without a connection"
    );
    if step.is(MPCC_DO_ACK) {
        // RFC 9438, 4.2: W(t) is at most 1.5 cwnd, half a segment for each acknowledged one since the last growth.
        let (old, acked) = (step.old().0, u32::from(was.acked));
        let most = f64::from(old.cwnd.min(acked.saturating_add(step.callback.argument))) / 2.0;
        ensure!(
            old.cwnd < old.ssthresh || step.grown() <= most + 1e-9,
            "coupled CUBIC grows by {}, by more than {most}",
            step.grown()
        );
        let goal = u64::from(v.before) * u64::from(ffi::MPCC_COUPLED_CUBIC_FOLLOW)
            / u64::from(ffi::MPCC_CUBIC_SCALE);
        ensure!(
            v.reducing() == 0 || u64::from(tcp.cwnd) > goal,
            "coupled CUBIC comes down to {goal}, from {}, at {}",
            v.before,
            tcp.cwnd
        );
        if let Some(slot) = slot
            && was.tick() != v.tick()
        {
            let published = u64::from(slot.avoidance[1]) << 32 | u64::from(slot.avoidance[0]);
            let curve = &v.curve;
            let word = curve.origin()
                | curve.window() << 20
                | curve.start() << 40
                | curve.event() << 58
                | curve.shares() << 59
                | curve.partner() << 60;
            // An epoch without a loss starts anew before its ticks wrap; that is published with the next reading.
            ensure!(
                published == word || curve.event() == 0,
                "coupled CUBIC publishes {published:x} for {v:?}"
            );
        }
    }
    Ok(())
}

/// wVegas: no window is below 2 after a round, the target queue has 2 to 10 segments, and the threshold is not above the
/// window at the end of a round in congestion avoidance, unless the window was drained.
pub(super) fn wvegas(step: &Step<'_>) -> Holds {
    let ((old, _), (new, s)) = (step.old(), step.now());
    let v = state::wvegas(s);
    ensure!(
        (2..=10).contains(&v.alpha) && v.remaining > 0 && v.remaining <= ffi::MPCC_CWND_MAX + 1,
        "wVegas keeps {v:?}"
    );
    ensure!(
        !step.is(MPCC_DO_ACK)
            || new.cwnd == old.cwnd
            || new.cwnd >= 2 && new.ssthresh <= old.ssthresh.max(old.cwnd),
        "wVegas: {old:?} → {new:?}"
    );
    Ok(())
}

/// A join without room starts with at most three segments, and grows at most an eighth as fast as Reno.
pub(super) fn no_room(step: &Step<'_>) -> Holds {
    let (old, tcp) = (step.old().0, step.now().0);
    if step.is(MPCC_DO_INIT) {
        let fresh = step.callback.argument != 0;
        ensure!(
            !fresh || tcp.cwnd <= 3,
            "joins without room with {}",
            tcp.cwnd
        );
    }
    if step.is(MPCC_DO_ACK) {
        let acked = f64::from(step.callback.argument);
        let reno = match old.cwnd < old.ssthresh {
            true => acked,
            false => acked / f64::from(old.cwnd.max(1)),
        };
        let grown = step.grown();
        ensure!(
            grown <= reno / 8.0 + 1e-9,
            "grows by {grown} without room, Reno by {reno}"
        );
    }
    Ok(())
}
