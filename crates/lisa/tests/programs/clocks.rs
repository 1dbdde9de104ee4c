//! The times that the kernel passes to cc/: the endpoint's clock, and the time since the last transmission.

use crate::support::bpf::compile;
use crate::support::stream::{exchange, open, serve};
use crate::support::world::World;
use crate::support::{Folder, Loaded, able, until};
use kernel::contract::lisa_settings;
use libbpf_rs::{Iter, ObjectBuilder};
use nix::time::{ClockId, clock_getres};
use std::io::Read;
use std::mem::offset_of;
use std::path::Path;
use std::time::{Duration, Instant};

/// As `clock.bpf.c` writes it.
#[derive(Clone, Copy, Debug)]
struct Clocks {
    port: u64,
    /// ns, CLOCK_MONOTONIC.
    time: u64,
    /// ns, the same clock.
    now: u64,
    idle_ms: u64,
}

/// The TCP sockets of this thread's network namespace.
fn clocks(object: &Path) -> Vec<Clocks> {
    let mut object = ObjectBuilder::default().open_file(object).expect("opens");
    // HZ, from the resolution of a clock that counts jiffies.
    let tick = clock_getres(ClockId::CLOCK_MONOTONIC_COARSE).expect("a clock");
    let hz = 1_000_000_000 / tick.tv_nsec() as u32;
    for mut map in object.maps_mut() {
        if map.name().to_string_lossy().ends_with("rodata") {
            let settings = map.initial_value_mut().expect("a value");
            settings[offset_of!(lisa_settings, hz)..][..4].copy_from_slice(&hz.to_ne_bytes());
        }
    }
    let object = object.load().expect("loads");
    let program = object.progs_mut().next().expect("a program");
    let link = program.attach().expect("an iterator");
    let mut bytes = Vec::new();
    let mut iterator = Iter::new(&link).expect("an iterator");
    iterator.read_to_end(&mut bytes).expect("it is read");
    let word = |chunk: &[u8], i: usize| {
        u64::from_ne_bytes(chunk[8 * i..][..8].try_into().expect("8 bytes"))
    };
    let sockets = bytes.chunks(32).map(|chunk| Clocks {
        port: word(chunk, 0),
        time: word(chunk, 1),
        now: word(chunk, 2),
        idle_ms: word(chunk, 3),
    });
    sockets.collect()
}

#[test]
fn times_are_those_of_the_kernel() {
    if !able() {
        return;
    }
    let folder = Folder::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/clock.bpf.c");
    let object = compile(&source, &folder, "-DCLOCK");
    let (loaded, world) = (Loaded::lisa(), World::new(1));
    let listener = serve(&world, loaded.name());
    let (client, server) = open(&world, &listener, loaded.name(), None);
    let port = u64::from(client.local_addr().expect("an address").port());

    let look = || {
        let all = world.client.run(|| clocks(&object));
        all.into_iter().find(|clocks| clocks.port == port)
    };

    let before = Instant::now();
    exchange(&client, &server, b"now");
    let first = look().expect("the subflow");
    let busy = before.elapsed().as_nanos() as u64;
    assert!(first.now <= first.time, "{first:?}");
    assert!(
        first.time - first.now <= busy + 10_000_000,
        "{first:?}, {busy} ns"
    );

    let quiet = Instant::now();
    until("a pause", || quiet.elapsed() > Duration::from_millis(200));
    let second = look().expect("the subflow");
    let most = before.elapsed().as_millis() as u64 + 20; // a jiffy at each end
    assert!(
        (180..=most).contains(&second.idle_ms),
        "{second:?}, {most} ms"
    );
    assert_eq!(second.now, first.now, "nothing was sent or received");
}
