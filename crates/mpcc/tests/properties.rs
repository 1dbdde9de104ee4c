//! What holds after any sequence of callbacks: `mpcc::promises` has it.

use mpcc::{Algorithm, Connection, callbacks, ffi, promises, vectors};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]
    #[test]
    fn promises_hold_after_any_callbacks((algorithm, alone, callbacks) in callbacks::runs(20, 200)) {
        if let Err(what) = promises::run(algorithm, alone, &callbacks) {
            prop_assert!(false, "{what}");
        }
    }
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
