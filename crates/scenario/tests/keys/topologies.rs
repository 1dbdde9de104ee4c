//! `[topology]`.

use lisa_scenario::Scenario;
use netsim::Span;
use topology::{
    Access, Capacity, FatTree, Loss, NonSharedBottleneck, PathSpec, Properties, Queue, RedForRate,
    Reorder, ScenarioB, SharedBottleneck, Spec, SpelledLink, SpelledOut, TwoKinds,
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
        access: Some(Access {
            rate: kbit(100_000),
            delay: ms(1),
            queue: Queue::DropTailPackets(9),
        }),
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
    let tree = |delay, core_rate| {
        Spec::FatTree(FatTree {
            k: 4,
            rate: kbit(100_000),
            core_rate,
            delay,
            queue: Queue::DropTailPackets(100),
        })
    };
    let text = "kind = 'fat-tree'\nk = 4\nrate = '100Mbit'\nqueue = { kind = 'droptail', packets = 100 }\n";
    assert_eq!(
        topology(&format!("{text}delay = '100us'")),
        tree(Span::from_micros(100), None)
    );
    // Six links there and six back.
    let core = tree(Span::from_nanos(5_000_000 / 12), Some(kbit(50_000)));
    assert_eq!(
        topology(&format!("{text}rtt = '5ms'\ncore_rate = '50Mbit'")),
        core
    );
}

#[test]
fn the_drafts_scenarios() {
    let users = "n1 = 30\nn2 = 10\nc1 = '1Mbit'\nc2 = '2Mbit'\nrtt = '100ms'";
    let a = TwoKinds {
        n1: 30,
        n2: 10,
        c1: Capacity::PerUser(kbit(1000)),
        c2: Capacity::PerUser(kbit(2000)),
        rtt: ms(100),
        queues: [(); 2].map(|()| Queue::RedForRate(RedForRate::default())),
    };
    assert_eq!(
        topology(&format!("kind = 'scenario-a'\n{users}")),
        Spec::ScenarioA(a.clone())
    );
    let red = format!("kind = 'scenario-a'\n{users}\nqueue = {{ kind = 'red' }}");
    assert_eq!(topology(&red), Spec::ScenarioA(a.clone()));
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
            queues: [(); 2].map(|()| queue.clone()),
            ..a.clone()
        })
    );
    let c = TwoKinds {
        queues: [(); 2].map(|()| Queue::DropTailPackets(50)),
        ..a
    };
    assert_eq!(
        topology(&format!("kind = 'scenario-c'\n{users}\nqueue = 50")),
        Spec::ScenarioC(c)
    );
    let text = "kind = 'scenario-b'\nusers = 15\ncx = '27Mbit'\ncy = '100Mbit'\ncz = '101Mbit'\nct = '36Mbit'\nrtt = '100ms'";
    let b = ScenarioB {
        users: 15,
        cx: kbit(27_000),
        cy: kbit(100_000),
        cz: kbit(101_000),
        ct: kbit(36_000),
        rtt: ms(100),
        queues: [(); 4].map(|()| Queue::RedForRate(RedForRate::default())),
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
        c1: Capacity::Link(kbit(40_000)),
        c2: Capacity::Link(kbit(9000)),
        rtt: ms(100),
        queues: [Queue::DropTailPackets(50), codel],
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
    let red = RedForRate {
        weight: 0.5,
        ..RedForRate::default()
    };
    let alike_spec = TwoKinds {
        c1: Capacity::Link(kbit(7000)),
        c2: Capacity::Link(kbit(7000)),
        queues: [Queue::DropTailPackets(50), Queue::RedForRate(red)],
        ..two
    };
    assert_eq!(topology(&alike), Spec::ScenarioC(alike_spec));
    // In the order X, Y, Z, T.
    let text = "kind = 'scenario-b'\nusers = 15\nrtt = '100ms'\n\
                rate = ['27Mbit', '100Mbit', '101Mbit', '36Mbit']\nqueue = [1, 2, 3, 4]";
    let b = ScenarioB {
        users: 15,
        cx: kbit(27_000),
        cy: kbit(100_000),
        cz: kbit(101_000),
        ct: kbit(36_000),
        rtt: ms(100),
        queues: [1, 2, 3, 4].map(Queue::DropTailPackets),
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
    assert_eq!(b.queues, [1, 2, 3, 9].map(Queue::DropTailPackets));
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
