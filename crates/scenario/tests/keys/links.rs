//! Keys of a link: queue, losses, trace, outages.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use lisa_scenario::Scenario;
use netsim::{Detour, Outage, Time};
use topology::{Loss, Queue, Red, RedForRate, Spec};

use crate::topologies::topology;
use crate::{SHARED, kbit, ms, parse};

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
    assert_eq!(
        queue("{ kind = 'red' }"),
        Queue::RedForRate(RedForRate::default())
    );
    let heavier = RedForRate {
        weight: 0.002,
        ecn: true,
        ..RedForRate::default()
    };
    assert_eq!(
        queue("{ kind = 'red', weight = 0.002, ecn = true }"),
        Queue::RedForRate(heavier)
    );
    let classic = Red {
        min: 5,
        max: 15,
        max_p: 0.1,
        gentle: true,
        limit: 100_000_000,
        weight: 0.002,
        ecn: false,
    };
    let text = "{ kind = 'red', min = 5, max = 15, max_p = 0.1 }";
    assert_eq!(queue(text), Queue::Red(classic));
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
    let fair = |target, interval, limit, quantum| Queue::FqCoDel {
        target: ms(target),
        interval: ms(interval),
        limit,
        quantum,
    };
    assert_eq!(queue("{ kind = 'fq-codel' }"), fair(5, 100, 10_240, 1514));
    let text = "{ kind = 'fq-codel', target = '1ms', interval = '9ms', limit = 7, quantum = 300 }";
    assert_eq!(queue(text), fair(1, 9, 7, 300));
    let pie = |target, limit, ecn| Queue::Pie {
        target: ms(target),
        limit,
        ecn,
    };
    assert_eq!(queue("{ kind = 'pie' }"), pie(15, 1000, false));
    let text = "{ kind = 'pie', target = '1ms', limit = 7, ecn = true }";
    assert_eq!(queue(text), pie(1, 7, true));
    assert_eq!(
        queue("{ kind = 'policer', rate = '2Mbit', burst = '9KB' }"),
        Queue::Policer {
            rate: kbit(2000),
            burst: 9000
        }
    );
}

#[test]
fn the_path_of_a_trace_is_relative_to_the_scenario() {
    // Names of files need not be UTF-8.
    let name = [
        &b"lisa-scenario-\xff-"[..],
        std::process::id().to_string().as_bytes(),
    ]
    .concat();
    let folder = std::env::temp_dir().join(OsString::from_vec(name));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("a.toml");
    let text = SHARED.replace("rate = '5Mbit'", "rate = { trace = 'a.up' }");
    let text = format!("stop = '9s'\n[topology]\n{text}\n[[connection]]\n");
    let trace = |content: &str| {
        std::fs::write(folder.join("a.up"), content).unwrap();
        Scenario::parse(&text, &file)
    };
    let Ok(Spec::SharedBottleneck(spec)) = trace("0\n3\n3\n10\n").map(|s| s.topology) else {
        panic!()
    };
    assert_eq!(spec.bottleneck.rate_trace, "0\n3\n3\n10\n".parse().ok());
    assert_eq!(spec.bottleneck.rate, None);
    for (wrong, says) in [
        ("3\n2\n", "a.up: line 2: "),
        ("x", "a.up: line 1: "),
        ("0\n", "must be more than 0"),
        ("", "the file is empty"),
        ("3\n\n4\n", "a.up: line 2 is empty"),
    ] {
        let error = trace(wrong).unwrap_err().to_string();
        assert!(
            error.contains(says) && error.contains("a.toml:4: `topology.rate.trace`: "),
            "{error}"
        );
    }
    // Each path has a rate or a trace.
    std::fs::write(folder.join("a.up"), "1\n2\n").unwrap();
    let text = SHARED.replace("shared-bottleneck", "non-shared-bottleneck");
    let text = text.replace("rate = '5Mbit'", "rate = ['5Mbit', { trace = 'a.up' }]");
    let text = format!("stop = '9s'\n[topology]\n{text}\n[[connection]]\n");
    let Ok(Spec::NonSharedBottleneck(spec)) = Scenario::parse(&text, &file).map(|s| s.topology)
    else {
        panic!()
    };
    let [fixed, recorded] = &spec.paths[..] else {
        panic!()
    };
    assert!(fixed.bottleneck.rate.is_some() && fixed.bottleneck.rate_trace.is_none());
    assert!(recorded.bottleneck.rate.is_none() && recorded.bottleneck.rate_trace.is_some());
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Up is towards the server, and of a graph's link and a map's edge from the first node to the second.
#[test]
fn rates_queues_and_losses_of_each_direction() {
    let keys = "rate = { up = '1Mbit', down = '5Mbit' }\nloss = { up = '3%', down = { enter = 0.1, leave = 0.2 } }";
    let of = |graph: &topology::Graph, name: &str| {
        let link = graph.links().iter().find(|link| link.name == name);
        let line = &link.unwrap_or_else(|| panic!("{name}")).properties;
        (line.rate, line.queue.clone(), line.loss.clone())
    };
    let bursts = Loss::Bursty {
        enter: 0.1,
        leave: 0.2,
        bad: 1.0,
        good: 0.0,
    };
    let packets = Queue::DropTailPackets;
    let up = (Some(kbit(1000)), packets(17), Some(Loss::Random(0.03)));
    let down = (Some(kbit(5000)), packets(17), Some(bursts));
    let shared = SHARED.replace("rate = '5Mbit'", keys);
    let separate = shared.replace("shared-bottleneck", "non-shared-bottleneck");
    let graph = format!(
        "kind = 'graph'\nhosts = ['a', 'b']\n[[topology.link]]\nfrom = 'a'\nto = 'b'\nqueue = 17\n{keys}"
    );
    for (text, name) in [
        (&shared, "bottleneck"),
        (&separate, "path 1"),
        (&graph, "a b"),
    ] {
        let graph = match name {
            "a b" => {
                parse(&format!(
                    "stop = '9s'\n[topology]\n{text}\n[[connection]]\nfrom = 'a'\nto = 'b'\n"
                ))
                .topology
            }
            _ => topology(text),
        }
        .build()
        .unwrap();
        assert_eq!(of(&graph, &format!("{name} up")), up, "{name}");
        assert_eq!(of(&graph, &format!("{name} down")), down, "{name}");
    }
    // Items of a list may differ in this, too.
    let text = SHARED.replace("shared-bottleneck", "non-shared-bottleneck");
    let text = text.replace(
        "rate = '5Mbit'",
        "rate = ['5Mbit', { up = '1Mbit', down = '2Mbit' }]",
    );
    let text = text.replace("queue = 17", "queue = { up = 9, down = 30 }");
    let graph = topology(&text).build().unwrap();
    for (name, rate, queue) in [
        ("path 1 up", 5000, 9),
        ("path 2 up", 1000, 9),
        ("path 2 down", 2000, 30),
    ] {
        assert_eq!(
            of(&graph, name),
            (Some(kbit(rate)), packets(queue), None),
            "{name}"
        );
    }
    for (wrong, says) in [
        (
            "rate = { up = '1Mbit' }",
            "`topology.rate.down`: is missing: add one like `down = …`",
        ),
        (
            "rate = { up = '1Mbit', down = '1Mbit', left = '1Mbit' }",
            "`topology.rate.left`: no such key",
        ),
    ] {
        let text = SHARED.replace("rate = '5Mbit'", wrong);
        let text = format!("stop = '9s'\n[topology]\n{text}\n[[connection]]\n");
        let error = Scenario::parse(&text, "a.toml").unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn jitter() {
    let text = format!("{SHARED}\njitter = '5ms'");
    let Spec::SharedBottleneck(shared) = topology(&text) else {
        panic!()
    };
    assert_eq!(shared.bottleneck.jitter, Some(ms(5)));
    // One for all paths, or one for each.
    let separate = |jitter: &str| {
        let text = SHARED.replace("shared", "non-shared");
        let Spec::NonSharedBottleneck(spec) = topology(&format!("{text}\njitter = {jitter}"))
        else {
            panic!()
        };
        let jitters = spec.paths.iter().map(|path| path.bottleneck.jitter);
        jitters.collect::<Vec<_>>()
    };
    assert_eq!(separate("'5ms'"), [Some(ms(5)); 2]);
    assert_eq!(separate("['5ms', '2ms']"), [Some(ms(5)), Some(ms(2))]);
}

#[test]
fn detour() {
    let at = |s: u64| Time::ZERO + ms(1000 * s);
    let of = |detour: &str| {
        let Spec::SharedBottleneck(spec) = topology(&format!("{SHARED}\ndetour = {detour}")) else {
            panic!()
        };
        spec.bottleneck.detour
    };
    let from = Detour::new(at(5), ms(40));
    assert_eq!(of("{ from = '5s', delay = '40ms' }"), Some(from));
    let ends = of("{ from = '5s', to = '8s', delay = '40ms' }");
    assert_eq!(ends, Some(from.until(at(8))));
}

#[test]
fn outages() {
    let at = |s: u64| Time::ZERO + ms(1000 * s);
    let once = vec![Outage::new(at(5), at(8))];
    let dies = vec![Outage::for_good(at(20))];
    let both = [&once[..], &dies].concat();
    let one = "{ from = '5s', to = '8s' }";
    let two = format!("[{one}, {{ from = '20s' }}]");
    // On a shared bottleneck: one, or a list.
    let shared = |text: &str| match topology(&format!("{SHARED}\n{text}")) {
        Spec::SharedBottleneck(spec) => spec.bottleneck.down,
        other => panic!("{other:?}"),
    };
    assert_eq!(shared(""), []);
    assert_eq!(shared("down = []"), []);
    assert_eq!(shared(&format!("down = {one}")), once);
    assert_eq!(shared(&format!("down = {two}")), both);
    assert_eq!(shared("[[topology.down]]\nfrom = '20s'"), dies);
    // On each path: one for all, or for each path none, one, or a list.
    let separate = |down: &str| {
        let text = SHARED.replace("shared", "non-shared");
        match topology(&format!("{text}\ndown = {down}")) {
            Spec::NonSharedBottleneck(spec) => spec
                .paths
                .into_iter()
                .map(|path| path.bottleneck.down)
                .collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(separate(one), [once.clone(), once.clone()]);
    assert_eq!(
        separate(&format!("[[], {one}, {two}]")),
        [vec![], once.clone(), both.clone()]
    );
    // On a link, in both directions.
    let text = format!(
        "kind = 'graph'\nhosts = ['a', 'b']\n[[topology.link]]\nfrom = 'a'\nto = 'b'\ndown = {two}"
    );
    let graph = topology(&text).build().unwrap();
    let down: Vec<_> = (graph.links().iter())
        .map(|link| &link.properties.down)
        .collect();
    assert_eq!(down, [&both, &both]);
    // Overrides.
    let text = format!("stop = '9s'\n[topology]\n{SHARED}\n[[connection]]\n");
    let set = |text: &str, set: &str| match Scenario::parse_with(text, "a.toml", &[set]) {
        Ok(scenario) => scenario.topology,
        Err(error) => panic!("{error}"),
    };
    let down = |spec| match spec {
        Spec::SharedBottleneck(spec) => spec.bottleneck.down,
        other => panic!("{other:?}"),
    };
    assert_eq!(down(set(&text, "topology.down={ from = '20s' }")), dies);
    let text = text.replace("queue", &format!("down = {two}\nqueue"));
    assert_eq!(down(set(&text, "bottleneck.down=[]")), []);
    let [sooner] = &down(set(&text, "topology.down.1.to=6s"))[..1] else {
        panic!()
    };
    assert_eq!(*sooner, Outage::new(at(5), at(6)));
}
