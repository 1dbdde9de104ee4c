//! Read access to the state of subflows and slots.

use crate::ffi::{self, mpcc_connection, mpcc_slot, mpcc_subflow};

/// Reads the state of a congestion avoidance.
macro_rules! avoidance {
    ($($(#[$doc:meta])* $name:ident: $type:ident;)*) => { $(
        $(#[$doc])*
        pub fn $name(subflow: &mpcc_subflow) -> &ffi::$type {
            // SAFETY: `avoidance` is not smaller and aligned, and any bytes are a value of this plain type.
            unsafe { &*(&raw const subflow.avoidance).cast() }
        }
    )* };
}

/// Reads the state of a slow start.
macro_rules! slow_start {
    ($($(#[$doc:meta])* $name:ident: $type:ident;)*) => { $(
        $(#[$doc])*
        pub fn $name(subflow: &mpcc_subflow) -> &ffi::$type {
            // SAFETY: `slow_start` is not smaller and aligned, and any bytes are a value of this plain type.
            unsafe { &*(&raw const subflow.slow_start).cast() }
        }
    )* };
}

avoidance! {
    /// State of a subflow that runs CUBIC.
    cubic: mpcc_cubic_avoidance;
    /// State of a subflow that runs MPCUBIC.
    mpcubic: mpcc_mpcubic_avoidance;
    /// State of a subflow that runs coupled CUBIC.
    coupled_cubic: mpcc_coupled_cubic_avoidance;
    /// State of a subflow that runs wVegas.
    wvegas: mpcc_wvegas_avoidance;
    /// State of a subflow that runs OLIA.
    olia: mpcc_olia_avoidance;
    /// State of a subflow that runs LIA, Balia or phi: their increases are at the same place.
    lia: mpcc_lia_avoidance;
    /// State of a subflow that runs NMCC's congestion avoidance.
    nmcc: mpcc_nmcc_avoidance;
}

slow_start! {
    /// State of a subflow that runs LISA.
    lisa: mpcc_lisa_slow_start;
    /// State of a subflow that runs HyStart++.
    hystartpp: mpcc_hystartpp_slow_start;
    /// State of a subflow that runs CSS.
    css: mpcc_css_slow_start;
    /// State of a subflow that runs NMCC's slow start.
    nmcc_start: mpcc_nmcc_slow_start;
    /// State of a subflow that runs convoy.
    convoy: mpcc_convoy_slow_start;
}

/// Change of the window for each acknowledged segment, Q40, of a subflow that runs OLIA.
pub fn change(subflow: &mpcc_subflow) -> i64 {
    olia(subflow).change
}

/// Increase for each acknowledged segment, Q40, of a subflow that runs LIA, Balia or phi.
pub fn increase(subflow: &mpcc_subflow) -> u64 {
    lia(subflow).increase
}

/// m² in Q20, of a subflow that runs NMCC.
pub fn m2(subflow: &mpcc_subflow) -> u32 {
    nmcc(subflow).m2
}

/// Σ cwnd over the subflows that are present, in segments.
pub fn sum_cwnd(connection: &mpcc_connection) -> u32 {
    let present = |slot: &&mpcc_slot| u32::from(slot.phase) != ffi::mpcc_phase::MPCC_ABSENT;
    connection.slot.iter().filter(present).map(cwnd).sum()
}

/// A slot's published window, in segments.
pub fn cwnd(slot: &mpcc_slot) -> u32 {
    // SAFETY: both views of the union are plain integers.
    unsafe { slot.account.__bindgen_anon_1.cwnd }
}

/// A slot's unsettled debit, in segments.
pub fn debit(slot: &mpcc_slot) -> u32 {
    // SAFETY: both views of the union are plain integers.
    unsafe { slot.account.__bindgen_anon_1.debit.into() }
}

/// The slots that took a credit here which is not settled, a bit each.
pub fn borrowers(slot: &mpcc_slot) -> u16 {
    // SAFETY: both views of the union are plain integers.
    unsafe { slot.account.__bindgen_anon_1.borrowers }
}

/// The group that is requested for a slot's subflow.
pub fn requested_group(slot: &mpcc_slot) -> u8 {
    // SAFETY: all views of the union are plain integers.
    unsafe { slot.request.__bindgen_anon_1.group }
}
