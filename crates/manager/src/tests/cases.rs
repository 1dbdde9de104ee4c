//! What is decided, what is unknown, and what is refused.

use super::*;
use crate::error::Kind;
use crate::network::RATE_AGE_MS;

/// Sources n0 and n1 with paths over n2 and n3 to n4; n5 is reached over one link from n2.
const DIAMOND: &[(usize, usize)] = &[(0, 2), (1, 3), (2, 4), (3, 4), (2, 3), (2, 5), (3, 2)];
const LINKS: [&str; 7] = [
    "n0 – n2",
    "n1 – n3",
    "n2 – n4",
    "n3 – n4",
    "n2 – n3",
    "n2 – n5",
    "n3 – n2",
];

fn diamond() -> World {
    let mut world = World::new(6, DIAMOND);
    world.rates(&LINKS.map(|link| (link, 10)), 0);
    world
}

#[test]
fn disjoint_paths_are_separated_and_shared_links_couple() {
    let mut world = diamond();
    assert_eq!(world.report(1, &[(0, 4), (1, 4)]), [0, 1]);
    assert_eq!(world.report(2, &[(0, 4), (0, 4)]), [0, 0]);
    // n0 n2 n5 and n1 n3 n2 n5 share the last link, n1 n3 n4 shares with the second its first.
    assert_eq!(world.report(3, &[(0, 5), (1, 5)]), [0, 0]);
    assert_eq!(world.report(4, &[(0, 5), (1, 5), (1, 4)]), [0, 0, 0]);
    let totals = world.state.totals();
    assert_eq!((totals.connections, totals.subflows), (4, 9));
    assert_eq!((totals.separated, totals.unknown), (1, 0));
}

/// Inequality (2) at its boundary: two subflows on n2 – n5, at most 10 elsewhere on their paths. 15 = 10 · 3/2 still limits, 16 does not.
#[test]
fn the_boundary_of_the_condition() {
    let mut world = diamond();
    assert_eq!(world.report(1, &[(0, 5), (1, 5)]), [0, 0]);
    world.rates(&[("n2 – n5", 15)], 0);
    assert_eq!(world.groups(1), [0, 0]);
    world.rates(&[("n2 – n5", 16)], 0);
    assert_eq!(world.groups(1), [0, 1]);
    // Another connection on the link changes nothing: Z counts the subflows of one connection.
    world.report(2, &[(0, 5), (0, 5), (0, 5)]);
    assert_eq!(world.groups(1), [0, 1]);
    // A third subflow of this one does: 10 · 4/2.
    assert_eq!(world.report(1, &[(0, 5), (1, 5), (1, 5)]), [0, 0, 0]);
}

#[test]
fn what_is_unknown_is_coupled() {
    let mut world = diamond();
    assert_eq!(world.report(1, &[(0, 4), (1, 4)]), [0, 1]);
    assert_eq!(world.unknown(1), None);
    // No prefix has 10.9.0.1.
    assert_eq!(world.report(2, &[(0, 4), (1, 9)]), [0, 0]);
    assert_eq!(world.unknown(2), Some(api::Unknown::Path));
    // No path leads to n0.
    assert_eq!(world.report(3, &[(1, 4), (1, 0)]), [0, 0]);
    assert_eq!(world.unknown(3), Some(api::Unknown::Path));
    // Within a node.
    assert_eq!(world.report(4, &[(0, 0), (1, 4)]), [0, 0]);
    let unknown = api::RoutesRequest {
        others: api::OtherRoutes::Unknown,
        routes: Vec::new(),
    };
    world.state.set_routes(unknown).unwrap();
    assert_eq!(
        (world.groups(1), world.unknown(1)),
        (vec![0, 0], Some(api::Unknown::Path))
    );
}

/// A rate counts for 30 s. The first one that is missing couples, on either path.
#[test]
fn old_rates_couple() {
    let mut world = diamond();
    assert_eq!(world.report(1, &[(0, 4), (1, 4)]), [0, 1]);
    world.rates(
        &LINKS[1..]
            .iter()
            .map(|link| (*link, 10))
            .collect::<Vec<_>>(),
        1000,
    );
    world.state.expire(RATE_AGE_MS, |_| true);
    assert_eq!(world.groups(1), [0, 1], "exactly 30 s old");
    world.state.expire(RATE_AGE_MS + 1, |_| true);
    assert_eq!(
        (world.groups(1), world.unknown(1)),
        (vec![0, 0], Some(api::Unknown::Rate))
    );
    world.rates(&[(LINKS[0], 10)], RATE_AGE_MS + 2);
    assert_eq!(world.groups(1), [0, 1]);
    world.state.expire(2 * RATE_AGE_MS + 1001, |_| true);
    assert_eq!(world.unknown(1), Some(api::Unknown::Rate));
}

/// n0 n2 n4 fails at its last link: the subflow moves to n0 n2 n3 n4 and shares n3 – n4 with the other. When the link returns, so does
/// the path.
#[test]
fn links_fail_and_return() {
    let mut world = diamond();
    assert_eq!(world.report(1, &[(0, 4), (1, 4)]), [0, 1]);
    world.state.take_changes(|_| true);
    world.up("n2 – n4", false);
    assert_eq!(world.groups(1), [0, 0]);
    let changes = world.state.take_changes(|_| true);
    assert_eq!(
        (changes.len(), group_numbers(&changes[0].1)),
        (1, vec![0, 0])
    );
    world.up("n2 – n4", false);
    assert!(world.state.take_changes(|_| true).is_empty(), "it was down");
    world.up("n2 – n4", true);
    assert_eq!(world.groups(1), [0, 1]);
    // Without any path.
    world.up("n0 – n2", false);
    assert_eq!(world.unknown(1), Some(api::Unknown::Path));
    world.up("n0 – n2", true);
    assert_eq!(world.groups(1), [0, 1]);
}

/// With ECMP each candidate counts: n0 to n3 over n1 or n2, beside a subflow that begins at n1.
#[test]
fn all_candidates_of_ecmp_count() {
    let mut world = World::new(5, &[(0, 1), (0, 2), (1, 3), (2, 3), (4, 1)]);
    let links = ["n0 – n1", "n0 – n2", "n1 – n3", "n2 – n3", "n4 – n1"];
    world.rates(&links.map(|link| (link, 10)), 0);
    assert_eq!(world.report(1, &[(0, 3), (4, 3)]), [0, 0]);
    // The installed route is spelled out: over n2.
    let route = api::RouteRequest {
        from: "n0".into(),
        to: "n3".into(),
        paths: vec![vec!["n0 – n2".into(), "n2 – n3".into()]],
    };
    let routes = api::RoutesRequest {
        others: api::OtherRoutes::Shortest,
        routes: vec![route],
    };
    world.state.set_routes(routes).unwrap();
    assert_eq!(world.groups(1), [0, 1]);
    // Its only listed path fails.
    world.up("n2 – n3", false);
    assert_eq!(world.unknown(1), Some(api::Unknown::Path));
}

/// Numbers of groups stay while subflows come and go.
#[test]
fn groups_keep_their_numbers() {
    let mut world = diamond();
    let all = [subflow(0, 4, 1), subflow(1, 4, 2), subflow(0, 5, 3)];
    assert_eq!(world.try_report(1, all.to_vec()).unwrap(), [0, 1, 0]);
    world.state.take_changes(|_| true);
    let view = world.state.connections(None, 1).connections.remove(0);
    // Without the first, the third remains in the second group's neighbour, which its number names.
    assert_eq!(world.try_report(1, all[1..].to_vec()).unwrap(), [1, 2]);
    // Alone it is in group 0, like a connection that is coupled.
    assert_eq!(world.try_report(1, all[1..2].to_vec()).unwrap(), [0]);
    assert_eq!(view.links.len(), 3);
}

fn kind(result: Result<impl std::fmt::Debug>, words: &str) -> Kind {
    let error = result.unwrap_err();
    assert!(error.text.contains(words), "{}", error.text);
    assert!(!error.text.contains('\n'));
    error.kind
}

#[test]
fn lies_are_refused() {
    let mut world = diamond();
    let mut foreign = subflow(0, 4, 1);
    foreign.local.set_ip([192, 0, 2, 1].into());
    let own = subflow(0, 4, 1);
    let report = world.try_report(1, vec![own, foreign]);
    assert_eq!(
        kind(
            report,
            "connections.0: subflows.1: 192.0.2.1 is not an address of endpoint `one`"
        ),
        Kind::Forbidden
    );
    assert_eq!(
        kind(
            world.try_report(1, vec![own, own]),
            "the same subflow again"
        ),
        Kind::Invalid
    );
    assert_eq!(
        kind(world.try_report(1, Vec::new()), "0 subflows"),
        Kind::Invalid
    );
    let many = (0..33).map(|port| subflow(0, 4, port)).collect();
    assert_eq!(
        kind(world.try_report(1, many), "33 subflows: 1 to 32"),
        Kind::Invalid
    );
    assert_eq!(
        world.state.totals().connections,
        0,
        "nothing of a refused report counts"
    );
    let rates = world
        .state
        .set_rates(&[rate_of("n0 – n2", 1), rate_of("n9 – n8", 1)], 0);
    assert_eq!(kind(rates, "no link `n9 – n8`"), Kind::Invalid);
    assert_eq!(
        world.report(1, &[(0, 4), (1, 4)]),
        [0, 1],
        "the first rate was not set"
    );
    // A report again, and one of a former session.
    world.sequence -= 1;
    assert_eq!(
        kind(
            world.try_report(2, vec![own]),
            "report 5 came after report 5"
        ),
        Kind::Conflict
    );
    let id = world.state.authenticate(&[1; 32]).unwrap();
    world.state.begin_session(id, "another".into(), 0);
    assert_eq!(
        kind(world.try_report(2, vec![own]), "this session is over"),
        Kind::Conflict
    );
}

#[test]
fn limits_of_subflows() {
    let mut world = diamond();
    let limits = Limits {
        endpoint_subflows: 5,
        ..Limits::default()
    };
    world.state = {
        let mut small = World::new(6, DIAMOND);
        small.state = State::new(limits);
        let spec = api::EndpointRequest {
            addresses: vec!["10.0.0.0/8".parse().unwrap()],
            from: Vec::new(),
        };
        small.state.set_endpoint("one", spec, [1; 32], 0).unwrap();
        let id = small.state.authenticate(&[1; 32]).unwrap();
        small.state.begin_session(id, SESSION.into(), 0);
        small.state
    };
    world.report(1, &[(0, 4), (1, 4), (0, 5)]);
    let report = world.try_report(2, (0..3).map(|port| subflow(0, 4, port)).collect());
    assert_eq!(
        kind(report, "more than 5 subflows of this endpoint"),
        Kind::TooMany
    );
    // In place of the others.
    world.report(1, &[(0, 4), (1, 4), (0, 5), (1, 5), (0, 4)]);
    let connection = api::Connection {
        connection: Token(7),
        subflows: (0..5).map(|port| subflow(0, 4, port)).collect(),
    };
    world.send(vec![connection], true).unwrap();
    assert_eq!(world.state.totals().connections, 1);
}

/// A new map keeps what fits it.
#[test]
fn a_new_map_keeps_rates_and_prefixes() {
    let mut world = diamond();
    assert_eq!(world.report(1, &[(0, 4), (1, 4)]), [0, 1]);
    // Without n5, and without the link that the second path needs.
    let map = api::MapRequest {
        nodes: (0..5).map(node).collect(),
        links: [(0, 2), (1, 3), (2, 4), (3, 2)]
            .map(|(from, to)| link(from, to))
            .to_vec(),
    };
    world.state.set_map(&map_of(&map).unwrap()).unwrap();
    assert_eq!((world.groups(1), world.unknown(1)), (vec![0, 0], None));
    assert_eq!(world.state.network().prefix_list().len(), 5);
    let mut twice = map.clone();
    twice.nodes.push(node(0));
    assert_eq!(
        kind(map_of(&twice), "nodes.5: a second node `n0`"),
        Kind::Invalid
    );
    let mut nowhere = map;
    nowhere.links.push(link(0, 7));
    assert_eq!(
        kind(map_of(&nowhere), "links.4: no node `n7`"),
        Kind::Invalid
    );
}

#[test]
fn absent_endpoints_are_forgotten() {
    let mut world = diamond();
    world.report(1, &[(0, 4)]);
    assert!(world.state.expire(crate::ABSENCE_MS, |_| false).is_empty());
    assert!(
        world
            .state
            .expire(10 * crate::ABSENCE_MS, |_| true)
            .is_empty()
    );
    assert_eq!(
        world.state.expire(12 * crate::ABSENCE_MS, |_| false),
        ["one"]
    );
    assert_eq!(world.state.totals().subflows, 0);
}

#[test]
fn wrong_routes() {
    let mut world = diamond();
    let route = |paths: &[&[&str]]| {
        let paths = paths
            .iter()
            .map(|path| path.iter().map(|link| (*link).into()).collect());
        let route = api::RouteRequest {
            from: "n0".into(),
            to: "n4".into(),
            paths: paths.collect(),
        };
        api::RoutesRequest {
            others: api::OtherRoutes::Shortest,
            routes: vec![route],
        }
    };
    for (paths, words) in [
        (&[][..], "routes.0: 0 paths"),
        (
            &[&["n0 – n2", "n3 – n4"][..]][..],
            "link `n3 – n4` does not begin at `n2`",
        ),
        (&[&["n0 – n2"][..]][..], "a path ends at `n2`, not at `n4`"),
        (&[&["n0 – n7"][..]][..], "no link `n0 – n7`"),
    ] {
        assert_eq!(
            kind(world.state.set_routes(route(paths)), words),
            Kind::Invalid
        );
    }
}

/// An IPv4 address and its mapped form are one address (RFC 4291, section 2.5.5.2).
#[test]
fn mapped_addresses_are_ipv4() {
    let endpoint = |prefix: &str| {
        let text = format!("{{\"addresses\":[\"{prefix}\"],\"from\":[\"{prefix}\"]}}");
        let request: api::EndpointRequest = serde_json::from_str(&text).unwrap();
        assert_eq!(request.addresses, request.from);
        request.addresses[0].to_string()
    };
    for (prefix, canonical) in [
        ("::ffff:10.1.0.0/112", "10.1.0.0/16"),
        ("::ffff:10.1.0.1", "10.1.0.1/32"),
        ("::ffff:0:0/96", "0.0.0.0/0"),
        ("::ffff:0:0/95", "::ffff:0.0.0.0/95"),
        ("2001:db8::/32", "2001:db8::/32"),
        ("10.1.0.0/16", "10.1.0.0/16"),
    ] {
        let prefix_of_node = format!("{{\"prefix\":\"{prefix}\",\"node\":\"n\"}}");
        let of_node: api::Prefix = serde_json::from_str(&prefix_of_node).unwrap();
        assert_eq!(of_node.prefix.to_string(), endpoint(prefix), "{prefix}");
        assert_eq!(of_node.prefix, canonical.parse().unwrap(), "{prefix}");
    }
    let subflow = |local: &str, remote: &str| -> api::Subflow {
        let text = format!("{{\"local\":\"{local}\",\"remote\":\"{remote}\"}}");
        serde_json::from_str(&text).unwrap()
    };
    assert_eq!(
        subflow("[::ffff:10.1.0.1]:1", "[::ffff:10.2.0.1]:2"),
        subflow("10.1.0.1:1", "10.2.0.1:2")
    );
    // Two nodes of one prefix, in both forms.
    let mut world = diamond();
    let list =
        r#"[{"prefix":"10.0.0.0/8","node":"n0"},{"prefix":"::ffff:10.0.0.0/104","node":"n1"}]"#;
    let error = world
        .state
        .set_prefixes(serde_json::from_str(list).unwrap());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("a second node for 10.0.0.0/8"), "{error}");
}
