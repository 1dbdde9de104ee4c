//! The database: redb, a file that is whole after `kill -9` at any time.
//!
//! One thread writes. It takes all changes that wait and commits them in one transaction, so that the number of commits does not grow with
//! the number of reports. A change of the operator is made in memory after it has been committed. A report counts before: the endpoint
//! reports all its connections again after a restart.

mod file;

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Once, mpsc};
use std::thread::JoinHandle;

use redb::{Database, ReadableTable, TableDefinition};
use tokio::sync::oneshot;

use crate::api;
use crate::error::{Error, Kind, Result};
use crate::network::Available;
use crate::state::{Hash, Limits, State};
use file::File;

/// Documents by name: `map`, `prefixes`, `routes`.
const DOCUMENTS: TableDefinition<&str, &[u8]> = TableDefinition::new("documents");
/// Available rate, bit/s, and time of its arrival, milliseconds since 1970, by name of a link.
const RATES: TableDefinition<&str, (u64, u64)> = TableDefinition::new("rates");
/// Names of links that are down.
const DOWN: TableDefinition<&str, ()> = TableDefinition::new("down");
/// JSON of endpoints, and hashes of their tokens, by name.
const ENDPOINTS: TableDefinition<&str, (&[u8], &[u8])> = TableDefinition::new("endpoints");
/// JSON of connections by name of the endpoint and token.
const CONNECTIONS: TableDefinition<(&str, u32), &[u8]> = TableDefinition::new("connections");

/// The number of commits so far.
const COMMITS: TableDefinition<(), u64> = TableDefinition::new("commits");

/// A change of the contents.
#[derive(Debug)]
pub(crate) enum Write {
    /// A document, with the rates and states of links that remain.
    Document(&'static str, Vec<u8>),
    /// Rates of links.
    Rates(Vec<api::Rate>, u64),
    /// States of links.
    Links(Vec<api::LinkState>),
    /// An endpoint.
    Endpoint(String, api::EndpointRequest, Hash),
    /// An endpoint that is removed, with its connections.
    NoEndpoint(String),
    /// All connections of an endpoint are forgotten.
    NoConnections(String),
    /// Connections of an endpoint, and tokens of connections that are forgotten.
    Connections(String, Vec<api::Connection>, Vec<api::Token>),
}

type Done = oneshot::Sender<Result<()>>;

/// The thread that writes the database.
pub(crate) struct Store {
    sender: Option<mpsc::SyncSender<(Vec<Write>, Option<Done>)>>,
    thread: Option<JoinHandle<()>>,
}

/// Largest number of requests with changes that wait. Further ones wait for a place.
const QUEUE: usize = 4096;

/// Largest number of requests whose changes are in one transaction.
const BATCH: usize = 1024;

fn failed(error: impl Into<redb::Error>) -> Error {
    let error: redb::Error = error.into();
    Error::new(Kind::Store, format!("database: {error}"))
}

impl Store {
    /// Opens or creates the file, and reads the contents. `on_failure` is called if the database cannot be written any more.
    ///
    /// # Errors
    /// If it cannot be opened: another manager has it open, or it is no database of a manager.
    pub(crate) fn open(
        path: &Path,
        limits: Limits,
        now_ms: u64,
        on_failure: impl FnOnce(Error) + Send + 'static,
    ) -> Result<(Self, State)> {
        let named = |error: Error| {
            let text = format!("{}: {}", path.display(), error.text);
            Error::new(Kind::Store, text)
        };
        let mut stored = Stored::open(path).map_err(named)?;
        let state = stored.read(limits, now_ms).map_err(named)?;
        let (sender, receiver) = mpsc::sync_channel::<(Vec<Write>, Option<Done>)>(QUEUE);
        let mut run = move || {
            while let Ok(first) = receiver.recv() {
                let mut requests = vec![first];
                requests.extend(receiver.try_iter().take(BATCH - 1));
                let writes = requests.iter().flat_map(|(writes, _)| writes);
                let result = stored.commit(writes)?;
                for done in requests.into_iter().filter_map(|(_, done)| done) {
                    let _ = done.send(result.clone()); // the client may have gone
                }
            }
            Ok(())
        };
        let thread = std::thread::Builder::new()
            .name("database".into())
            .spawn(move || {
                let ended = catch_unwind(AssertUnwindSafe(&mut run));
                let panicked = |_| Err(Error::new(Kind::Store, "database: its thread has ended"));
                if let Err(error) = ended.unwrap_or_else(panicked) {
                    on_failure(error);
                }
            });
        let thread = thread
            .map_err(|error| Error::new(Kind::Store, format!("thread of the database: {error}")))?;
        let store = Self {
            sender: Some(sender),
            thread: Some(thread),
        };
        Ok((store, state))
    }

    /// Queues the changes of a request, which are committed together and in the order of the calls.
    pub(crate) fn write(&self, writes: Vec<Write>) -> oneshot::Receiver<Result<()>> {
        let (done, wait) = oneshot::channel();
        let sender = self.sender.as_ref().expect("until it is dropped");
        // A full queue waits; an ended thread drops `done`, which the receiver reports.
        let _ = sender.send((writes, Some(done)));
        wait
    }

    /// Queues a change without waiting until it is written. It is dropped if the queue is full: a flood of reports must not stop the manager.
    pub(crate) fn offer(&self, write: Write) {
        let sender = self.sender.as_ref().expect("until it is dropped");
        let _ = sender.try_send((vec![write], None));
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        drop(self.sender.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic was printed
        }
    }
}

/// The database.
struct Stored {
    file: File,
    /// None only while it is opened again.
    database: Option<Database>,
    /// Number of commits, which is also in the database.
    commits: u64,
}

impl Stored {
    /// Opens the database, or creates it.
    fn open(path: &Path) -> Result<Self> {
        let io = |error: std::io::Error| Error::new(Kind::Store, error.to_string());
        match File::open(path) {
            Ok(file) => Self::verified(file),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                // The file has its name once it is complete: an empty file is a damaged one.
                let mut new = path.as_os_str().to_owned();
                new.push(".new");
                let new = Path::new(&new);
                let _ = std::fs::remove_file(new); // of a manager that was killed
                let file = File::create(new).map_err(io)?;
                let mut stored = Self {
                    database: Some(opened(&file)?),
                    file,
                    commits: 0,
                };
                // Creates the tables.
                stored.commit(std::iter::empty())??;
                std::fs::rename(new, path).map_err(io)?;
                Ok(stored)
            }
            Err(error) => Err(io(error)),
        }
    }

    /// The database of an existing file, whose checksums are verified.
    fn verified(file: File) -> Result<Self> {
        let damaged = |what: String| {
            let text = format!(
                "damaged, or no database of a manager ({what}): restore a copy, or remove the file to begin anew"
            );
            Error::new(Kind::Store, text)
        };
        let read = || {
            if file.is_empty().map_err(|error| error.to_string())? {
                return Err("it is empty".to_owned());
            }
            let builder = Database::builder();
            let opened = builder.create_with_backend(file.clone());
            let mut database = opened.map_err(|error| error.to_string())?;
            let checked = database.check_integrity();
            checked.map_err(|error| error.to_string())?;
            Ok(database)
        };
        // redb panics on a file that is shorter than its header says.
        let database = quietly(read).unwrap_or_else(|| Err("it is cut off".into()));
        let database = database.map_err(damaged)?;
        Ok(Self {
            file,
            commits: commits(&database)?,
            database: Some(database),
        })
    }

    /// Commits changes together. The inner result is that of the changes.
    ///
    /// # Errors
    /// If the database cannot be opened again after a failure, so that nothing can be written any more.
    fn commit<'w>(&mut self, writes: impl Iterator<Item = &'w Write>) -> Result<Result<()>> {
        let database = self.database.as_ref().expect("it is open");
        let Err(error) = commit(database, writes, self.commits + 1) else {
            self.commits += 1;
            return Ok(Ok(()));
        };
        // After an error of the file redb refuses everything. Opened again, it has the changes or it has not: a sync may fail after the
        // last write.
        drop(self.database.take());
        let database = opened(&self.file)?;
        let commits = commits(&database)?;
        self.database = Some(database);
        let is_written = commits == self.commits + 1;
        self.commits = commits;
        Ok(if is_written { Ok(()) } else { Err(error) })
    }
}

/// The result of a function, or nothing if it panics; the panic is not printed.
fn quietly<T>(function: impl FnOnce() -> T) -> Option<T> {
    thread_local!(static QUIET: Cell<bool> = const { Cell::new(false) });
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let former = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                former(info);
            }
        }));
    });
    QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(function));
    QUIET.set(false);
    result.ok()
}

fn opened(file: &File) -> Result<Database> {
    let builder = Database::builder();
    builder.create_with_backend(file.clone()).map_err(failed)
}

/// The number of commits in a database.
fn commits(database: &Database) -> Result<u64> {
    let transaction = database.begin_read().map_err(failed)?;
    match transaction.open_table(COMMITS) {
        Ok(table) => {
            let number = table.get(()).map_err(failed)?;
            Ok(number.map_or(0, |number| number.value()))
        }
        Err(redb::TableError::TableDoesNotExist(_)) => Ok(0),
        Err(error) => Err(failed(error)),
    }
}

fn json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("the types of the interface have JSON")
}

fn commit<'w>(
    database: &Database,
    writes: impl Iterator<Item = &'w Write>,
    number: u64,
) -> Result<()> {
    let mut transaction = database.begin_write().map_err(failed)?;
    // With one phase, a damaged last commit would silently be replaced by the one before.
    transaction.set_two_phase_commit(true);
    {
        let table = |error: redb::TableError| failed(error);
        let mut commits = transaction.open_table(COMMITS).map_err(table)?;
        commits.insert((), number).map_err(failed)?;
        let mut documents = transaction.open_table(DOCUMENTS).map_err(table)?;
        let mut rates = transaction.open_table(RATES).map_err(table)?;
        let mut down = transaction.open_table(DOWN).map_err(table)?;
        let mut endpoints = transaction.open_table(ENDPOINTS).map_err(table)?;
        let mut connections = transaction.open_table(CONNECTIONS).map_err(table)?;
        for write in writes {
            match write {
                Write::Document(name, text) => {
                    documents.insert(name, &text[..]).map_err(failed)?;
                }
                Write::Rates(list, at_ms) => {
                    for rate in list {
                        let value = (rate.available_bps, *at_ms);
                        rates.insert(&rate.link[..], value).map_err(failed)?;
                    }
                }
                Write::Links(states) => {
                    for state in states {
                        match state.up {
                            true => drop(down.remove(&state.link[..]).map_err(failed)?),
                            false => drop(down.insert(&state.link[..], ()).map_err(failed)?),
                        }
                    }
                }
                Write::Endpoint(name, spec, hash) => {
                    let value = (&json(spec)[..], &hash[..]);
                    endpoints.insert(&name[..], value).map_err(failed)?;
                    forget(&mut connections, name)?;
                }
                Write::NoEndpoint(name) => {
                    endpoints.remove(&name[..]).map_err(failed)?;
                    forget(&mut connections, name)?;
                }
                Write::NoConnections(name) => forget(&mut connections, name)?,
                Write::Connections(name, list, removed) => {
                    for token in removed {
                        connections.remove((&name[..], token.0)).map_err(failed)?;
                    }
                    for connection in list {
                        let key = (&name[..], connection.connection.0);
                        let value = json(&connection.subflows);
                        connections.insert(key, &value[..]).map_err(failed)?;
                    }
                }
            }
        }
    }
    transaction.commit().map_err(failed)
}

/// Removes all connections of an endpoint.
fn forget(connections: &mut redb::Table<'_, (&str, u32), &[u8]>, name: &str) -> Result<()> {
    let all = (name, 0)..=(name, u32::MAX);
    connections.retain_in(all, |_, _| false).map_err(failed)
}

impl Stored {
    /// Reads the contents.
    fn read(&self, limits: Limits, now_ms: u64) -> Result<State> {
        let database = self.database.as_ref().expect("it is open");
        let damaged = |what: &str, error: &dyn std::fmt::Display| {
            let text = format!("`{what}` cannot be read ({error}): remove the file to begin anew");
            Error::new(Kind::Store, text)
        };
        let mut state = State::new(limits);
        let transaction = database.begin_read().map_err(failed)?;
        let documents = transaction.open_table(DOCUMENTS).map_err(failed)?;
        let document = |name: &str| -> Result<Option<Vec<u8>>> {
            let value = documents.get(name).map_err(failed)?;
            Ok(value.map(|value| value.value().to_vec()))
        };
        if let Some(text) = document("map")? {
            let map = serde_json::from_slice(&text).map_err(|error| damaged("map", &error))?;
            state.set_map(&map)?;
        }
        if let Some(text) = document("prefixes")? {
            let list =
                serde_json::from_slice(&text).map_err(|error| damaged("prefixes", &error))?;
            state.set_prefixes(list)?;
        }
        if let Some(text) = document("routes")? {
            let routes =
                serde_json::from_slice(&text).map_err(|error| damaged("routes", &error))?;
            state.set_routes(routes)?;
        }
        let rates = transaction.open_table(RATES).map_err(failed)?;
        for entry in rates.iter().map_err(failed)? {
            let (link, value) = entry.map_err(failed)?;
            let (bps, at_ms) = value.value();
            state.restore_rate(link.value(), Available { bps, at_ms });
        }
        let down = transaction.open_table(DOWN).map_err(failed)?;
        for entry in down.iter().map_err(failed)? {
            let (link, _) = entry.map_err(failed)?;
            let state_of = api::LinkState {
                link: link.value().into(),
                up: false,
            };
            let _ = state.set_links(&[state_of]); // of a link that is not on this map any more
        }
        state.expire(now_ms, |_| false);
        let endpoints = transaction.open_table(ENDPOINTS).map_err(failed)?;
        for entry in endpoints.iter().map_err(failed)? {
            let (name, value) = entry.map_err(failed)?;
            let (spec, hash) = value.value();
            let spec =
                serde_json::from_slice(spec).map_err(|error| damaged("endpoints", &error))?;
            let hash = hash
                .try_into()
                .map_err(|error| damaged("endpoints", &error))?;
            state.set_endpoint(name.value(), spec, hash, now_ms)?;
        }
        let connections = transaction.open_table(CONNECTIONS).map_err(failed)?;
        for entry in connections.iter().map_err(failed)? {
            let (key, value) = entry.map_err(failed)?;
            let (endpoint, token) = key.value();
            let subflows = serde_json::from_slice(value.value());
            let connection = api::Connection {
                connection: api::Token(token),
                subflows: subflows.map_err(|error| damaged("connections", &error))?,
            };
            state.restore_connection(endpoint, &connection);
        }
        Ok(state)
    }
}
