//! The loop with a real manager and a kernel in memory.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use manager::api::{Subflow, Token};
use manager::server::{Config, HttpLimits, Server};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};

use super::*;

type Connections = BTreeMap<Token, Vec<SeenSubflow>>;

/// A kernel in memory.
#[derive(Clone, Default)]
pub(crate) struct Memory(Rc<RefCell<Connections>>);

impl Kernel for Memory {
    fn read(&mut self) -> Result<Vec<Seen>> {
        let connections = self.0.borrow();
        let seen = connections.iter().map(|(token, subflows)| Seen {
            token: *token,
            subflows: subflows.clone(),
        });
        Ok(seen.collect())
    }

    fn set(&mut self, moves: &[(Token, Subflow, u8)]) -> Result<()> {
        for (token, ends, group) in moves {
            let mut connections = self.0.borrow_mut();
            let subflows = connections.get_mut(token).expect("it was read");
            let subflow = subflows.iter_mut().find(|subflow| subflow.ends == *ends);
            subflow.expect("it was read").group = *group;
        }
        Ok(())
    }
}

impl Memory {
    pub(crate) fn open(&self, token: u32, subflows: &[(&str, &str)]) {
        let seen = subflows.iter().map(|(local, remote)| SeenSubflow {
            ends: Subflow {
                local: local.parse().unwrap(),
                remote: remote.parse().unwrap(),
            },
            group: 0,
        });
        self.0.borrow_mut().insert(Token(token), seen.collect());
    }

    fn groups(&self, token: u32) -> Vec<u8> {
        let connections = self.0.borrow();
        connections[&Token(token)]
            .iter()
            .map(|subflow| subflow.group)
            .collect()
    }
}

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("lisa-assist-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let mut private = std::fs::DirBuilder::new();
        private.mode(0o700).create(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn serve(folder: &Folder, port: u16) -> Server {
    let config = Config {
        listen: ([127, 0, 0, 1], port).into(),
        folder: folder.0.clone(),
        tls: None,
        limits: manager::Limits::default(),
        http: HttpLimits::default(),
    };
    Server::start(config).unwrap()
}

/// A request of the operator.
async fn operate(server: &Server, method: &str, path: &str, body: Value) -> Value {
    let token = std::fs::read_to_string(server.operator_file()).unwrap();
    let stream = TcpStream::connect(server.address()).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    let request = hyper::Request::builder()
        .method(method)
        .uri(path)
        .header("Host", "manager")
        .header("Authorization", format!("Bearer {}", token.trim()))
        .body(Full::new(Bytes::from(body.to_string())))
        .unwrap();
    let response = sender.send_request(request).await.unwrap();
    assert!(
        response.status().is_success(),
        "{path}: {}",
        response.status()
    );
    let body = response.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&body).unwrap_or(Value::Null)
}

const LINKS: [(&str, &str); 5] = [("a", "c"), ("b", "d"), ("c", "e"), ("d", "e"), ("c", "d")];

/// Nodes a and b reach e over c and d; returns the token of an endpoint at a and b.
async fn set_up(server: &Server) -> String {
    let nodes = ["a", "b", "c", "d", "e"];
    let named: Vec<_> = nodes.iter().map(|name| json!({ "name": name })).collect();
    let links: Vec<_> = LINKS
        .iter()
        .map(|(from, to)| json!({ "from": from, "to": to }))
        .collect();
    operate(
        server,
        "PUT",
        "/v1/map",
        json!({ "nodes": named, "links": links }),
    )
    .await;
    let prefixes = nodes
        .iter()
        .enumerate()
        .map(|(index, node)| json!({ "prefix": format!("10.{index}.0.0/16"), "node": node }));
    let prefixes: Vec<_> = prefixes.collect();
    operate(
        server,
        "PUT",
        "/v1/prefixes",
        json!({ "prefixes": prefixes }),
    )
    .await;
    let rates: Vec<_> = (LINKS.iter())
        .map(|(from, to)| json!({ "link": format!("{from} – {to}"), "available_bps": 10_000_000 }))
        .collect();
    operate(server, "PUT", "/v1/rates", json!({ "rates": rates })).await;
    let endpoint = json!({ "addresses": ["10.0.0.0/15"] });
    let token = operate(server, "PUT", "/v1/endpoints/one", endpoint).await;
    token["token"].as_str().unwrap().into()
}

async fn link(server: &Server, link: &str, up: bool) {
    let body = json!({ "links": [{ "link": link, "up": up }] });
    operate(server, "PUT", "/v1/links", body).await;
}

/// A running loop.
struct Running {
    memory: Memory,
    events: mpsc::UnboundedReceiver<Event>,
    stop: oneshot::Sender<()>,
    ended: tokio::task::JoinHandle<Result<()>>,
}

impl Running {
    fn start(server: &Server, token: &str, memory: &Memory) -> Option<Self> {
        let target: Target = format!("http://{}", server.address()).parse().unwrap();
        let manager = Manager::new(target, token, None).unwrap();
        let path_manager = match PathManagerEvents::open() {
            Ok(events) => events,
            Err(error) => {
                eprintln!("skipped: {error}");
                return None;
            }
        };
        let (sender, events) = mpsc::unbounded_channel();
        let agent = Agent::new(manager, memory.clone(), move |event| {
            let _ = sender.send(event);
        });
        let (stop, stopped) = oneshot::channel::<()>();
        let ended = tokio::task::spawn_local(agent.run(path_manager, async {
            let _ = stopped.await;
        }));
        Some(Self {
            memory: memory.clone(),
            events,
            stop,
            ended,
        })
    }

    /// Waits for an event.
    async fn wait(&mut self, mut is_it: impl FnMut(&Event) -> bool) {
        let found = async {
            while let Some(event) = self.events.recv().await {
                if is_it(&event) {
                    return;
                }
            }
            panic!("the loop has ended");
        };
        tokio::time::timeout(Duration::from_secs(60), found)
            .await
            .expect("the event");
    }

    /// Waits until a connection has these groups.
    async fn groups(&mut self, token: u32, expected: &[u8]) {
        let memory = self.memory.clone();
        if memory.groups(token) != expected {
            self.wait(|event| {
                matches!(event, Event::Groups(_) | Event::Coupled)
                    && memory.groups(token) == expected
            })
            .await;
        }
    }

    async fn end(self) {
        let _ = self.stop.send(());
        self.ended.await.unwrap().unwrap();
    }
}

pub(crate) fn run(test: impl AsyncFnOnce()) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, test());
}

pub(crate) const DISJOINT: [(&str, &str); 2] = [
    ("10.0.0.1:1000", "10.4.0.1:443"),
    ("10.1.0.1:1001", "10.4.0.1:443"),
];

/// Reported at the start, separated, coupled when a link fails, separated when it returns, coupled at the end.
#[test]
fn groups_follow_the_manager() {
    run(async || {
        let folder = Folder::new();
        let server = serve(&folder, 0);
        let token = set_up(&server).await;
        let memory = Memory::default();
        memory.open(7, &DISJOINT);
        let Some(mut running) = Running::start(&server, &token, &memory) else {
            return;
        };
        running.groups(7, &[0, 1]).await;
        link(&server, "c – e", false).await;
        running.groups(7, &[0, 0]).await;
        link(&server, "c – e", true).await;
        running.groups(7, &[0, 1]).await;
        running.end().await;
        assert_eq!(memory.groups(7), [0, 0], "coupled at the end");
    });
}

/// After a restart of the manager all is reported again; a connection that is new then is reported, too.
#[test]
fn a_manager_that_restarts_gets_all_reports() {
    run(async || {
        let folder = Folder::new();
        let server = serve(&folder, 0);
        let port = server.address().port();
        let token = set_up(&server).await;
        let memory = Memory::default();
        memory.open(7, &DISJOINT);
        let Some(mut running) = Running::start(&server, &token, &memory) else {
            return;
        };
        running.groups(7, &[0, 1]).await;
        drop(server);
        running.wait(|event| matches!(event, Event::Lost(_))).await;
        assert_eq!(memory.groups(7), [0, 1], "its rates are not old yet");
        memory.open(8, &DISJOINT);
        let server = serve(&folder, port);
        running
            .wait(|event| matches!(event, Event::Connected(_)))
            .await;
        running.groups(8, &[0, 1]).await;
        let view = operate(&server, "GET", "/v1/connections", Value::Null).await;
        assert_eq!(view["total"], 2);
        running.end().await;
    });
}

/// A manager that answers nonsense, groups of others, and numbers that are no groups: nothing is separated.
#[test]
fn a_wrong_manager_separates_nothing() {
    run(async || {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let reports = Rc::new(RefCell::new(0));
        let counted = reports.clone();
        tokio::task::spawn_local(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let reports = counted.clone();
                tokio::task::spawn_local(async move {
                    let service = hyper::service::service_fn(
                        |request: hyper::Request<hyper::body::Incoming>| {
                            let reports = reports.clone();
                            async move {
                                let path = request.uri().path().to_owned();
                                let body = match &path[..] {
                                    "/v1/session" => {
                                        json!({ "endpoint": "x", "session": "y" }).to_string()
                                    }
                                    "/v1/events" => ": open\n\nevent: groups\ndata: [{]\n\n".into(),
                                    _ => {
                                        *reports.borrow_mut() += 1;
                                        let subflow = |group| json!({ "local": DISJOINT[1].0, "remote": DISJOINT[1].1, "group": group });
                                        let first = json!({ "local": DISJOINT[0].0, "remote": DISJOINT[0].1, "group": 0 });
                                        let groups = match *reports.borrow() {
                                            1 => json!([first, subflow(255)]),
                                            2 => json!([subflow(1)]),
                                            _ => json!("nonsense"),
                                        };
                                        json!({ "sequence": 1, "connections": [{ "connection": "7", "revision": 1, "groups": groups }] }).to_string()
                                    }
                                };
                                Ok::<_, std::convert::Infallible>(hyper::Response::new(Full::new(
                                    Bytes::from(body),
                                )))
                            }
                        },
                    );
                    let connection = hyper::server::conn::http1::Builder::new();
                    let _ = connection
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        let folder = Folder::new();
        let server = serve(&folder, 0); // only for `Running::start`
        let memory = Memory::default();
        memory.open(7, &DISJOINT);
        let target: Target = format!("http://{address}").parse().unwrap();
        let Ok(path_manager) = PathManagerEvents::open() else {
            eprintln!("skipped: no events of MPTCP's path manager");
            return;
        };
        let (sender, mut events) = mpsc::unbounded_channel();
        let manager = Manager::new(target, "token", None).unwrap();
        let agent = Agent::new(manager, memory.clone(), move |event| {
            let _ = sender.send(event);
        });
        let (stop, stopped) = oneshot::channel::<()>();
        let ended = tokio::task::spawn_local(agent.run(path_manager, async {
            let _ = stopped.await;
        }));
        let mut lost = 0;
        while lost < 4 {
            let event = tokio::time::timeout(Duration::from_secs(60), events.recv()).await;
            lost += usize::from(matches!(event.unwrap(), Some(Event::Lost(_))));
            assert_eq!(memory.groups(7), [0, 0]);
        }
        let _ = stop.send(());
        ended.await.unwrap().unwrap();
        drop(server);
    });
}

#[test]
fn addresses_of_managers() {
    for (text, shown, exposed) in [
        ("http://127.0.0.1:9720", "http://127.0.0.1:9720", false),
        ("http://[::1]:9720/", "http://[::1]:9720", false),
        ("http://192.0.2.1:9720", "http://192.0.2.1:9720", true),
        (
            "http://[::ffff:127.0.0.1]:1",
            "http://[::ffff:127.0.0.1]:1",
            false,
        ),
        (
            "https://manager.example",
            "https://manager.example:443",
            false,
        ),
    ] {
        let target: Target = text.parse().unwrap();
        assert_eq!(
            (target.to_string(), target.is_exposed()),
            (shown.into(), exposed)
        );
    }
    for text in ["", "manager", "ftp://x", "http://x/path", "http://x:1/?y"] {
        assert!(text.parse::<Target>().is_err(), "{text}");
    }
}
