//! The event stream: what happens to the windows, as it happens.

use crate::contract::{self, lisa_control, lisa_event, lisa_event_kind as kind};
use crate::{Error, Result, load, registry::Registered};
use libbpf_rs::{MapHandle, RingBuffer, RingBufferBuilder};
use std::{cell::RefCell, rc::Rc, time::Duration};

/// How long a listener is remembered without renewing: long beside any stall of a busy machine, and after a crash events
/// cost nothing again that soon.
const TERM: Duration = Duration::from_secs(10);

/// Which events to listen to: `Kinds::RARE` or `Kinds::ALL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds(u32);

impl Kinds {
    /// All that happens rarely: starts, credits, slow-start exits, losses, moves to other groups, closes.
    pub const RARE: Self = Self(
        1 << kind::LISA_EVENT_START
            | 1 << kind::LISA_EVENT_SETTLED
            | 1 << kind::LISA_EVENT_VOID
            | 1 << kind::LISA_EVENT_SLOW_START_EXIT
            | 1 << kind::LISA_EVENT_LOSS
            | 1 << kind::LISA_EVENT_CLOSE
            | 1 << kind::LISA_EVENT_MOVED,
    );
    /// These and the window after each ACK.
    pub const ALL: Self = Self(Self::RARE.0 | 1 << kind::LISA_EVENT_ACK);
}

/// A listener. Events are made from `Listener::new` on, and no longer once it is dropped.
///
/// An algorithm has one stream: two listeners would share its events between them.
pub struct Listener<'r> {
    registered: &'r Registered,
    kinds: Kinds,
    // The ring refers to the map and the callback to the queue: both must outlive it.
    ring: RingBuffer<'r>,
    queue: Rc<RefCell<Vec<lisa_event>>>,
}

impl<'r> Listener<'r> {
    /// Starts to listen.
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
        // What an earlier listener left unread is not ours.
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
            listen_until: load::now() + TERM.as_nanos() as u64,
            reserved: 0,
        })
    }

    /// The events since the last call, oldest first, after waiting up to `timeout` (at most a second) for a rare one.
    /// The windows after each ACK do not end the wait: 6 000 of them fit until the next call.
    pub fn poll(&mut self, timeout: Duration) -> Result<Vec<lisa_event>> {
        self.renew()?;
        let timeout = timeout.min(Duration::from_secs(1));
        // A signal interrupts it: the caller looks at its flags then.
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
