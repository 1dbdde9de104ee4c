//! The switch: off, each subflow runs as the only one of its connection; on, they are coupled again.

use crate::support::stream::{exchange, open, serve};
use crate::support::world::World;
use crate::support::{Loaded, able, content, until};

#[test]
fn off_uncouples_and_on_couples_again() {
    if !able() {
        return;
    }
    let (loaded, world) = (Loaded::lisa(), World::joined(3));
    let listener = serve(&world, loaded.name());
    let (client, server) = open(&world, &listener, loaded.name(), None);
    let bytes = content(300_000, 5);
    exchange(&client, &server, &bytes);
    let uncoupled = |expected: bool| {
        // A subflow follows on its next ACK.
        exchange(&client, &server, &bytes);
        let status = loaded.status();
        let mut subflows = status.connections.iter().flat_map(|c| &c.subflows);
        status.off == expected
            && subflows.all(|s| s.uncoupled == expected && s.group == 0 && s.group_asked.is_none())
    };
    until("all have joined", || loaded.totals().subflows_opened == 6);
    until("coupled at first", || uncoupled(false));
    loaded.switch(true).expect("switched");
    until("uncoupled", || uncoupled(true));

    // A connection that starts meanwhile takes no credit.
    let taken = loaded.totals().credits_taken;
    let (other_client, other_server) = open(&world, &listener, loaded.name(), None);
    exchange(&other_client, &other_server, &bytes);
    until("all have joined", || loaded.totals().subflows_opened == 12);
    assert_eq!(loaded.totals().credits_taken, taken);
    loaded.switch(false).expect("switched");
    until("the first connection is coupled", || {
        exchange(&other_client, &other_server, &bytes);
        uncoupled(false)
    });
    drop((client, server, other_client, other_server));
    loaded.settled();
}
