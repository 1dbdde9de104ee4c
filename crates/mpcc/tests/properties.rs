//! What holds after any sequence of callbacks.

use mpcc::vectors::{self, Callback, Machine, Native};
use mpcc::{Algorithm, Connection, ffi};
use proptest::prelude::*;

const SUBFLOWS: u32 = 20; // more than there are slots

/// Runs callbacks and hands each step to `check`: the bench before, the callback, the bench after.
fn run(
    algorithm: Algorithm,
    callbacks: &[Callback],
    mut check: impl FnMut(&ffi::mpcc_bench, &Callback, &ffi::mpcc_bench) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    let mut bench = vectors::empty();
    bench.pair = algorithm.pair();
    for callback in callbacks {
        if callback.prepare(&mut bench) {
            let before = *bench;
            Native.step(&mut bench);
            check(&before, callback, &bench)?;
            callback.finish(&mut bench);
        }
    }
    Ok(())
}

/// What an ACK of so many segments adds at most: slow start a segment for each, and in congestion avoidance no more. With
/// OLIA a window of one segment may grow by (1 + 1/2) for each: α is at most 1/2.
fn most_growth(algorithm: Algorithm, acked: u32) -> u32 {
    match algorithm.pair().avoidance.into() {
        ffi::mpcc_avoidances::MPCC_OLIA => acked + acked.div_ceil(2),
        _ => acked,
    }
}

/// The least window that an algorithm keeps, whatever comes: wVegas has two segments.
fn floor(algorithm: Algorithm) -> u32 {
    match algorithm.pair().avoidance.into() {
        ffi::mpcc_avoidances::MPCC_WVEGAS => 2,
        _ => 1,
    }
}

/// The least window after an ACK, where no credit was paid. OLIA takes at most half a segment for each window of them,
/// and a whole one for the first fraction; wVegas halves, with a queue as long as the path by less.
fn least_window(algorithm: Algorithm, cwnd: u32, acked: u32) -> u32 {
    match algorithm.pair().avoidance.into() {
        ffi::mpcc_avoidances::MPCC_OLIA => cwnd.saturating_sub(1 + acked.div_ceil(2 * cwnd)).max(1),
        ffi::mpcc_avoidances::MPCC_WVEGAS => 1,
        _ => cwnd,
    }
}

fn algorithm() -> impl Strategy<Value = Algorithm> {
    proptest::sample::select(Algorithm::all().collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn windows_stay_within_their_bounds(
        algorithm in algorithm(), callbacks in vectors::callbacks(SUBFLOWS, 200),
    ) {
        run(algorithm, &callbacks, |before, callback, after| {
            let who = callback.who as usize;
            let (old, new) = (before.tcp[who], after.tcp[who]);
            prop_assert!(new.cwnd >= 1, "no window");
            match callback.operation {
                ffi::mpcc_operation::MPCC_DO_ACK => {
                    let growth = most_growth(algorithm, callback.argument);
                    let floor = floor(algorithm);
                    let least = least_window(algorithm, old.cwnd, callback.argument);
                    prop_assert!(new.cwnd <= old.cwnd.saturating_add(growth).max(floor), "{} → {}", old.cwnd, new.cwnd);
                    if after.note.what & ffi::MPCC_NOTE_SETTLED != 0 {
                        // A credit takes no window below 3; the same ACK may end a round of wVegas.
                        let kept = if floor > 1 { floor } else { ffi::MPCC_LISA_IW_MIN };
                        prop_assert!(new.cwnd >= kept, "{} → {}", old.cwnd, new.cwnd);
                    } else {
                        prop_assert!(new.cwnd >= least, "{} → {}", old.cwnd, new.cwnd);
                    }
                    if !callback.limited && after.note.what & ffi::MPCC_NOTE_SETTLED == 0 {
                        prop_assert!(new.cwnd <= old.cwnd.max(floor), "grows without need");
                    }
                }
                ffi::mpcc_operation::MPCC_DO_SSTHRESH => {
                    let least = if algorithm.pair().avoidance == ffi::mpcc_avoidances::MPCC_OLIA as u8 { 1 } else { 2 };
                    prop_assert!(after.result >= least && after.result <= old.cwnd.max(2));
                }
                ffi::mpcc_operation::MPCC_DO_INIT if callback.argument != 0 => {
                    prop_assert!((3..=10).contains(&new.cwnd), "initial window {}", new.cwnd);
                }
                ffi::mpcc_operation::MPCC_DO_UNDO => prop_assert!(after.result >= old.cwnd),
                ffi::mpcc_operation::MPCC_DO_EVENT => prop_assert!(new.cwnd <= old.cwnd, "grows without an ACK"),
                _ => {}
            }
            prop_assert!(after.subflow.iter().all(|s| s.growth < ffi::MPCC_ONE));
            Ok(())
        })?;
    }

    /// Paths of one RTT, from which a window of segments each is acknowledged. What OLIA's windows grow by together is at
    /// most a segment, a single TCP's growth, and α moves windows without making any; Balia's grow by at most (9 + N)/10,
    /// where one of N paths has nearly all, and each by a segment at most.
    #[test]
    fn together_they_grow_no_more_than_they_may(
        windows in proptest::collection::vec((1u32..3000, 1u32..1000), 2..=16),
    ) {
        for name in ["olia", "balia"] {
            let mut bench = vectors::empty();
            bench.pair = Algorithm::find(name).unwrap().pair();
            for (who, (cwnd, _)) in windows.iter().enumerate() {
                bench.tcp[who] = mpcc::Tcp { cwnd: *cwnd, ssthresh: 1, ..vectors::fresh_tcp() };
                bench.who = who as u32;
                bench.operation = ffi::mpcc_operation::MPCC_DO_INIT;
                bench.argument = 0;
                Native.step(&mut bench);
                bench.connection.slot[who].between_losses = windows[who].1;
            }
            let mut growth = 0.0;
            bench.operation = ffi::mpcc_operation::MPCC_DO_ACK;
            bench.argument = 1;
            for (who, (cwnd, _)) in windows.iter().enumerate() {
                let mut one = bench.clone();
                one.who = who as u32;
                Native.step(&mut one);
                let change = match name {
                    "olia" => vectors::change(&one.subflow[who]) as f64,
                    _ => vectors::increase(&one.subflow[who]) as f64,
                };
                let grows = change / ffi::MPCC_ONE as f64 * f64::from(*cwnd);
                let alone = if name == "olia" { 1.5 } else { 1.0 };
                prop_assert!(grows < alone * 1.001, "{}: {}", name, grows);
                growth += grows;
            }
            let n = windows.len() as f64;
            let most = if name == "olia" { 1.0 } else { 0.9 + n / 10.0 };
            let sum: f64 = windows.iter().map(|w| f64::from(w.0)).sum();
            let linked: f64 = windows.iter().map(|w| (f64::from(w.0) / sum).powi(2)).sum();
            prop_assert!(growth <= most * 1.001, "{}: {} of {}", name, growth, most);
            if name == "olia" {
                prop_assert!((growth / linked - 1.0).abs() < 0.01, "Σα is not 0: {} of {}", growth, linked);
            }
        }
    }

    /// wVegas: no window below 2 after a round, a queue of 2 to 10 segments to keep, and a threshold that is not above the
    /// window when a round in congestion avoidance is over, unless the window was drained.
    #[test]
    fn wvegas_stays_in_its_range(callbacks in vectors::callbacks(SUBFLOWS, 200)) {
        run(Algorithm::find("wvegas").unwrap(), &callbacks, |before, callback, after| {
            let who = callback.who as usize;
            let (old, new) = (&before.tcp[who], &after.tcp[who]);
            let wvegas = vectors::wvegas(&after.subflow[who]);
            prop_assert!((2..=10).contains(&wvegas.alpha), "α = {}", wvegas.alpha);
            prop_assert!(wvegas.left > 0 && wvegas.left <= ffi::MPCC_CWND_MAX + 1);
            if callback.operation == ffi::mpcc_operation::MPCC_DO_ACK && new.cwnd != old.cwnd {
                prop_assert!(new.cwnd >= 2);
                prop_assert!(new.ssthresh <= old.ssthresh.max(old.cwnd), "{old:?} {new:?}");
            }
            Ok(())
        })?;
    }

    /// CUBIC in its whole range: times to hours, RTTs and windows of any size, ACKs of many segments. What it keeps stays
    /// in its bounds, and an ACK makes at most one segment of two.
    #[test]
    fn cubic_stays_in_its_range(callbacks in vectors::callbacks(2, 200)) {
        run(Algorithm::find("cubic").unwrap(), &callbacks, |before, callback, after| {
            let who = callback.who as usize;
            let (old, new) = (&before.tcp[who], &after.tcp[who]);
            let (s, cubic) = (&after.subflow[who], vectors::cubic(&after.subflow[who]));
            prop_assert!(cubic.w_max <= ffi::MPCC_CWND_MAX && cubic.origin <= ffi::MPCC_CWND_MAX);
            // ∛(2^20 / 0.4) = 138 s
            prop_assert!(cubic.k < 139 * 1024, "K = {}", cubic.k);
            prop_assert!(cubic.reno <= u64::from(ffi::MPCC_CWND_MAX) << 40);
            if callback.operation == ffi::mpcc_operation::MPCC_DO_ACK && old.cwnd >= new.ssthresh {
                prop_assert!(new.cwnd - old.cwnd <= callback.argument.div_ceil(2), "{} → {}", old.cwnd, new.cwnd);
            }
            if callback.operation == ffi::mpcc_operation::MPCC_DO_EVENT {
                prop_assert!(cubic.running == 0 || cubic.epoch_start <= new.now);
            }
            if callback.operation == ffi::mpcc_operation::MPCC_DO_ACK {
                prop_assert!(callback.rtt_us == 0 || s.rtt_min <= callback.rtt_us && s.rtt_min > 0);
                // HyStart lowers the threshold to the window, and never below its least window.
                prop_assert!(new.ssthresh == old.ssthresh || new.ssthresh == old.cwnd && old.cwnd >= 16);
            }
            Ok(())
        })?;
    }

    /// HyStart++ ends slow start where the window stands, after five rounds of slow growth, and an ACK adds eight segments at most.
    #[test]
    fn hystartpp_stays_in_its_range(callbacks in vectors::callbacks(2, 400)) {
        run(Algorithm::find("cubic_hystartpp").unwrap(), &callbacks, |before, callback, after| {
            let who = callback.who as usize;
            let (old, new) = (&before.tcp[who], &after.tcp[who]);
            let (was, is) = (vectors::hystartpp(&before.subflow[who]), vectors::hystartpp(&after.subflow[who]));
            prop_assert!(is.samples <= 8 && is.rounds <= 5 && is.left <= ffi::MPCC_CWND_MAX, "{is:?}");
            if callback.operation == ffi::mpcc_operation::MPCC_DO_ACK && old.cwnd < old.ssthresh && was.over == 0 {
                prop_assert!(new.cwnd - old.cwnd <= 8, "{} → {}", old.cwnd, new.cwnd);
                prop_assert!(new.ssthresh == old.ssthresh || new.ssthresh == old.cwnd && is.rounds == 5);
                prop_assert!((new.cwnd >= new.ssthresh) == (is.over != 0), "{is:?}");
            }
            prop_assert!(was.over == 0 || is.over != 0 || callback.operation == ffi::mpcc_operation::MPCC_DO_INIT);
            Ok(())
        })?;
    }

    /// A credit moves segments, it makes none: windows less what is owed from them, summed over the connection, are
    /// the same before and after a join that took one, and before and after it was paid.
    #[test]
    fn credits_conserve_the_sum_of_windows(
        lisa in proptest::sample::select(vec!["lisa", "lisa_reno", "lisa_cubic"]), callbacks in vectors::callbacks(SUBFLOWS, 200),
    ) {
        let net = |bench: &ffi::mpcc_bench| -> i64 {
            let owed: u32 = bench.connection.slot.iter().map(vectors::debit).sum();
            i64::from(vectors::sum_cwnd(&bench.connection)) - i64::from(owed)
        };
        run(Algorithm::find(lisa).unwrap(), &callbacks, |before, callback, after| {
            let note = &after.note;
            if note.what & ffi::MPCC_NOTE_TAKEN != 0 {
                prop_assert!((3..=10).contains(&note.credit));
                prop_assert_eq!(net(before), net(after), "a join with a credit");
                let slot = after.subflow[callback.who as usize].slot as usize;
                let lender = after.connection.slot[slot].lender as usize;
                let lender = &after.connection.slot[lender];
                prop_assert!(vectors::cwnd(lender) >= vectors::debit(lender) + ffi::MPCC_LISA_IW_MIN);
                prop_assert_eq!(u32::from(lender.phase), ffi::mpcc_phase::MPCC_SLOW_START);
            }
            if note.what & ffi::MPCC_NOTE_SETTLED != 0 {
                prop_assert_eq!(note.sum_before, note.sum_after);
                let flight = callback.flight + callback.argument;
                prop_assert!(note.ignored <= flight);
            }
            Ok(())
        })?;
    }

    /// Every credit is settled once, or void once, or taken back once.
    #[test]
    fn credits_are_settled_or_void_exactly_once(callbacks in vectors::callbacks(SUBFLOWS, 300)) {
        let mut open = [false; 16];
        run(Algorithm::find("lisa").unwrap(), &callbacks, |_, callback, after| {
            let note = &after.note;
            if note.what & ffi::MPCC_NOTE_TAKEN != 0 {
                let slot = after.subflow[callback.who as usize].slot as usize;
                prop_assert!(!std::mem::replace(&mut open[slot], true), "slot {} took twice", slot);
            }
            let mut ended = note.settled | note.voided;
            if note.what & ffi::MPCC_NOTE_WITHDRAWN != 0 {
                ended |= 1 << after.subflow[callback.who as usize].slot;
            }
            for (slot, open) in open.iter_mut().enumerate() {
                if ended & 1 << slot != 0 {
                    prop_assert!(std::mem::replace(open, false), "slot {slot} ended twice");
                }
            }
            // What is open is what stands in the accounts.
            let takers = after.connection.slot.iter().fold(0, |bits, slot| {
                // SAFETY: both views of the union are plain integers.
                bits | unsafe { slot.account.__bindgen_anon_1.takers }
            });
            let open_bits = open.iter().enumerate().fold(0, |bits, (i, open)| bits | u16::from(*open) << i);
            prop_assert_eq!(takers, open_bits);
            Ok(())
        })?;
    }

    /// Two groups of one connection are two connections: what an endpoint sees of its algorithm is the same to the last
    /// bit. (Slots differ, and with them who is who in a note.)
    #[test]
    fn groups_apart_are_connections_apart(
        algorithm in algorithm(), mut callbacks in vectors::callbacks(16, 200),
    ) {
        callbacks.retain(|callback| callback.operation != ffi::mpcc_operation::MPCC_DO_ASK);
        let mut together = vectors::empty();
        together.pair = algorithm.pair();
        let mut apart = [together.clone(), together.clone()];
        for callback in &callbacks {
            let group = callback.who % 2;
            let callback = Callback { group, ..callback.clone() };
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

    /// However they move, each is in the group that it was asked to be in last from its next ACK on, and what is open
    /// between two subflows is between subflows of one group.
    #[test]
    fn credits_stay_within_a_group(
        lisa in proptest::sample::select(vec!["lisa", "lisa_reno"]), callbacks in vectors::callbacks(16, 300),
    ) {
        run(Algorithm::find(lisa).unwrap(), &callbacks, |_, callback, after| {
            let slots = &after.connection.slot;
            for slot in slots {
                // SAFETY: all views of the unions are plain integers.
                let takers = unsafe { slot.account.__bindgen_anon_1.takers };
                for taker in (0..16).filter(|i| takers & 1 << i != 0) {
                    prop_assert_eq!(slot.group, slots[taker].group, "a credit between groups");
                }
            }
            let subflow = &after.subflow[callback.who as usize];
            if callback.operation == ffi::mpcc_operation::MPCC_DO_ACK {
                let slot = &slots[subflow.slot as usize];
                // SAFETY: as above.
                let wish = unsafe { slot.wish.__bindgen_anon_1.group };
                prop_assert_eq!((slot.group, subflow.group), (wish, wish));
            }
            Ok(())
        })?;
    }

    /// A closed connection leaves nothing behind.
    #[test]
    fn the_last_to_close_says_so(algorithm in algorithm(), callbacks in vectors::callbacks(SUBFLOWS, 100)) {
        let mut bench = vectors::empty();
        bench.pair = algorithm.pair();
        let mut step = |callback: &Callback| {
            if callback.prepare(&mut bench) {
                Native.step(&mut bench);
                let released = callback.operation == ffi::mpcc_operation::MPCC_DO_RELEASE;
                let empty = bench.connection.used & ffi::MPCC_EVERY_SLOT == 0;
                if released && bench.result != 0 {
                    prop_assert!(empty);
                }
                callback.finish(&mut bench);
            }
            Ok(())
        };
        for callback in &callbacks {
            step(callback)?;
        }
        for who in 0..SUBFLOWS {
            let release = Callback { who, operation: ffi::mpcc_operation::MPCC_DO_RELEASE, ..callbacks[0].clone() };
            step(&release)?;
        }
        prop_assert_eq!(vectors::sum_cwnd(&bench.connection), 0);
        prop_assert_eq!(bench.connection.used, 0);
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
