//! A range of bytes of a subflow or of a connection's stream.

/// Consecutive bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteRange {
    /// First byte.
    pub start: u64,
    /// Byte after the last one.
    pub end: u64,
}

impl ByteRange {
    /// The bytes `start..end`.
    #[must_use]
    pub const fn new(start: u64, end: u64) -> Self {
        Self { start, end }
    }

    /// Number of bytes.
    pub(crate) const fn len(self) -> u64 {
        self.end - self.start
    }

    /// Whether the range has this byte.
    pub(crate) const fn contains(self, byte: u64) -> bool {
        self.start <= byte && byte < self.end
    }

    /// Whether both ranges have a byte in common.
    pub(crate) const fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }
}
