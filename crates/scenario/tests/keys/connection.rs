//! `[[connection]]`.

use lisa_scenario::{
    Application, Arrivals, Between, ConnectionSpec, Constants, InitialSsthresh, Length, OnOff,
    PathChoice, PathManager, Profile, Protocol, Regroup, Routing, Size, SizeTable, Spacing,
};
use netsim::Span;

use crate::{SHARED, kbit, ms, parse};

fn connection(keys: &str) -> ConnectionSpec {
    let text = format!("stop = '9s'\n[topology]\n{SHARED}\n[[connection]]\n{keys}\n");
    parse(&text).connections.remove(0)
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
        name: "mptcp lia".into(),
        protocol: Protocol::Mptcp,
        algorithm: "lia".into(),
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
        algorithm: "css".into(),
        settings: [("con_ssthresh".into(), 45)].into(),
        subflows: 3,
        between: Between::Set {
            name: None,
            paths: vec![1, 0],
        },
        routing: Routing::Shortest,
        path_choice: PathChoice::Random,
        application: Application::Bytes(Size::Fixed(300_000)),
        start: Length::Uniform {
            from: ms(2000),
            to: ms(5000),
        },
        arrivals: Some(Arrivals {
            count: 80,
            spacing: Spacing::Gap(Length::Exponential { mean: ms(1200) }),
        }),
        profile: Profile::linux_3_14(),
        receive_window: Some(4 << 20),
        send_buffer: Some(2 << 20),
        constants: Constants {
            initial_window: Some(3),
            rto_initial: Some(ms(3000)),
            rto_min: Some(ms(1000)),
            delayed_ack: Some(Span::ZERO),
            quick_acks: Some(0),
            push_acks: Some(false),
            bursts: Some(false),
        },
        path_manager: PathManager::Client,
        join_delay: ms(10),
        ecn: true,
        mss: 1400,
        packet: 1500,
        initial_ssthresh: Some(InitialSsthresh::Bytes(65_535)),
        assistance: false,
        groups: vec![0, 1, 1],
        backup: Vec::new(),
        regroup: vec![
            Regroup {
                at: ms(2000),
                groups: vec![0, 0, 0],
            },
            Regroup {
                at: ms(3000),
                groups: vec![238, 0, 1],
            },
        ],
    };
    let text = "name = 'x'\ncount = 7\nprotocol = 'mptcp'\nalgorithm = 'css'\nsettings = { con_ssthresh = 45 }\nsubflows = 3\npaths = [2, 1]
        path_choice = 'random'\nbytes = '300KB'\nstart = { from = '2s', to = '5s' }
        arrivals = { count = 80, gap = { mean = '1.2s' } }\nprofile = 'linux-3.14'\nreceive_window = '4MiB'
send_buffer = '2MiB'
        initial_window = 3\nrto_initial = '3s'\nrto_min = '1s'\ndelayed_ack = '0s'\nquick_acks = 0\npush_acks = false\nbursts = false
        path_manager = 'ndiffports'\njoin_delay = '10ms'\necn = true\nmss = 1400\ninitial_ssthresh = 65535
        groups = [0, 1, 1]\nregroup = [{ at = '2s', groups = [0, 0, 0] }, { at = '3s', groups = [238, 0, 1] }]";
    assert_eq!(connection(text), all);
    assert_eq!(
        connection("initial_ssthresh = 'bdp'").initial_ssthresh,
        Some(InitialSsthresh::Bdp)
    );
    assert_eq!(
        connection("protocol = 'mptcp'\nbackup = [false, true]").backup,
        [false, true]
    );
    assert_eq!(
        connection("profile = 'ns3-newreno'").profile,
        Profile::ns3_newreno()
    );
    assert_eq!(
        connection("profile = 'linux'\npath_choice = 'in-order'").profile,
        Profile::linux()
    );
    assert_eq!(
        connection("protocol = 'mptcp'\npath_manager = 'fullmesh'").path_manager,
        PathManager::Announced
    );
}

#[test]
fn sizes_of_transfers() {
    let size = |value: &str| match connection(&format!("bytes = {value}")).application {
        Application::Bytes(size) => size,
        other => panic!("{other:?}"),
    };
    assert_eq!(size("0"), Size::Fixed(0));
    assert_eq!(
        size("{ from = '10KB', to = '1MB' }"),
        Size::Uniform {
            from: 10_000,
            to: 1_000_000
        }
    );
    assert_eq!(size("{ mean = '1KiB' }"), Size::Exponential { mean: 1024 });
    assert_eq!(
        size("{ mean = '100KB', shape = 1.2 }"),
        Size::Pareto {
            mean: 100_000,
            shape: 1.2
        }
    );
    for name in ["web-search", "data-mining"] {
        let table = SizeTable::named(name).unwrap();
        assert_eq!(
            size(&format!("{{ distribution = '{name}' }}")),
            Size::Table(table.clone())
        );
        let requests = format!(
            "requests = {{ count = 2, bytes = {{ distribution = '{name}' }}, gap = '1s' }}"
        );
        let Application::Requests { bytes, .. } = connection(&requests).application else {
            panic!("{requests}")
        };
        assert_eq!(bytes, Size::Table(table));
    }
}

#[test]
fn loads() {
    let arrivals = |keys: &str| connection(keys).arrivals.unwrap();
    let load = |value: &str| {
        let keys = format!("bytes = '1MB'\narrivals = {{ count = 9, load = {value} }}");
        arrivals(&keys).spacing
    };
    for (value, expected) in [("0.6", 0.6), ("'60%'", 0.6), ("'150%'", 1.5), ("2", 2.0)] {
        assert_eq!(load(value), Spacing::Load(expected));
    }
    let keys = "arrivals = { count = 9, gap = { mean = '1s', shape = 1.5 } }";
    let pareto = Length::Pareto {
        mean: ms(1000),
        shape: 1.5,
    };
    assert_eq!(arrivals(keys).spacing, Spacing::Gap(pareto));
}

#[test]
fn applications() {
    let requests = Application::Requests {
        count: 10,
        bytes: Size::Fixed(1000),
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
fn paths_and_hosts() {
    let set = |name: Option<&str>, paths: &[u32]| Between::Set {
        name: name.map(Into::into),
        paths: paths.to_vec(),
    };
    assert_eq!(connection("path = 1").between, set(None, &[0]));
    // The network has as many paths as the connections use.
    assert_eq!(connection("path = 2").between, set(None, &[1]));
    let on = |topology: &str, keys: &str| {
        let text = format!("stop = '9s'\n[topology]\n{topology}\n[[connection]]\n{keys}\n");
        parse(&text).connections.remove(0)
    };
    let b = "kind = 'scenario-b'\nusers = 15\ncx = '27Mbit'\ncy = '1Mbit'\ncz = '1Mbit'\nct = '36Mbit'\nrtt = '100ms'";
    let red = on(b, "paths = 'red'\npath = 2");
    // The number of users of the network.
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
    // The second connection of the first table is "tcp cubic 2".
    let text = format!(
        "stop = '9s'\n[topology]\n{SHARED}\n[[connection]]\ncount = 2\n[[connection]]\n[[connection]]\n"
    );
    let names: Vec<String> = parse(&text)
        .connections
        .into_iter()
        .map(|c| c.name)
        .collect();
    assert_eq!(names, ["tcp cubic", "tcp cubic 3", "tcp cubic 4"]);
}
