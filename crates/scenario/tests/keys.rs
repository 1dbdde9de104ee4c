//! Every key of a file, what it becomes, and what it is when it is not there.

use lisa_scenario::{
    Application, Arrivals, Between, ConnectionSpec, Length, OnOff, PathChoice, PathManager,
    Profile, Protocol, Scenario,
};
use netsim::{Rate, Span};
use topology::{
    Access, FatTree, Loss, NonSharedBottleneck, PathSpec, Properties, Queue, Red, Reorder,
    ScenarioA, ScenarioB, ScenarioC, SharedBottleneck, Spec, SpelledLink, SpelledOut,
};

const SHARED: &str = "kind = 'shared-bottleneck'\nrate = '5Mbit'\nrtt = '40ms'\nqueue = 17";

fn ms(ms: u64) -> Span {
    Span::from_millis(ms)
}

fn kbit(kbit: u64) -> Rate {
    Rate::from_bits_per_second(kbit * 1000)
}

fn parse(text: &str) -> Scenario {
    Scenario::parse(text, "a.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn topology(keys: &str) -> Spec {
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

fn connection(keys: &str) -> ConnectionSpec {
    let text = format!("stop = '9s'\n[topology]\n{SHARED}\n[[connection]]\n{keys}\n");
    parse(&text).connections.remove(0)
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
fn queues() {
    let queue = |text: &str| {
        let text = SHARED.replace("queue = 17", &format!("queue = {text}"));
        match topology(&text) {
            Spec::SharedBottleneck(spec) => spec.bottleneck.queue,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        queue("{ kind = 'droptail', packets = 3 }"),
        Queue::DropTailPackets(3)
    );
    assert_eq!(queue("{ bytes = '47KB' }"), Queue::DropTailBytes(47_000));
    // Half of the draft's 10 Mbit/s.
    let draft = Red {
        min: 13,
        max: 25,
        max_p: 0.1,
        gentle: true,
        limit: 50,
        weight: 1.0,
        ecn: false,
    };
    assert_eq!(queue("{ kind = 'red' }"), Queue::Red(draft));
    let red = Red {
        min: 5,
        max: 15,
        max_p: 0.02,
        gentle: false,
        limit: 60,
        weight: 0.002,
        ecn: true,
    };
    let text = "{ kind = 'red', min = 5, max = 15, max_p = '2%', gentle = false, limit = 60, weight = 0.002, ecn = true }";
    assert_eq!(queue(text), Queue::Red(red));
    let codel = |target, interval, limit, ecn| Queue::CoDel {
        target: ms(target),
        interval: ms(interval),
        limit,
        ecn,
    };
    assert_eq!(queue("{ kind = 'codel' }"), codel(5, 100, 1000, false));
    let text = "{ kind = 'codel', target = '1ms', interval = '9ms', limit = 7, ecn = true }";
    assert_eq!(queue(text), codel(1, 9, 7, true));
    let fair = |target, interval, limit, flows, quantum, ecn| Queue::FqCoDel {
        target: ms(target),
        interval: ms(interval),
        limit,
        flows,
        quantum,
        ecn,
    };
    assert_eq!(
        queue("{ kind = 'fq-codel' }"),
        fair(5, 100, 10_240, 1024, 1514, false)
    );
    let text = "{ kind = 'fq-codel', target = '1ms', interval = '9ms', limit = 7, flows = 2, quantum = 300, ecn = true }";
    assert_eq!(queue(text), fair(1, 9, 7, 2, 300, true));
}

#[test]
fn a_trace_stands_beside_the_scenario() {
    let folder = std::env::temp_dir().join(format!("lisa-scenario-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("a.toml").display().to_string();
    let text = SHARED.replace("rate = '5Mbit'", "trace = 'a.up'");
    let text = format!("stop = '9s'\n[topology]\n{text}\n[[connection]]\n");
    let trace = |content: &str| {
        std::fs::write(folder.join("a.up"), content).unwrap();
        Scenario::parse(&text, &file)
    };
    let Ok(Spec::SharedBottleneck(spec)) = trace("0\n3\n3\n10\n").map(|s| s.topology) else {
        panic!()
    };
    assert_eq!(
        spec.bottleneck.rate_trace.as_deref(),
        Some(&[0, 3, 3, 10][..])
    );
    assert_eq!(spec.bottleneck.rate, None);
    for (wrong, says) in [
        ("3\n2\n", "a.up:2: "),
        ("x", "a.up:1: "),
        ("0\n", "no millisecond after 0"),
        ("", "after 0"),
    ] {
        let error = trace(wrong).unwrap_err().to_string();
        assert!(
            error.contains(says) && error.contains("a.toml:4: `topology.trace`: "),
            "{error}"
        );
    }
    std::fs::remove_dir_all(&folder).unwrap();
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
    let a = ScenarioA {
        n1: 30,
        n2: 10,
        c1: kbit(1000),
        c2: kbit(2000),
        rtt: ms(100),
        queue: None,
    };
    assert_eq!(
        topology(&format!("kind = 'scenario-a'\n{users}")),
        Spec::ScenarioA(a.clone())
    );
    let red = format!("kind = 'scenario-a'\n{users}\nqueue = {{ kind = 'red' }}");
    assert_eq!(topology(&red), Spec::ScenarioA(a));
    let c = ScenarioC {
        n1: 30,
        n2: 10,
        c1: kbit(1000),
        c2: kbit(2000),
        rtt: ms(100),
        queue: Some(Queue::DropTailPackets(50)),
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
        queue: None,
    };
    assert_eq!(topology(text), Spec::ScenarioB(b));
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

#[test]
fn connections_by_default() {
    let tcp = ConnectionSpec {
        name: "tcp cubic".into(),
        algorithm: "cubic".into(),
        ..ConnectionSpec::default()
    };
    assert_eq!(connection(""), tcp);
    assert_eq!(connection("protocol = 'tcp'"), tcp);
    let mptcp = ConnectionSpec {
        name: "mptcp mptcp".into(),
        protocol: Protocol::Mptcp,
        algorithm: "mptcp".into(),
        subflows: 2,
        ..ConnectionSpec::default()
    };
    assert_eq!(connection("protocol = 'mptcp'"), mptcp);
    let udp = ConnectionSpec {
        name: "udp".into(),
        protocol: Protocol::Udp,
        application: Application::Rate {
            rate: kbit(500),
            on_off: None,
        },
        ..ConnectionSpec::default()
    };
    assert_eq!(connection("protocol = 'udp'\nrate = '500kbit'"), udp);
}

#[test]
fn all_of_a_connection() {
    let all = ConnectionSpec {
        name: "x".into(),
        count: 7,
        protocol: Protocol::Mptcp,
        algorithm: "lisa".into(),
        subflows: 3,
        between: Between::Set {
            name: None,
            paths: vec![1, 0],
        },
        path_choice: PathChoice::Random,
        application: Application::Bytes(300_000),
        start: Length::Uniform {
            from: ms(2000),
            to: ms(5000),
        },
        arrivals: Some(Arrivals {
            count: 80,
            gap: Length::Exponential { mean: ms(1200) },
        }),
        profile: Profile::Linux314,
        receive_window: Some(4 << 20),
        path_manager: PathManager::NDiffPorts,
        join_delay: ms(10),
        ecn: true,
        mss: 1400,
        packet: 1500,
        initial_ssthresh: Some(65_535),
    };
    let text = "name = 'x'\ncount = 7\nprotocol = 'mptcp'\nalgorithm = 'lisa'\nsubflows = 3\npaths = [2, 1]
        path_choice = 'random'\nbytes = '300KB'\nstart = { from = '2s', to = '5s' }
        arrivals = { count = 80, gap = { mean = '1.2s' } }\nprofile = 'linux-3.14'\nreceive_window = '4MiB'
        path_manager = 'ndiffports'\njoin_delay = '10ms'\necn = true\nmss = 1400\ninitial_ssthresh = 65535";
    assert_eq!(connection(text), all);
    assert_eq!(
        connection("profile = 'ns3-newreno'").profile,
        Profile::Ns3NewReno
    );
    assert_eq!(
        connection("profile = 'linux'\npath_choice = 'in-order'").profile,
        Profile::Linux
    );
    assert_eq!(
        connection("protocol = 'mptcp'\npath_manager = 'fullmesh'").path_manager,
        PathManager::Fullmesh
    );
}

#[test]
fn applications() {
    let requests = Application::Requests {
        count: 10,
        bytes: 1000,
        gap: Length::Fixed(ms(1)),
    };
    assert_eq!(
        connection("requests = { count = 10, bytes = 1000, gap = '1ms' }").application,
        requests
    );
    let on_off = Application::Rate {
        rate: kbit(300),
        on_off: Some(OnOff {
            on: Length::Exponential { mean: ms(500) },
            off: Length::Uniform {
                from: Span::ZERO,
                to: ms(1000),
            },
        }),
    };
    let text = "rate = '300kbit'\non = { mean = '500ms' }\noff = { from = '0s', to = '1s' }";
    assert_eq!(connection(text).application, on_off);
    let udp = connection(&format!(
        "protocol = 'udp'\npacket = 500\necn = true\n{text}"
    ));
    assert_eq!((udp.application, udp.packet, udp.ecn), (on_off, 500, true));
}

#[test]
fn where_a_connection_runs() {
    let set = |name: Option<&str>, paths: &[u32]| Between::Set {
        name: name.map(Into::into),
        paths: paths.to_vec(),
    };
    assert_eq!(connection("path = 1").between, set(None, &[0]));
    // The network has as many paths as are asked for.
    assert_eq!(connection("path = 2").between, set(None, &[1]));
    let on = |topology: &str, keys: &str| {
        let text = format!("stop = '9s'\n[topology]\n{topology}\n[[connection]]\n{keys}\n");
        parse(&text).connections.remove(0)
    };
    let b = "kind = 'scenario-b'\nusers = 15\ncx = '27Mbit'\ncy = '1Mbit'\ncz = '1Mbit'\nct = '36Mbit'\nrtt = '100ms'";
    let red = on(b, "paths = 'red'\npath = 2");
    // As many as the network is made for.
    assert_eq!((red.between, red.count), (set(Some("red"), &[1]), 15));
    assert_eq!(on(b, "paths = 'red'\ncount = 3").count, 3);
    let tree = "kind = 'fat-tree'\nk = 4\nrate = '1Mbit'\nrtt = '5ms'\nqueue = 9";
    let hosts = on(tree, "from = 'h1'\nto = 'h16'");
    let ends = Between::Hosts {
        from: "h1".into(),
        to: "h16".into(),
    };
    assert_eq!(
        (hosts.between, hosts.path_choice),
        (ends, PathChoice::Random)
    );
    assert_eq!(
        on(tree, "pattern = 'permutation'").between,
        Between::Permutation
    );
    let random = on(tree, "pattern = 'random'\npath_choice = 'in-order'");
    assert_eq!(
        (random.between, random.path_choice),
        (Between::Random, PathChoice::InOrder)
    );
}

#[test]
fn names_differ() {
    let text = format!(
        "stop = '9s'\n[topology]\n{SHARED}\n[[connection]]\n[[connection]]\n[[connection]]\n"
    );
    let names: Vec<String> = parse(&text)
        .connections
        .into_iter()
        .map(|c| c.name)
        .collect();
    assert_eq!(names, ["tcp cubic", "tcp cubic 2", "tcp cubic 3"]);
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
        "connection.1.bytes=300KB",
        "connection.a.subflows=3",
    ]);
    assert_eq!(scenario.connections[0].algorithm, "lisa");
    assert_eq!(
        scenario.connections[1].application,
        Application::Bytes(300_000)
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
