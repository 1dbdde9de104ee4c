//! Time from a request to the topology manager that a link has failed or returned, to the other groups of the subflows in the kernel:
//! through manager, HTTP, agent, and the next ACK.

use super::support::Loaded;
use super::support::content;
use super::support::managed::Managed;
use super::support::stream::{exchange, open, serve};
use super::support::world::World;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Changes of the link.
const CHANGES: usize = 200;

/// Longest time. The benchmark fails above.
const AIM: Duration = Duration::from_secs(1);

/// Measures and prints.
pub fn print() {
    let (loaded, world) = (Loaded::lisa(), World::joined(2));
    let managed = Managed::new(&world);
    let _manager = managed.serve();
    let token = managed.describe();
    let listening = serve(&world, loaded.name());
    let (client, server) = open(&world, &listening, loaded.name(), None);
    let netns = (world.client).run(|| kernel::default::netns().expect("a namespace"));
    let are_separated = || {
        let all = loaded.status().connections;
        let ours = all.iter().find(|connection| connection.netns == netns);
        let groups: Vec<u8> = ours.map_or(Vec::new(), |ours| {
            ours.subflows.iter().map(|s| s.group).collect()
        });
        groups.len() == 2 && groups[0] != groups[1]
    };
    let _endpoint = managed.assist(&token);
    let done = AtomicBool::new(false);
    let mut times = std::thread::scope(|scope| {
        scope.spawn(|| {
            let bytes = content(100_000, 1);
            while !done.load(Ordering::Relaxed) {
                exchange(&client, &server, &bytes);
            }
        });
        let limit = Instant::now() + Duration::from_secs(30);
        while !are_separated() && Instant::now() < limit {}
        let times = (0..CHANGES).map(|change| {
            let up = change % 2 == 1;
            let begin = Instant::now();
            managed.link("b – s", up);
            while are_separated() != up && begin.elapsed() < 2 * AIM {}
            begin.elapsed()
        });
        let times: Vec<Duration> = times.collect();
        done.store(true, Ordering::Relaxed);
        times
    });
    times.sort_unstable();
    let (median, most) = (times[CHANGES / 2], times[CHANGES - 1]);
    println!(
        "groups after a link has failed or returned: median {:.1} ms, most {:.1} ms of {CHANGES}",
        median.as_secs_f64() * 1e3,
        most.as_secs_f64() * 1e3
    );
    assert!(most <= AIM, "the aim is {AIM:?}");
}
