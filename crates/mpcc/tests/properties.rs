//! What holds after any sequence of callbacks: `mpcc::promises` has it.

use mpcc::callbacks::{self, Callback};
use mpcc::vectors::{self, Machine, Native};
use mpcc::{Algorithm, Connection, ffi, promises};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]
    #[test]
    fn promises_hold_after_any_callbacks((algorithm, alone, callbacks) in callbacks::runs(20, 200)) {
        if let Err(what) = promises::run(algorithm, alone, &callbacks) {
            prop_assert!(false, "{what}");
        }
    }

    /// Two groups of one connection are two connections: what an endpoint sees of its algorithm is the same to the last
    /// bit. (Slots differ, and with them who is who in a note.)
    #[test]
    fn groups_apart_are_connections_apart(
        algorithm in proptest::sample::select(Algorithm::all().collect::<Vec<_>>()), mut callbacks in callbacks::callbacks(16, 200),
    ) {
        callbacks.retain(|callback| callback.operation != ffi::mpcc_operation::MPCC_DO_ASK);
        let mut together = vectors::empty();
        together.pair = algorithm.pair();
        let mut apart = [together.clone(), together.clone()];
        for callback in &callbacks {
            let group = callback.who % 2;
            // Of two that send at the same rate LISA takes the one in the lower slot, and slots differ: no two have an RTT.
            let srtt8 = callback.srtt8.min(ffi::MPCC_SRTT8_MAX - 1024) / 512 * 512;
            let srtt8 = srtt8 + callback.who * callback.who * 2 + 80;
            let callback = Callback { group, srtt8, ..callback.clone() };
            let alone = &mut apart[group as usize];
            let prepared = callback.prepare(&mut together);
            prop_assert_eq!(callback.prepare(alone), prepared);
            if !prepared {
                continue;
            }
            for bench in [&mut together, alone] {
                // The benches' clocks differ.
                bench.tcp[callback.who as usize].now = 0;
                Native.step(bench);
            }
            let who = callback.who as usize;
            let seen = |bench: &ffi::mpcc_bench| {
                let (s, note) = (&bench.subflow[who], &bench.note);
                let sums = (note.credit, note.ignored, note.sum_before, note.sum_after);
                // The last of a group need not be the connection's.
                let last = callback.operation == ffi::mpcc_operation::MPCC_DO_RELEASE;
                (bench.tcp[who], s.growth, s.ignore, note.what, sums, bench.result * u32::from(!last))
            };
            prop_assert_eq!(seen(&together), seen(&apart[group as usize]), "{:?}", callback);
            callback.finish(&mut together);
            callback.finish(&mut apart[group as usize]);
        }
    }
}

/// In the kernel whoever asks has looked before, and the slot may have gone to another subflow since.
#[test]
fn a_wish_for_the_subflow_that_had_the_slot_before_is_refused() {
    let mut bench = vectors::empty();
    bench.pair = Algorithm::find("lisa").unwrap().pair();
    bench.operation = ffi::mpcc_operation::MPCC_DO_INIT;
    Native.step(&mut bench);
    let c = &mut bench.connection;
    c.slot[0].wish.__bindgen_anon_1.serial = 5; // as the kernel's side numbers it
    // SAFETY: the connection lives, and nobody else has it.
    let mut ask = |slot, serial| unsafe { ffi::mpcc_native_ask_group(c, slot, serial, 7) };
    assert_eq!([ask(0, 4), ask(1, 0), ask(0, 5)], [false, false, true]);
    // SAFETY: both views of the union are plain integers.
    let wish = unsafe { c.slot[0].wish.__bindgen_anon_1 };
    assert_eq!((wish.group, wish.serial, c.slot[0].group), (7, 5, 0));
}

/// Linux cuts a window that was idle when data is queued (tcp_cwnd_restart), and a subflow may join before that data is
/// sent, which may be long with TCP_CORK: it takes from the window as last shown, 40, where 10 are left.
#[test]
fn nothing_is_paid_from_a_window_that_idling_has_cut() {
    let mut connection = Connection::new(Algorithm::find("lisa").unwrap());
    let mut lender_tcp = vectors::fresh_tcp();
    let (mut lender, _) = connection.open(&mut lender_tcp, 0);
    connection.on_ack(&mut lender, &mut lender_tcp, 30);
    assert_eq!(lender_tcp.cwnd, 40);
    connection.on_idle_restart(&mut lender, &mut lender_tcp);
    lender_tcp.cwnd = 10;
    for _ in 0..2 {
        let note = connection.open(&mut vectors::fresh_tcp(), 0).1;
        assert_eq!((note.what, note.credit), (ffi::MPCC_NOTE_TAKEN, 10));
    }
    let note = connection.on_send_start(&mut lender, &mut lender_tcp);
    assert_eq!((lender_tcp.cwnd, note.what), (10, ffi::MPCC_NOTE_VOID));
    assert_eq!(note.voided.count_ones(), 2);
}
