//! The server over HTTP: permissions, events, and what is in the file after `kill -9`.

mod support;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

use serde_json::{Value, json};
use support::{Client, Folder, Running, World};

#[test]
fn roles_and_lies() {
    let world = World::new();
    let one = world.endpoint("one", &["10.0.0.0/16"]);
    let two = world.endpoint("two", &["10.1.0.0/16"]);
    let operator = world.operator();
    let viewer = world.viewer();
    let nobody = Client::new(world.address(), "lisa_0000000000000000");
    for (client, method, path, status) in [
        (&nobody, "GET", "/v1/map", 401),
        (&nobody, "GET", "/metrics", 200),
        (&nobody, "GET", "/openapi.json", 200),
        (&nobody, "GET", "/", 200),
        (&viewer, "GET", "/v1/map", 200),
        (&viewer, "PUT", "/v1/rates", 403),
        (&viewer, "GET", "/v1/endpoints", 403),
        (&viewer, "POST", "/v1/reports", 403),
        (&operator, "GET", "/v1/endpoints", 200),
        (&operator, "POST", "/v1/session", 403),
        (&one, "PUT", "/v1/map", 403),
        (&one, "GET", "/v1/map", 403),
        (&one, "PUT", "/v1/rates", 403),
        (&one, "GET", "/v1/events", 409),
        (&one, "GET", "/v2", 404),
        (&one, "DELETE", "/v1/map", 405),
    ] {
        let answer = client.send(method, path, "{}");
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.body);
    }
    let answer = nobody.send("GET", "/v1/map", "");
    assert!(
        answer.json()["error"]
            .as_str()
            .unwrap()
            .contains("this token is unknown")
    );

    let session = one.session();
    let report = |session: &str, sequence: u64, local: &str| {
        let subflows = json!([{ "local": local, "remote": "10.4.0.1:443" }]);
        let connection = json!({ "connection": "1a2b3c4d", "subflows": subflows });
        json!({ "session": session, "sequence": sequence, "connections": [connection] }).to_string()
    };
    let own = report(&session, 1, "10.0.0.1:1");
    assert_eq!(one.send("POST", "/v1/reports", &own).status, 200);
    // A captured report again; another endpoint's address; another endpoint's session.
    assert_eq!(one.send("POST", "/v1/reports", &own).status, 409);
    let foreign = one.send("POST", "/v1/reports", &report(&session, 2, "10.1.0.1:1"));
    assert_eq!(foreign.status, 403);
    assert!(
        foreign
            .body
            .contains("10.1.0.1 is not an address of endpoint `one`"),
        "{}",
        foreign.body
    );
    assert_eq!(
        two.send("POST", "/v1/reports", &report(&session, 2, "10.1.0.1:1"))
            .status,
        409
    );
    // Each sees its own.
    two.session();
    assert_eq!(one.get("/v1/connections")["total"], 1);
    assert_eq!(two.get("/v1/connections")["total"], 0);
    assert_eq!(
        viewer.get("/v1/connections")["connections"][0]["endpoint"],
        "one"
    );
    // A token that was replaced, replayed.
    let other = world.endpoint("one", &["10.0.0.0/16"]);
    assert_eq!(one.send("POST", "/v1/session", "").status, 401);
    assert_eq!(other.get("/v1/connections")["total"], 0);
    assert_eq!(operator.send("DELETE", "/v1/endpoints/one", "").status, 204);
    assert_eq!(other.send("GET", "/v1/connections", "").status, 401);
    // A token from an address that it is not for.
    let spec = json!({ "addresses": ["10.0.0.0/16"], "from": ["192.0.2.0/24"] });
    let token = operator
        .send("PUT", "/v1/endpoints/three", &spec.to_string())
        .json();
    let three = Client::new(world.address(), token["token"].as_str().unwrap());
    let answer = three.send("POST", "/v1/session", "");
    assert_eq!(answer.status, 403);
    assert!(
        answer.body.contains("not accepted from 127.0.0.1"),
        "{}",
        answer.body
    );
}

#[test]
fn wrong_bodies() {
    let world = World::new();
    let operator = world.operator();
    for (path, body, status, words) in [
        ("/v1/rates", "{", 400, "line 1 column 1"),
        (
            "/v1/rates",
            r#"{"rates": [{"link": "x – y", "available_bps": 1}]}"#,
            422,
            "no link `x – y`",
        ),
        (
            "/v1/rates",
            r#"{"rates": [{"link": "x", "available_bps": -1}]}"#,
            400,
            "invalid value",
        ),
        (
            "/v1/links",
            r#"{"links": [], "more": 1}"#,
            400,
            "unknown field `more`",
        ),
        (
            "/v1/prefixes",
            r#"{"prefixes": [{"prefix": "10.0.0.0/33", "node": "n0"}]}"#,
            400,
            "invalid IP address",
        ),
        (
            "/v1/prefixes",
            r#"{"prefixes": [{"prefix": "10.0.0.0/8", "node": "n99"}]}"#,
            422,
            "no node `n99`",
        ),
        (
            "/v1/map",
            r#"{"nodes": [], "links": [{"from": "a", "to": "b"}]}"#,
            422,
            "links.0: no node `a`",
        ),
        (
            "/v1/endpoints/a%20b",
            r#"{"addresses": ["10.0.0.0/8"]}"#,
            422,
            "1 to 64 letters",
        ),
        (
            "/v1/endpoints/a",
            r#"{"addresses": []}"#,
            422,
            "1 to 64 prefixes",
        ),
    ] {
        let answer = operator.send("PUT", path, body);
        assert_eq!(answer.status, status, "{path} {body}: {}", answer.body);
        let error = answer.json()["error"].as_str().unwrap().to_owned();
        assert!(error.contains(words) && !error.contains('\n'), "{error}");
    }
    let gml = Client::with_type(world.address(), &world.operator_token(), "text/x-gml");
    let answer = gml.send(
        "PUT",
        "/v1/map",
        "graph [\nnode [ id 1 ]\nnode [ id 1 ]\n]\n",
    );
    assert_eq!(answer.status, 422);
    assert!(
        answer.body.contains("line 3: a second node"),
        "{}",
        answer.body
    );
    let one_way = "graph [ directed 1 node [ id 1 label \"Z&uuml;rich\" ] node [ id 2 ] edge [ source 1 target 2 ] ]";
    for (query, links) in [("", 1), ("?both_ways=false", 1), ("?both_ways=true", 2)] {
        let world = World::new();
        let gml = Client::with_type(world.address(), &world.operator_token(), "text/x-gml");
        assert_eq!(
            gml.send("PUT", &format!("/v1/map{query}"), one_way).status,
            204
        );
        let map = world.operator().get("/v1/map");
        assert_eq!(map["links"].as_array().unwrap().len(), links, "{query}");
        assert_eq!(map["nodes"][0]["name"], "Zürich");
    }
    // The map is the former one.
    assert_eq!(
        operator.get("/v1/map")["nodes"].as_array().unwrap().len(),
        5
    );
}

/// A change reaches the endpoint by its stream, and the operator by the other.
#[test]
fn changes_are_sent() {
    let world = World::new();
    let one = world.endpoint("one", &["10.0.0.0/15"]);
    let session = one.session();
    let mut events = one.stream(&format!("/v1/events?session={session}"));
    let mut network = world.viewer().stream("/v1/events");
    let first = network.event("network");
    assert_eq!(
        first["links"].as_array().unwrap().len(),
        world.links().len()
    );
    let groups = one.report(
        &session,
        1,
        &[
            ("10.0.0.1:1", "10.4.0.1:443"),
            ("10.1.0.1:1", "10.4.0.1:443"),
        ],
    );
    assert_eq!(groups, [0, 1]);
    let after = |event: &Value| -> Vec<u64> {
        let groups = event[0]["groups"].as_array().unwrap();
        groups
            .iter()
            .map(|subflow| subflow["group"].as_u64().unwrap())
            .collect()
    };
    assert_eq!(after(&events.event("groups")), [0, 1]);
    world.fail("n2 – n4");
    let event = events.event("groups");
    assert_eq!(after(&event), [0, 0]);
    let link = world
        .links()
        .iter()
        .position(|link| link == "n2 – n4")
        .unwrap();
    loop {
        let event = network.event("network");
        let links = event["links"].as_array().unwrap();
        if let Some(entry) = links
            .iter()
            .find(|entry| entry[0] == link && entry[1]["up"] == false)
        {
            assert_eq!(entry[1]["subflows"], 0);
            break;
        }
    }
    // A second session ends the first.
    one.session();
    let report = json!({ "session": session, "sequence": 2 }).to_string();
    assert_eq!(one.send("POST", "/v1/reports", &report).status, 409);
}

/// Every operation of the router is in the description, and what the description says of errors is true.
#[test]
fn the_description_has_all_requests() {
    let world = World::new();
    let description = world.viewer().get("/openapi.json");
    let paths = description["paths"].as_object().unwrap();
    let mut operations: Vec<String> = Vec::new();
    for (path, methods) in paths {
        operations.extend(
            methods
                .as_object()
                .unwrap()
                .keys()
                .map(|method| format!("{method} {path}")),
        );
    }
    assert_eq!(operations.len(), 16, "{operations:?}");
    let text = description["info"]["description"].as_str().unwrap();
    assert!(
        text.contains("Z_s counts the subflows of the one connection"),
        "{text}"
    );
    // Every reference leads somewhere.
    let all = description.to_string();
    for reference in all.split("\"$ref\":\"#").skip(1) {
        let pointer = reference.split('"').next().unwrap();
        assert!(description.pointer(pointer).is_some(), "{pointer}");
    }
}

/// What was answered is there after `kill -9`.
#[test]
fn contents_survive_a_kill() {
    let folder = Folder::new();
    let mut running = Running::start(&folder);
    let world = World::at(running.address(), &folder);
    let one = world.endpoint("one", &["10.0.0.0/15"]);
    let session = one.session();
    let groups = one.report(
        &session,
        1,
        &[
            ("10.0.0.1:1", "10.4.0.1:443"),
            ("10.1.0.1:1", "10.4.0.1:443"),
        ],
    );
    assert_eq!(groups, [0, 1]);
    world.fail("n0 – n2");
    running.kill();

    let running = Running::start(&folder);
    let viewer = Client::new(running.address(), &world.viewer_token());
    let view = viewer.get("/v1/connections");
    assert_eq!(view["connections"][0]["connection"], "1a2b3c4d");
    assert_eq!(
        view["connections"][0]["unknown"], "path",
        "the link is still down"
    );
    let map = viewer.get("/v1/map");
    assert_eq!(map["links"][0]["available_bps"], 10);
    // Its token counts, its session does not.
    let one = Client::new(running.address(), one.token());
    let report = json!({ "session": session, "sequence": 2 }).to_string();
    assert_eq!(one.send("POST", "/v1/reports", &report).status, 409);
    let session = one.session();
    let complete = json!({ "session": session, "sequence": 1, "complete": true }).to_string();
    assert_eq!(one.send("POST", "/v1/reports", &complete).status, 200);
    assert_eq!(viewer.get("/v1/connections")["total"], 0);
}

/// The process that `contents_survive_a_kill` kills: this test itself.
#[test]
#[ignore = "is run by `contents_survive_a_kill`"]
fn serve_until_killed() {
    let Some(folder) = std::env::var_os("MANAGER_FOLDER") else {
        return;
    };
    let server = support::start(folder.as_ref());
    println!("\nmanager at {}", server.address());
    let _ = std::io::stdin().read(&mut [0]); // until the test ends
}

/// TLS with a certificate of our own.
#[test]
fn tls() {
    let folder = Folder::new();
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
    let [certificate, key] = ["cert.pem", "key.pem"].map(|file| folder.join(file));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let tls = lisa_manager::server::TlsFiles {
        certificate: certificate.clone(),
        key: key.clone(),
    };
    let config = lisa_manager::server::Config {
        tls: Some(tls),
        ..support::config(&folder)
    };
    let server = lisa_manager::server::Server::start(config).unwrap();
    let url = format!("https://localhost:{}/metrics", server.address().port());
    let curl = |arguments: &[&str]| {
        let output = Command::new("curl")
            .args(["-s", "--max-time", "20"])
            .args(arguments)
            .arg(&url)
            .output();
        output.expect("curl").status.success()
    };
    assert!(curl(&["--cacert", certificate.to_str().unwrap()]));
    assert!(!curl(&[]), "another authority");
    // A connection without TLS gets no answer, and other connections go on.
    let mut plain = TcpStream::connect(server.address()).unwrap();
    plain.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP"));
    assert!(curl(&["--cacert", certificate.to_str().unwrap()]));
    drop(server);

    let swapped = lisa_manager::server::TlsFiles {
        certificate: key,
        key: certificate,
    };
    let config = lisa_manager::server::Config {
        tls: Some(swapped),
        ..support::config(&folder)
    };
    let error = lisa_manager::server::Server::start(config).err().unwrap();
    assert!(error.text.contains("key.pem"), "{error}");
}

/// Two managers on one folder, a port that is taken.
#[test]
fn what_cannot_be_opened() {
    let folder = Folder::new();
    let server = support::start(&folder);
    let error = lisa_manager::server::Server::start(support::config(&folder))
        .err()
        .unwrap();
    assert!(error.text.contains("manager.redb"), "{error}");
    let other = Folder::new();
    let config = lisa_manager::server::Config {
        listen: server.address(),
        ..support::config(&other)
    };
    let error = lisa_manager::server::Server::start(config).err().unwrap();
    assert!(
        error.text.contains("in use") && error.text.contains("127.0.0.1"),
        "{error}"
    );
}
