//! The metrics over HTTP.
//!
//! Every user of the host can reach a port on loopback. Requests are read by a process without privileges
//! ([`privilege_separation`](crate::privilege_separation)), which receives the finished text for each of them. `bounded.rs` limits the number
//! and the duration of connections, because a user could otherwise exhaust its file descriptors.

use super::bounded::Bounded;
use super::{Format, encode, read};
use crate::privilege_separation::{
    Channel, Exit, MESSAGE, NetworkProcess, Refusal, Sandbox, spawn,
};
use crate::{Error, Result};
use axum::extract::State;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Router, routing::get};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// A server of `/metrics`, a process and the thread that answers it, until it is dropped.
pub struct Server {
    address: SocketAddr,
    network: Arc<NetworkProcess>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens at an address. Port 0: any free port. The process ends with the calling thread, too.
    ///
    /// # Errors
    /// If it cannot listen there, or the process cannot be started.
    pub fn start(address: SocketAddr) -> Result<Self> {
        let failed = || Error::io(format!("metrics at {address}"));
        let listener = TcpListener::bind(address).map_err(failed())?;
        listener.set_nonblocking(true).map_err(failed())?;
        let address = listener.local_addr().map_err(failed())?;
        let sandbox = Sandbox {
            descriptors: &[listener.as_raw_fd()],
            readable: &[],
            connect: &[],
        };
        let network = Arc::new(spawn(&sandbox, |channel| {
            u8::from(serve(listener, channel).is_err())
        })?);
        let answering = network.clone();
        let thread = thread::Builder::new().name("metrics".into());
        let thread = thread.spawn(move || {
            answering.serve(None, answer);
        });
        Ok(Self {
            address,
            network,
            thread: Some(thread.map_err(failed())?),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether the network process has failed, so that no scrape is answered any more.
    pub fn has_failed(&self) -> bool {
        self.thread.as_ref().is_some_and(JoinHandle::is_finished)
    }

    /// Stops the server after its network process has failed. Returns one line with the exit status of the process.
    pub fn failure(&mut self) -> String {
        let exit = self.end().map(|exit| format!(" ({exit})"));
        format!("the network process has ended{}", exit.unwrap_or_default())
    }

    fn end(&mut self) -> Option<Exit> {
        self.network.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic was printed
        }
        self.network.wait()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// Answers a request of the network process: one byte, the format.
fn answer(request: &[u8], part: &dyn Fn(&[u8]) -> io::Result<()>) -> Result<(), Refusal> {
    let [format] = request else {
        return Err(Refusal::Invalid);
    };
    let format = [Format::Prometheus, Format::OpenMetrics]
        .into_iter()
        .find(|known| *known as u8 == *format)
        .ok_or(Refusal::Invalid)?;
    let algorithms = read().map_err(|error| Refusal::Failed(error.to_string()))?;
    let text = encode(algorithms, format);
    text.as_bytes().chunks(MESSAGE - 1).try_for_each(part)?;
    Ok(())
}

/// Serves in the network process until the end of the channel.
fn serve(listener: TcpListener, channel: Channel) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()?;
    let channel = Arc::new(channel);
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let routes = Router::new().route("/metrics", get(metrics));
        let routes = routes.with_state(channel.clone());
        tokio::select! {
            served = axum::serve(Bounded::new(listener), routes) => served,
            () = channel.closed() => Ok(()),
        }
    })
}

async fn metrics(State(channel): State<Arc<Channel>>, headers: HeaderMap) -> Response {
    let accepted = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    let format = match accepted {
        Some(types) if types.contains("application/openmetrics-text") => Format::OpenMetrics,
        _ => Format::Prometheus,
    };
    let mut text = Vec::new();
    match channel.request(&[format as u8], |part| text.extend_from_slice(part)) {
        Ok(()) => ([(CONTENT_TYPE, format.media_type())], text).into_response(),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response(),
    }
}
