//! Counters of a sending end.

use mpcc::Note;
use netsim::Time;

/// Counters of a sender.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Time at which the handshake ended.
    pub established: Option<Time>,
    /// Number of retransmitted segments.
    pub retransmits: u32,
    /// Number of window reductions.
    pub losses: u32,
    /// Time of the first reduction.
    pub first_loss: Option<Time>,
    /// Number of retransmission timeouts.
    pub timeouts: u32,
    /// First exit from slow start.
    pub slow_start_exit: Option<SlowStartExit>,
    /// Bytes of the subflow acknowledged.
    pub bytes: u64,
    /// Credits of linked slow start.
    pub credits: Credits,
}

/// Numbers of credits of a subflow (linked slow start). Each credit ends at one subflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Credits {
    /// Credits that the subflow took when it started.
    pub taken: u32,
    /// Credits that the subflow paid as the lender.
    pub paid: u32,
    /// Credits that became void: taken from the subflow, or returned by it before their payment.
    pub void: u32,
}

impl Credits {
    /// Counts the credits that a callback reports.
    #[cold]
    pub(super) fn count(&mut self, note: &Note) {
        self.taken += u32::from(note.credit_taken().is_some());
        self.paid += note.credits_paid();
        self.void += note.credits_void();
    }
}

/// Exit of a subflow from slow start.
#[derive(Clone, Copy, Debug)]
pub struct SlowStartExit {
    /// Time of the exit.
    pub at: Time,
    /// Window with which congestion avoidance begins, segments.
    pub cwnd: u32,
    /// Number of segments retransmitted until then.
    pub retransmits: u32,
}
