//! `lisa kernel assist` on this kernel: groups from a manager, its failing link, its end and its return.

use crate::support::stream::{exchange, open, serve};
use crate::support::world::{Running, World, client_address, run, server_address};
use crate::support::{Folder, LISA, Loaded, able, content, until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Port of the manager, in the namespace of the client alone.
const PORT: u16 = 9720;

/// A manager at the client's host, whose addresses are two nodes with a link each to the server's.
struct Managed<'w> {
    world: &'w World,
    folder: Folder,
}

impl<'w> Managed<'w> {
    fn new(world: &'w World) -> Self {
        let folder = Folder::new();
        Self { world, folder }
    }

    /// Starts the manager, also again after its end.
    fn serve(&self) -> Running {
        let mut command = self.world.client.command(LISA);
        let running = Running::start(
            (command.args(["serve", "--listen", &format!("127.0.0.1:{PORT}")]))
                .arg("--folder")
                .arg(self.folder.join("manager")),
        );
        crate::support::world::listens(&self.world.client, PORT);
        running
    }

    fn put(&self, path: &str, body: &Value) -> String {
        let token = fs::read_to_string(self.folder.join("manager/operator.token"));
        let header = format!("Authorization: Bearer {}", token.expect("a token").trim());
        let mut command = self.world.client.command("curl");
        command.args(["-sS", "--fail-with-body", "-X", "PUT", "-H", &header]);
        command.args(["-d", &body.to_string()]);
        command.arg(format!("http://127.0.0.1:{PORT}{path}"));
        String::from_utf8(run(&mut command).stdout).expect("text")
    }

    /// Describes the network, and returns the file of the endpoint's token.
    fn describe(&self) -> PathBuf {
        let nodes = ["a", "b", "s"].map(|name| json!({ "name": name }));
        let links = ["a", "b"].map(|name| json!({ "from": name, "to": "s" }));
        self.put("/v1/map", &json!({ "nodes": nodes, "links": links }));
        let at = [
            (client_address(0), "a"),
            (client_address(1), "b"),
            (server_address(0), "s"),
            (server_address(1), "s"),
        ];
        let prefixes =
            at.map(|(address, node)| json!({ "prefix": format!("{address}/32"), "node": node }));
        self.put("/v1/prefixes", &json!({ "prefixes": prefixes }));
        self.rates();
        let addresses = [0, 1].map(|link| format!("{}/32", client_address(link)));
        let answer = self.put("/v1/endpoints/client", &json!({ "addresses": addresses }));
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        let file = self.folder.join("client.token");
        fs::write(&file, answer["token"].as_str().expect("a token")).expect("a file");
        file
    }

    fn rates(&self) {
        let rates = ["a – s", "b – s"];
        let rates = rates.map(|link| json!({ "link": link, "available_bps": 10_000_000 }));
        self.put("/v1/rates", &json!({ "rates": rates }));
    }

    fn link(&self, link: &str, up: bool) {
        let links = json!([{ "link": link, "up": up }]);
        self.put("/v1/links", &json!({ "links": links }));
    }
}

/// `lisa kernel assist`, until it ends.
fn assist(world: &World, token: &PathBuf) -> Running {
    let mut command: Command = world.client.command(LISA);
    command.args(["kernel", "assist", "--json", "--from"]);
    command.arg(format!("http://127.0.0.1:{PORT}"));
    Running::start(command.arg("--token").arg(token))
}

/// The kinds of the events that it has printed.
fn printed(assist: Running) -> Vec<String> {
    assist.signal(Signal::SIGTERM);
    let output = String::from_utf8(assist.succeed().stdout).expect("text");
    let lines = output.lines().map(|line| {
        let event: Value = serde_json::from_str(line).expect("JSON");
        event["event"].as_str().expect("a kind").to_owned()
    });
    lines.collect()
}

#[test]
fn groups_follow_the_manager() {
    if !able() {
        return;
    }
    let (loaded, world) = (Loaded::lisa(), World::joined(2));
    let managed = Managed::new(&world);
    let manager = managed.serve();
    let token = managed.describe();

    let listening = serve(&world, loaded.name());
    let (client, server) = open(&world, &listening, loaded.name(), None);
    // Two subflows send, and take over requests on their ACKs.
    let grouped = |what: &str, expected: [u8; 2]| {
        let netns = (world.client).run(|| kernel::default::netns().expect("a namespace"));
        until(what, || {
            exchange(&client, &server, &content(200_000, 30));
            let all = loaded.status().connections;
            let ours = all.iter().find(|connection| connection.netns == netns);
            let ours = ours.expect("it is open");
            let groups = ours.subflows.iter().map(|subflow| subflow.group);
            groups.collect::<Vec<_>>() == expected
        });
    };
    grouped("two subflows", [0, 0]);
    let endpoint = assist(&world, &token);
    grouped("separate links", [0, 1]);
    managed.link("b – s", false);
    grouped("a failed link", [0, 0]);
    managed.link("b – s", true);
    grouped("a link that has returned", [0, 1]);

    // The endpoint begins another session with a manager that has lost the former one, and reports all again.
    manager.signal(Signal::SIGKILL);
    let _ = manager.end();
    let manager = managed.serve();
    managed.link("b – s", false);
    managed.rates();
    grouped("a failed link, after the manager's end", [0, 0]);
    managed.link("b – s", true);
    grouped("both links, after the manager's end", [0, 1]);

    // Its end couples all, and another one starts where it was.
    let events = printed(endpoint);
    assert_eq!(events.first().map(String::as_str), Some("connected"));
    assert_eq!(events.last().map(String::as_str), Some("coupled"));
    assert!(events.iter().any(|event| event == "lost"), "{events:?}");
    grouped("no endpoint", [0, 0]);
    let endpoint = assist(&world, &token);
    managed.rates();
    grouped("another endpoint", [0, 1]);
    drop((client, server));
    assert_eq!(printed(endpoint), ["connected", "groups", "coupled"]);
    manager.signal(Signal::SIGTERM);
    manager.succeed();
    loaded.settled();
}
