//! `[topology]`.

use lisa_scenario::Scenario;
use netsim::Span;
use topology::{
    FatTree, Loss, NonSharedBottleneck, PathSpec, Properties, Queue, RedForRate, Reorder,
    ScenarioB, SharedBottleneck, Spec, SpelledLink, SpelledOut, TwoKinds,
};

use crate::{SHARED, kbit, ms, parse};

/// A network with these keys.
pub(crate) fn topology(keys: &str) -> Spec {
    let connection = match keys {
        graph if graph.contains("'graph'") => "from = 'a'\nto = 'b'",
        tree if tree.contains("'fat-tree'") => "pattern = 'random'",
        b if b.contains("'scenario-b'") => "paths = 'blue'",
        c if c.contains("'scenario-c'") => "paths = 'multipath'",
        a if a.contains("'scenario-a'") => "paths = 'type1'",
        _ => "protocol = 'mptcp'",
    };
    parse(&format!(
        "stop = '9s'\n[topology]\n{keys}\n[[connection]]\n{connection}\n"
    ))
    .topology
}

#[test]
fn a_shared_bottleneck() {
    let bottleneck = Properties::shaped(kbit(5000), Queue::DropTailPackets(17), Span::ZERO);
    let plain = SharedBottleneck {
        bottleneck,
        rtts: vec![ms(40); 2],
        access: None,
    };
    assert_eq!(topology(SHARED), Spec::SharedBottleneck(plain.clone()));
    let paths = SharedBottleneck {
        rtts: vec![ms(40); 3],
        ..plain.clone()
    };
    assert_eq!(
        topology(&format!("{SHARED}\npaths = 3")),
        Spec::SharedBottleneck(paths)
    );
    let rtts = SharedBottleneck {
        rtts: vec![ms(200), ms(20)],
        ..plain.clone()
    };
    let text = SHARED.replace("'40ms'", "['200ms', '20ms']");
    assert_eq!(topology(&text), Spec::SharedBottleneck(rtts));
    let text = format!(
        "{SHARED}\nloss = '1%'\nreorder = {{ share = 0.5, delay = '3ms' }}\naccess = {{ rate = '100Mbit', delay = '1ms', queue = 9 }}"
    );
    let rest = SharedBottleneck {
        bottleneck: Properties {
            loss: Some(Loss::Random(0.01)),
            reorder: Some(Reorder {
                share: 0.5,
                delay: ms(3),
            }),
            ..plain.bottleneck
        },
        access: Some(Properties::shaped(
            kbit(100_000),
            Queue::DropTailPackets(9),
            ms(1),
        )),
        ..plain
    };
    assert_eq!(topology(&text), Spec::SharedBottleneck(rest));
}

#[test]
fn non_shared_bottlenecks() {
    let path = |rate, queue, rtt| PathSpec {
        bottleneck: Properties::shaped(kbit(rate), Queue::DropTailPackets(queue), Span::ZERO),
        rtt: ms(rtt),
    };
    let spec = |paths| {
        Spec::NonSharedBottleneck(NonSharedBottleneck {
            paths,
            access: None,
        })
    };
    let scalars = SHARED.replace("shared", "non-shared");
    assert_eq!(topology(&scalars), spec(vec![path(5000, 17, 40); 2]));
    let lists = "kind = 'non-shared-bottleneck'\nrate = ['2Mbit', '54Mbit']\nrtt = ['200ms', '20ms']\nqueue = [50, { packets = 9 }]";
    assert_eq!(
        topology(lists),
        spec(vec![path(2000, 50, 200), path(54_000, 9, 20)])
    );
    let loss =
        format!("{scalars}\nloss = [0, {{ enter = 0.1, leave = 0.2, bad = 0.9, good = '1%' }}]");
    let Spec::NonSharedBottleneck(lossy) = topology(&loss) else {
        panic!()
    };
    assert_eq!(lossy.paths[0].bottleneck.loss, Some(Loss::Random(0.0)));
    let bursty = Loss::Bursty {
        enter: 0.1,
        leave: 0.2,
        bad: 0.9,
        good: 0.01,
    };
    assert_eq!(lossy.paths[1].bottleneck.loss, Some(bursty));
}

#[test]
fn a_fat_tree() {
    let link = |rate, delay| Properties::shaped(rate, Queue::DropTailPackets(100), delay);
    let tree = |link: &Properties, core: &Properties| {
        Spec::FatTree(FatTree {
            k: 4,
            link: link.clone(),
            core: core.clone(),
        })
    };
    let text = "kind = 'fat-tree'\nk = 4\nrate = '100Mbit'\nqueue = { kind = 'droptail', packets = 100 }\n";
    let all = link(kbit(100_000), Span::from_micros(100));
    assert_eq!(
        topology(&format!("{text}delay = '100us'")),
        tree(&all, &all)
    );
    // Six links there and six back.
    let rtt = Span::from_nanos(5_000_000 / 12);
    let (all, core) = (link(kbit(100_000), rtt), link(kbit(50_000), rtt));
    assert_eq!(
        topology(&format!("{text}rtt = '5ms'\ncore_rate = '50Mbit'")),
        tree(&all, &core)
    );
    // Up is towards the core.
    let core = core.with_rates([kbit(10_000), kbit(90_000)]);
    let rates = "core_rate = { up = '10Mbit', down = '90Mbit' }";
    assert_eq!(
        topology(&format!("{text}rtt = '5ms'\n{rates}")),
        tree(&all, &core)
    );
    // Another rate at the core leaves its queues and losses as they are.
    let apart = "kind = 'fat-tree'\nk = 4\ndelay = '1ms'\nrate = '9Mbit'\ncore_rate = '2Mbit'\n\
                 queue = { up = 3, down = 4 }\nloss = { up = 0.1, down = 0 }";
    let Spec::FatTree(apart) = topology(apart) else {
        panic!()
    };
    let direction = |packets, share| Properties {
        loss: Some(Loss::Random(share)),
        ..Properties::shaped(kbit(2000), Queue::DropTailPackets(packets), ms(1))
    };
    let directions = [direction(3, 0.1), direction(4, 0.0)];
    assert_eq!(apart.core.directions(), directions);
}

/// A bottleneck of the draft.
fn red(rate: netsim::Rate) -> Properties {
    Properties::shaped(rate, Queue::RedForRate(RedForRate::default()), Span::ZERO)
}

/// These properties with another queue in both directions.
fn queued(properties: &Properties, queue: Queue) -> Properties {
    let properties = properties.clone();
    Properties {
        queue,
        ..properties
    }
}

#[test]
fn the_drafts_scenarios() {
    // 30 users of 1 Mbit/s, ten of 2 Mbit/s.
    let users = "n1 = 30\nn2 = 10\nc1 = '1Mbit'\nc2 = '2Mbit'\nrtt = '100ms'";
    let a = TwoKinds {
        n1: 30,
        n2: 10,
        bottlenecks: [red(kbit(30_000)), red(kbit(20_000))],
        rtt: ms(100),
    };
    assert_eq!(
        topology(&format!("kind = 'scenario-a'\n{users}")),
        Spec::ScenarioA(a.clone())
    );
    let with_red = format!("kind = 'scenario-a'\n{users}\nqueue = {{ kind = 'red' }}");
    assert_eq!(topology(&with_red), Spec::ScenarioA(a.clone()));
    let lighter = format!("kind = 'scenario-a'\n{users}\nqueue = {{ weight = 0.002 }}");
    let weight = 0.002;
    let queue = RedForRate {
        weight,
        ..RedForRate::default()
    };
    let queue = Queue::RedForRate(queue);
    assert_eq!(
        topology(&lighter),
        Spec::ScenarioA(TwoKinds {
            bottlenecks: a.bottlenecks.each_ref().map(|b| queued(b, queue.clone())),
            ..a.clone()
        })
    );
    let c = TwoKinds {
        bottlenecks: (a.bottlenecks.each_ref()).map(|b| queued(b, Queue::DropTailPackets(50))),
        ..a
    };
    assert_eq!(
        topology(&format!("kind = 'scenario-c'\n{users}\nqueue = 50")),
        Spec::ScenarioC(c)
    );
    let text = "kind = 'scenario-b'\nusers = 15\ncx = '27Mbit'\ncy = '100Mbit'\ncz = '101Mbit'\nct = '36Mbit'\nrtt = '100ms'";
    let b = ScenarioB {
        users: 15,
        bottlenecks: Box::new([27_000, 100_000, 101_000, 36_000].map(|rate| red(kbit(rate)))),
        rtt: ms(100),
    };
    assert_eq!(topology(text), Spec::ScenarioB(b));
}

/// A value for each bottleneck, or one for all; `rate` is that of the links.
#[test]
fn the_drafts_bottlenecks_may_differ() {
    let users = "n1 = 30\nn2 = 10\nrtt = '100ms'";
    let lists = "rate = ['40Mbit', '9Mbit']\nqueue = [50, { kind = 'codel' }]";
    let codel = Queue::CoDel {
        target: ms(5),
        interval: ms(100),
        limit: 1000,
        ecn: false,
    };
    let two = TwoKinds {
        n1: 30,
        n2: 10,
        bottlenecks: [
            queued(&red(kbit(40_000)), Queue::DropTailPackets(50)),
            queued(&red(kbit(9000)), codel),
        ],
        rtt: ms(100),
    };
    for (kind, spec) in [
        ("scenario-a", Spec::ScenarioA(two.clone())),
        ("scenario-c", Spec::ScenarioC(two.clone())),
    ] {
        assert_eq!(
            topology(&format!("kind = '{kind}'\n{users}\n{lists}")),
            spec
        );
    }
    let alike =
        format!("kind = 'scenario-c'\n{users}\nrate = '7Mbit'\nqueue = [50, {{ weight = 0.5 }}]");
    let lighter = RedForRate {
        weight: 0.5,
        ..RedForRate::default()
    };
    let alike_spec = TwoKinds {
        bottlenecks: [
            queued(&red(kbit(7000)), Queue::DropTailPackets(50)),
            queued(&red(kbit(7000)), Queue::RedForRate(lighter)),
        ],
        ..two
    };
    assert_eq!(topology(&alike), Spec::ScenarioC(alike_spec));
    // In the order X, Y, Z, T.
    let text = "kind = 'scenario-b'\nusers = 15\nrtt = '100ms'\n\
                rate = ['27Mbit', '100Mbit', '101Mbit', '36Mbit']\nqueue = [1, 2, 3, 4]";
    let bottleneck = |(rate, packets)| queued(&red(kbit(rate)), Queue::DropTailPackets(packets));
    let b = ScenarioB {
        users: 15,
        bottlenecks: Box::new(
            [(27_000, 1), (100_000, 2), (101_000, 3), (36_000, 4)].map(bottleneck),
        ),
        rtt: ms(100),
    };
    assert_eq!(topology(text), Spec::ScenarioB(b.clone()));
    let by_name = "rate = ['27Mbit', '100Mbit', '101Mbit', '36Mbit']";
    let keys = "cx = '27Mbit'\ncy = '100Mbit'\ncz = '101Mbit'\nct = '36Mbit'";
    assert_eq!(topology(&text.replace(by_name, keys)), Spec::ScenarioB(b));
    // An override of one item.
    let text = format!(
        "stop = '9s'\n[topology]\n{}\n[[connection]]\npaths = 'blue'\n",
        text
    );
    let set = Scenario::parse_with(&text, "a.toml", &["topology.queue.4=9"]).unwrap();
    let Spec::ScenarioB(b) = set.topology else {
        panic!()
    };
    let queues = b.bottlenecks.map(|bottleneck| bottleneck.queue);
    assert_eq!(queues, [1, 2, 3, 9].map(Queue::DropTailPackets));
}

/// Rates, queues and losses of every ready-made network may differ between the directions; of the draft's, rates for each
/// user, too.
#[test]
fn directions_of_every_ready_made_network() {
    let apart = "queue = { up = 9, down = 30 }\nloss = { up = 0.1, down = 0 }\n";
    let rate = "rate = { up = '2Mbit', down = '20Mbit' }\n";
    let of = |up: u64, down: u64| {
        let link = |mbit: u64, packets, share| Properties {
            loss: Some(Loss::Random(share)),
            ..Properties::shaped(
                kbit(1000 * mbit),
                Queue::DropTailPackets(packets),
                Span::ZERO,
            )
        };
        [link(up, 9, 0.1), link(down, 30, 0.0)]
    };
    let (users, rtt) = ("n1 = 2\nn2 = 3\n", "rtt = '0ms'\n");
    for (kind, keys, apart_in) in [
        ("shared-bottleneck", format!("{rate}paths = 1\n"), of(2, 20)),
        (
            "non-shared-bottleneck",
            format!("{rate}paths = 1\n"),
            of(2, 20),
        ),
        ("fat-tree", format!("{rate}k = 2\n"), of(2, 20)),
        ("scenario-a", format!("{rate}{users}"), of(2, 20)),
        ("scenario-b", format!("{rate}users = 4\n"), of(2, 20)),
        ("scenario-c", format!("{rate}{users}"), of(2, 20)),
        // Two users of the first kind.
        (
            "scenario-c",
            format!("{users}c1 = {{ up = '1Mbit', down = '10Mbit' }}\nc2 = '1Mbit'\n"),
            of(2, 20),
        ),
    ] {
        let graph = topology(&format!("kind = '{kind}'\n{rtt}{apart}{keys}"));
        let graph = graph.build().unwrap();
        let shaped: Vec<&Properties> = graph
            .links()
            .iter()
            .map(|link| &link.properties)
            .filter(|link| link.rate.is_some())
            .collect();
        // A link up, then the link down.
        assert_eq!([shaped[0], shaped[1]], apart_in.each_ref(), "{kind}");
    }
    // Access links, whose delay is part of the round-trip time.
    let access = "access = { rate = { up = '1Mbit', down = '9Mbit' }, delay = '1ms', queue = 5 }";
    let text = format!("kind = 'shared-bottleneck'\nrtt = '9ms'\n{apart}{rate}paths = 1\n{access}");
    let Spec::SharedBottleneck(spec) = topology(&text) else {
        panic!()
    };
    let line = Properties::shaped(kbit(9000), Queue::DropTailPackets(5), ms(1));
    assert_eq!(spec.access, Some(line.with_rates([kbit(1000), kbit(9000)])));
}

#[test]
fn a_graph() {
    let text = "kind = 'graph'\nhosts = ['a', 'b']\nrouters = ['r']\npaths = { x = [['a', 'r', 'b']] }
        [[topology.link]]\nname = 'n'\nfrom = 'a'\nto = 'r'\nrate = '1Mbit'\ndelay = '1ms'\nqueue = 9
        [[topology.link]]\nfrom = 'r'\nto = 'b'\none_way = true
        [[topology.link]]\nfrom = 'b'\nto = 'r'\none_way = true";
    let names = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).into())
            .collect::<Vec<String>>()
    };
    let link = |name: Option<&str>, from: &str, to: &str, properties| SpelledLink {
        name: name.map(Into::into),
        from: from.into(),
        to: to.into(),
        properties,
        one_way: name.is_none(),
    };
    let line = Properties::line(Span::ZERO);
    let spec = SpelledOut {
        hosts: names(&["a", "b"]),
        routers: names(&["r"]),
        links: vec![
            link(
                Some("n"),
                "a",
                "r",
                Properties::shaped(kbit(1000), Queue::DropTailPackets(9), ms(1)),
            ),
            link(None, "r", "b", line.clone()),
            link(None, "b", "r", line),
        ],
        paths: vec![("x".into(), vec![names(&["a", "r", "b"])])],
    };
    assert_eq!(topology(text), Spec::SpelledOut(spec));
}
