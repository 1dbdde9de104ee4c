//! The event stream: changes of the windows, as they happen.

use crate::contract::{self, lisa_control, lisa_event, lisa_event_kind as kind};
use crate::{Error, Result, clock, registry::Registered};
use libbpf_rs::{MapHandle, RingBuffer, RingBufferBuilder};
use std::{cell::RefCell, rc::Rc, time::Duration};

/// Lifetime of a listener's request without renewal. Longer than any stall of a busy machine; after a crash of the listener, BPF
/// programs stop to report events after this time.
const TERM: Duration = Duration::from_secs(10);

/// Kinds of events to receive: `Kinds::RARE` or `Kinds::ALL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds(u32);

impl Kinds {
    /// Rare events: starts, credits, slow-start exits, losses, moves to other groups, closes.
    pub const RARE: Self = Self(
        1 << kind::LISA_EVENT_START
            | 1 << kind::LISA_EVENT_SETTLED
            | 1 << kind::LISA_EVENT_VOID
            | 1 << kind::LISA_EVENT_SLOW_START_EXIT
            | 1 << kind::LISA_EVENT_LOSS
            | 1 << kind::LISA_EVENT_CLOSE
            | 1 << kind::LISA_EVENT_MOVED,
    );
    /// Rare events, and the window after each ACK.
    pub const ALL: Self = Self(Self::RARE.0 | 1 << kind::LISA_EVENT_ACK);
}

/// Receiver of an algorithm's events, from `Listener::new` until it is dropped.
///
/// An algorithm has one stream: of two listeners each would receive a part of the events.
pub struct Listener<'r> {
    registered: &'r Registered,
    kinds: Kinds,
    // The ring refers to the map, and its callback to the queue.
    ring: RingBuffer<'r>,
    queue: Rc<RefCell<Vec<lisa_event>>>,
}

impl<'r> Listener<'r> {
    /// Requests events of these kinds.
    pub fn new(registered: &'r Registered, kinds: Kinds) -> Result<Self> {
        let queue: Rc<RefCell<Vec<lisa_event>>> = Rc::default();
        let sink = queue.clone();
        let events: &'r MapHandle = &registered.events;
        let what = format!("`{}`: events", registered.name());
        let mut builder = RingBufferBuilder::new();
        builder
            .add(events, move |bytes| {
                if bytes.len() >= size_of::<lisa_event>() {
                    sink.borrow_mut().push(contract::read(bytes));
                }
                0
            })
            .map_err(Error::bpf(&what))?;
        let ring = builder.build().map_err(Error::bpf(&what))?;
        // Discard the events that an earlier listener has not read.
        ring.consume().map_err(Error::bpf(&what))?;
        queue.borrow_mut().clear();
        let listener = Self {
            registered,
            kinds,
            ring,
            queue,
        };
        listener.renew()?;
        Ok(listener)
    }

    fn renew(&self) -> Result<()> {
        self.registered.set_control(&lisa_control {
            listen_to: self.kinds.0,
            listen_until: clock::now() + TERM.as_nanos() as u64,
            reserved: 0,
        })
    }

    /// The events since the last call, oldest first. Waits up to `timeout` (at most a second) for a rare event. The windows after
    /// each ACK do not end the wait: there is room for 6 000 of them.
    pub fn poll(&mut self, timeout: Duration) -> Result<Vec<lisa_event>> {
        self.renew()?;
        let timeout = timeout.min(Duration::from_secs(1));
        // A signal interrupts the wait, so that the caller can check its flags.
        let _ = self.ring.poll(timeout);
        self.ring
            .consume()
            .map_err(Error::bpf(format!("`{}`: events", self.registered.name())))?;
        Ok(std::mem::take(&mut self.queue.borrow_mut()))
    }
}

impl Drop for Listener<'_> {
    fn drop(&mut self) {
        let _ = self.registered.set_control(&lisa_control::default());
    }
}
