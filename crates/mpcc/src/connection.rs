//! A connection and its subflows.

use crate::algorithm::{Algorithm, OnAck};
use crate::note::Note;
use crate::settings::Settings;
use crate::tcp::{State, Tcp};
use crate::{GROUP_MAX, SUBFLOWS, ffi};

/// State that the subflows of one connection share.
pub struct Connection {
    pair: ffi::mpcc_pair,
    on_ack: OnAck,
    counts_bytes: bool,
    settings: Settings,
    shared: ffi::mpcc_connection,
}

/// A subflow's own state. The default is a closed subflow: it belongs to no connection, and its callbacks change no other
/// subflow.
#[derive(Debug)]
pub struct Subflow(ffi::mpcc_subflow);

impl Default for Subflow {
    fn default() -> Self {
        Self(ffi::mpcc_subflow {
            slot: ffi::MPCC_NO_SLOT as u8,
            ..Default::default()
        })
    }
}

impl Subflow {
    /// Slot in the connection; `None` if the subflow runs alone.
    pub fn slot(&self) -> Option<u8> {
        (usize::from(self.0.slot) < SUBFLOWS).then_some(self.0.slot)
    }
}

impl Connection {
    /// A connection without subflows, with the algorithm's standard settings.
    pub fn new(algorithm: Algorithm) -> Self {
        Self::with_settings(algorithm, Settings::standard(algorithm))
    }

    /// A connection without subflows. The settings must be those of this algorithm.
    pub fn with_settings(algorithm: Algorithm, settings: Settings) -> Self {
        let mut connection = Self {
            pair: algorithm.raw_pair(),
            on_ack: algorithm.on_ack(),
            counts_bytes: algorithm.counts_bytes(),
            settings,
            shared: Default::default(),
        };
        connection.reset();
        connection
    }

    fn reset(&mut self) {
        self.shared = Default::default();
        self.shared.setting = self.settings.values();
    }

    /// Starts a subflow that has sent nothing yet. `tcp.cwnd` is the endpoint's initial window (10: RFC 6928); the
    /// algorithm may lower it. Subflows of different groups, up to [`GROUP_MAX`], are not coupled.
    pub fn open(&mut self, tcp: &mut Tcp, group: u8) -> (Subflow, Note) {
        debug_assert!(group <= GROUP_MAX);
        let mut note = Note::default();
        let mut subflow = Subflow::default();
        subflow.0.group = group;
        // SAFETY: all pointers are to live, exclusive values of the types that the C declares, here and below.
        unsafe {
            subflow.0.slot = ffi::mpcc_native_attach(&mut self.shared, 0);
            ffi::mpcc_native_init(
                self.pair,
                &mut self.shared,
                &mut subflow.0,
                tcp.as_c_mut(),
                true,
                &mut note.0,
            );
        }
        (subflow, note)
    }

    /// Requests that a subflow move to another group, up to [`GROUP_MAX`]. It moves on its next [`Connection::on_ack`]. A
    /// subflow that runs alone does not move.
    pub fn request_group(&mut self, subflow: &Subflow, group: u8) {
        if let Some(slot) = subflow.slot() {
            // Generation 0: a slot's owner cannot change during this call.
            // SAFETY: see `open`.
            unsafe {
                ffi::mpcc_native_request_group(&mut self.shared, slot.into(), 0, group);
            }
        }
    }

    /// Slot of the subflow that lent this one its initial window.
    pub fn lender(&self, subflow: &Subflow) -> Option<u8> {
        let slot = &self.shared.slot[usize::from(subflow.slot()?)];
        (slot.credit > 0).then_some(slot.lender)
    }

    /// Published RTT of the subflow in this slot, eighths of a microsecond; 0: no sample, or inactive (NMCC).
    pub fn published_srtt8(&self, slot: u8) -> u32 {
        self.shared.slot[usize::from(slot)].srtt8
    }

    /// Words that the congestion avoidance of this subflow publishes for the other subflows; zeros for a subflow that runs alone.
    pub fn published(&self, subflow: &Subflow) -> [u32; 2] {
        let slot = subflow.slot().map(usize::from);
        slot.map_or([0; 2], |slot| self.shared.slot[slot].avoidance)
    }

    /// `acked` segments were newly acknowledged, and the endpoint is not reducing its window. `tcp.rtt_us` is the RTT
    /// sample of this ACK, `tcp.flight` the segments in flight after it.
    #[inline]
    pub fn on_ack(&mut self, subflow: &mut Subflow, tcp: &mut Tcp, acked: u32) -> Note {
        let mut note = Note::default();
        // SAFETY: see `open`.
        unsafe {
            (self.on_ack)(
                &mut self.shared,
                &mut subflow.0,
                tcp.as_c_mut(),
                acked,
                &mut note.0,
            )
        }
        note
    }

    /// Whether [`Connection::on_ack`] requires the number of acknowledged segments also from an endpoint that counts ACKs: in slow
    /// start CSS counts bytes (its Algorithm 3).
    #[inline]
    pub fn counts_bytes(&self, tcp: &Tcp) -> bool {
        self.counts_bytes && tcp.cwnd < tcp.ssthresh
    }

    /// A loss, a congestion signal or an RTO: the slow start threshold to reduce to, in segments.
    pub fn ssthresh(&mut self, subflow: &mut Subflow, tcp: &mut Tcp) -> (u32, Note) {
        let mut note = Note::default();
        // SAFETY: see `open`.
        let ssthresh = unsafe {
            ffi::mpcc_native_ssthresh(
                self.pair,
                &mut self.shared,
                &mut subflow.0,
                tcp.as_c_mut(),
                &mut note.0,
            )
        };
        (ssthresh, note)
    }

    /// The last reduction was spurious: the window to restore, in segments. The endpoint restores its threshold, too.
    pub fn undo(&self, subflow: &mut Subflow, tcp: &Tcp) -> u32 {
        // SAFETY: see `open`.
        unsafe { ffi::mpcc_native_undo(&mut subflow.0, tcp.as_c()) }
    }

    /// The endpoint's congestion state changes. On an RTO, [`Connection::ssthresh`] is called first, and then this with
    /// [`State::Loss`].
    pub fn set_state(&mut self, subflow: &mut Subflow, tcp: &Tcp, state: State) -> Note {
        let mut note = Note::default();
        // SAFETY: see `open`.
        unsafe {
            ffi::mpcc_native_set_state(
                self.pair,
                &mut self.shared,
                &mut subflow.0,
                tcp.as_c(),
                state as u8,
                &mut note.0,
            )
        }
        note
    }

    /// Transmission starts with nothing in flight. `tcp.idle_ms` is the time since the last transmission.
    pub fn on_send_start(&mut self, subflow: &mut Subflow, tcp: &mut Tcp) -> Note {
        self.event(subflow, tcp, ffi::mpcc_event::MPCC_EVENT_TX_START)
    }

    /// The window was reset after an idle time (RFC 5681, 4.1).
    pub fn on_idle_restart(&mut self, subflow: &mut Subflow, tcp: &mut Tcp) -> Note {
        self.event(subflow, tcp, ffi::mpcc_event::MPCC_EVENT_CWND_RESTART)
    }

    fn event(&mut self, subflow: &mut Subflow, tcp: &mut Tcp, event: u32) -> Note {
        let mut note = Note::default();
        // SAFETY: see `open`.
        unsafe {
            ffi::mpcc_native_cwnd_event(
                self.pair,
                &mut self.shared,
                &mut subflow.0,
                tcp.as_c_mut(),
                event,
                &mut note.0,
            )
        }
        note
    }

    /// The subflow closes.
    pub fn close(&mut self, mut subflow: Subflow) -> Note {
        let mut note = Note::default();
        // SAFETY: see `open`.
        let last = unsafe {
            ffi::mpcc_native_release(self.pair, &mut self.shared, &mut subflow.0, &mut note.0)
        };
        if last {
            self.reset();
        }
        note
    }
}
