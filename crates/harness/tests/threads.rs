//! Callbacks of several subflows at the same time, as on several CPUs in Linux, with requests for other groups in
//! between: every credit ends once, and the connection ends once.

use mpcc::Algorithm;
use mpcc_harness::ffi::{self, mpcc_note as Note, mpcc_subflow as Subflow};
use mpcc_harness::{empty, fresh_tcp};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};

/// A connection that several threads use, like CPUs in the kernel.
#[derive(Clone, Copy)]
struct Shared(*mut ffi::mpcc_connection);

// SAFETY: the C reads and writes it by volatile and atomic accesses, of which this test is the test.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

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

/// The life of a subflow: start, ACKs with occasional losses, idle restarts and requests, close.
fn live(shared: Shared, algorithm: Algorithm, seed: u64, counts: &Counts) {
    use ffi::mpcc_operation::*;
    let pair = empty(algorithm).pair;
    let c = shared.pointer();
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let (mut s, mut tcp) = (Subflow::default(), fresh_tcp());
    let call = |s: &mut Subflow, tcp: &mut ffi::mpcc_tcp, operation, argument, group| {
        let mut note = Note::default();
        // SAFETY: `c` outlives the threads; everything else is this thread's own.
        let result = unsafe {
            ffi::mpcc_harness_native_call(pair, c, s, tcp, operation, argument, group, &mut note)
        };
        counts.add(&note);
        result
    };
    call(&mut s, &mut tcp, MPCC_DO_INIT, 1, 0);
    if u32::from(s.slot) >= ffi::MPCC_SUBFLOWS {
        return;
    }
    for _ in 0..random.next_u32() % 40 {
        tcp.flight = tcp.cwnd;
        match random.next_u32() % 16 {
            0 => {
                let ssthresh = call(&mut s, &mut tcp, MPCC_DO_SSTHRESH, 0, 0);
                tcp.ssthresh = if random.next_u32() % 2 == 0 {
                    ssthresh
                } else {
                    i32::MAX as u32
                };
            }
            1 => {
                call(&mut s, &mut tcp, MPCC_DO_EVENT, 1, 0);
            }
            // A request for any subflow.
            2 => {
                let mut other = Subflow {
                    slot: (random.next_u32() % 16) as u8,
                    ..Subflow::default()
                };
                other.set_ready(1);
                let group = random.next_u32() % 2;
                call(&mut other, &mut tcp, MPCC_DO_REQUEST, 0, group);
            }
            acked => {
                tcp.cwnd = if tcp.cwnd > 4000 { 10 } else { tcp.cwnd };
                call(&mut s, &mut tcp, MPCC_DO_ACK, acked, 0);
            }
        }
    }
    let last = call(&mut s, &mut tcp, MPCC_DO_RELEASE, 0, 0);
    counts.last.fetch_add(last, Ordering::Relaxed);
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
        // The holder keeps the connection open until all threads are done.
        // SAFETY: the connection lives, and no other thread uses it yet.
        let holder = unsafe { ffi::mpcc_harness_native_attach(shared.pointer(), 0) };
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
fn one_of_many_simultaneous_closes_is_the_last() {
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
        // A subflow that starts after the last one closed finds no connection, and runs alone.
        assert_eq!(counts.last.load(Ordering::Relaxed), 1, "round {round}");
        assert_eq!(connection.used, ffi::MPCC_NO_OWNER, "round {round}");
    }
}

/// A subflow that reads an epoch and then the subflows of a group may cache a result: a change after the read has a later
/// epoch. (Weakly ordered machines may show the epoch first. The cached result then expires after one window.)
#[test]
#[cfg(target_arch = "x86_64")]
fn a_change_of_standby_that_was_not_seen_has_a_later_epoch() {
    use ffi::mpcc_operation::*;
    const ROUNDS: u32 = 100_000;
    let pair = empty(Algorithm::find("lisa").unwrap()).pair;
    let mut connection = ffi::mpcc_connection::default();
    let shared = Shared(&mut connection);
    let (started, done) = (AtomicU32::new(0), AtomicU32::new(0));
    // Both threads meet here in each round. They may share a CPU.
    let until = |count: &AtomicU32, round| {
        for spins in 1_u64.. {
            match count.load(Ordering::Acquire) == round {
                true => break,
                false if spins % 1000 == 0 => std::thread::yield_now(),
                false => std::hint::spin_loop(),
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut s, mut tcp) = (Subflow::default(), fresh_tcp());
            tcp.backup = 1;
            let mut call = |operation, argument| {
                let (c, mut note) = (shared.pointer(), Note::default());
                // SAFETY: the connection outlives the thread; everything else is this thread's own.
                unsafe {
                    ffi::mpcc_harness_native_call(
                        pair, c, &mut s, &mut tcp, operation, argument, 0, &mut note,
                    );
                }
            };
            call(MPCC_DO_INIT, 1);
            for round in 1..=ROUNDS {
                until(&started, round);
                match round % 2 {
                    1 => call(MPCC_DO_EVENT, 0), // it starts to send
                    _ => call(MPCC_DO_ACK, 0),   // nothing is in flight any more
                }
                done.store(round, Ordering::Release);
            }
        });
        // The epoch of group 0 and the phase of slot 0, in the order in which the C reads them.
        let c = shared.pointer();
        // SAFETY: the connection lives, and the accesses are those of the C.
        let read = || unsafe {
            let epoch = (&raw const (*c).epoch[0]).read_volatile();
            (epoch, (&raw const (*c).slot[0].phase).read_volatile())
        };
        let (mut changes, mut stale) = (0, 0);
        for round in 1..=ROUNDS {
            let (mut epoch, before) = match round {
                1 => (0, ffi::mpcc_phase::MPCC_STANDBY as u8),
                _ => read(),
            };
            started.store(round, Ordering::Release);
            while done.load(Ordering::Acquire) != round {
                let seen = read();
                if seen.1 == before {
                    epoch = seen.0;
                }
            }
            let (now, phase) = read();
            changes += u32::from(phase != before);
            stale += u32::from(phase != before && epoch == now);
        }
        assert_eq!((changes, stale), (ROUNDS, 0));
    });
}

/// A backend's memory may become another connection's while a subflow of the former one still reads it.
#[test]
fn a_subflow_attaches_to_its_own_connection_only() {
    let mut connection = ffi::mpcc_connection::default();
    const NO_ROOM: u8 = ffi::MPCC_NO_ROOM as u8;
    const NO_SLOT: u8 = ffi::MPCC_NO_SLOT as u8;
    // SAFETY: the connection lives, and only this thread uses it.
    let attach =
        |c: &mut ffi::mpcc_connection, tag| unsafe { ffi::mpcc_harness_native_attach(c, tag) };
    connection.used = ffi::MPCC_NO_OWNER;
    assert_eq!(attach(&mut connection, 7), NO_SLOT, "not open yet");
    // SAFETY: the connection lives, and only this thread uses it.
    unsafe { ffi::mpcc_harness_native_open(&mut connection, 7) };
    for slot in 0..ffi::MPCC_SUBFLOWS as u8 {
        assert_eq!(attach(&mut connection, 8), NO_SLOT, "another tag");
        // Tags are compared modulo MPCC_TAGS.
        assert_eq!(attach(&mut connection, 7 + 5 * ffi::MPCC_TAGS), slot);
    }
    assert_eq!(attach(&mut connection, 7), NO_ROOM, "full");
    assert_eq!(connection.used >> ffi::MPCC_TAG_SHIFT, 7);
}
