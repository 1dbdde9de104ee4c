//! The endpoint's side of a subflow.

use crate::ffi;
use core::mem::offset_of;

/// Endpoint state that an algorithm may use, filled in before each call.
///
/// After each call the endpoint takes over `cwnd` and `ssthresh`. `now` counts in every call, `rtt_us` in
/// [`Connection::on_ack`](crate::Connection::on_ack) only, and `idle_ms` in
/// [`Connection::on_send_start`](crate::Connection::on_send_start) only.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tcp {
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Largest window that the endpoint allows, segments (Linux: `snd_cwnd_clamp`).
    pub cwnd_clamp: u32,
    /// Slow start threshold, segments.
    pub ssthresh: u32,
    /// Smoothed RTT, eighths of a microsecond (Linux: `srtt_us`); 0: no sample.
    pub srtt8: u32,
    /// Segments in flight, after the ACK being processed.
    pub flight: u32,
    /// Not 0: the window limits the sender (Linux: `tcp_is_cwnd_limited`).
    pub cwnd_limited: u8,
    /// Not 0: the endpoint spreads its segments over time (Linux: `sk_pacing_status`).
    pub paced: u8,
    /// Not 0: data goes to this subflow only while no other can send (RFC 8684, 3.3.8).
    pub backup: u8,
    /// Not 0: the subflow is coupled with no other, whatever its group.
    pub uncoupled: u8,
    /// RTT sample of the ACK being processed, microseconds, at least 1; 0: none.
    pub rtt_us: u32,
    /// Time since the last transmission, milliseconds.
    pub idle_ms: u32,
    /// Nanoseconds since an arbitrary moment, never decreasing.
    pub now: u64,
}

const _: () = {
    assert!(size_of::<Tcp>() == size_of::<ffi::mpcc_tcp>());
    assert!(offset_of!(Tcp, flight) == offset_of!(ffi::mpcc_tcp, flight));
    assert!(offset_of!(Tcp, paced) == offset_of!(ffi::mpcc_tcp, paced));
    assert!(offset_of!(Tcp, backup) == offset_of!(ffi::mpcc_tcp, backup));
    assert!(offset_of!(Tcp, uncoupled) == offset_of!(ffi::mpcc_tcp, uncoupled));
    assert!(offset_of!(Tcp, rtt_us) == offset_of!(ffi::mpcc_tcp, rtt_us));
    assert!(offset_of!(Tcp, now) == offset_of!(ffi::mpcc_tcp, now));
};

impl Tcp {
    pub(crate) fn as_c(&self) -> *const ffi::mpcc_tcp {
        core::ptr::from_ref(self).cast()
    }

    pub(crate) fn as_c_mut(&mut self) -> *mut ffi::mpcc_tcp {
        core::ptr::from_mut(self).cast()
    }
}

/// Congestion states, with Linux's numbers (`enum tcp_ca_state`).
#[repr(u8)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Nothing unusual.
    #[default]
    Open = 0,
    /// Duplicate ACKs or SACKs, not yet taken for a loss.
    Disorder = 1,
    /// Reducing the window after a congestion signal without a loss (ECN, local congestion, tail loss probe).
    Cwr = 2,
    /// Fast recovery.
    Recovery = 3,
    /// Loss recovery after an RTO.
    Loss = 4,
}
