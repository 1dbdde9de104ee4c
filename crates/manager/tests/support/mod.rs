//! A server with a small map, and clients of it.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::ops::Deref;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use lisa_manager::Limits;
use lisa_manager::server::{Config, HttpLimits, Server};
use serde_json::{Value, json};

/// A folder that is removed at the end.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("lisa-manager-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let mut private = std::fs::DirBuilder::new();
        private.mode(0o700).create(&folder).expect("a new folder");
        Self(folder)
    }
}

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Sets the mode of a file.
pub fn chmod(file: &Path, mode: u32) {
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).expect("an own file");
}

/// Writes a file that its owner alone can read.
pub fn write_private(file: &Path, text: &str) {
    std::fs::write(file, text).expect("a file");
    chmod(file, 0o600);
}

pub fn config(folder: &Path) -> Config {
    Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        folder: folder.into(),
        tls: None,
        limits: Limits::default(),
        http: HttpLimits::default(),
    }
}

pub fn start(folder: &Path) -> Server {
    Server::start(config(folder)).expect("a server")
}

/// A server in a process of its own.
pub struct Running {
    child: Child,
    address: SocketAddr,
}

impl Running {
    /// Starts the ignored test `serve_until_killed` of this binary.
    pub fn start(folder: &Path) -> Self {
        Self::run(Command::new(std::env::current_exe().unwrap()), folder)
    }

    /// As [`start`](Self::start), on a file system of this size in memory, which no other process sees.
    pub fn on_small_disk(folder: &Path, size: &str) -> Self {
        let script =
            format!("mount -t tmpfs -o mode=700,size={size} small \"$1\" && shift && exec \"$@\"");
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c", &script, "sh"]);
        command.arg(folder).arg(std::env::current_exe().unwrap());
        Self::run(command, folder)
    }

    fn run(mut command: Command, folder: &Path) -> Self {
        let mut child = command
            .args(["--exact", "serve_until_killed", "--ignored", "--nocapture"])
            .env("MANAGER_FOLDER", folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this binary");
        let output = BufReader::new(child.stdout.take().expect("pipe"));
        let address = output
            .lines()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("manager at ").map(str::to_owned))
            .expect("an address");
        Self {
            child,
            address: address.parse().unwrap(),
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The folder as the process sees it.
    pub fn inside(&self, folder: &Path) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.child.id()));
        root.join(folder.strip_prefix("/").expect("an absolute path"))
    }

    /// SIGKILL.
    pub fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Nodes n0 to n4 and prefixes 10.N.0.0/16: n0 and n1 reach n4 over n2 and n3.
pub struct World {
    _server: Option<(Server, Folder)>,
    address: SocketAddr,
    operator: String,
    viewer: String,
}

const LINKS: [(u32, u32); 6] = [(0, 2), (1, 3), (2, 4), (3, 4), (2, 3), (3, 2)];

impl World {
    /// The operator reports that a link has failed.
    pub fn fail(&self, link: &str) {
        let down = serde_json::json!({ "links": [{ "link": link, "up": false }] });
        let answer = self.operator().send("PUT", "/v1/links", &down.to_string());
        assert_eq!(answer.status, 204);
    }

    pub fn new() -> Self {
        let folder = Folder::new();
        let server = start(&folder);
        let mut world = Self::at(server.address(), &folder);
        world._server = Some((server, folder));
        world
    }

    /// Gives a server this map.
    pub fn at(address: SocketAddr, folder: &Path) -> Self {
        let token = |file: &str| {
            std::fs::read_to_string(folder.join(file))
                .unwrap()
                .trim()
                .to_owned()
        };
        let world = Self {
            _server: None,
            address,
            operator: token("operator.token"),
            viewer: token("viewer.token"),
        };
        let operator = world.operator();
        let nodes: Vec<Value> = (0..5)
            .map(|node| json!({ "name": format!("n{node}") }))
            .collect();
        let links =
            LINKS.map(|(from, to)| json!({ "from": format!("n{from}"), "to": format!("n{to}") }));
        let prefixes = (0..5).map(
            |node| json!({ "prefix": format!("10.{node}.0.0/16"), "node": format!("n{node}") }),
        );
        let rates: Vec<Value> = (world.links().iter())
            .map(|link| json!({ "link": link, "available_bps": 10 }))
            .collect();
        for (path, body) in [
            ("/v1/map", json!({ "nodes": nodes, "links": links })),
            (
                "/v1/prefixes",
                json!({ "prefixes": prefixes.collect::<Vec<_>>() }),
            ),
            ("/v1/rates", json!({ "rates": rates })),
        ] {
            let answer = operator.send("PUT", path, &body.to_string());
            assert_eq!(answer.status, 204, "{path}: {}", answer.body);
        }
        world
    }

    pub fn links(&self) -> Vec<String> {
        LINKS.map(|(from, to)| format!("n{from} – n{to}")).to_vec()
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn operator_token(&self) -> String {
        self.operator.clone()
    }

    pub fn viewer_token(&self) -> String {
        self.viewer.clone()
    }

    pub fn operator(&self) -> Client {
        Client::new(self.address, &self.operator)
    }

    pub fn viewer(&self) -> Client {
        Client::new(self.address, &self.viewer)
    }

    /// A new endpoint with these addresses.
    pub fn endpoint(&self, name: &str, addresses: &[&str]) -> Client {
        let body = json!({ "addresses": addresses }).to_string();
        let answer = self
            .operator()
            .send("PUT", &format!("/v1/endpoints/{name}"), &body);
        assert_eq!(answer.status, 200, "{}", answer.body);
        Client::new(self.address, answer.json()["token"].as_str().unwrap())
    }
}

/// A client with a token.
#[derive(Clone)]
pub struct Client {
    address: SocketAddr,
    token: String,
    media_type: &'static str,
}

/// An answer.
pub struct Answer {
    pub status: u16,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

impl Client {
    pub fn new(address: SocketAddr, token: &str) -> Self {
        Self::with_type(address, token, "application/json")
    }

    pub fn with_type(address: SocketAddr, token: &str, media_type: &'static str) -> Self {
        Self {
            address,
            token: token.into(),
            media_type,
        }
    }

    pub fn token(&self) -> &str {
        &self.token
    }

    fn head(&self, method: &str, path: &str, length: usize) -> String {
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: {}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n",
            self.address, self.token, self.media_type
        )
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("it listens");
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream
    }

    /// Sends a request, and reads the answer to its end.
    pub fn send(&self, method: &str, path: &str, body: &str) -> Answer {
        let mut stream = self.connect();
        let head = self.head(method, path, body.len());
        stream.write_all(head.as_bytes()).expect("sent");
        let _ = stream.write_all(body.as_bytes()); // may be refused unread
        let mut lines = BufReader::new(stream);
        let mut head = String::new();
        while lines.read_line(&mut head).is_ok_and(|length| length > 2) {}
        let status = (head.split(' ').nth(1)).and_then(|status| status.parse().ok());
        // A server that keeps the connection, as chromedriver does, says how long the body is.
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            let value = value.trim().parse().ok()?;
            name.eq_ignore_ascii_case("content-length").then_some(value)
        });
        let mut body = String::new();
        let _ = lines
            .take(length.unwrap_or(u64::MAX))
            .read_to_string(&mut body);
        Answer {
            status: status.unwrap_or_else(|| panic!("no answer to {method} {path}: {head:?}")),
            body,
        }
    }

    pub fn get(&self, path: &str) -> Value {
        let answer = self.send("GET", path, "");
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.json()
    }

    pub fn session(&self) -> String {
        let answer = self.send("POST", "/v1/session", "");
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()["session"].as_str().unwrap().into()
    }

    /// Reports the connection 1a2b3c4d with these subflows, and returns its groups.
    pub fn report(&self, session: &str, sequence: u64, subflows: &[(&str, &str)]) -> Vec<u64> {
        let subflows: Vec<_> = subflows
            .iter()
            .map(|(local, remote)| json!({ "local": local, "remote": remote }))
            .collect();
        let connection = json!({ "connection": "1a2b3c4d", "subflows": subflows });
        let report =
            json!({ "session": session, "sequence": sequence, "connections": [connection] });
        let answer = self.send("POST", "/v1/reports", &report.to_string());
        assert_eq!(answer.status, 200, "{}", answer.body);
        let answer = answer.json();
        let groups = answer["connections"][0]["groups"].as_array().unwrap();
        groups
            .iter()
            .map(|subflow| subflow["group"].as_u64().unwrap())
            .collect()
    }

    /// Opens a stream of events.
    pub fn stream(&self, path: &str) -> Stream {
        let mut stream = self.connect();
        stream
            .write_all(self.head("GET", path, 0).as_bytes())
            .expect("sent");
        let mut lines = BufReader::new(stream);
        let mut line = String::new();
        lines.read_line(&mut line).expect("a status");
        assert!(line.contains(" 200 "), "{line}");
        // The manager has opened it when its first comment comes.
        while !line.starts_with(": open") {
            line.clear();
            assert!(lines.read_line(&mut line).expect("a line") > 0, "it ended");
        }
        Stream { lines }
    }
}

/// A stream of events. Chunks are events as a whole.
pub struct Stream {
    lines: BufReader<TcpStream>,
}

impl Stream {
    /// The data of the next event of this name.
    pub fn event(&mut self, name: &str) -> Value {
        let mut is_it = false;
        loop {
            let mut line = String::new();
            assert!(
                self.lines.read_line(&mut line).expect("a line") > 0,
                "it ended"
            );
            if let Some(event) = line.strip_prefix("event: ") {
                is_it = event.trim() == name;
            }
            if let (Some(data), true) = (line.strip_prefix("data: "), is_it) {
                return serde_json::from_str(data).expect("JSON");
            }
        }
    }
}
