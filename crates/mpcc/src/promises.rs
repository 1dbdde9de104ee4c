//! What the algorithms promise, put to the test: after any callbacks, on any of them, [`run`] finds what does not hold.
//! Property tests and the fuzz target `callbacks` share it.

mod gains;

use crate::callbacks::Callback;
use crate::vectors::{self, Machine, Native};
use crate::{Algorithm, SUBFLOWS, Subflow, Tcp, ffi};
use ffi::mpcc_avoidances::*;
use ffi::mpcc_operation::*;
use ffi::mpcc_slow_starts::*;
use std::{boxed::Box, format, string::String};

/// The error is what does not hold.
type Holds = Result<(), String>;

macro_rules! ensure {
    ($holds:expr, $($what:tt)+) => {{
        let holds: bool = $holds;
        if !holds {
            return Err(std::format!($($what)+));
        }
    }};
}
use ensure;

/// Runs these callbacks on an algorithm, `alone` without a connection to couple in, and closes all that is left. The
/// error says after which callback something does not hold, and what.
pub fn run(algorithm: Algorithm, alone: bool, callbacks: &[Callback]) -> Holds {
    let mut driver = Driver::new(algorithm, alone);
    for callback in callbacks {
        driver
            .step(callback)
            .map_err(|what| format!("{algorithm:?}: {what}, after {callback:?}"))?;
    }
    driver
        .close()
        .map_err(|what| format!("{algorithm:?}: {what}, after all have closed"))
}

struct Driver {
    bench: Box<ffi::mpcc_bench>,
    algorithm: Algorithm,
    /// The slots whose credit is not yet settled, void or withdrawn.
    open: u16,
}

/// A callback's subflow before and after it.
struct Step<'a> {
    callback: &'a Callback,
    before: &'a ffi::mpcc_bench,
    after: &'a ffi::mpcc_bench,
}

impl Step<'_> {
    fn is(&self, operation: u32) -> bool {
        self.callback.operation == operation
    }

    fn old(&self) -> (&Tcp, &Subflow) {
        let who = self.callback.who as usize;
        (&self.before.tcp[who], &self.before.subflow[who])
    }

    fn now(&self) -> (&Tcp, &Subflow) {
        let who = self.callback.who as usize;
        (&self.after.tcp[who], &self.after.subflow[who])
    }

    /// What the window grew by, in segments with their fraction.
    fn grown(&self) -> f64 {
        let window = |(tcp, s): (&Tcp, &Subflow)| {
            f64::from(tcp.cwnd) + s.growth as f64 / ffi::MPCC_ONE as f64
        };
        window(self.now()) - window(self.old())
    }

    fn note(&self, bit: u32) -> bool {
        self.after.note.what & bit != 0
    }
}

impl Driver {
    fn new(algorithm: Algorithm, alone: bool) -> Self {
        let mut bench = vectors::empty();
        bench.pair = algorithm.pair();
        bench.alone = alone.into();
        Self {
            bench,
            algorithm,
            open: 0,
        }
    }

    fn step(&mut self, callback: &Callback) -> Holds {
        if !callback.prepare(&mut self.bench) {
            return Ok(()); // no endpoint would call this now
        }
        let before = self.bench.clone();
        Native.step(&mut self.bench);
        let after = self.bench.clone();
        let step = Step {
            callback,
            before: &before,
            after: &after,
        };
        self.windows(&step)?;
        slots(&after)?;
        moves(&step)?;
        self.credits(&step)?;
        let pair = self.algorithm.pair();
        match u32::from(pair.slow_start) {
            MPCC_CSS => css(&step)?,
            MPCC_NMCC => nmcc(&step)?,
            MPCC_HYSTARTPP => hystartpp(&step)?,
            _ => {}
        }
        match u32::from(pair.avoidance) {
            MPCC_CUBIC => cubic(&step, u32::from(pair.slow_start))?,
            MPCC_WVEGAS => wvegas(&step)?,
            _ => {}
        }
        gains::together(&after, self.algorithm)?;
        callback.finish(&mut self.bench);
        Ok(())
    }

    /// Closes whatever is open: nothing is left behind.
    fn close(&mut self) -> Holds {
        for who in 0..ffi::MPCC_BENCH_SUBFLOWS {
            self.step(&Callback::release(who))?;
        }
        let bench = vectors::bytes(&self.bench);
        let connection = &bench[..size_of::<ffi::mpcc_connection>()];
        ensure!(self.open == 0, "credits of {:b} are open", self.open);
        ensure!(
            connection.iter().all(|byte| *byte == 0),
            "a closed connection leaves something"
        );
        Ok(())
    }

    /// Windows within their bounds: none below the least, none that grows faster than slow start or without need.
    fn windows(&self, step: &Step<'_>) -> Holds {
        let (old, new, acked) = (step.old().0, step.now().0, step.callback.argument);
        let settled = step.note(ffi::MPCC_NOTE_SETTLED);
        let avoidance = u32::from(self.algorithm.pair().avoidance);
        // wVegas keeps two segments.
        let floor = if avoidance == MPCC_WVEGAS { 2 } else { 1 };
        ensure!(new.cwnd >= 1, "no window");
        ensure!(
            step.after.subflow.iter().all(|s| s.growth < ffi::MPCC_ONE),
            "a fraction above one"
        );
        match step.callback.operation {
            MPCC_DO_ACK => {
                // Slow start: a segment for each. OLIA's window of one grows by (1 + 1/2): α is at most 1/2.
                let most = match avoidance {
                    MPCC_OLIA => acked + acked.div_ceil(2),
                    _ => acked,
                };
                // OLIA takes at most half a segment for each window, and a whole one for the first fraction; wVegas may
                // halve and more. A credit takes no window below three.
                let least = match avoidance {
                    MPCC_WVEGAS if settled => floor,
                    _ if settled => ffi::MPCC_LISA_IW_MIN,
                    MPCC_OLIA => old
                        .cwnd
                        .saturating_sub(1 + acked.div_ceil(2 * old.cwnd))
                        .max(1),
                    MPCC_WVEGAS => 1,
                    _ => old.cwnd,
                };
                let most = old.cwnd.saturating_add(most).max(floor);
                ensure!(
                    (least..=most).contains(&new.cwnd),
                    "{} → {}, not within {least} and {most}",
                    old.cwnd,
                    new.cwnd
                );
                ensure!(
                    step.callback.limited || settled || new.cwnd <= old.cwnd.max(floor),
                    "grows without need"
                );
            }
            MPCC_DO_SSTHRESH => {
                let least = if avoidance == MPCC_OLIA { 1 } else { 2 };
                let result = step.after.result;
                ensure!(
                    result >= least && result <= old.cwnd.max(2),
                    "a threshold of {result}"
                );
            }
            MPCC_DO_INIT if step.callback.argument != 0 => {
                let linked = u32::from(self.algorithm.pair().slow_start) == MPCC_LISA;
                let least = if linked { ffi::MPCC_LISA_IW_MIN } else { 10 };
                ensure!(
                    (least..=10).contains(&new.cwnd),
                    "an initial window of {}",
                    new.cwnd
                );
            }
            MPCC_DO_UNDO => ensure!(step.after.result >= old.cwnd, "an undo that takes"),
            MPCC_DO_EVENT => ensure!(new.cwnd <= old.cwnd, "grows without an ACK"),
            _ => {}
        }
        Ok(())
    }

    /// A credit moves segments, it makes none; it is settled once, or void once, or taken back once.
    fn credits(&mut self, step: &Step<'_>) -> Holds {
        let net = |bench: &ffi::mpcc_bench| -> i64 {
            let owed: u32 = bench.connection.slot.iter().map(vectors::debit).sum();
            i64::from(vectors::sum_cwnd(&bench.connection)) - i64::from(owed)
        };
        let (note, mine) = (&step.after.note, step.now().1.slot);
        if step.note(ffi::MPCC_NOTE_TAKEN) {
            ensure!(
                (3..=10).contains(&note.credit),
                "a credit of {}",
                note.credit
            );
            ensure!(
                net(step.before) == net(step.after),
                "a join with a credit changes the sum"
            );
            let lender = step.after.connection.slot[usize::from(mine)].lender;
            let lender = &step.after.connection.slot[usize::from(lender)];
            ensure!(
                vectors::cwnd(lender) >= vectors::debit(lender) + ffi::MPCC_LISA_IW_MIN
                    && u32::from(lender.phase) == ffi::mpcc_phase::MPCC_SLOW_START,
                "a lender that has nothing to lend"
            );
            ensure!(self.open & 1 << mine == 0, "slot {mine} takes twice");
            self.open |= 1 << mine;
        }
        if step.note(ffi::MPCC_NOTE_SETTLED) {
            ensure!(
                note.sum_before == note.sum_after,
                "{} segments become {}",
                note.sum_before,
                note.sum_after
            );
            ensure!(
                note.ignored <= step.callback.flight.saturating_add(step.callback.argument),
                "{} to ignore",
                note.ignored
            );
        }
        let withdrawn = step.note(ffi::MPCC_NOTE_WITHDRAWN);
        let mine = if withdrawn { 1 << mine } else { 0 };
        for ended in [note.settled, note.voided, mine] {
            ensure!(
                ended & !self.open == 0,
                "credits of {ended:b} end that are not open"
            );
            self.open &= !ended;
        }
        // What is open is what stands in the accounts.
        let slots = &step.after.connection.slot;
        let takers = slots
            .iter()
            .fold(0, |all, slot| all | vectors::takers(slot));
        ensure!(
            takers == self.open,
            "takers {takers:b}, open {:b}",
            self.open
        );
        for slot in slots {
            let taken = (0..SUBFLOWS).filter(|i| vectors::takers(slot) >> i & 1 != 0);
            ensure!(
                taken.clone().all(|i| slots[i].group == slot.group),
                "a credit between groups"
            );
            let sum: u32 = taken.map(|i| u32::from(slots[i].credit)).sum();
            let debit = vectors::debit(slot);
            ensure!(sum == debit, "a debit of {debit} for credits of {sum}");
        }
        Ok(())
    }
}

/// Each open subflow has a slot of its own, where there is room, and a slot without a subflow shows and owes nothing.
fn slots(bench: &ffi::mpcc_bench) -> Holds {
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
fn moves(step: &Step<'_>) -> Holds {
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

/// CSS: in initial slow start a window grows by one segment in a round trip at the least, and at most by one for each that is
/// acknowledged, and by two for an ACK.
fn css(step: &Step<'_>) -> Holds {
    let (tcp, before) = step.old();
    let initial = vectors::css(before).initial != 0 && tcp.cwnd < tcp.ssthresh;
    if !step.is(MPCC_DO_ACK) || !initial || !step.callback.limited {
        return Ok(());
    }
    let (grown, after) = (step.grown(), step.now().0);
    let acked = f64::from(step.callback.argument);
    let reno = acked / f64::from(tcp.cwnd);
    // Where this ACK ends slow start.
    let avoidance = match step.after.pair.avoidance.into() {
        MPCC_CUBIC => acked / 2.0,
        _ => reno,
    };
    ensure!(
        grown < acked.min(2.0).max(avoidance) + 1e-11 * acked + 1e-9,
        "CSS grows by {grown} for {acked}"
    );
    ensure!(
        after.ssthresh != tcp.ssthresh
            || after.cwnd >= after.ssthresh
            || grown > reno.min(2.0) - 1e-9,
        "CSS grows by {grown} for {acked} of {}",
        tcp.cwnd
    );
    Ok(())
}

/// NMCC: no subflow ever grows faster than a TCP on its path.
fn nmcc(step: &Step<'_>) -> Holds {
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
    let m2 = vectors::m2(step.now().1);
    ensure!(
        (ffi::MPCC_M2_ONE..=ffi::MPCC_SUBFLOWS * ffi::MPCC_M2_ONE).contains(&m2),
        "m² = {m2} · 2^-20"
    );
    Ok(())
}

/// CUBIC in its whole range, times to hours: what it keeps stays in its bounds, and an ACK makes at most one segment of two.
fn cubic(step: &Step<'_>, slow_start: u32) -> Holds {
    let ((old, _), (new, s)) = (step.old(), step.now());
    let (cubic, callback) = (vectors::cubic(s), step.callback);
    let most = ffi::MPCC_CWND_MAX;
    ensure!(
        cubic.w_max <= most && cubic.origin <= most && cubic.reno <= u64::from(most) << 40,
        "CUBIC's window is beyond all: {cubic:?}"
    );
    // ∛(2^20 / 0.4) = 138 s
    ensure!(cubic.k < 139 * 1024, "K = {}", cubic.k);
    if step.is(MPCC_DO_EVENT) {
        ensure!(
            cubic.running == 0 || cubic.epoch_start <= new.now,
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
            callback.rtt_us == 0 || s.rtt_min <= callback.rtt_us && s.rtt_min > 0,
            "a least RTT of {}",
            s.rtt_min
        );
        // HyStart lowers the threshold to the window, and never below its least window.
        ensure!(
            slow_start != MPCC_UNCOUPLED
                || new.ssthresh == old.ssthresh
                || new.ssthresh == old.cwnd && old.cwnd >= 16,
            "HyStart's threshold is {}",
            new.ssthresh
        );
    }
    Ok(())
}

/// HyStart++ ends slow start where the window stands, after five rounds of slow growth, and an ACK adds eight segments at
/// most.
fn hystartpp(step: &Step<'_>) -> Holds {
    let ((old, before), (new, after)) = (step.old(), step.now());
    let (was, is) = (vectors::hystartpp(before), vectors::hystartpp(after));
    ensure!(
        is.samples <= 8 && is.rounds <= 5 && is.left <= ffi::MPCC_CWND_MAX,
        "HyStart++ keeps {is:?}"
    );
    ensure!(
        was.over == 0 || is.over != 0 || step.is(MPCC_DO_INIT),
        "HyStart++ begins again"
    );
    if step.is(MPCC_DO_ACK) && old.cwnd < old.ssthresh && was.over == 0 {
        ensure!(
            new.cwnd - old.cwnd <= 8
                && (new.ssthresh == old.ssthresh || new.ssthresh == old.cwnd && is.rounds == 5)
                && (new.cwnd >= new.ssthresh) == (is.over != 0),
            "HyStart++: {old:?} → {new:?}, {is:?}"
        );
    }
    Ok(())
}

/// wVegas: no window below 2 after a round, a queue of 2 to 10 segments to keep, and a threshold that is not above the
/// window when a round in congestion avoidance is over, unless the window was drained.
fn wvegas(step: &Step<'_>) -> Holds {
    let ((old, _), (new, s)) = (step.old(), step.now());
    let v = vectors::wvegas(s);
    ensure!(
        (2..=10).contains(&v.alpha) && v.left > 0 && v.left <= ffi::MPCC_CWND_MAX + 1,
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
