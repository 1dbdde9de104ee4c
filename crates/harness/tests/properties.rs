//! Properties that hold after any sequence of callbacks.

use mpcc::{Algorithm, Connection, Settings};
use mpcc_harness::callbacks::{self, Callback};
use mpcc_harness::{Harness, Machine, Native, empty, ffi, fresh_endpoint, properties, state};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]
    #[test]
    fn properties_hold_after_any_callbacks((algorithm, alone, callbacks) in callbacks::runs(20, 200)) {
        if let Err(what) = properties::run(algorithm, alone, &callbacks) {
            prop_assert!(false, "{what}");
        }
    }

    /// The bound of the gain depends on φ.
    #[test]
    fn properties_hold_for_any_phi(percent in 1u32..=200, callbacks in callbacks::callbacks(8, 100)) {
        let phi = Algorithm::find("phi").unwrap();
        let mut settings = Settings::standard(phi);
        settings.set(phi, "phi", percent).unwrap();
        if let Err(what) = properties::run_with(phi, settings, false, &callbacks) {
            prop_assert!(false, "φ = {}/100: {what}", percent);
        }
    }

    /// Two groups of one connection behave as two connections, bit by bit. (The slots differ, and so the bits of a note.)
    #[test]
    fn groups_apart_are_connections_apart(
        algorithm in proptest::sample::select(Algorithm::all().collect::<Vec<_>>()), mut callbacks in callbacks::callbacks(16, 200),
    ) {
        // Coupled CUBIC's partners, and of two curves of one tick the one that counts, depend on the order of the slots, which is that of the
        // callbacks as long as no slot is taken again.
        let ordered = algorithm.avoidance() == "coupled_cubic";
        callbacks.retain(|callback| match callback.operation {
            ffi::mpcc_operation::MPCC_DO_REQUEST => false,
            ffi::mpcc_operation::MPCC_DO_RELEASE => !ordered,
            _ => true,
        });
        let mut together = empty(algorithm);
        let mut apart = [together.clone(), together.clone()];
        let primes: Vec<u32> = primes_from(ffi::MPCC_CWND_MAX).take(together.subflow.len()).collect();
        for callback in &callbacks {
            let group = callback.who % 2;
            // Of two subflows of equal rates LISA chooses the lower slot, and slots differ. No rates are equal if each subflow's RTTs
            // are multiples of a prime of its own above all windows.
            let prime = primes[callback.who as usize];
            let srtt8 = prime * (callback.srtt8.min(ffi::MPCC_SRTT8_MAX) / prime).max(1);
            // A group that a subflow has to itself may share the epoch of another group.
            let callback = Callback { group, srtt8, uncoupled: false, ..callback.clone() };
            let alone = &mut apart[group as usize];
            let prepared = callback.prepare(&mut together);
            prop_assert_eq!(callback.prepare(alone), prepared);
            if !prepared {
                continue;
            }
            for harness in [&mut together, alone] {
                // The harnesses' clocks differ.
                harness.tcp[callback.who as usize].now = 0;
                Native.step(harness);
            }
            let who = callback.who as usize;
            let seen = |harness: &Harness| {
                let (s, note) = (&harness.subflow[who], &harness.note);
                let sums = (note.credit, note.ignored, note.sum_before, note.sum_after);
                // The last subflow of a group need not be the last of the connection.
                let last = callback.operation == ffi::mpcc_operation::MPCC_DO_RELEASE;
                (harness.tcp[who], s.growth, state::lisa(s).ignore, note.what, sums, harness.result * u32::from(!last))
            };
            prop_assert_eq!(seen(&together), seen(&apart[group as usize]), "{:?}", callback);
            callback.finish(&mut together);
            callback.finish(&mut apart[group as usize]);
        }
    }
}

/// Prime numbers, beginning at `from`.
fn primes_from(from: u32) -> impl Iterator<Item = u32> {
    let divides = |n: u32| {
        (2..)
            .take_while(move |d| d * d <= n)
            .any(move |d| n % d == 0)
    };
    (from..).filter(move |n| !divides(*n))
}

/// In the kernel, a request may come after the slot's subflow has closed and another one has taken the slot.
#[test]
fn a_request_for_an_earlier_generation_is_refused() {
    let mut harness = empty(Algorithm::find("lisa").unwrap());
    harness.operation = ffi::mpcc_operation::MPCC_DO_INIT;
    Native.step(&mut harness);
    let c = &mut harness.connection;
    c.slot[0].request.__bindgen_anon_1.generation = 5; // as bpf/ numbers it
    // SAFETY: the connection lives, and only this thread uses it.
    let mut request = |slot, generation| unsafe {
        ffi::mpcc_harness_native_request_group(c, slot, generation, 7)
    };
    let accepted = [request(0, 4), request(1, 0), request(0, 5)];
    assert_eq!(accepted, [false, false, true]);
    // SAFETY: both views of the union are plain integers.
    let request = unsafe { c.slot[0].request.__bindgen_anon_1 };
    assert_eq!(
        (request.group, request.generation, c.slot[0].group),
        (7, 5, 0)
    );
}

/// Linux reduces an idle window when data is queued (tcp_cwnd_restart), and a subflow may join before that data is
/// sent, with TCP_CORK much later: it takes a credit from the published window, 40, of which 10 remain.
#[test]
fn a_window_that_idling_has_cut_settles_nothing() {
    let mut connection = Connection::new(Algorithm::find("lisa").unwrap());
    let mut lender_tcp = fresh_endpoint();
    let (mut lender, _) = connection.open(&mut lender_tcp, 0);
    connection.on_ack(&mut lender, &mut lender_tcp, 30);
    assert_eq!(lender_tcp.cwnd, 40);
    connection.on_idle_restart(&mut lender, &mut lender_tcp);
    lender_tcp.cwnd = 10;
    let mut borrowers = Vec::new();
    for _ in 0..2 {
        borrowers.push(connection.open(&mut fresh_endpoint(), 0));
        let (_, note) = borrowers.last().unwrap();
        assert_eq!(note.credit_taken(), Some(10));
    }
    let note = connection.on_send_start(&mut lender, &mut lender_tcp);
    assert_eq!((lender_tcp.cwnd, note.settlement()), (10, None));
    let mut slots = borrowers.iter().map(|(subflow, _)| subflow.slot().unwrap());
    assert!(slots.all(|slot| note.voids(slot)));
}
