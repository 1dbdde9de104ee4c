//! Server-sent events.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::IpAddr;
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

/// A stream of the operator or of a viewer. All viewers have one token, so that their streams are counted by address.
#[derive(Debug)]
struct Viewer {
    of: (Principal, IpAddr),
    sender: Sender,
}

/// The open streams.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    endpoints: HashMap<EndpointId, Vec<Sender>>,
    viewers: Vec<Viewer>,
    /// Number of viewers that have had the first event.
    greeted: usize,
}

impl Streams {
    /// Opens a stream of a client at this address; none if there are too many.
    pub(crate) fn open(&mut self, of: Principal, at: IpAddr, most: usize) -> Option<Events> {
        let (sender, receiver) = mpsc::channel(WAITING);
        // The client knows from it that it misses no event from now on.
        let _ = sender.try_send(Bytes::from_static(b": open\n\n"));
        if let Principal::Endpoint(id) = of {
            let senders = self.endpoints.entry(id).or_default();
            senders.retain(|sender| !sender.is_closed());
            if senders.len() >= most {
                return None;
            }
            senders.push(sender);
        } else {
            let of = (of, at);
            let before = self.viewers.len();
            self.viewers.retain(|viewer| !viewer.sender.is_closed());
            self.greeted -= (before - self.viewers.len()).min(self.greeted);
            if self.viewers.iter().filter(|viewer| viewer.of == of).count() >= most {
                return None;
            }
            self.viewers.push(Viewer { of, sender });
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
        self.viewers.iter().any(|viewer| !viewer.sender.is_closed())
    }

    /// Number of open streams.
    pub(crate) fn count(&self) -> usize {
        let viewers = self.viewers.iter().map(|viewer| &viewer.sender);
        let senders = self.endpoints.values().flatten().chain(viewers);
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
                senders.retain(|sender| send(sender, &event));
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
        self.viewers.retain(|viewer| send(&viewer.sender, &changed));
        if !new.is_empty() {
            let all = state.map().links.into_iter().enumerate();
            let all = all.map(|(index, link)| (index as u32, link.live)).collect();
            let first = event("network", &network(all));
            new.retain(|viewer| send(&viewer.sender, &first));
        }
        self.viewers.append(&mut new);
        self.greeted = self.viewers.len();
    }
}

/// Sends an event. A stream that is full or closed ends.
fn send(sender: &Sender, event: &Bytes) -> bool {
    sender.try_send(event.clone()).is_ok()
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
