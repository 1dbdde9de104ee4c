//! A full disk: requests fail, and memory and disk stay the same.

mod support;

use std::fs;
use std::io::Read;
use std::path::Path;

use serde_json::{Value, json};
use support::{Client, Folder, Running, World};

/// Fills the file system but for a few bytes.
fn fill(folder: &Path) -> std::path::PathBuf {
    let file = folder.join("filler");
    let mut zeros = std::io::repeat(0);
    let mut filler = fs::File::create(&file).expect("a file");
    let _ = std::io::copy(&mut zeros, &mut filler); // ends with ENOSPC
    file
}

/// A map of more bytes than the disk has.
fn large_map() -> String {
    let name = |node: u32| format!("a-node-with-a-long-name-{node:06}");
    let nodes: Vec<Value> = (0..20_000)
        .map(|node| json!({ "name": name(node) }))
        .collect();
    let links: Vec<Value> = (1..20_000)
        .map(|node| json!({ "from": name(node - 1), "to": name(node) }))
        .collect();
    json!({ "nodes": nodes, "links": links }).to_string()
}

/// What the manager shows of its contents.
fn contents(operator: &Client) -> [Value; 4] {
    ["/v1/map", "/v1/prefixes", "/v1/routes", "/v1/endpoints"].map(|path| {
        let mut shown = operator.get(path);
        if let Some(map) = shown.as_object_mut() {
            map.remove("revision"); // counts changes since the start
        }
        shown
    })
}

#[test]
fn a_full_disk_changes_nothing() {
    let folder = Folder::new();
    let mut running = Running::on_small_disk(&folder, "8m");
    let inside = running.inside(&folder);
    let world = World::at(running.address(), &inside);
    let operator = world.operator();
    let mut one = world.endpoint("one", &["10.0.0.0/15"]);
    let before = contents(&operator);

    let filler = fill(&inside);
    // Too large for the disk.
    let answer = operator.send("PUT", "/v1/map", &large_map());
    assert_eq!(answer.status, 500, "{}", answer.body);
    assert!(answer.body.contains("No space left"), "{}", answer.body);
    assert!(contents(&operator) == before);

    // Endpoints with long lists, until nothing fits any more.
    let list: Vec<String> = (0..64)
        .map(|net| format!("2001:db8::{net:x}:0:0/112"))
        .collect();
    let mut from = list.clone();
    from[0] = "127.0.0.0/8".into();
    let long = json!({ "addresses": list, "from": from }).to_string();
    let status = |token: &Client| token.send("POST", "/v1/session", "").status;
    let (mut failed, mut rotation_failed) = (0, false);
    for number in 0..5000 {
        let name = format!("endpoint-{number}");
        let answer = operator.send("PUT", &format!("/v1/endpoints/{name}"), &long);
        if answer.status == 200 {
            continue;
        }
        assert_eq!(answer.status, 500, "{}", answer.body);
        assert!(operator.get("/v1/endpoints").get(&name).is_none(), "{name}");
        // A token counts until its rotation or removal has succeeded.
        let rotation = operator.send("PUT", "/v1/endpoints/one", &long);
        if rotation.status == 200 {
            one = Client::new(world.address(), rotation.json()["token"].as_str().unwrap());
        } else {
            assert_eq!(rotation.status, 500);
            rotation_failed = true;
        }
        assert_eq!(status(&one), 200);
        let removal = operator.send("DELETE", "/v1/endpoints/endpoint-0", "");
        let shown = operator.get("/v1/endpoints").get("endpoint-0").is_some();
        assert_eq!(shown, removal.status == 500);
        failed += 1;
        if failed >= 5 && rotation_failed {
            break;
        }
    }
    assert!(rotation_failed, "the disk is not full");

    // With space again everything works, without a restart.
    let before = contents(&operator);
    fs::remove_file(filler).unwrap();
    let three = world.endpoint("three", &["10.3.0.0/16"]);
    three.session();
    assert_eq!(
        operator.send("DELETE", "/v1/endpoints/three", "").status,
        204
    );
    assert!(contents(&operator) == before);

    // What is on the disk is what was in memory.
    let copy = Folder::new();
    fs::copy(inside.join("manager.redb"), copy.join("manager.redb")).unwrap();
    running.kill();
    support::write_private(&copy.join("operator.token"), &world.operator_token());
    let again = Running::start(&copy);
    let operator = Client::new(again.address(), &world.operator_token());
    assert!(contents(&operator) == before);
    assert_eq!(status(&Client::new(again.address(), one.token())), 200);
}

/// The process of these tests.
#[test]
#[ignore = "is run by the other tests"]
fn serve_until_killed() {
    let Some(folder) = std::env::var_os("MANAGER_FOLDER") else {
        return;
    };
    let server = support::start(folder.as_ref());
    println!("\nmanager at {}", server.address());
    let _ = std::io::stdin().read(&mut [0]); // until the test ends
}
