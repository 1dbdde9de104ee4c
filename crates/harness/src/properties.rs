//! Properties that hold after any callbacks, for every algorithm: [`run`] finds the first that does not.
//! Property tests and the fuzz target `callbacks` share it.

mod gain;
mod parts;
mod published;

use crate::callbacks::Callback;
use crate::ffi::{self, mpcc_subflow as Subflow, mpcc_tcp as Tcp};
use crate::{Harness, Machine, Native, empty, state, with_settings};
use ffi::mpcc_operation::*;
use mpcc::{Algorithm, SUBFLOWS, Settings};

/// The error is the violated property.
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

/// Runs these callbacks on an algorithm, with `alone` without a connection to couple in, and closes all open subflows. The
/// error names the violated property and the last callback.
pub fn run(algorithm: Algorithm, alone: bool, callbacks: &[Callback]) -> Holds {
    run_with(algorithm, Settings::standard(algorithm), alone, callbacks)
}

/// Runs these callbacks with other settings than the standard ones.
pub fn run_with(
    algorithm: Algorithm,
    settings: Settings,
    alone: bool,
    callbacks: &[Callback],
) -> Holds {
    let mut driver = Driver::new(algorithm, settings, alone);
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
    harness: Box<Harness>,
    algorithm: Algorithm,
    /// The slots whose credit is not yet settled, void or withdrawn.
    open: u16,
    /// Whether each subflow was in its initial slow start before its last reduction.
    was_initial: [bool; ffi::MPCC_HARNESS_SUBFLOWS as usize],
}

/// A callback's subflow before and after it.
struct Step<'a> {
    callback: &'a Callback,
    before: &'a Harness,
    after: &'a Harness,
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

    /// Growth of the window, in segments with their fraction.
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
    fn new(algorithm: Algorithm, settings: Settings, alone: bool) -> Self {
        let mut harness = with_settings(algorithm, settings);
        harness.alone = alone.into();
        Self {
            harness,
            algorithm,
            open: 0,
            was_initial: [false; ffi::MPCC_HARNESS_SUBFLOWS as usize],
        }
    }

    fn step(&mut self, callback: &Callback) -> Holds {
        if !callback.prepare(&mut self.harness) {
            return Ok(()); // no endpoint would call this now
        }
        let before = self.harness.clone();
        Native.step(&mut self.harness);
        let after = self.harness.clone();
        let step = Step {
            callback,
            before: &before,
            after: &after,
        };
        self.windows(&step)?;
        self.undo(&step)?;
        published::slots(&after)?;
        published::published(&step, self.algorithm)?;
        published::groups(&step)?;
        self.credits(&step)?;
        if u32::from(step.now().1.slot) == ffi::MPCC_NO_ROOM {
            parts::no_room(&step)?;
            callback.finish(&mut self.harness);
            return Ok(());
        }
        match self.algorithm.slow_start() {
            "css" => parts::css(&step, self.algorithm)?,
            "nmcc" => parts::nmcc(&step)?,
            "hystartpp" => parts::hystartpp(&step)?,
            "convoy" => parts::convoy(&step, self.algorithm)?,
            _ => {}
        }
        match self.algorithm.avoidance() {
            "cubic" => parts::cubic(&step, self.algorithm)?,
            "wvegas" => parts::wvegas(&step)?,
            "coupled_cubic" => parts::coupled_cubic(&step)?,
            _ => {}
        }
        gain::together(&after, self.algorithm)?;
        callback.finish(&mut self.harness);
        Ok(())
    }

    /// Closes all open subflows, and checks that no state remains.
    fn close(&mut self) -> Holds {
        for who in 0..ffi::MPCC_HARNESS_SUBFLOWS {
            self.step(&Callback::release(who))?;
        }
        ensure!(self.open == 0, "credits of {:b} are open", self.open);
        ensure!(
            self.harness.connection.used == empty(self.algorithm).connection.used,
            "a closed connection has subflows"
        );
        Ok(())
    }

    /// Windows stay within their bounds: none is below the minimum, grows faster than in slow start, or grows without need.
    fn windows(&self, step: &Step<'_>) -> Holds {
        let (old, new, acked) = (step.old().0, step.now().0, step.callback.argument);
        let settled = step.note(ffi::MPCC_NOTE_SETTLED);
        let avoidance = self.algorithm.avoidance();
        // wVegas keeps two segments.
        let floor = if avoidance == "wvegas" { 2 } else { 1 };
        ensure!(new.cwnd >= 1, "no window");
        // Coupled CUBIC waits for an even window.
        let fraction = if avoidance == "coupled_cubic" { 2 } else { 1 };
        ensure!(
            step.after
                .subflow
                .iter()
                .all(|s| s.growth < fraction * ffi::MPCC_ONE),
            "a fraction above {fraction}"
        );
        match step.callback.operation {
            MPCC_DO_ACK => {
                // Slow start adds a segment for each acknowledged one. OLIA's window of one grows by (1 + 1/2): α is at most 1/2.
                // Convoy's window may grow faster as long as it is small.
                let small = ffi::MPCC_CONVOY_FAST_JOIN_CWND.saturating_sub(old.cwnd);
                let most = match (avoidance, self.algorithm.slow_start()) {
                    ("olia", _) => acked + acked.div_ceil(2),
                    (_, "convoy") => {
                        acked.max(small.min(ffi::MPCC_CONVOY_FAST_FACTOR.saturating_mul(acked)))
                    }
                    _ => acked,
                };
                // Coupled CUBIC grows once in 4 ms: for all segments since the last time, and by what was left to make the window even.
                let kept = match avoidance {
                    "coupled_cubic" => 1 + u32::from(state::coupled_cubic(step.old().1).acked),
                    _ => 0,
                };
                let most = most.saturating_add(kept);
                // OLIA reduces a window by at most half a segment for each window, and by a whole one for the first fraction; wVegas may
                // halve and more; coupled CUBIC follows the loss of another subflow by half a segment for each acknowledged one. A
                // credit takes no window below three.
                let least = match avoidance {
                    "wvegas" if settled => floor,
                    _ if settled => ffi::MPCC_LISA_IW_MIN,
                    "olia" => old
                        .cwnd
                        .saturating_sub(1 + acked.div_ceil(2 * old.cwnd))
                        .clamp(1, old.cwnd_clamp),
                    "wvegas" => 1,
                    "coupled_cubic" => old
                        .cwnd
                        .min(2.max(old.cwnd.saturating_sub(acked.div_ceil(2)))),
                    _ => old.cwnd,
                };
                let most = old
                    .cwnd
                    .saturating_add(most)
                    .min(old.cwnd_clamp.max(old.cwnd))
                    .max(floor);
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
                let least = if avoidance == "olia" { 1 } else { 2 };
                // β; coupled CUBIC's window may have come down already in the same event. Balia halves at least.
                let cwnd = u64::from(old.cwnd);
                let beta = |cwnd: u64| {
                    cwnd * u64::from(ffi::MPCC_CUBIC_BETA) / u64::from(ffi::MPCC_CUBIC_SCALE)
                };
                let most = match avoidance {
                    "coupled_cubic" => {
                        let before = state::coupled_cubic(step.old().1).before;
                        beta(cwnd).max(beta(before.into()).min(cwnd))
                    }
                    "cubic" | "mpcubic" => beta(cwnd),
                    _ => cwnd / 2,
                };
                let result = step.after.result;
                ensure!(
                    result >= least && u64::from(result) <= most.max(2),
                    "a threshold of {result} for a window of {cwnd}"
                );
            }
            MPCC_DO_INIT if step.callback.argument != 0 => {
                let no_room = u32::from(step.now().1.slot) == ffi::MPCC_NO_ROOM;
                let least = match self.algorithm.slow_start() {
                    "lisa" => ffi::MPCC_LISA_IW_MIN,
                    _ if no_room => ffi::MPCC_NO_ROOM_IW,
                    _ => 10,
                };
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

    /// A reduction ends initial slow start, and an undo begins it again.
    fn undo(&mut self, step: &Step<'_>) -> Holds {
        let initial = step.now().1.initial() != 0;
        let was_initial = &mut self.was_initial[step.callback.who as usize];
        match step.callback.operation {
            MPCC_DO_SSTHRESH => {
                *was_initial = step.old().1.initial() != 0;
                ensure!(!initial, "initial slow start survives a reduction");
            }
            MPCC_DO_UNDO => ensure!(
                initial == *was_initial,
                "initial slow start was {was_initial} before the reduction, and is {initial} after its undo"
            ),
            _ => {}
        }
        Ok(())
    }

    /// A credit moves segments and creates none. It is settled, void or withdrawn once.
    fn credits(&mut self, step: &Step<'_>) -> Holds {
        let net = |harness: &Harness| -> i64 {
            let owed: u32 = harness.connection.slot.iter().map(state::debit).sum();
            i64::from(state::sum_cwnd(&harness.connection)) - i64::from(owed)
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
                state::cwnd(lender) >= state::debit(lender) + ffi::MPCC_LISA_IW_MIN
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
        if withdrawn {
            let debit = |harness: &Harness| {
                state::debit(&harness.connection.slot[usize::from(note.lender)])
            };
            ensure!(
                debit(step.before) == debit(step.after) + u32::from(note.withdrawn),
                "{} segments returned, the debit was {} and is {}",
                note.withdrawn,
                debit(step.before),
                debit(step.after)
            );
        }
        let mine = if withdrawn { 1 << mine } else { 0 };
        for ended in [note.settled, note.voided, mine] {
            ensure!(
                ended & !self.open == 0,
                "credits of {ended:b} end that are not open"
            );
            self.open &= !ended;
        }
        // The open credits are those in the accounts.
        let slots = &step.after.connection.slot;
        let borrowers = slots
            .iter()
            .fold(0, |all, slot| all | state::borrowers(slot));
        ensure!(
            borrowers == self.open,
            "borrowers {borrowers:b}, open {:b}",
            self.open
        );
        for slot in slots {
            let taken = (0..SUBFLOWS).filter(|i| state::borrowers(slot) >> i & 1 != 0);
            ensure!(
                taken.clone().all(|i| slots[i].group == slot.group),
                "a credit between groups"
            );
            let sum: u32 = taken.map(|i| u32::from(slots[i].credit)).sum();
            let debit = state::debit(slot);
            ensure!(sum == debit, "a debit of {debit} for credits of {sum}");
        }
        Ok(())
    }
}
