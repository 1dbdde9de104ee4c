//! The table of algorithms (`cc/table.h`).

use crate::ffi;
use crate::ffi::text;
use crate::setting::Setting;

pub(crate) type OnAck = unsafe extern "C" fn(
    *mut ffi::mpcc_connection,
    *mut ffi::mpcc_subflow,
    *mut ffi::mpcc_tcp,
    u32,
    *mut ffi::mpcc_note,
);

/// An algorithm: a pair of a slow start and a congestion avoidance; a row of the table in `cc/table.h`.
#[derive(Clone, Copy)]
pub struct Algorithm(&'static ffi::mpcc_algorithm);

/// The numbers of an algorithm's parts (`struct mpcc_pair`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// `enum mpcc_slow_starts`.
    pub slow_start: u8,
    /// `enum mpcc_avoidances`.
    pub avoidance: u8,
}

// SAFETY: the table and everything that it points to are constants.
unsafe impl Send for Algorithm {}
// SAFETY: as above.
unsafe impl Sync for Algorithm {}

impl core::fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq for Algorithm {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.0, other.0)
    }
}

impl Eq for Algorithm {}

impl Algorithm {
    /// Every algorithm, in the order of the table.
    pub fn all() -> impl Iterator<Item = Algorithm> {
        // SAFETY: the table is a constant array that ends with an entry without a name.
        let row = |i| unsafe {
            &*(&raw const ffi::mpcc_algorithms)
                .cast::<ffi::mpcc_algorithm>()
                .add(i)
        };
        (0..)
            .map(row)
            .take_while(|row| !row.name.is_null())
            .map(Algorithm)
    }

    /// The algorithm of this name.
    pub fn find(name: &str) -> Option<Algorithm> {
        Self::all().find(|algorithm| algorithm.name() == name)
    }

    /// The name of the registration in Linux: at most [`NAME_MAX`](crate::NAME_MAX) characters.
    pub fn name(&self) -> &'static str {
        text(self.0.name)
    }

    /// Description in a few words.
    pub fn about(&self) -> &'static str {
        text(self.0.about)
    }

    /// Whether Linux itself has an algorithm of this name.
    pub fn in_linux(&self) -> bool {
        u32::from(self.0.kernel) == ffi::mpcc_kernel::MPCC_BUILT_IN
    }

    /// Whether this project loads it into Linux. The others run in the simulator, and in Linux if [`Algorithm::in_linux`].
    pub fn is_loadable(&self) -> bool {
        u32::from(self.0.kernel) == ffi::mpcc_kernel::MPCC_LOADED
    }

    /// Whether it runs in Linux at all, and not in the simulator only.
    pub fn runs_in_linux(&self) -> bool {
        self.is_loadable() || self.in_linux()
    }

    /// The numbers of its slow start and its congestion avoidance.
    pub fn pair(&self) -> Pair {
        Pair {
            slow_start: self.0.pair.slow_start,
            avoidance: self.0.pair.avoidance,
        }
    }

    /// The name of its slow start.
    pub fn slow_start(&self) -> &'static str {
        text(self.slow_start_ops().name)
    }

    /// The name of its congestion avoidance.
    pub fn avoidance(&self) -> &'static str {
        text(self.avoidance_ops().name)
    }

    /// Its settings: those of its slow start, then those of its congestion avoidance.
    pub fn settings(self) -> impl Iterator<Item = Setting> {
        let slow_start = self.slow_start_ops().setting.iter();
        let all = slow_start.chain(self.avoidance_ops().setting.iter());
        all.enumerate()
            .filter_map(|(index, raw)| Setting::new(raw, index))
    }

    /// Whether slow start requires acknowledged segments also from an endpoint that counts ACKs (CSS, Algorithm 3).
    pub(crate) fn counts_bytes(&self) -> bool {
        self.slow_start_ops().counts_bytes
    }

    pub(crate) fn on_ack(&self) -> OnAck {
        self.0.on_ack.expect("each row has one")
    }

    pub(crate) fn raw_pair(&self) -> ffi::mpcc_pair {
        self.0.pair
    }

    fn slow_start_ops(&self) -> &'static ffi::mpcc_slow_start_ops {
        // SAFETY: each row points to a constant.
        unsafe { &*self.0.slow_start }
    }

    fn avoidance_ops(&self) -> &'static ffi::mpcc_avoidance_ops {
        // SAFETY: each row points to a constant.
        unsafe { &*self.0.avoidance }
    }
}
