//! The metrics over HTTP.
//!
//! Every user of the host can reach a port on loopback. `bounded.rs` limits the number and the duration of connections, because a user
//! could otherwise exhaust the file descriptors of the service.

use super::bounded::Bounded;
use super::{Format, encode, read};
use crate::{Error, Result};
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Router, routing::get};
use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// A server of `/metrics`, on a thread of its own, until it is dropped.
pub struct Server {
    address: SocketAddr,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens at an address. Port 0: any free port.
    ///
    /// # Errors
    /// If it cannot listen there.
    pub fn start(address: SocketAddr) -> Result<Self> {
        let failed = || Error::io(format!("metrics at {address}"));
        let (end, ended) = oneshot::channel();
        let (started, start) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("metrics".into())
            .spawn(move || serve(address, ended, &started))
            .map_err(failed())?;
        let stopped = || std::io::Error::other("the server has stopped");
        let address = start
            .recv()
            .unwrap_or_else(|_| Err(stopped()))
            .map_err(failed())?;
        Ok(Self {
            address,
            end: Some(end),
            thread: Some(thread),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
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

type Started = mpsc::Sender<std::io::Result<SocketAddr>>;

/// Serves until the other end of `ended` is dropped.
fn serve(address: SocketAddr, ended: oneshot::Receiver<()>, started: &Started) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return drop(started.send(Err(error))),
    };
    runtime.block_on(async {
        let listener = match TcpListener::bind(address).await {
            Ok(listener) => listener,
            Err(error) => return drop(started.send(Err(error))),
        };
        let _ = started.send(listener.local_addr());
        let routes = Router::new().route("/metrics", get(metrics));
        tokio::select! {
            _ = axum::serve(Bounded::new(listener), routes) => {}
            _ = ended => {}
        }
    });
}

async fn metrics(headers: HeaderMap) -> Response {
    let accepted = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    let format = match accepted {
        Some(types) if types.contains("application/openmetrics-text") => Format::OpenMetrics,
        _ => Format::Prometheus,
    };
    match read() {
        Ok(algorithms) => {
            let text = encode(algorithms, format);
            ([(CONTENT_TYPE, format.media_type())], text).into_response()
        }
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response(),
    }
}
