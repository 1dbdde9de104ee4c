//! The HTTP server of the manager.
//!
//! The server answers while others send slowly, too much, or nothing: it bounds connections by address and in all, the time of a
//! header, of a body and of a stalled write, the size of a body, the requests of an endpoint per second, and its streams.

mod access;
mod answer;
mod authentication;
mod connections;
mod handlers;
mod metrics;
mod openapi;
mod streams;
mod tls;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::api;
use crate::error::{Error, Kind, Result};
use crate::state::{Change, Limits, State};
use crate::store::{Store, Write};

pub use handlers::parse;
pub use openapi::openapi;

use metrics::Metrics;
use streams::Streams;

/// Time between two checks of the age of rates.
const TICK: Duration = Duration::from_millis(250);

/// Configuration of a server.
#[derive(Clone, Debug)]
pub struct Config {
    /// Address and port. Port 0: any free port.
    pub listen: SocketAddr,
    /// Folder of the database and of the tokens of operator and viewer. It is created.
    pub folder: PathBuf,
    /// Files of the certificate and of its key, in PEM; none: without TLS.
    pub tls: Option<TlsFiles>,
    /// Limits of the contents.
    pub limits: Limits,
    /// Limits of HTTP.
    pub http: HttpLimits,
}

/// Files of a certificate.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The certificate, and those of its issuers.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// Limits of HTTP.
#[derive(Clone, Copy, Debug)]
pub struct HttpLimits {
    /// Largest number of connections. Others are closed at once.
    pub connections: usize,
    /// Largest number of connections of one address.
    pub address_connections: usize,
    /// Largest body of a report, bytes.
    pub report: usize,
    /// Largest body of the operator, bytes.
    pub operator: usize,
    /// Longest time in which a header arrives, also until the next request of a connection.
    pub header: Duration,
    /// Longest time in which a body arrives.
    pub body: Duration,
    /// Longest time in which a client takes no byte of an answer.
    pub write: Duration,
    /// Largest number of requests of an endpoint per second; for a short time five times as many.
    pub requests: u32,
    /// Largest number of streams of an endpoint, and of operator and viewer at one address.
    pub streams: usize,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            connections: 8192,
            address_connections: 256,
            report: 1 << 20,
            operator: 32 << 20,
            header: Duration::from_secs(5),
            body: Duration::from_secs(10),
            write: Duration::from_secs(10),
            requests: 50,
            streams: 8,
        }
    }
}

/// What the handlers share.
pub(crate) struct Shared {
    contents: Mutex<Contents>,
    /// Held from the check of a change until it is made.
    changing: tokio::sync::Mutex<()>,
    store: Store,
    tokens: authentication::Tokens,
    http: HttpLimits,
    metrics: Metrics,
    clock: Clock,
}

/// The contents, and the receivers of changes.
pub(crate) struct Contents {
    state: State,
    streams: Streams,
    budgets: authentication::Budgets,
}

impl Shared {
    /// The contents, locked. Nothing waits while it has them.
    fn contents(&self) -> MutexGuard<'_, Contents> {
        // After a panic in a handler the contents may be inconsistent: end rather than answer.
        self.contents.lock().expect("no handler has panicked")
    }

    /// Commits a change to the disk, applies it, and sends the changed groups. Changes run one at a time: the state does not change between
    /// `check` and the change.
    async fn change(
        self: Arc<Self>,
        check: impl FnOnce(&State) -> Result<(Change, Vec<Write>)> + Send + 'static,
    ) -> Result<()> {
        let change = async move {
            let _one = self.changing.lock().await;
            let (change, writes) = check(&self.contents().state)?;
            let ended = |_| Error::new(Kind::Store, "the thread of the database has ended");
            self.store.write(writes).await.map_err(ended)??;
            let mut contents = self.contents();
            contents.make(change, &self.store);
            contents.publish();
            Ok(())
        };
        // A task of its own, which goes on if the client closes its connection meanwhile.
        let ended = |_| Error::new(Kind::Store, "the server ends");
        tokio::spawn(change).await.map_err(ended)?
    }
}

impl Shared {
    /// Takes a report over, and sends the changed groups. The database follows.
    fn report(
        &self,
        report: impl FnOnce(&mut State) -> Result<(api::Reported, Write)>,
    ) -> Result<api::Reported> {
        let mut contents = self.contents();
        let (reported, write) = report(&mut contents.state)?;
        contents.publish();
        self.store.offer(write);
        Ok(reported)
    }
}

impl Contents {
    /// Makes a committed change. The streams and requests of an endpoint that it ends end, too.
    fn make(&mut self, change: Change, store: &Store) {
        let name = change.endpoint().map(str::to_owned);
        if let Some((id, name)) = self.state.make(change).zip(name) {
            self.streams.end(id);
            self.budgets.forget(id);
            // What the endpoint has reported since the check.
            store.offer(Write::NoConnections(name));
        }
    }

    /// Sends changed groups to the endpoints that have a stream.
    fn publish(&mut self) {
        let Self { state, streams, .. } = self;
        let changes = state.take_changes(|endpoint| streams.has(endpoint));
        streams.send_groups(changes);
    }
}

/// Milliseconds since 1970 that never go back.
pub(crate) struct Clock {
    start_ms: u64,
    start: Instant,
}

impl Clock {
    fn new() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            start_ms: since.map_or(0, |since| since.as_millis() as u64),
            start: Instant::now(),
        }
    }

    fn now_ms(&self) -> u64 {
        self.start_ms + self.start.elapsed().as_millis() as u64
    }
}

/// A running server, until it is dropped.
pub struct Server {
    address: SocketAddr,
    operator: PathBuf,
    viewer: PathBuf,
    viewer_token: String,
    failure: Option<mpsc::Receiver<Error>>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Opens the database, and listens.
    ///
    /// # Errors
    /// If the folder, the database, the certificate or the address cannot be used.
    pub fn start(config: Config) -> Result<Self> {
        let io = |what: String| {
            move |error: std::io::Error| Error::new(Kind::Store, format!("{what}: {error}"))
        };
        let folder = &config.folder;
        authentication::create_folder(folder).map_err(io(folder.display().to_string()))?;
        let tokens = authentication::Tokens::read(folder)?;
        let tls = config.tls.as_ref().map(tls::acceptor).transpose()?;
        let clock = Clock::new();
        let file = folder.join("manager.redb");
        let (failed, failure) = mpsc::channel();
        let on_failure = move |error| drop(failed.send(error)); // the server may have ended
        let (store, state) = Store::open(&file, config.limits, clock.now_ms(), on_failure)?;
        let listening = format!("listening at {}", config.listen);
        let listener = std::net::TcpListener::bind(config.listen).map_err(io(listening.clone()))?;
        let address = listener.local_addr().map_err(io(listening.clone()))?;
        listener.set_nonblocking(true).map_err(io(listening))?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(std::thread::available_parallelism().map_or(2, |n| n.get().clamp(2, 8)))
            .enable_io()
            .enable_time()
            .thread_name("manager")
            .build()
            .map_err(io("runtime".into()))?;
        let viewer_token = tokens.viewer.clone();
        let shared = Arc::new(Shared {
            contents: Mutex::new(Contents {
                state,
                streams: Streams::default(),
                budgets: authentication::Budgets::default(),
            }),
            changing: tokio::sync::Mutex::default(),
            store,
            tokens,
            http: config.http,
            metrics: Metrics::default(),
            clock,
        });
        let router = handlers::router(shared.clone(), openapi());
        let (end, ended) = oneshot::channel();
        let run = move || {
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).expect("it does not block");
                tokio::select! {
                    () = connections::accept(listener, tls, router, shared.clone()) => {}
                    () = tick(&shared) => {}
                    _ = ended => {}
                }
            });
            // Open connections end with the runtime; the database's thread ends with the last of them.
            runtime.shutdown_timeout(Duration::from_secs(1));
        };
        let thread = std::thread::Builder::new().name("server".into()).spawn(run);
        Ok(Self {
            address,
            operator: authentication::operator_file(&config.folder),
            viewer: authentication::viewer_file(&config.folder),
            viewer_token,
            failure: Some(failure),
            end: Some(end),
            thread: Some(thread.map_err(io("thread of the server".into()))?),
        })
    }

    /// Receives the error after which the database cannot be written any more: each change then fails until the server is started anew.
    ///
    /// # Panics
    /// On the second call.
    pub fn failure(&mut self) -> mpsc::Receiver<Error> {
        self.failure.take().expect("the first call")
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// File of the operator's token.
    #[must_use]
    pub fn operator_file(&self) -> &std::path::Path {
        &self.operator
    }

    /// File of the viewer's token.
    #[must_use]
    pub fn viewer_file(&self) -> &std::path::Path {
        &self.viewer
    }

    /// The viewer's token, which only reads.
    #[must_use]
    pub fn viewer_token(&self) -> &str {
        &self.viewer_token
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic was printed
        }
    }
}

/// Drops old rates and absent endpoints, and sends numbers to the viewers.
async fn tick(shared: &Shared) {
    let mut interval = tokio::time::interval(TICK);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        interval.tick().await;
        let now = shared.clock.now_ms();
        let mut contents = shared.contents();
        let Contents { state, streams, .. } = &mut *contents;
        let absent = state.expire(now, |endpoint| streams.has(endpoint));
        for endpoint in absent {
            shared.store.offer(Write::NoConnections(endpoint));
        }
        contents.publish();
        let Contents { state, streams, .. } = &mut *contents;
        if streams.has_viewers() {
            streams.send_network(state);
        }
    }
}
