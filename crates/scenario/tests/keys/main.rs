//! Every key of a file, with its value and its default.

mod connection;
mod links;
mod maps;
mod topologies;

use lisa_scenario::{Application, Scenario, Size};
use netsim::{Rate, Span};
use topology::{Queue, Spec};

/// A topology with these keys.
pub(crate) const SHARED: &str =
    "kind = 'shared-bottleneck'\nrate = '5Mbit'\nrtt = '40ms'\nqueue = 17";

pub(crate) fn ms(ms: u64) -> Span {
    Span::from_millis(ms)
}

pub(crate) fn kbit(kbit: u64) -> Rate {
    Rate::from_bits_per_second(kbit * 1000)
}

pub(crate) fn parse(text: &str) -> Scenario {
    Scenario::parse(text, "a.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn a_scenario() {
    let least = parse(&format!(
        "stop = '9s'\n[topology]\n{SHARED}\n[[connection]]\n"
    ));
    let fields = (&least.title[..], least.stop, least.warmup, least.rtt_spread);
    assert_eq!(fields, ("a.toml", ms(9000), Span::ZERO, 0.0));
    let text = "title = 'x'\nstop = '9s'\nwarmup = '2s'\nrtt_spread = '10%'";
    let all = parse(&format!("{text}\n[topology]\n{SHARED}\n[[connection]]\n"));
    let fields = (&all.title[..], all.stop, all.warmup, all.rtt_spread);
    assert_eq!(fields, ("x", ms(9000), ms(2000), 0.1));
}

#[test]
fn overrides() {
    let text = format!(
        "stop = '9s'\n[topology]\n{SHARED}\n[[connection]]\nname = 'a'\nprotocol = 'mptcp'\n[[connection]]\nbytes = 5\n"
    );
    let set = |overrides: &[&str]| {
        Scenario::parse_with(&text, "a.toml", overrides).unwrap_or_else(|error| panic!("{error}"))
    };
    assert_eq!(set(&["stop=3s"]).stop, ms(3000));
    assert_eq!(set(&["stop = '3s'"]).stop, ms(3000));
    assert_eq!(set(&["title=a = b"]).title, "a = b");
    let scenario = set(&[
        "connection.a.algorithm=lisa",
        "connection.2.bytes=300KB",
        "connection.a.subflows=3",
    ]);
    assert_eq!(scenario.connections[0].algorithm, "lisa");
    assert_eq!(
        scenario.connections[1].application,
        Application::Bytes(Size::Fixed(300_000))
    );
    // With three subflows there are three paths.
    assert_eq!(scenario.topology.build().unwrap().sets()[0].paths.len(), 3);
    let all = set(&["connection.*.algorithm=reno"]);
    assert!(
        all.connections
            .iter()
            .all(|connection| connection.algorithm == "reno")
    );
    let queue = |overrides: &[&str]| match set(overrides).topology {
        Spec::SharedBottleneck(spec) => spec.bottleneck.queue,
        other => panic!("{other:?}"),
    };
    assert_eq!(queue(&["topology.queue=9"]), Queue::DropTailPackets(9));
    assert_eq!(queue(&["bottleneck.queue=9"]), Queue::DropTailPackets(9));
    assert_eq!(
        queue(&["topology.queue={ bytes = 9 }"]),
        Queue::DropTailBytes(9)
    );
    assert_eq!(
        queue(&["topology.queue={ packets = 1 }", "topology.queue.packets=2"]),
        Queue::DropTailPackets(2)
    );
}
