//! The two processes of `lisa kernel assist`: what each may do, and that neither outlives the other.

use crate::endpoint::{Separable, kinds, printed};
use crate::support::managed::{Managed, PORT};
use crate::support::process::{
    capabilities, children, has_ended, has_no_privilege, holds_connection_to, status,
};
use crate::support::world::World;
use crate::support::{Loaded, able, complaint, until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// CAP_NET_ADMIN (12), CAP_SYS_ADMIN (21), CAP_PERFMON (38), CAP_BPF (39).
const NEEDED: u64 = 1 << 12 | 1 << 21 | 1 << 38 | 1 << 39;

/// The process that has the connection to the manager, and all processes of the endpoint.
fn network_process(endpoint: u32) -> (u32, Vec<u32>) {
    let mut all = children(endpoint);
    all.push(endpoint);
    let mut holders = all.iter().filter(|id| holds_connection_to(**id, PORT));
    let holder = *holders.next().expect("a connection to the manager");
    assert_eq!(holders.next(), None, "one process has the connection");
    (holder, all)
}

#[test]
fn the_process_of_the_connection_has_no_privilege() {
    if !able() {
        return;
    }
    let (loaded, world) = (Loaded::lisa(), World::joined(2));
    let managed = Managed::new(&world);
    let manager = managed.serve();
    let token = managed.describe();
    let connection = Separable::open(&world, &loaded);
    connection.grouped("two subflows", [0, 0]);
    let endpoint = managed.assist(&token);
    connection.grouped("separate links", [0, 1]);

    let (network, all) = network_process(endpoint.id());
    has_no_privilege(network);

    // The other process reads and changes the kernel with what that needs, and has no socket of the network.
    let [privileged] = all[..]
        .iter()
        .filter(|id| **id != network)
        .collect::<Vec<_>>()[..]
    else {
        panic!("two processes: {all:?}")
    };
    assert_eq!(*privileged, endpoint.id());
    for set in ["CapPrm", "CapEff", "CapBnd"] {
        assert_eq!(capabilities(*privileged, set), NEEDED, "{set}");
    }
    assert_eq!(status(*privileged, "NoNewPrivs"), "1");
    assert_eq!(status(*privileged, "Seccomp"), "2");

    // A terminal and systemd send their signals to both; the privileged process decides when the work ends. Both still work.
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        kill(Pid::from_raw(network as i32), signal).expect("it runs");
    }
    managed.link("b – s", false);
    connection.grouped("a failed link", [0, 0]);
    drop(connection);
    assert_eq!(
        printed(endpoint, Signal::SIGINT)
            .first()
            .map(String::as_str),
        Some("connected")
    );
    all.into_iter()
        .for_each(|id| until("its end", || has_ended(id)));
    manager.signal(Signal::SIGTERM);
    manager.succeed();
    loaded.settled();
}

/// SIGKILL ends either process; the other ends, too. The privileged process couples all subflows at its end. If it is killed, the kernel
/// does.
#[test]
fn either_process_is_killed() {
    if !able() {
        return;
    }
    let (loaded, world) = (Loaded::lisa(), World::joined(2));
    let managed = Managed::new(&world);
    let manager = managed.serve();
    let token = managed.describe();
    let connection = Separable::open(&world, &loaded);
    connection.grouped("two subflows", [0, 0]);

    let endpoint = managed.assist(&token);
    connection.grouped("separate links", [0, 1]);
    let (network, all) = network_process(endpoint.id());
    kill(Pid::from_raw(network as i32), Signal::SIGKILL).expect("it runs");
    let output = endpoint.end();
    assert_eq!(kinds(&output.stdout), ["connected", "groups", "coupled"]);
    let line = complaint(&output, 1);
    assert!(
        line.contains("the network process has ended (SIGKILL); all subflows are coupled"),
        "{line}"
    );
    all.into_iter()
        .for_each(|id| until("its end", || has_ended(id)));
    connection.grouped("no network process", [0, 0]);

    managed.rates();
    let endpoint = managed.assist(&token);
    connection.grouped("separate links", [0, 1]);
    let (_, all) = network_process(endpoint.id());
    endpoint.signal(Signal::SIGKILL);
    let _ = endpoint.end();
    all.into_iter()
        .for_each(|id| until("its end", || has_ended(id)));
    connection.grouped("no endpoint", [0, 0]);
    drop(connection);
    manager.signal(Signal::SIGTERM);
    manager.succeed();
    loaded.settled();
}
