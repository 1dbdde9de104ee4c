//! The event stream: changes of the windows, as they happen.

use crate::contract::{self, LISA_LISTENERS, lisa_event, lisa_event_kind as kind, lisa_listen};
use crate::requests::Requests;
use crate::{Error, Result, clock, registry::Registered};
use libbpf_rs::libbpf_sys::bpf_map_create_opts;
use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType, RingBuffer, RingBufferBuilder};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::fd::{AsFd, AsRawFd};
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

/// Size of a listener's ring buffer: 6 500 events of 72 bytes and their headers of 8. The kernel requires a power of two of pages.
const EVENT_BYTES: u32 = 512 * 1024;

/// Receiver of an algorithm's events, from `Listener::new` until it is dropped. Up to eight receive all events at once.
pub struct Listener<'r> {
    registered: &'r Registered,
    requests: Requests,
    kinds: Kinds,
    /// Tells this listener from others.
    owner: u32,
    /// Its place among the listeners.
    slot: u32,
    events: MapHandle,
    // The ring refers to the map, and its callback to the queue.
    ring: RingBuffer<'static>,
    queue: Rc<RefCell<Vec<lisa_event>>>,
}

impl<'r> Listener<'r> {
    /// Requests events of these kinds.
    ///
    /// # Errors
    /// [`Error::TooManyListeners`].
    pub fn new(registered: &'r Registered, kinds: Kinds) -> Result<Self> {
        let what = format!("`{}`: events", registered.name());
        let options = bpf_map_create_opts {
            sz: size_of::<bpf_map_create_opts>() as _,
            ..Default::default()
        };
        let events = MapHandle::create(
            MapType::RingBuf,
            Some("lisa_events"),
            0,
            0,
            EVENT_BYTES,
            &options,
        )
        .map_err(Error::bpf(&what))?;
        let queue: Rc<RefCell<Vec<lisa_event>>> = Rc::default();
        let sink = queue.clone();
        let mut builder = RingBufferBuilder::new();
        builder
            .add(&events, move |bytes| {
                if bytes.len() >= size_of::<lisa_event>() {
                    sink.borrow_mut().push(contract::read(bytes));
                }
                0
            })
            .map_err(Error::bpf(&what))?;
        let ring = builder.build().map_err(Error::bpf(&what))?;
        let mut listener = Self {
            requests: Requests::load(registered, None)?,
            registered,
            kinds,
            owner: random().max(1),
            slot: LISA_LISTENERS,
            events,
            ring,
            queue,
        };
        listener.renew()?;
        Ok(listener)
    }

    /// Renews the request. A place that this listener does not have yet may still have the ring buffer of a dead listener: it requests
    /// nothing until its own is there.
    fn renew(&mut self) -> Result<()> {
        let until = clock::now() + TERM.as_nanos() as u64;
        let mut slot = self.request(
            until,
            if self.slot < LISA_LISTENERS {
                self.kinds.0
            } else {
                0
            },
        )?;
        if slot != self.slot {
            let ring = self.events.as_fd().as_raw_fd();
            self.registered
                .rings
                .update(&slot.to_ne_bytes(), &ring.to_ne_bytes(), MapFlags::ANY)
                .map_err(Error::bpf(format!("`{}`: events", self.registered.name())))?;
            self.slot = slot;
            slot = self.request(until, self.kinds.0)?;
        }
        debug_assert_eq!(slot, self.slot);
        Ok(())
    }

    /// # Errors
    /// [`Error::TooManyListeners`].
    fn request(&self, until: u64, kinds: u32) -> Result<u32> {
        let request = lisa_listen {
            until,
            kinds,
            owner: self.owner,
        };
        let slot = self.requests.run(&self.requests.listen, request)?;
        match slot < LISA_LISTENERS {
            true => Ok(slot),
            false => Err(Error::TooManyListeners {
                name: self.registered.name().into(),
            }),
        }
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
        if self.slot < LISA_LISTENERS {
            let _ = self.registered.rings.delete(&self.slot.to_ne_bytes());
            let _ = self.request(0, 0);
        }
    }
}

/// A random number, by the seed of the standard library's hash tables.
pub(crate) fn random() -> u32 {
    RandomState::new().build_hasher().finish() as u32
}
