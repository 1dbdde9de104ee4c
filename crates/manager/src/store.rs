//! The database: redb, a file that is whole after `kill -9` at any time.
//!
//! One thread writes. It takes all changes that wait and commits them in one transaction, so that the number of commits does not grow with
//! the number of requests. A request of the operator is answered after its change has been committed. A report is answered before: the
//! endpoint reports all its connections again after a restart.

use std::path::Path;
use std::sync::mpsc;
use std::thread::JoinHandle;

use redb::{Database, ReadableTable, TableDefinition};
use tokio::sync::oneshot;

use crate::api;
use crate::error::{Error, Kind, Result};
use crate::network::Available;
use crate::state::{Hash, Limits, State};

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

type Waiting = (Write, Option<oneshot::Sender<Result<()>>>);

/// The database, and the thread that writes it.
pub(crate) struct Store {
    sender: Option<mpsc::SyncSender<Waiting>>,
    thread: Option<JoinHandle<()>>,
}

/// Largest number of changes that wait. Requests beyond it wait for a place.
const QUEUE: usize = 4096;

/// Largest number of changes of a transaction.
const BATCH: usize = 1024;

fn failed(error: impl Into<redb::Error>) -> Error {
    let error: redb::Error = error.into();
    Error::new(Kind::Store, format!("database: {error}"))
}

impl Store {
    /// Opens or creates the file, and reads the contents.
    ///
    /// # Errors
    /// If it cannot be opened: another manager has it open, or it is no database of a manager.
    pub(crate) fn open(file: &Path, limits: Limits, now_ms: u64) -> Result<(Self, State)> {
        let opened = Database::create(file).map_err(failed).and_then(|database| {
            let state = read(&database, limits, now_ms)?;
            Ok((database, state))
        });
        let (database, state) = opened.map_err(|error| {
            let text = format!("{}: {}", file.display(), error.text);
            Error::new(Kind::Store, text)
        })?;
        let (sender, receiver) = mpsc::sync_channel::<Waiting>(QUEUE);
        let run = move || {
            while let Ok(first) = receiver.recv() {
                let mut writes = vec![first];
                writes.extend(receiver.try_iter().take(BATCH - 1));
                let result = commit(&database, writes.iter().map(|(write, _)| write));
                for done in writes.into_iter().filter_map(|(_, done)| done) {
                    let _ = done.send(result.clone()); // the client may have gone
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("database".into())
            .spawn(run);
        let thread = thread
            .map_err(|error| Error::new(Kind::Store, format!("thread of the database: {error}")))?;
        let store = Self {
            sender: Some(sender),
            thread: Some(thread),
        };
        Ok((store, state))
    }

    /// Queues a change. Changes are committed in the order of the calls.
    pub(crate) fn write(&self, write: Write) -> oneshot::Receiver<Result<()>> {
        let (done, wait) = oneshot::channel();
        let sender = self.sender.as_ref().expect("until it is dropped");
        // A full queue waits; an ended thread drops `done`, which the receiver reports.
        let _ = sender.send((write, Some(done)));
        wait
    }

    /// Queues a change without waiting until it is written. It is dropped if the queue is full: a flood of reports must not stop the manager.
    pub(crate) fn offer(&self, write: Write) {
        let sender = self.sender.as_ref().expect("until it is dropped");
        let _ = sender.try_send((write, None));
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

fn json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("the types of the interface have JSON")
}

fn commit<'w>(database: &Database, writes: impl Iterator<Item = &'w Write>) -> Result<()> {
    let transaction = database.begin_write().map_err(failed)?;
    {
        let table = |error: redb::TableError| failed(error);
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

/// Reads the contents. Creates missing tables.
fn read(database: &Database, limits: Limits, now_ms: u64) -> Result<State> {
    commit(database, std::iter::empty())?;
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
        let list = serde_json::from_slice(&text).map_err(|error| damaged("prefixes", &error))?;
        state.set_prefixes(list)?;
    }
    if let Some(text) = document("routes")? {
        let routes = serde_json::from_slice(&text).map_err(|error| damaged("routes", &error))?;
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
        let spec = serde_json::from_slice(spec).map_err(|error| damaged("endpoints", &error))?;
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
