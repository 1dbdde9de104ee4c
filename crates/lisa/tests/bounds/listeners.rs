//! Several readers of the event stream at once.

use crate::support::stream::{exchange, open, serve};
use crate::support::world::World;
use crate::support::{Loaded, able, until};
use kernel::contract::{LISA_LISTENERS, lisa_event_kind as kind};
use kernel::events::{Kinds, Listener};
use std::time::Duration;

/// Each receives every start of a subflow. One that ends makes room for another.
#[test]
fn each_listener_receives_all_events() {
    if !able() {
        return;
    }
    let (loaded, world) = (Loaded::lisa(), World::new(1));
    let listening = serve(&world, loaded.name());
    let listen = || Listener::new(&loaded, Kinds::RARE);
    let mut listeners: Vec<_> = (0..LISA_LISTENERS)
        .map(|_| listen().expect("a listener"))
        .collect();
    let Err(error) = listen() else {
        panic!("one listener too many");
    };
    assert!(
        error
            .to_string()
            .contains("8 programs read its events already"),
        "{error}"
    );

    let started = |listeners: &mut [Listener<'_>], connections: usize| {
        let pairs: Vec<_> = (0..connections)
            .map(|_| open(&world, &listening, loaded.name(), None))
            .inspect(|(client, server)| exchange(client, server, b"established"))
            .collect();
        for listener in listeners {
            let mut starts = 0;
            until("all starts", || {
                let events = listener.poll(Duration::ZERO).expect("events");
                let is_start =
                    |e: &&kernel::contract::lisa_event| u32::from(e.kind) == kind::LISA_EVENT_START;
                starts += events.iter().filter(is_start).count();
                assert!(starts <= 2 * connections, "an event came twice");
                starts == 2 * connections
            });
        }
        drop(pairs);
    };
    started(&mut listeners, 5);
    drop(listeners.remove(3));
    listeners.push(listen().expect("there is room again"));
    started(&mut listeners, 3);
    drop(listeners);
    loaded.settled();
    assert_eq!(loaded.totals().events_lost, 0);
}
