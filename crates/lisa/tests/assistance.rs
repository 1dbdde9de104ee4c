//! The topology manager and its endpoints by the command line: the example of docs/assistance.md, signals and errors, and on this kernel
//! the effect of assistance.
//!
//! The tests on the kernel need root.

mod support;

#[path = "assistance/endpoint.rs"]
mod endpoint;
#[path = "assistance/privilege.rs"]
mod privilege;

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use support::{Folder, LISA, able, complaint};

/// `lisa serve`.
struct Serve {
    child: Child,
    url: String,
}

impl Serve {
    fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let mut child = Command::new(LISA)
            .args(["serve", "--json", "--listen", "127.0.0.1:0", "--folder"])
            .arg(folder.join("manager"))
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .expect("lisa");
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("pipe"));
        output.read_line(&mut line).expect("a line");
        let start: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(start["schema"], "lisa.serve/1");
        let url = start["url"].as_str().expect("a URL").to_owned();
        Self { child, url }
    }

    fn end(mut self, signal: nix::sys::signal::Signal) {
        let id = nix::unistd::Pid::from_raw(self.child.id() as i32);
        nix::sys::signal::kill(id, signal).expect("a child of ours");
        assert!(self.child.wait().expect("lisa").success());
    }
}

/// The operator's commands of the guide, with the folder and port of this test.
fn example(folder: &Folder, url: &str) -> String {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/assistance.md");
    let text = fs::read_to_string(docs).expect("the guide");
    let (_, example) = text.split_once("## An example\n").expect("its title");
    let (_, example) = example.split_once("```sh\n").expect("its commands");
    let (example, _) = example.split_once("```").expect("their end");
    let lines = (example.lines()).filter(|line| !line.starts_with("lisa serve"));
    let script: String = lines.map(|line| format!("{line}\n")).collect();
    assert!(script.contains("put rates"), "{script}");
    let manager = folder.join("manager");
    script.replace("http://127.0.0.1:9720", url).replace(
        "manager/operator.token",
        &manager.join("operator.token").display().to_string(),
    )
}

#[test]
fn the_example_of_the_guide() {
    let folder = Folder::new();
    let serve = Serve::start(&folder, &[]);
    let script = format!("set -eu\n{}", example(&folder, &serve.url));
    let output = Command::new("bash")
        .args(["-c", &script])
        .output()
        .expect("bash");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{printed} {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let token: serde_json::Value =
        serde_json::from_str(&printed).expect("the token of the endpoint");
    // What the guide says of the groups.
    let curl = |path: &str, body: &str| {
        let header = format!(
            "Authorization: Bearer {}",
            token["token"].as_str().expect("a token")
        );
        let output = Command::new("curl")
            .args(["-sS", "--fail-with-body", "-H", &header, "-d", body])
            .arg(format!("{}{path}", serve.url))
            .output()
            .expect("curl");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{printed}");
        serde_json::from_str::<serde_json::Value>(&printed).expect("JSON")
    };
    let session = curl("/v1/session", "");
    let report = serde_json::json!({
        "session": session["session"],
        "sequence": 1,
        "connections": [{ "connection": "1", "subflows": [
            { "local": "10.1.0.2:4000", "remote": "10.3.0.1:443" },
            { "local": "10.2.0.2:4001", "remote": "10.3.0.1:443" },
        ] }],
    });
    let answer = curl("/v1/reports", &report.to_string());
    let groups = answer["connections"][0]["groups"]
        .as_array()
        .expect("groups");
    let groups: Vec<_> = groups
        .iter()
        .map(|subflow| subflow["group"].as_u64())
        .collect();
    assert_eq!(groups, [Some(0), Some(1)]);
    serve.end(nix::sys::signal::Signal::SIGINT);
}

#[test]
fn errors_in_one_line() {
    let folder = Folder::new();
    let serve = Serve::start(&folder, &[]);
    let run = |arguments: &[&str]| Command::new(LISA).args(arguments).output().expect("lisa");
    let manager = folder.join("manager").display().to_string();
    let again = run(&["serve", "--listen", "127.0.0.1:0", "--folder", &manager]);
    assert!(complaint(&again, 1).contains("manager.redb"));
    let port = serve.url.rsplit(':').next().expect("a port");
    let other = folder.join("other").display().to_string();
    let taken = run(&[
        "serve",
        "--listen",
        &format!("127.0.0.1:{port}"),
        "--folder",
        &other,
    ]);
    assert!(complaint(&taken, 1).contains("in use"));
    let open = run(&["serve", "--listen", "0.0.0.0:0", "--folder", &other]);
    assert!(complaint(&open, 2).contains("--tls-certificate and --tls-key, or --plain"));
    let exposed = run(&["kernel", "assist", "--from", "http://192.0.2.1:1"]);
    assert!(complaint(&exposed, 2).contains("use https, or --plain"));
    let missing = run(&["kernel", "assist", "--from", &serve.url, "--token", &other]);
    assert!(complaint(&missing, 1).contains("PUT /v1/endpoints/NAME"));
    let wrong = run(&["kernel", "assist", "--from", "manager"]);
    assert!(complaint(&wrong, 2).contains("like https://manager.example:9720"));
    let described = run(&["serve", "--openapi"]);
    let described: serde_json::Value = serde_json::from_slice(&described.stdout).expect("JSON");
    assert_eq!(described["openapi"], "3.1.0");
    serve.end(nix::sys::signal::Signal::SIGTERM);
}

/// A scenario on this kernel; the goodput of each connection, Mbit/s.
fn on_host(text: &str, set: &[&str]) -> Vec<f64> {
    let folder = Folder::new();
    let file = folder.join("a.toml");
    fs::write(&file, text).expect("a file");
    let mut command = Command::new(LISA);
    command.args(["run", "--on", "host", "--json"]).arg(&file);
    for key in set {
        command.args(["--set", key]);
    }
    let output = command.output().expect("lisa");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let outcome: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let connections = outcome["connections"].as_array().expect("connections");
    let goodput = connections.iter().map(|c| c["goodput_mbps"].as_f64());
    goodput.map(|mbps| mbps.expect("a goodput")).collect()
}

/// The manager, the agent, HTTP and the kernel together: with assistance a connection over two disjoint paths runs as two
/// TCP flows, and completes. How much faster it is, is in bench/README.md: a loaded machine decides.
#[test]
fn the_lab_runs_the_manager_and_the_agent() {
    if !able() {
        return;
    }
    let text = "stop = '4s'\n[topology]\nkind = 'non-shared-bottleneck'\nrate = '4Mbit'\nrtt = '20ms'\nqueue = 20\n\
                down = [[], { from = '2s', to = '2.5s' }]\n\
                [[connection]]\nname = 'multi'\nprotocol = 'mptcp'\nalgorithm = 'lia'\nsubflows = 2\nassistance = true\n";
    let goodput = on_host(text, &[]);
    assert!(goodput[0] > 0.0, "{goodput:?}");
}
