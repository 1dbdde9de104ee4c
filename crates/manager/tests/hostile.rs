//! Requests of an attacker: headers, paths, names, and streams.

mod support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::{Value, json};
use socket2::{Domain, Socket, Type};
use support::{Client, World};

/// Sends a request with these lines behind the first; returns its status and body.
fn raw(address: SocketAddr, request: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").expect("a header");
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, body.to_owned())
}

#[test]
fn one_authorization_in_any_case() {
    let world = World::new();
    let (operator, viewer) = (world.operator_token(), world.viewer_token());
    let get = |headers: &str| {
        let request =
            format!("GET /v1/map HTTP/1.1\r\nHost: m\r\n{headers}Connection: close\r\n\r\n");
        raw(world.address(), &request).0
    };
    for scheme in ["Bearer", "bearer", "BEARER"] {
        assert_eq!(get(&format!("Authorization: {scheme} {operator}\r\n")), 200);
    }
    for headers in [
        String::new(),
        format!("Authorization: Basic {operator}\r\n"),
        format!("Authorization: Bearer{operator}\r\n"),
        format!("Authorization: {operator}\r\n"),
        format!("Authorization: Bearer {operator}\r\nauthorization: Bearer {viewer}\r\n"),
        format!("Authorization: Bearer {operator}\r\nAuthorization: Bearer {operator}\r\n"),
        format!("Authorization: Bearer {operator}, Bearer {viewer}\r\n"),
    ] {
        assert_eq!(get(&headers), 401, "{headers}");
    }
}

#[test]
fn every_error_is_json() {
    let world = World::new();
    let token = world.operator_token();
    for (method, path, status) in [
        ("GET", "/v1/endpoints/%ff", 405),
        ("PUT", "/v1/endpoints/%ff", 400),
        ("DELETE", "/v1/endpoints/%ff", 400),
        ("GET", "/v1/events?session=1&session=2", 400),
        ("PUT", "/", 405),
        ("GET", "//", 404),
        ("GET", "/v1/../v1/map", 404),
        ("OPTIONS", "/v1/map", 405),
        ("DELETE", "/openapi.json", 405),
        ("PUT", "/v1/map", 422),
        ("PUT", "/v1/endpoints/..", 400),
    ] {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: m\r\nAuthorization: Bearer {token}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        let (found, body) = raw(world.address(), &request);
        assert_eq!(found, status, "{method} {path}: {body}");
        let body: Value = serde_json::from_str(&body).unwrap_or_else(|_| panic!("{path}: {body}"));
        let error = body["error"].as_str().unwrap();
        assert!(
            !error.is_empty() && !error.contains('\n'),
            "{path}: {error}"
        );
    }
}

#[test]
fn names_that_are_none() {
    let world = World::new();
    let operator = world.operator();
    let spec = json!({ "addresses": ["10.0.0.0/8"] }).to_string();
    for name in ["..", ".", "%2e%2e", "a%1b", "a%2fb"] {
        let answer = operator.send("PUT", &format!("/v1/endpoints/{name}"), &spec);
        assert_eq!(answer.status, 422, "{name}: {}", answer.body);
    }
    assert_eq!(operator.get("/v1/endpoints"), json!({}));
    // The same bounds for a map in GML as in JSON.
    let gml = Client::with_type(world.address(), &world.operator_token(), "text/x-gml");
    let long = "x".repeat(30_000_000);
    for name in [&long[..], &long[..201]] {
        let node = format!("node [ id 1 label \"{name}\" ]");
        let map = format!("graph [ {node} node [ id 2 ] edge [ source 1 target 2 ] ]");
        let title = format!(
            "graph [ label \"{name}\" node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]"
        );
        for map in [map, title] {
            let answer = gml.send("PUT", "/v1/map", &map);
            assert_eq!(answer.status, 422, "{}", answer.body);
            assert!(answer.body.contains("1 to 200 bytes") && answer.body.len() < 1000);
        }
    }
    for name in [&long[..201], "", "a\u{1b}[2J", "a\u{9b}2J"] {
        let nodes = json!({ "nodes": [{ "name": name }], "links": [] });
        let answer = operator.send("PUT", "/v1/map", &nodes.to_string());
        assert_eq!(answer.status, 422, "{}", answer.body);
        assert!(
            answer.body.contains("nodes.0: a name has"),
            "{}",
            answer.body
        );
    }
}

/// Streams of a viewer at one address do not take those of the others.
#[test]
fn streams_of_viewers_by_address() {
    let world = World::new();
    let viewer = world.viewer();
    let mine: Vec<_> = (0..8).map(|_| viewer.stream("/v1/events")).collect();
    assert_eq!(viewer.send("GET", "/v1/events", "").status, 429);
    let _operator = world.operator().stream("/v1/events");
    let elsewhere = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    let other: SocketAddr = "127.0.0.2:0".parse().unwrap();
    elsewhere.bind(&other.into()).unwrap();
    elsewhere.connect(&world.address().into()).unwrap();
    let mut elsewhere = TcpStream::from(elsewhere);
    let token = world.viewer_token();
    let request =
        format!("GET /v1/events HTTP/1.1\r\nHost: m\r\nAuthorization: Bearer {token}\r\n\r\n");
    elsewhere.write_all(request.as_bytes()).unwrap();
    let mut status = [0; 12];
    elsewhere.read_exact(&mut status).unwrap();
    assert_eq!(&status, b"HTTP/1.1 200");
    drop(mine);
}
