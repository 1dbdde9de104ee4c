//! Network assistance of real endpoints: the topology manager and the agent of `lisa serve` and `lisa kernel assist`, with HTTP between them,
//! in the namespace of the server, which sends the data.
//!
//! The manager has the links of the scenario as its map, beside a node for each address, and the paths of the subflows as listed
//! routes. The operator is a thread, which reports the links' rates every 10 s, and their outages when they begin and end.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use assist::{Agent, Event, Loaded, Manager, PathManagerEvents, Target};
use manager::api;
use manager::server::{Config, HttpLimits, Server};
use netsim::{Clock, RealClock, Span, Time};
use tokio::sync::oneshot;
use topology::{Graph, Path};

use crate::error::Error;
use crate::network::Hosts;

/// Time between two reports of rates, a third of their age.
const RATES: Span = Span::from_secs(10);

/// Rate of links without a limit, bit/s.
const UNLIMITED: u64 = 1_000_000_000_000;

/// Longest time until the agent has reached the manager. A VM counts it in virtual time.
const CONNECTING: Duration = Duration::from_secs(20);

/// Name of the endpoint.
const ENDPOINT: &str = "server";

fn failed(what: impl std::fmt::Display) -> Error {
    Error::Assistance(what.to_string())
}

/// A running manager, operator and agent.
pub(super) struct Assisted {
    done: Arc<AtomicBool>,
    /// Sends the clock of the network to the operator.
    clock: Option<mpsc::Sender<RealClock>>,
    operator: Option<JoinHandle<Result<(), Error>>>,
    stop: Option<oneshot::Sender<()>>,
    agent: Option<JoinHandle<Result<(), Error>>>,
    server: Option<Server>,
    folder: PathBuf,
}

impl Assisted {
    /// Starts them at a server, and waits until the agent has reached the manager.
    pub(super) fn start(
        host: usize,
        hosts: &Hosts,
        paths: &[Path],
        graph: &Graph,
    ) -> Result<Self, Error> {
        let name = format!(
            "lisa-lab-{}-{host}-{}",
            std::process::id(),
            hosts.client_address()
        );
        let folder = std::env::temp_dir().join(name);
        let config = Config {
            listen: ([127, 0, 0, 1], 0).into(),
            folder: folder.clone(),
            tls: None,
            limits: manager::Limits::default(),
            http: HttpLimits::default(),
        };
        let server = hosts.server.run(|| Server::start(config)).map_err(failed)?;
        let mut assisted = Self {
            done: Arc::default(),
            clock: None,
            operator: None,
            stop: None,
            agent: None,
            folder,
            server: None,
        };
        let token = std::fs::read_to_string(server.operator_file()).map_err(failed)?;
        let address = server.address();
        assisted.server = Some(server);
        let operator = Operator {
            address,
            token: token.trim().into(),
            graph: graph.clone(),
        };
        let description = Description::new(hosts, paths, graph);
        let (sender, receiver) = mpsc::channel();
        let done = assisted.done.clone();
        let (clock_sender, clock) = mpsc::channel();
        assisted.clock = Some(clock_sender);
        let spawned = hosts.server.spawn("operator", move || {
            let token = operator.set_up(&description)?;
            let _ = sender.send(token);
            operator.run(&description, &clock, &done)
        });
        assisted.operator = Some(spawned.map_err(failed)?);
        let Ok(token) = receiver.recv() else {
            return Err(assisted
                .end()
                .err()
                .unwrap_or_else(|| failed("the operator has ended")));
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let (sender, connected) = mpsc::channel();
        let spawned = hosts.server.spawn("agent", move || {
            let target = Target {
                is_tls: false,
                host: address.ip().to_string(),
                port: address.port(),
            };
            let manager = Manager::new(target, &token, None).map_err(failed)?;
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_io()
                .enable_time()
                .build()
                .map_err(failed)?;
            let loaded = Loaded::here().map_err(failed)?;
            let agent = Agent::new(manager, loaded, move |event| {
                if matches!(event, Event::Connected(_)) {
                    let _ = sender.send(());
                }
            });
            runtime.block_on(async {
                let events = PathManagerEvents::open().map_err(failed)?;
                let stop = async {
                    let _ = stopped.await;
                };
                agent.run(events, stop).await.map_err(failed)
            })
        });
        assisted.agent = Some(spawned.map_err(failed)?);
        assisted.stop = Some(stop);
        match connected.recv_timeout(CONNECTING) {
            Ok(()) => Ok(assisted),
            Err(_) => Err((assisted.end().err())
                .unwrap_or_else(|| failed("the agent has not reached the manager"))),
        }
    }

    /// The network starts with this clock, by which the operator reports outages.
    pub(super) fn begin(&mut self, clock: RealClock) {
        if let Some(sender) = self.clock.take() {
            let _ = sender.send(clock); // the operator may have failed
        }
    }

    /// Ends them: the agent first, which couples all subflows.
    pub(super) fn end(mut self) -> Result<(), Error> {
        self.stop_all()
    }

    fn stop_all(&mut self) -> Result<(), Error> {
        drop((self.stop.take(), self.clock.take()));
        self.done.store(true, Ordering::Release);
        let mut result = Ok(());
        for thread in [self.agent.take(), self.operator.take()]
            .into_iter()
            .flatten()
        {
            let ended = thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            result = result.and(ended);
        }
        drop(self.server.take());
        let _ = std::fs::remove_dir_all(&self.folder);
        result
    }
}

impl Drop for Assisted {
    fn drop(&mut self) {
        let _ = self.stop_all(); // after an error that counts more
    }
}

/// What the operator tells of the network.
struct Description {
    map: api::MapRequest,
    prefixes: Vec<api::Prefix>,
    routes: api::RoutesRequest,
    /// Names of all links, those of the graph first.
    links: Vec<String>,
    addresses: Vec<IpAddr>,
}

impl Description {
    fn new(hosts: &Hosts, paths: &[Path], graph: &Graph) -> Self {
        let mut map = api::MapRequest::default();
        let node = |name: &str| api::NodeRequest {
            name: name.into(),
            ..api::NodeRequest::default()
        };
        map.nodes
            .extend(graph.nodes().iter().map(|name| node(name)));
        let name = |node: topology::NodeIndex| graph.nodes()[node.index()].clone();
        map.links.extend(graph.links().iter().map(|link| {
            api::LinkRequest {
                from: name(link.from),
                to: name(link.to),
                capacity_bps: link
                    .properties
                    .mean_rate()
                    .map(netsim::Rate::bits_per_second),
            }
        }));
        let client = hosts.client_address();
        let mut addresses = vec![client];
        addresses.extend(hosts.server_addresses());
        let prefixes = addresses.iter().map(|address| api::Prefix {
            prefix: (*address).into(),
            node: address.to_string(),
        });
        let prefixes: Vec<_> = prefixes.collect();
        map.nodes
            .extend(addresses.iter().map(|address| node(&address.to_string())));
        // The first and the last link of each path join the address to its host. A path without links joins two addresses.
        let mut ends = Vec::new();
        for (path, server) in paths.iter().zip(&addresses[1..]) {
            let first = path
                .forward
                .first()
                .map(|link| name(graph.link(*link).from));
            let last = path.forward.last().map(|link| name(graph.link(*link).to));
            let access = |from: String, to: String| api::LinkRequest {
                from,
                to,
                capacity_bps: None,
            };
            ends.push(map.links.len());
            map.links.push(access(
                server.to_string(),
                first.unwrap_or_else(|| client.to_string()),
            ));
            map.links.push(access(
                last.unwrap_or_else(|| server.to_string()),
                client.to_string(),
            ));
        }
        let built = manager::map_of(&map).expect("its nodes have names of their own");
        let built = built.graph(|_| topology::Properties::line(Span::ZERO));
        let links: Vec<String> = built.links().iter().map(|link| link.name.clone()).collect();
        let routes = (paths.iter().zip(&addresses[1..]).zip(ends)).map(|((path, server), end)| {
            let mut names = vec![links[end].clone()];
            names.extend(path.forward.iter().map(|link| links[link.index()].clone()));
            if !path.forward.is_empty() {
                names.push(links[end + 1].clone());
            }
            api::RouteRequest {
                from: server.to_string(),
                to: client.to_string(),
                paths: vec![names],
            }
        });
        let routes = api::RoutesRequest {
            others: api::OtherRoutes::Unknown,
            routes: routes.collect(),
        };
        Self {
            map,
            prefixes,
            routes,
            links,
            addresses,
        }
    }
}

/// The operator of a manager.
struct Operator {
    address: SocketAddr,
    token: String,
    graph: Graph,
}

impl Operator {
    /// Describes the network, and returns the token of the endpoint.
    fn set_up(&self, description: &Description) -> Result<String, Error> {
        self.put("/v1/map", &description.map)?;
        let prefixes = api::PrefixesRequest {
            prefixes: description.prefixes.clone(),
        };
        self.put("/v1/prefixes", &prefixes)?;
        self.put("/v1/routes", &description.routes)?;
        self.put_rates(description)?;
        let endpoint = api::EndpointRequest {
            addresses: description
                .addresses
                .iter()
                .map(|ip| (*ip).into())
                .collect(),
            from: Vec::new(),
        };
        let token = self.put(&format!("/v1/endpoints/{ENDPOINT}"), &endpoint)?;
        let token: api::EndpointToken = serde_json::from_str(&token).map_err(failed)?;
        Ok(token.token)
    }

    /// Reports rates and outages from the start of the network until `done`.
    fn run(
        &self,
        description: &Description,
        clock: &mpsc::Receiver<RealClock>,
        done: &AtomicBool,
    ) -> Result<(), Error> {
        let Ok(clock) = clock.recv() else {
            return Ok(()); // the run has ended before
        };
        let mut outages: Vec<(Time, usize, bool)> = Vec::new();
        for (index, link) in self.graph.links().iter().enumerate() {
            for outage in &link.properties.down {
                outages.push((outage.from(), index, false));
                outages.extend(outage.to().map(|to| (to, index, true)));
            }
        }
        outages.sort_unstable_by_key(|outage| outage.0);
        let mut outages = outages.into_iter().peekable();
        let mut rates_at = clock.now() + RATES;
        while !done.load(Ordering::Acquire) {
            let now = clock.now();
            let mut links = Vec::new();
            while let Some((_, link, up)) = outages.next_if(|outage| outage.0 <= now) {
                let link = description.links[link].clone();
                links.push(api::LinkState { link, up });
            }
            if !links.is_empty() {
                self.put("/v1/links", &api::LinksRequest { links })?;
            }
            if rates_at <= now {
                self.put_rates(description)?;
                rates_at = now + RATES;
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    fn put_rates(&self, description: &Description) -> Result<(), Error> {
        let rate = |(index, link): (usize, &String)| {
            let properties = self.graph.links().get(index).map(|link| &link.properties);
            let rate = properties.and_then(|properties| properties.mean_rate());
            api::Rate {
                link: link.clone(),
                available_bps: rate.map_or(UNLIMITED, netsim::Rate::bits_per_second),
            }
        };
        let rates = description.links.iter().enumerate().map(rate).collect();
        self.put("/v1/rates", &api::RatesRequest { rates })
            .map(drop)
    }

    /// Sends a request, and returns the body of the answer.
    fn put(&self, path: &str, body: &impl serde::Serialize) -> Result<String, Error> {
        let body = serde_json::to_string(body).map_err(failed)?;
        let head = format!(
            "PUT {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.address,
            self.token,
            body.len()
        );
        let exchange = || {
            let mut stream = TcpStream::connect(self.address)?;
            stream.write_all(head.as_bytes())?;
            stream.write_all(body.as_bytes())?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            Ok(answer)
        };
        let answer: String = exchange().map_err(|error: std::io::Error| failed(error))?;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
        match head.starts_with("HTTP/1.1 2") {
            true => Ok(body.into()),
            false => Err(failed(format!("PUT {path}: {body}"))),
        }
    }
}
