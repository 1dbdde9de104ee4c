//! Callbacks of several subflows at the same time, as Linux makes them on several CPUs, while somebody asks them to be in
//! other groups: every credit that was taken ends once, and a connection that all have left is over once.

use mpcc::vectors::fresh_tcp;
use mpcc::{Algorithm, Note, Subflow, ffi};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};

/// What the C takes as shared between CPUs.
#[derive(Clone, Copy)]
struct Shared(*mut ffi::mpcc_connection);

// SAFETY: the C reads and writes it by volatile and atomic accesses, of which this test is the test.
unsafe impl Send for Shared {}

impl Shared {
    /// Keeps closures from capturing the bare pointer.
    fn pointer(self) -> *mut ffi::mpcc_connection {
        self.0
    }
}

#[derive(Default)]
struct Counts {
    taken: AtomicU32,
    settled: AtomicU32,
    voided: AtomicU32,
    withdrawn: AtomicU32,
    last: AtomicU32,
}

impl Counts {
    fn add(&self, note: &Note) {
        let once = |bit: u32| u32::from(note.what & bit != 0);
        self.taken
            .fetch_add(once(ffi::MPCC_NOTE_TAKEN), Ordering::Relaxed);
        self.settled
            .fetch_add(note.settled.count_ones(), Ordering::Relaxed);
        self.voided
            .fetch_add(note.voided.count_ones(), Ordering::Relaxed);
        self.withdrawn
            .fetch_add(once(ffi::MPCC_NOTE_WITHDRAWN), Ordering::Relaxed);
    }
}

/// One subflow's life: start, ACKs and now and then a loss or an idle restart, close.
fn live(shared: Shared, algorithm: Algorithm, seed: u64, counts: &Counts) {
    let (pair, on_ack) = (algorithm.pair(), algorithm.on_ack());
    let c = shared.pointer();
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut s = Subflow::default();
    let mut tcp = fresh_tcp();
    let note = |f: &mut dyn FnMut(&mut Note)| {
        let mut note = Note::default();
        f(&mut note);
        counts.add(&note);
    };
    // SAFETY: `c` outlives the threads; everything else is this thread's own. So for all calls below.
    s.slot = unsafe { ffi::mpcc_native_enter(c, 0) };
    if u32::from(s.slot) == ffi::MPCC_NO_SLOT {
        return;
    }
    // SAFETY: see above.
    note(&mut |n| unsafe { ffi::mpcc_native_init(pair, c, &mut s, &mut tcp, true, n) });
    for _ in 0..random.next_u32() % 40 {
        tcp.flight = tcp.cwnd;
        match random.next_u32() % 16 {
            0 => {
                let mut ssthresh = 0;
                // SAFETY: see above.
                note(&mut |n| unsafe {
                    ssthresh = ffi::mpcc_native_ssthresh(pair, c, &mut s, &mut tcp, n);
                });
                tcp.ssthresh = if random.next_u32() % 2 == 0 {
                    ssthresh
                } else {
                    i32::MAX as u32
                };
            }
            // SAFETY: see above.
            1 => note(&mut |n| unsafe {
                ffi::mpcc_native_cwnd_event(pair, c, &mut s, &mut tcp, 1, n);
            }),
            // Somebody asks somebody.
            2 => {
                let (slot, group) = (random.next_u32() % 16, random.next_u32() % 2);
                // SAFETY: see above.
                unsafe { ffi::mpcc_native_ask_group(c, slot, 0, group as u8) };
            }
            acked => {
                tcp.cwnd = if tcp.cwnd > 4000 { 10 } else { tcp.cwnd };
                // SAFETY: see above.
                note(&mut |n| unsafe {
                    on_ack(c, &mut s, &mut tcp, acked, n);
                });
            }
        }
    }
    // SAFETY: see above.
    note(&mut |n| unsafe {
        let last = ffi::mpcc_native_release(pair, c, &mut s, n);
        counts.last.fetch_add(last.into(), Ordering::Relaxed);
    });
}

#[test]
fn every_credit_ends_once_and_the_connection_too() {
    const THREADS: u64 = 4;
    const LIVES: u64 = 2000;
    let algorithm = Algorithm::find("lisa").unwrap();
    let mut credits = 0;
    for round in 0..20 {
        let mut connection = ffi::mpcc_connection::default();
        let (counts, start) = (Counts::default(), Barrier::new(THREADS as usize));
        let shared = Shared(&mut connection);
        // One holds the connection open until all have had their lives.
        // SAFETY: the connection lives, and nobody else has it yet.
        let holder = unsafe { ffi::mpcc_native_enter(shared.pointer(), 0) };
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (counts, start) = (&counts, &start);
                scope.spawn(move || {
                    start.wait();
                    for life in 0..LIVES {
                        live(
                            shared,
                            algorithm,
                            (round * THREADS + thread) * LIVES + life,
                            counts,
                        );
                    }
                });
            }
        });
        let get = |count: &AtomicU32| count.load(Ordering::Relaxed);
        let ended = get(&counts.settled) + get(&counts.voided) + get(&counts.withdrawn);
        assert_eq!(get(&counts.taken), ended, "round {round}");
        assert_eq!(get(&counts.last), 0, "round {round}");
        assert_eq!(
            connection.used,
            1 << holder,
            "all others gave their slots back"
        );
        credits += ended;
    }
    assert!(
        credits > 10_000,
        "{credits} credits are too few to say much"
    );
}

#[test]
fn of_many_that_leave_at_once_one_is_the_last() {
    let algorithm = Algorithm::find("lisa").unwrap();
    for round in 0..3000 {
        let mut connection = ffi::mpcc_connection::default();
        let (counts, start) = (Counts::default(), Barrier::new(3));
        let shared = Shared(&mut connection);
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let (counts, start) = (&counts, &start);
                scope.spawn(move || {
                    start.wait();
                    live(shared, algorithm, round * 3 + thread, counts);
                });
            }
        });
        // One that comes when the last has left finds the connection over, and runs alone.
        assert_eq!(counts.last.load(Ordering::Relaxed), 1, "round {round}");
        assert_eq!(connection.used, ffi::MPCC_OVER, "round {round}");
    }
}

/// A backend's memory may become another connection's while a subflow of the one before still looks at it.
#[test]
fn nobody_enters_another_connection() {
    let mut connection = ffi::mpcc_connection::default();
    const NO_SLOT: u8 = ffi::MPCC_NO_SLOT as u8;
    // SAFETY: the connection lives, and this thread alone has it.
    let enter = |c: &mut ffi::mpcc_connection, mark| unsafe { ffi::mpcc_native_enter(c, mark) };
    connection.used = ffi::MPCC_OVER;
    assert_eq!(enter(&mut connection, 7), NO_SLOT, "nobody's yet");
    connection.used = 7 << ffi::MPCC_MARK_SHIFT;
    for slot in 0..ffi::MPCC_SUBFLOWS as u8 {
        assert_eq!(enter(&mut connection, 8), NO_SLOT, "another's");
        // A mark is as many bits as there is room for.
        assert_eq!(enter(&mut connection, 7 + 5 * ffi::MPCC_MARKS), slot);
    }
    assert_eq!(enter(&mut connection, 7), NO_SLOT, "full");
    assert_eq!(connection.used >> ffi::MPCC_MARK_SHIFT, 7);
}
