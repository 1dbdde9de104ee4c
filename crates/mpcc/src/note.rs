//! Results of callbacks.

use crate::ffi;

/// Result of a callback, beside the window. Empty after nearly all callbacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Note(pub(crate) ffi::mpcc_note);

/// Credits that a lender settled in one callback (LISA, Algorithm 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// Segments by which the lender reduced its window.
    pub credit: u32,
    /// Acknowledged segments that will not grow the lender's window.
    pub ignored: u32,
    /// Sum of the group's windows without the initial windows that the credits became, segments.
    pub sum_before: u32,
    /// Sum of the group's windows with them and without the lender's reduction, segments. Equal to `sum_before`.
    pub sum_after: u32,
}

impl Note {
    /// Whether the callback changed nothing but the window.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.what == 0
    }

    #[inline]
    fn has(&self, bits: u32) -> bool {
        self.0.what & bits != 0
    }

    /// Segments of the initial window that a new subflow took from another one.
    pub fn credit_taken(&self) -> Option<u32> {
        self.has(ffi::MPCC_NOTE_TAKEN).then_some(self.0.credit)
    }

    /// The settlement, if this subflow settled the credits that others had taken from it.
    pub fn settlement(&self) -> Option<Settlement> {
        self.has(ffi::MPCC_NOTE_SETTLED).then_some(Settlement {
            credit: self.0.credit,
            ignored: self.0.ignored,
            sum_before: self.0.sum_before,
            sum_after: self.0.sum_after,
        })
    }

    /// Whether this subflow, as the lender, settled the credit of the subflow in this slot.
    pub fn settles(&self, slot: u8) -> bool {
        self.0.settled & 1 << slot != 0
    }

    /// Whether the credit that the subflow in this slot took from this one became void.
    pub fn voids(&self, slot: u8) -> bool {
        self.0.voided & 1 << slot != 0
    }

    /// Whether this subflow returned its own credit before the lender settled it.
    pub fn withdraws_credit(&self) -> bool {
        self.has(ffi::MPCC_NOTE_WITHDRAWN)
    }

    /// Number of credits that this subflow settled as the lender.
    pub fn credits_paid(&self) -> u32 {
        self.0.settled.count_ones()
    }

    /// Number of credits that became void: taken from this subflow, or its own that it returned.
    pub fn credits_void(&self) -> u32 {
        self.0.voided.count_ones() + u32::from(self.withdraws_credit())
    }

    /// Whether any credit ended: settled, void or withdrawn.
    #[inline]
    pub fn ends_credits(&self) -> bool {
        self.has(ffi::MPCC_NOTE_SETTLED | ffi::MPCC_NOTE_VOID | ffi::MPCC_NOTE_WITHDRAWN)
    }

    /// Whether the subflow left slow start.
    #[inline]
    pub fn exits_slow_start(&self) -> bool {
        self.has(ffi::MPCC_NOTE_SLOW_START_EXIT)
    }
}
