//! The loop of the endpoint.

use std::collections::{BTreeMap, BTreeSet};
use std::future::{Future, pending};
use std::pin::Pin;
use std::time::Duration;

use manager::api::{self, Groups, Subflow, Token};
use tokio::time::{Instant, sleep_until};

use crate::budget::Budget;
use crate::client::{Events, Manager};
use crate::error::{Error, Result};
use crate::events::{PathManagerEvents, What};

/// Time without contact after which all subflows are coupled: rates count as long.
pub const CONTACT: Duration = Duration::from_secs(30);

/// Time from the first event to the report: events of one connection come together.
const GATHER: Duration = Duration::from_millis(10);

/// Time between two reads of the kernel without an event: algorithms are loaded, and maps change without one.
const RESYNC: Duration = Duration::from_secs(5);

/// Time to the next attempt to reach the manager, at first and at most. It grows until a session has lasted [`CONTACT`].
const RETRY: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(5)];

/// Largest number of subflows of a report, so that it is smaller than the manager's limit of 1 MiB.
const REPORT: usize = 5000;

/// A connection in the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its token.
    pub token: Token,
    /// Its subflows, at least one.
    pub subflows: Vec<SeenSubflow>,
}

/// A subflow in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenSubflow {
    /// Addresses and ports.
    pub ends: Subflow,
    /// Group, or the requested one.
    pub group: u8,
}

/// What the loop reads and changes.
pub trait Kernel {
    /// The connections that can be separated.
    ///
    /// # Errors
    /// If the kernel cannot be read.
    fn read(&mut self) -> Result<Vec<Seen>>;

    /// Requests groups of subflows of the last read. One that has closed is skipped.
    ///
    /// # Errors
    /// If the kernel refuses.
    fn set(&mut self, moves: &[(Token, Subflow, u8)]) -> Result<()>;
}

/// What the loop reports to its caller.
#[derive(Clone, Debug)]
pub enum Event {
    /// A session with the manager has begun, as this endpoint.
    Connected(String),
    /// The manager cannot be reached, or has refused. The next attempt follows.
    Lost(Error),
    /// Without contact for [`CONTACT`], or at the end: all subflows are coupled.
    Coupled,
    /// New groups of a connection were set.
    Groups(Groups),
    /// The kernel could not be read, or refused groups.
    Kernel(Error),
    /// This many events were left out: there were too many.
    Omitted(u64),
}

/// A session with the manager.
struct Session {
    begin: Instant,
    id: String,
    sequence: u64,
    events: Events,
    /// What the manager knows.
    reported: BTreeMap<Token, BTreeSet<Subflow>>,
}

type Pending<T> = Pin<Box<dyn Future<Output = Result<T>>>>;

/// An endpoint.
pub struct Agent<K> {
    manager: Manager,
    kernel: K,
    on_event: Box<dyn FnMut(Event)>,
    budget: Budget,
    session: Option<Session>,
    /// The latest decision on each connection.
    decided: BTreeMap<Token, Groups>,
    /// Last sign of the manager.
    contact: Instant,
    /// Whether all were coupled since then.
    is_coupled: bool,
}

impl<K: Kernel> Agent<K> {
    /// An endpoint of this manager.
    pub fn new(manager: Manager, kernel: K, on_event: impl FnMut(Event) + 'static) -> Self {
        Self {
            manager,
            kernel,
            on_event: Box::new(on_event),
            budget: Budget::new(),
            session: None,
            decided: BTreeMap::new(),
            contact: Instant::now(),
            is_coupled: true,
        }
    }

    /// Runs until `stop`, then couples all subflows. Needs a runtime of tokio.
    ///
    /// # Errors
    /// If the events of the path manager cannot be read.
    pub async fn run(
        mut self,
        path_manager: PathManagerEvents,
        stop: impl Future<Output = ()>,
    ) -> Result<()> {
        let mut path_manager = path_manager.incoming()?;
        let mut stop = std::pin::pin!(stop);
        let mut connecting: Option<Pending<(api::Session, Events)>> = Some(self.connect());
        let mut reporting: Option<Pending<api::Reported>> = None;
        let mut retry = RETRY[0];
        let mut retry_at: Option<Instant> = None;
        let mut read_at = Instant::now();
        let mut earliest = read_at;
        loop {
            let lost = tokio::select! {
                () = &mut stop => {
                    self.couple();
                    return Ok(());
                }
                events = path_manager.next() => {
                    // Lost events are as good as one of each connection.
                    self.on_path_manager(events?.unwrap_or_default().as_slice());
                    read_at = read_at.min(earliest.max(Instant::now() + GATHER));
                    None
                }
                () = sleep_until(read_at) => {
                    let begin = Instant::now();
                    // One report at a time, in order.
                    let report = self.reconcile(reporting.is_none());
                    // A kernel with many connections is not read all the time, whatever the manager sends.
                    earliest = Instant::now() + 9 * begin.elapsed();
                    read_at = earliest.max(Instant::now() + RESYNC);
                    if let Some(report) = report {
                        let manager = self.manager.clone();
                        reporting = Some(Box::pin(async move { manager.report(&report).await }));
                    }
                    None
                }
                result = optional(&mut connecting) => {
                    connecting = None;
                    match result {
                        Ok((session, events)) => {
                            self.begin(session, events);
                            read_at = earliest.max(Instant::now());
                            None
                        }
                        Err(error) => Some(error),
                    }
                }
                result = optional(&mut reporting) => {
                    reporting = None;
                    match result {
                        Ok(reported) => {
                            self.contact = Instant::now();
                            self.decide(reported.connections);
                            // Groups are set, and what has changed meanwhile is reported.
                            read_at = earliest.max(Instant::now());
                            None
                        }
                        Err(error) => Some(error),
                    }
                }
                result = next_groups(&mut self.session) => match result {
                    Ok(groups) => {
                        self.contact = Instant::now();
                        self.decide(groups);
                        read_at = read_at.min(earliest.max(Instant::now()));
                        None
                    }
                    Err(error) => Some(error),
                },
                () = sleep_optional(retry_at) => {
                    retry_at = None;
                    connecting = Some(self.connect());
                    None
                }
            };
            if let Some(error) = lost {
                if let Some(session) = self.session.take() {
                    // Until now the stream was alive.
                    self.contact = Instant::now();
                    if session.begin.elapsed() > CONTACT {
                        retry = RETRY[0];
                    }
                }
                reporting = None;
                self.report_event(Event::Lost(error));
                retry_at = Some(Instant::now() + retry);
                retry = (2 * retry).min(RETRY[1]);
            }
        }
    }

    fn connect(&self) -> Pending<(api::Session, Events)> {
        let manager = self.manager.clone();
        Box::pin(async move {
            let session = manager.session().await?;
            let events = manager.events(&session.session).await?;
            Ok((session, events))
        })
    }

    fn begin(&mut self, session: api::Session, events: Events) {
        self.contact = Instant::now();
        self.is_coupled = false;
        self.session = Some(Session {
            begin: Instant::now(),
            id: session.session,
            sequence: 0,
            events,
            reported: BTreeMap::new(),
        });
        // Decisions of a former run of the manager have numbers of their own.
        for groups in self.decided.values_mut() {
            groups.revision = 0;
        }
        let endpoint = kernel::printable(session.endpoint.as_bytes());
        self.report_event(Event::Connected(endpoint));
    }

    /// Reports an event, unless there were too many.
    fn report_event(&mut self, event: Event) {
        let Some(omitted) = self.budget.take() else {
            return;
        };
        if omitted > 0 {
            (self.on_event)(Event::Omitted(omitted));
        }
        (self.on_event)(event);
    }

    /// Couples a separated connection at once if it has a subflow that no decision contains.
    fn on_path_manager(&mut self, events: &[crate::events::PathManagerEvent]) {
        for event in events {
            let is_new = event.what == What::SubflowOpened
                && event.subflow.is_some_and(|s| !self.knows(event.token, s));
            if !is_new && event.what != What::Closed {
                continue;
            }
            let decided = self.decided.remove(&event.token);
            if is_new && decided.is_some_and(|groups| is_separated(&groups)) {
                // Group 0 is set where there is no decision. The connection is reported again.
                if let Some(session) = &mut self.session {
                    session.reported.remove(&event.token);
                }
                let _ = self.set_groups();
            }
        }
    }

    fn knows(&self, token: Token, subflow: Subflow) -> bool {
        let decided = self.decided.get(&token);
        decided.is_some_and(|groups| group_of(groups, subflow).is_some())
    }

    /// Keeps newer decisions.
    fn decide(&mut self, decisions: Vec<Groups>) {
        for groups in decisions {
            let known = self.decided.get(&groups.connection);
            if known.is_none_or(|known| known.revision < groups.revision) {
                self.decided.insert(groups.connection, groups);
            }
        }
    }

    /// Reads the kernel, sets groups, and returns what is to be reported, if a report may be sent.
    fn reconcile(&mut self, may_report: bool) -> Option<api::Report> {
        if self.session.is_none() && self.contact.elapsed() > CONTACT {
            if !self.is_coupled {
                self.couple();
            }
            return None;
        }
        let seen = self.set_groups()?;
        self.decided
            .retain(|token, _| seen.iter().any(|c| c.token == *token));
        let session = self.session.as_mut().filter(|_| may_report)?;
        let mut report = api::Report {
            complete: session.sequence == 0,
            ..api::Report::default()
        };
        let mut subflows = 0;
        for connection in &seen {
            let ends: BTreeSet<Subflow> = connection.subflows.iter().map(|s| s.ends).collect();
            if session.reported.get(&connection.token) == Some(&ends) {
                continue;
            }
            subflows += ends.len();
            if subflows > REPORT {
                break; // the next report has the rest
            }
            report.connections.push(api::Connection {
                connection: connection.token,
                subflows: ends.iter().copied().collect(),
            });
            session.reported.insert(connection.token, ends);
        }
        let closed = session.reported.keys();
        let closed = closed.filter(|token| !seen.iter().any(|c| c.token == **token));
        report.closed = closed.copied().collect();
        for token in &report.closed {
            session.reported.remove(token);
        }
        if report.connections.is_empty() && report.closed.is_empty() && !report.complete {
            return None;
        }
        session.sequence += 1;
        (report.session, report.sequence) = (session.id.clone(), session.sequence);
        Some(report)
    }

    /// Sets the decided groups, and group 0 where no decision has all subflows. Returns the connections; none if the kernel cannot be read.
    fn set_groups(&mut self) -> Option<Vec<Seen>> {
        let seen = match self.kernel.read() {
            Ok(seen) => seen,
            Err(error) => {
                self.report_event(Event::Kernel(error));
                return None;
            }
        };
        let mut moves = Vec::new();
        let mut set = Vec::new();
        for connection in &seen {
            let before = moves.len();
            let decided = self.decided.get(&connection.token);
            let decided = decided.filter(|groups| {
                let mut subflows = connection.subflows.iter();
                subflows.all(|subflow| group_of(groups, subflow.ends).is_some())
            });
            for subflow in &connection.subflows {
                let group = decided.and_then(|groups| group_of(groups, subflow.ends));
                let group = group.unwrap_or(0);
                if group != subflow.group {
                    moves.push((connection.token, subflow.ends, group));
                }
            }
            if let (Some(groups), true) = (decided, moves.len() > before) {
                set.push(of_connection(groups, connection));
            }
        }
        if !moves.is_empty() {
            match self.kernel.set(&moves) {
                Ok(()) => set
                    .into_iter()
                    .for_each(|groups| self.report_event(Event::Groups(groups))),
                Err(error) => self.report_event(Event::Kernel(error)),
            }
        }
        Some(seen)
    }

    /// Couples all subflows.
    fn couple(&mut self) {
        self.decided.clear();
        self.is_coupled = true;
        let _ = self.set_groups();
        (self.on_event)(Event::Coupled);
    }
}

/// The decision on the subflows of a connection. A wrong manager's decision may have any number of others.
fn of_connection(groups: &Groups, connection: &Seen) -> Groups {
    let mut decided = groups.clone();
    decided.groups.retain(|g| {
        let ends = Subflow {
            local: g.local,
            remote: g.remote,
        };
        connection
            .subflows
            .iter()
            .any(|subflow| subflow.ends == ends)
    });
    decided
}

/// The group of a subflow by a decision; none if the decision does not have it. A wrong manager's numbers are not groups.
fn group_of(groups: &Groups, subflow: Subflow) -> Option<u8> {
    let mut found = groups.groups.iter();
    let found = found.find(|g| (g.local, g.remote) == (subflow.local, subflow.remote))?;
    (found.group <= kernel::group::GROUP_MAX).then_some(found.group)
}

fn is_separated(groups: &Groups) -> bool {
    groups
        .groups
        .windows(2)
        .any(|pair| pair[0].group != pair[1].group)
}

/// The result of a future, if there is one.
async fn optional<T>(future: &mut Option<Pending<T>>) -> Result<T> {
    match future {
        Some(future) => future.await,
        None => pending().await,
    }
}

async fn sleep_optional(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}

async fn next_groups(session: &mut Option<Session>) -> Result<Vec<Groups>> {
    match session {
        Some(session) => session.events.next().await,
        None => pending().await,
    }
}
