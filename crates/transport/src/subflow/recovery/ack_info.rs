//! Information that the slow path collects about an ACK.

/// Contents of an ACK, as far as loss recovery needs them.
#[derive(Debug, Default)]
pub(super) struct AckInfo {
    /// snd_una advanced (FLAG_SND_UNA_ADVANCED).
    pub(super) advanced: bool,
    /// Number of segments newly acknowledged, cumulatively or by SACK.
    pub(super) delivered: u32,
    /// A segment was newly SACKed (FLAG_DATA_SACKED).
    pub(super) newly_sacked: bool,
    /// A segment sent once, before the recovery, was delivered (FLAG_ORIG_SACK_ACKED).
    pub(super) original_acked: bool,
    /// A retransmitted segment was acknowledged (FLAG_RETRANS_DATA_ACKED).
    pub(super) retransmission_acked: bool,
    /// Ages of newly acknowledged segments that were sent once.
    pub(super) ages: Option<Ages>,
    /// First byte of the lowest such segment that was delivered after a higher one.
    pub(super) lowest_reordered: u64,
    /// The echoed timestamp is older than the first retransmission.
    pub(super) echoes_original: bool,
    /// Duplicate ACK.
    pub(super) duplicate: bool,
    /// The receiver reports a duplicate segment (DSACK).
    pub(super) dsack: bool,
    /// ECN echo (FLAG_ECE).
    pub(super) ece: bool,
    /// The reordering timer was set.
    pub(super) reordering_timer_set: bool,
}

/// Times since the transmission of the first and the last of several segments, ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ages {
    pub(super) first: u64,
    pub(super) last: u64,
}

impl Ages {
    /// Adds the age of the next segment.
    pub(super) fn add(ages: Option<Self>, age: u64) -> Self {
        Self {
            first: ages.map_or(age, |ages| ages.first),
            last: age,
        }
    }
}
