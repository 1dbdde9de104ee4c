//! The goal of coupling: all subflows of a group together gain rate no faster than a single TCP would on the best of
//! their paths. A subflow gains its increase for one acknowledged segment, w times in an RTT t: increase · w/t².

use super::{Holds, ensure};
use crate::{Harness, Machine, Native, ffi, state};
use ffi::mpcc_phase::MPCC_STANDBY;
use mpcc::{Algorithm, Settings};

/// Largest gain of n subflows together, relative to that of TCP on the best path; `None` where an algorithm has no such
/// bound. With p the subflows' shares of the rate and t_b the smallest RTT, each gain is at most
///
/// - LIA (RFC 6356, 2): (w/t²)·max(w/t²)/(Σw/t)², in all at most 1/t_b², since w/t² ≤ (w/t)/t_b.
/// - OLIA (draft-khalili-mptcp-congestion-control-05, 2): (p/t)² and α/t², of which all α above 0 are 1/n in all.
/// - Balia (draft-walid-mptcp-congestion-control-04, 3): (p + q)(4p + q)/10/t², q = max p: (4 + 5 + n)/10 in all.
/// - NMCC (IV-B.1, equation 3): 1/(m²·t²), in all 1/t_b²; in slow start with Ω in place of 1/t².
/// - φ up to 1: with x = w/t, x^(2−φ)·max(x^φ)/(Σx)²/t_b² at most, in all 1/t_b². Above 1 it is y^(2−φ)/t², in which
///   y = A·w/Σw ≤ LIA's increase · w. By Hölder's inequality (Σy/t²)^(2−φ)·(Σ1/t²)^(φ−1), in all n^(φ−1)/t_b².
fn most(harness: &Harness, algorithm: Algorithm, n: f64) -> Option<f64> {
    match algorithm.avoidance() {
        "phi" => {
            let settings = Settings::from_values(harness.connection.setting);
            let percent = settings.get(algorithm, "phi")?;
            Some(n.powf((f64::from(percent) / 100.0 - 1.0).max(0.0)))
        }
        "lia" | "nmcc" => Some(1.0),
        "olia" if n > 1.0 => Some(1.0 + 1.0 / n),
        "olia" => Some(1.0),
        "balia" => Some((9.0 + n) / 10.0),
        _ => None,
    }
}

/// The ranges of `cc/fixed.h`: where the arithmetic is exact or bounded.
const SRTT8: core::ops::RangeInclusive<u32> = 80..=ffi::MPCC_SRTT8_MAX;

struct Gain {
    /// Gain by ACKs, per µs².
    now: f64,
    /// Gain if it were alone, Ω, per µs².
    alone: f64,
    /// In NMCC's slow start: ratio of the reference, the window of a single TCP, to this subflow's window.
    reference: f64,
}

/// Checks a copy of the harness in which all subflows have published their present state.
pub(super) fn together(harness: &Harness, algorithm: Algorithm) -> Holds {
    if harness.alone != 0 || most(harness, algorithm, 1.0).is_none() {
        return Ok(());
    }
    let mut copy = Box::new(*harness);
    copy.operation = ffi::mpcc_operation::MPCC_DO_ACK;
    // Twice, because NMCC's phases depend on the others'.
    for who in (0..ffi::MPCC_HARNESS_SUBFLOWS).chain(0..ffi::MPCC_HARNESS_SUBFLOWS) {
        if copy.subflow[who as usize].ready() != 0 {
            (copy.who, copy.argument) = (who, 0);
            copy.tcp[who as usize].cwnd_limited = 0;
            Native.step(&mut copy);
        }
    }
    // Cached increases expire: they may be a round trip old.
    for epoch in &mut copy.connection.epoch {
        *epoch = epoch.wrapping_add(1);
    }
    for group in 0..3 {
        let gains: Option<Vec<Gain>> = copy
            .subflow
            .iter()
            .enumerate()
            .filter(|(_, s)| {
                let slot = copy.connection.slot.get(usize::from(s.slot));
                let sends = |slot: &ffi::mpcc_slot| u32::from(slot.phase) > MPCC_STANDBY;
                s.ready() != 0 && slot.is_some_and(sends) && s.group == group
            })
            .map(|(who, _)| gain(&copy, who, algorithm))
            .collect();
        let Some(gains) = gains.filter(|gains| !gains.is_empty()) else {
            continue; // a subflow is outside of the ranges, or without an RTT sample
        };
        let sum: f64 = gains.iter().map(|gain| gain.now).sum();
        let best = gains.iter().map(|gain| gain.alone).fold(0.0, f64::max);
        let reference = gains.iter().map(|gain| gain.reference).fold(1.0, f64::max);
        let n = gains.len() as f64;
        let most = best * reference * most(harness, algorithm, n).unwrap_or(f64::INFINITY);
        ensure!(
            sum <= 1.01 * most,
            "group {group} gains {sum}, may gain {most} per µs²"
        );
    }
    Ok(())
}

/// `None` where no bound holds.
fn gain(harness: &Harness, who: usize, algorithm: Algorithm) -> Option<Gain> {
    use crate::ffi::mpcc_state::*;
    let (tcp, s) = (&harness.tcp[who], &harness.subflow[who]);
    let slot = &harness.connection.slot[usize::from(s.slot)];
    if tcp.cwnd > ffi::MPCC_CWND_MAX || !SRTT8.contains(&slot.srtt8) {
        return None;
    }
    let mut after = Box::new(*harness);
    after.who = who as u32;
    after.argument = 1;
    after.tcp[who].cwnd_limited = 1;
    // OLIA's sets depend on the acknowledged segments: keep them the same for all subflows.
    if algorithm.avoidance() == "olia" {
        for (i, other) in after.connection.slot.iter_mut().enumerate() {
            if i != usize::from(s.slot) {
                let [since, between] = &mut other.avoidance;
                *since = since.saturating_add(1);
                *between = (*between).max(*since);
            }
        }
    }
    Native.step(&mut after);
    let window = |harness: &Harness| {
        f64::from(harness.tcp[who].cwnd) + harness.subflow[who].growth as f64 / ffi::MPCC_ONE as f64
    };
    let (w, t) = (f64::from(tcp.cwnd), f64::from(slot.srtt8) / 8.0);
    let reduces = [MPCC_STATE_CWR, MPCC_STATE_RECOVERY].contains(&u32::from(s.state));
    let mut now = (window(&after) - window(harness)) * w;
    let (mut alone, mut reference) = (1.0, 1.0);
    if algorithm.slow_start() == "nmcc" {
        let slow = |s: &ffi::mpcc_subflow| {
            !reduces
                && u64::from(tcp.cwnd) * u64::from(state::m2(s))
                    < u64::from(tcp.ssthresh) << ffi::MPCC_M2_SHIFT
        };
        if slow(s) != slow(&after.subflow[who]) {
            return None; // its phase depends on the others' slots
        }
        if slow(s) {
            alone = w;
            let ratio = state::nmcc_start(&after.subflow[who]).ratio;
            reference = f64::from(ratio) / f64::from(ffi::MPCC_M2_ONE);
        }
    } else if tcp.cwnd < tcp.ssthresh {
        now = 0.0; // slow start is not coupled
        if algorithm.avoidance() == "nmcc" {
            alone = w; // but its Ω counts
        }
    }
    if reduces {
        now = 0.0; // Linux does not call cong_avoid then
    }
    Some(Gain {
        now: now.max(0.0) / (t * t),
        alone: alone / (t * t),
        reference,
    })
}
