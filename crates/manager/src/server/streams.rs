//! Server-sent events.

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Bytes, HttpBody};
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Frame;
use tokio::sync::mpsc;
use tokio::time::{Interval, interval_at};

use super::authentication::Principal;
use crate::api;
use crate::state::{EndpointId, State};

/// Time between two comments on a stream without events: the endpoint learns that the manager is there.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// Largest number of events that wait for a slow client. Its stream then ends, and the client begins another one.
const WAITING: usize = 256;

type Sender = mpsc::Sender<Bytes>;

/// The open streams.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    endpoints: HashMap<EndpointId, Vec<Sender>>,
    viewers: Vec<Sender>,
    /// Number of viewers that have had the first event.
    greeted: usize,
}

impl Streams {
    /// Opens a stream; none if there are too many.
    pub(crate) fn open(&mut self, of: Principal, most: usize) -> Option<Events> {
        let senders = match of {
            Principal::Endpoint(id) => self.endpoints.entry(id).or_default(),
            Principal::Operator | Principal::Viewer => &mut self.viewers,
        };
        let before = senders.len();
        senders.retain(|sender| !sender.is_closed());
        let closed = before - senders.len();
        let full = senders.len() >= most;
        if matches!(of, Principal::Operator | Principal::Viewer) {
            self.greeted -= closed.min(self.greeted);
        }
        if full {
            return None;
        }
        let (sender, receiver) = mpsc::channel(WAITING);
        // The client knows from it that it misses no event from now on.
        let _ = sender.try_send(Bytes::from_static(b": open\n\n"));
        match of {
            Principal::Endpoint(id) => self.endpoints.entry(id).or_default().push(sender),
            Principal::Operator | Principal::Viewer => self.viewers.push(sender),
        }
        Some(Events {
            receiver,
            alive: interval_at(tokio::time::Instant::now() + KEEP_ALIVE, KEEP_ALIVE),
        })
    }

    /// Whether an endpoint has an open stream.
    pub(crate) fn has(&self, id: EndpointId) -> bool {
        let senders = self.endpoints.get(&id);
        senders.is_some_and(|senders| senders.iter().any(|sender| !sender.is_closed()))
    }

    /// Whether a viewer has an open stream.
    pub(crate) fn has_viewers(&self) -> bool {
        self.viewers.iter().any(|sender| !sender.is_closed())
    }

    /// Number of open streams.
    pub(crate) fn count(&self) -> usize {
        let senders = self.endpoints.values().flatten().chain(&self.viewers);
        senders.filter(|sender| !sender.is_closed()).count()
    }

    /// Ends the streams of an endpoint.
    pub(crate) fn end(&mut self, id: EndpointId) {
        self.endpoints.remove(&id);
    }

    /// Sends groups to the streams of their endpoints: one event `groups` for each, with all its connections.
    pub(crate) fn send_groups(&mut self, changes: Vec<(EndpointId, api::Groups)>) {
        let mut by_endpoint: HashMap<EndpointId, Vec<api::Groups>> = HashMap::new();
        for (id, groups) in changes {
            by_endpoint.entry(id).or_default().push(groups);
        }
        for (id, groups) in by_endpoint {
            let event = event("groups", &groups);
            if let Some(senders) = self.endpoints.get_mut(&id) {
                send(senders, &event);
            }
        }
    }

    /// Sends changed links to the viewers; to new ones all links.
    pub(crate) fn send_network(&mut self, state: &mut State) {
        let links = state.take_dirty();
        let network = |links| api::NetworkEvent {
            map: state.map_revision(),
            links,
            totals: state.totals(),
        };
        let changed = event("network", &network(links));
        let mut new = self.viewers.split_off(self.greeted.min(self.viewers.len()));
        send(&mut self.viewers, &changed);
        if !new.is_empty() {
            let all = state.map().links.into_iter().enumerate();
            let all = all.map(|(index, link)| (index as u32, link.live)).collect();
            send(&mut new, &event("network", &network(all)));
        }
        self.viewers.append(&mut new);
        self.greeted = self.viewers.len();
    }
}

/// Sends to all that take it. A stream that is full or closed ends.
fn send(senders: &mut Vec<Sender>, event: &Bytes) {
    senders.retain(|sender| sender.try_send(event.clone()).is_ok());
}

fn event(name: &str, data: &impl serde::Serialize) -> Bytes {
    let data = serde_json::to_string(data).expect("the types of the interface have JSON");
    format!("event: {name}\ndata: {data}\n\n").into()
}

/// The body of a stream.
pub(crate) struct Events {
    receiver: mpsc::Receiver<Bytes>,
    alive: Interval,
}

impl Events {
    pub(crate) fn into_body(self) -> axum::body::Body {
        axum::body::Body::new(UnsyncBoxBody::new(self))
    }
}

impl HttpBody for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Poll::Ready(event) = self.receiver.poll_recv(context) {
            self.alive.reset();
            return Poll::Ready(event.map(|event| Ok(Frame::data(event))));
        }
        self.alive
            .poll_tick(context)
            .map(|_| Some(Ok(Frame::data(Bytes::from_static(b": alive\n\n")))))
    }
}
