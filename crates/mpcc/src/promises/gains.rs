//! The first promise of coupling: all subflows of a group together gain rate no faster than one TCP would on the best of
//! their paths. A subflow gains its increase for one acknowledged segment, w times in an RTT t: increase · w/t².

use super::{Holds, ensure};
use crate::vectors::{self, Machine, Native};
use crate::{Algorithm, SUBFLOWS, ffi};
use ffi::mpcc_avoidances::*;
use ffi::mpcc_slow_starts::MPCC_NMCC;
use std::boxed::Box;

/// What all together may gain at most, of what TCP would on the best path, n subflows; `None` where an algorithm does
/// not promise it. With p the subflows' shares of the rate, t_b the least RTT, each gain is at most
///
/// - LIA (RFC 6356, 2): (w/t²)·max(w/t²)/(Σw/t)², in all at most 1/t_b², since w/t² ≤ (w/t)/t_b.
/// - OLIA (draft-khalili-mptcp-congestion-control-05, 2): (p/t)² and α/t², of which all α above 0 are 1/n in all.
/// - Balia (draft-walid-mptcp-congestion-control-04, 3): (p + q)(4p + q)/10/t², q = max p: (4 + 5 + n)/10 in all.
/// - NMCC (IV-B.1, equation 3): 1/(m²·t²), in all 1/t_b²; in slow start what Ω has in the place of 1/t².
fn most(algorithm: Algorithm, n: f64) -> Option<f64> {
    match u32::from(algorithm.pair().avoidance) {
        MPCC_LIA | MPCC_NMCC_AVOIDANCE => Some(1.0),
        MPCC_OLIA if n > 1.0 => Some(1.0 + 1.0 / n),
        MPCC_OLIA => Some(1.0),
        MPCC_BALIA => Some((9.0 + n) / 10.0),
        _ => None,
    }
}

/// The ranges of `cc/fixed.h`: where the arithmetic is exact or bounded.
const SRTT8: core::ops::RangeInclusive<u32> = 80..=ffi::MPCC_SRTT8_MAX;

/// What a subflow gains by ACKs now, and what it would if it were alone, Ω: per µs². In NMCC's slow start the window that TCP
/// alone would have, the reference, is so many times this one's.
struct Gain {
    now: f64,
    alone: f64,
    reference: f64,
}

/// Looks at a copy of the bench, in which all show where they stand.
pub(super) fn together(bench: &ffi::mpcc_bench, algorithm: Algorithm) -> Holds {
    if bench.alone != 0 || most(algorithm, 1.0).is_none() {
        return Ok(());
    }
    let mut copy = Box::new(*bench);
    copy.operation = ffi::mpcc_operation::MPCC_DO_ACK;
    // Twice, since NMCC's phases depend on the others'.
    for who in (0..ffi::MPCC_BENCH_SUBFLOWS).chain(0..ffi::MPCC_BENCH_SUBFLOWS) {
        if copy.subflow[who as usize].ready != 0 {
            (copy.who, copy.argument) = (who, 0);
            copy.tcp[who as usize].cwnd_limited = 0;
            Native.step(&mut copy);
        }
    }
    // What was kept is worked out anew: it may be a round trip old.
    for epoch in &mut copy.connection.epoch {
        *epoch = epoch.wrapping_add(1);
    }
    for group in 0..3 {
        let gains: Option<std::vec::Vec<Gain>> = copy
            .subflow
            .iter()
            .enumerate()
            .filter(|(_, s)| {
                s.ready != 0 && u32::from(s.slot) < SUBFLOWS as u32 && s.group == group
            })
            .map(|(who, _)| gain(&copy, who, algorithm))
            .collect();
        let Some(gains) = gains.filter(|gains| !gains.is_empty()) else {
            continue; // somebody is outside the ranges, or without an RTT sample
        };
        let sum: f64 = gains.iter().map(|gain| gain.now).sum();
        let best = gains.iter().map(|gain| gain.alone).fold(0.0, f64::max);
        let reference = gains.iter().map(|gain| gain.reference).fold(1.0, f64::max);
        let n = gains.len() as f64;
        let most = best * reference * most(algorithm, n).unwrap_or(f64::INFINITY);
        ensure!(
            sum <= 1.01 * most,
            "group {group} gains {sum}, may gain {most} per µs²"
        );
    }
    Ok(())
}

/// `None` where nothing is promised.
fn gain(bench: &ffi::mpcc_bench, who: usize, algorithm: Algorithm) -> Option<Gain> {
    use crate::state::*;
    let (tcp, s) = (&bench.tcp[who], &bench.subflow[who]);
    let slot = &bench.connection.slot[usize::from(s.slot)];
    if tcp.cwnd > ffi::MPCC_CWND_MAX || !SRTT8.contains(&slot.srtt8) {
        return None;
    }
    let mut after = Box::new(*bench);
    after.who = who as u32;
    after.argument = 1;
    after.tcp[who].cwnd_limited = 1;
    // OLIA's sets depend on what was acknowledged, and are to be the same for all.
    for (i, other) in after.connection.slot.iter_mut().enumerate() {
        if i != usize::from(s.slot) {
            other.acked_since = other.acked_since.saturating_add(1);
            other.between_losses = other.between_losses.max(other.acked_since);
        }
    }
    Native.step(&mut after);
    let window = |bench: &ffi::mpcc_bench| {
        f64::from(bench.tcp[who].cwnd) + bench.subflow[who].growth as f64 / ffi::MPCC_ONE as f64
    };
    let (w, t) = (f64::from(tcp.cwnd), f64::from(slot.srtt8) / 8.0);
    let reduces = [MPCC_STATE_CWR, MPCC_STATE_RECOVERY].contains(&u32::from(s.state));
    let mut now = (window(&after) - window(bench)) * w;
    let (mut alone, mut reference) = (1.0, 1.0);
    if u32::from(algorithm.pair().slow_start) == MPCC_NMCC {
        let slow = |s: &crate::Subflow| {
            !reduces
                && u64::from(tcp.cwnd) * u64::from(vectors::m2(s))
                    < u64::from(tcp.ssthresh) << ffi::MPCC_M2_SHIFT
        };
        if slow(s) != slow(&after.subflow[who]) {
            return None; // its phase changes with what the others show
        }
        if slow(s) {
            alone = w;
            let ratio = vectors::nmcc(&after.subflow[who]).ratio;
            reference = f64::from(ratio) / f64::from(ffi::MPCC_M2_ONE);
        }
    } else if tcp.cwnd < tcp.ssthresh {
        now = 0.0; // slow start is each one's own
        if u32::from(algorithm.pair().avoidance) == MPCC_NMCC_AVOIDANCE {
            alone = w; // and has its Ω all the same
        }
    }
    if reduces {
        now = 0.0; // Linux does not call then
    }
    Some(Gain {
        now: now.max(0.0) / (t * t),
        alone: alone / (t * t),
        reference,
    })
}
