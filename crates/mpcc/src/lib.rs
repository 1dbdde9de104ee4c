//! The coupled congestion control algorithms of `cc/`, as safe Rust.
//!
//! A [`Connection`] holds what its subflows share; each [`Subflow`] belongs to one endpoint, which calls back as
//! Linux's `tcp_congestion_ops` are called: when the subflow starts, on each ACK, on a loss, when its state changes,
//! when it closes. The algorithms themselves are C, so that the Linux kernel runs the same source.
//!
//! ```
//! use mpcc::{Algorithm, Connection, Tcp};
//!
//! let mut connection = Connection::new(Algorithm::find("lisa").unwrap());
//! let fresh = Tcp { cwnd: 10, cwnd_clamp: u32::MAX, ssthresh: u32::MAX, ..Tcp::default() };
//! let mut first_tcp = Tcp { srtt8: 8 * 40_000, cwnd_limited: 1, ..fresh };
//! let (mut first, _) = connection.open(&mut first_tcp, 0);
//! first_tcp.flight = 9;
//! connection.on_ack(&mut first, &mut first_tcp, 10); // ten segments acknowledged in slow start
//! assert_eq!(first_tcp.cwnd, 20);
//!
//! let mut second_tcp = fresh;
//! connection.open(&mut second_tcp, 0); // takes ten of the twenty
//! assert_eq!(second_tcp.cwnd, 10);
//! ```
//!
//! An endpoint fills in [`Tcp`] before each call, and takes `cwnd` and `ssthresh` from it after each (HyStart ends slow
//! start by the threshold). `now` counts in every call; `rtt_us` in [`Connection::on_ack`] alone, where 0 says that the
//! ACK has no sample; `idle_ms` in [`Connection::on_send_start`] alone. `rtt_us` is for CUBIC, HyStart++
//! and wVegas, the others are for CUBIC, as yet.
#![no_std]

#[cfg(any(test, feature = "vectors"))]
extern crate std;

use core::ffi::CStr;

#[allow(
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::undocumented_unsafe_blocks
)]
#[allow(
    non_camel_case_types,
    non_upper_case_globals,
    unpredictable_function_pointer_comparisons,
    unsafe_op_in_unsafe_fn
)]
pub mod ffi {
    //! The types of `cc/`, field by field as the headers have and explain them.
    include!(concat!(env!("OUT_DIR"), "/cc.rs"));
}

pub use ffi::{
    mpcc_note as Note, mpcc_pair as Pair, mpcc_slot as Slot, mpcc_state as state,
    mpcc_subflow as Subflow, mpcc_tcp as Tcp,
};

/// The callback for an ACK, in C.
pub type OnAck =
    unsafe extern "C" fn(*mut ffi::mpcc_connection, *mut Subflow, *mut Tcp, u32, *mut Note);

#[cfg(feature = "vectors")]
pub mod callbacks;
#[cfg(feature = "vectors")]
pub mod promises;
#[cfg(feature = "vectors")]
pub mod vectors;

/// The number of subflows of one connection that are coupled; further ones run alone.
pub const SUBFLOWS: usize = ffi::MPCC_SUBFLOWS as usize;

/// The highest number of a group.
pub const GROUP_MAX: u8 = ffi::MPCC_GROUP_MAX as u8;

/// A pair of what couples the windows while they double and what couples them after: a row of the table in
/// `cc/algorithm.h`.
#[derive(Clone, Copy)]
pub struct Algorithm(&'static ffi::mpcc_algorithm);

// SAFETY: the table and the strings that it points to are constants.
unsafe impl Send for Algorithm {}
// SAFETY: as above.
unsafe impl Sync for Algorithm {}

impl core::fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

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

    /// The name, as Linux knows it: at most 15 characters.
    pub fn name(&self) -> &'static str {
        Self::text(self.0.name)
    }

    /// What it is, in a few words.
    pub fn about(&self) -> &'static str {
        Self::text(self.0.about)
    }

    /// Whether Linux has it under this name by itself.
    pub fn in_linux(&self) -> bool {
        self.0.in_linux
    }

    /// Its slow start and its congestion avoidance.
    pub fn pair(&self) -> Pair {
        self.0.pair
    }

    /// The name of its slow start.
    pub fn slow_start(&self) -> &'static str {
        Self::part(
            &raw const ffi::mpcc_slow_start_names,
            self.0.pair.slow_start,
        )
    }

    /// The name of its congestion avoidance.
    pub fn avoidance(&self) -> &'static str {
        Self::part(&raw const ffi::mpcc_avoidance_names, self.0.pair.avoidance)
    }

    /// What the C has for [`Connection::on_ack`].
    pub fn on_ack(&self) -> OnAck {
        self.0.on_ack.expect("each row has one")
    }

    fn part<const N: usize>(names: *const [*const core::ffi::c_char; N], at: u8) -> &'static str {
        // SAFETY: a constant array of the length that its type says.
        Self::text(unsafe { &*names }[usize::from(at)])
    }

    fn text(text: *const core::ffi::c_char) -> &'static str {
        // SAFETY: the table holds constant strings, in ASCII.
        unsafe { CStr::from_ptr(text) }.to_str().unwrap_or_default()
    }
}

/// What the subflows of one connection share.
pub struct Connection {
    pair: Pair,
    on_ack: OnAck,
    shared: ffi::mpcc_connection,
}

impl Connection {
    /// A connection without subflows yet.
    pub fn new(algorithm: Algorithm) -> Self {
        Self {
            pair: algorithm.pair(),
            on_ack: algorithm.on_ack(),
            shared: Default::default(),
        }
    }

    /// A new subflow that has sent nothing yet. `tcp.cwnd` is the endpoint's initial window (10: RFC 6928); the
    /// algorithm may lower it. Subflows of different groups, up to [`GROUP_MAX`], are not coupled.
    pub fn open(&mut self, tcp: &mut Tcp, group: u8) -> (Subflow, Note) {
        debug_assert!(group <= GROUP_MAX);
        let mut note = Note::default();
        let mut subflow = Subflow {
            group,
            ..Subflow::default()
        };
        // SAFETY: all pointers are to live, exclusive values of the types that the C declares, here and below.
        unsafe {
            subflow.slot = ffi::mpcc_native_enter(&mut self.shared, 0);
            ffi::mpcc_native_init(
                self.pair,
                &mut self.shared,
                &mut subflow,
                tcp,
                true,
                &mut note,
            );
        }
        (subflow, note)
    }

    /// Asks a subflow to be in another group, up to [`GROUP_MAX`]: it moves there on its next [`Connection::on_ack`]. One
    /// that runs alone stays so.
    pub fn ask_group(&mut self, subflow: &Subflow, group: u8) {
        if usize::from(subflow.slot) < SUBFLOWS {
            // Nobody can take one subflow of this connection for another: they need no serial numbers.
            // SAFETY: see `open`.
            unsafe {
                ffi::mpcc_native_ask_group(&mut self.shared, subflow.slot.into(), 0, group);
            }
        }
    }

    /// `acked` segments were newly acknowledged, and the endpoint is not reducing its window. `tcp.rtt_us` is the RTT
    /// sample of this ACK, `tcp.flight` what it leaves in flight.
    #[inline]
    pub fn on_ack(&mut self, subflow: &mut Subflow, tcp: &mut Tcp, acked: u32) -> Note {
        let mut note = Note::default();
        // SAFETY: see `open`.
        unsafe { (self.on_ack)(&mut self.shared, subflow, tcp, acked, &mut note) }
        note
    }

    /// Whether [`Connection::on_ack`] wants what was acknowledged also from an endpoint that counts ACKs: in slow start CSS
    /// counts bytes by itself (its Algorithm 3).
    #[inline]
    pub fn counts_bytes(&self, tcp: &Tcp) -> bool {
        u32::from(self.pair.slow_start) == ffi::mpcc_slow_starts::MPCC_CSS
            && tcp.cwnd < tcp.ssthresh
    }

    /// A loss, a congestion signal or an RTO: the slow start threshold to reduce to, in segments.
    pub fn ssthresh(&mut self, subflow: &mut Subflow, tcp: &mut Tcp) -> (u32, Note) {
        let mut note = Note::default();
        // SAFETY: see `open`.
        let ssthresh = unsafe {
            ffi::mpcc_native_ssthresh(self.pair, &mut self.shared, subflow, tcp, &mut note)
        };
        (ssthresh, note)
    }

    /// The last reduction was a mistake: the window to go back to, in segments.
    pub fn undo(&self, subflow: &Subflow, tcp: &Tcp) -> u32 {
        // SAFETY: see `open`.
        unsafe { ffi::mpcc_native_undo(subflow, tcp) }
    }

    /// The endpoint's congestion state changes, to one of [`state`]. An RTO calls [`Connection::ssthresh`] first, and
    /// then this with `MPCC_STATE_LOSS`.
    pub fn set_state(&mut self, subflow: &mut Subflow, tcp: &Tcp, state: state::Type) -> Note {
        let mut note = Note::default();
        // SAFETY: see `open`.
        unsafe {
            ffi::mpcc_native_set_state(
                self.pair,
                &mut self.shared,
                subflow,
                tcp,
                state as u8,
                &mut note,
            )
        }
        note
    }

    /// Sending starts from nothing in flight. `tcp.idle_ms` is the time since the last transmission.
    pub fn on_send_start(&mut self, subflow: &mut Subflow, tcp: &mut Tcp) -> Note {
        self.event(subflow, tcp, ffi::mpcc_event::MPCC_EVENT_TX_START)
    }

    /// The window was reset after idling (RFC 5681, 4.1).
    pub fn on_idle_restart(&mut self, subflow: &mut Subflow, tcp: &mut Tcp) -> Note {
        self.event(subflow, tcp, ffi::mpcc_event::MPCC_EVENT_CWND_RESTART)
    }

    fn event(&mut self, subflow: &mut Subflow, tcp: &mut Tcp, event: u32) -> Note {
        let mut note = Note::default();
        // SAFETY: see `open`.
        unsafe {
            ffi::mpcc_native_cwnd_event(self.pair, &mut self.shared, subflow, tcp, event, &mut note)
        }
        note
    }

    /// The subflow closes.
    pub fn close(&mut self, mut subflow: Subflow) -> Note {
        let mut note = Note::default();
        // SAFETY: see `open`.
        let last = unsafe {
            ffi::mpcc_native_release(self.pair, &mut self.shared, &mut subflow, &mut note)
        };
        if last {
            self.shared = Default::default();
        }
        note
    }

    /// The slots of all subflows, free ones with the phase `MPCC_ABSENT`.
    pub fn slots(&self) -> &[Slot; SUBFLOWS] {
        &self.shared.slot
    }
}
