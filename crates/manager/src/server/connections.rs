//! Accepting connections, and their limits.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Sleep, sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

use super::authentication::Client;
use super::{HttpLimits, Shared};

/// Longest TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(5);

/// Largest header of a request, bytes.
const HEADER: usize = 16 << 10;

/// Numbers of open connections.
#[derive(Debug, Default)]
struct Open {
    total: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// A place among the open connections, until it is dropped.
struct Place {
    open: Arc<Mutex<Open>>,
    address: IpAddr,
}

impl Place {
    fn take(open: &Arc<Mutex<Open>>, address: IpAddr, limits: &HttpLimits) -> Option<Self> {
        let mut numbers = open.lock().expect("it does not panic");
        let of_address = numbers.by_address.get(&address).copied().unwrap_or(0);
        if numbers.total >= limits.connections || of_address >= limits.address_connections {
            return None;
        }
        numbers.total += 1;
        numbers.by_address.insert(address, of_address + 1);
        Some(Self {
            open: open.clone(),
            address,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut numbers = self.open.lock().expect("it does not panic");
        numbers.total -= 1;
        if let Some(of_address) = numbers.by_address.get_mut(&self.address) {
            *of_address -= 1;
            if *of_address == 0 {
                numbers.by_address.remove(&self.address);
            }
        }
    }
}

/// Accepts connections for ever.
pub(crate) async fn accept(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: axum::Router,
    shared: Arc<Shared>,
) {
    let open = Arc::new(Mutex::new(Open::default()));
    loop {
        let (stream, client) = match listener.accept().await {
            Ok(accepted) => accepted,
            // Too many open files, for instance: others may close soon.
            Err(_) => {
                sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let address = client.ip().to_canonical();
        let Some(place) = Place::take(&open, address, &shared.http) else {
            shared.metrics.refused.inc();
            continue; // closes it
        };
        let _ = stream.set_nodelay(true);
        let (tls, router, http) = (tls.clone(), router.clone(), shared.http);
        tokio::spawn(async move {
            let stream = Stalling::new(stream, http.write);
            let service =
                router.map_request(move |mut request: hyper::Request<hyper::body::Incoming>| {
                    request.extensions_mut().insert(Client(address));
                    request.map(axum::body::Body::new)
                });
            match tls {
                None => serve(stream, service, &http).await,
                Some(tls) => {
                    if let Ok(Ok(stream)) = timeout(HANDSHAKE, tls.accept(stream)).await {
                        serve(stream, service, &http).await;
                    }
                }
            }
            drop(place);
        });
    }
}

/// Serves the requests of a connection.
async fn serve<S>(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    service: S,
    http: &HttpLimits,
) where
    S: tower::Service<
            hyper::Request<hyper::body::Incoming>,
            Response = axum::response::Response,
            Error = std::convert::Infallible,
        > + Clone
        + Send
        + 'static,
    S::Future: Send,
{
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(http.header)
        .max_buf_size(HEADER)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
    let _ = connection.await; // an error is the client's
}

/// A stream that fails if the client takes no byte for too long.
struct Stalling {
    stream: TcpStream,
    longest: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Stalling {
    fn new(stream: TcpStream, longest: Duration) -> Self {
        Self {
            stream,
            longest,
            stalled: None,
        }
    }

    /// The result of a write, or an error after too long a time without one.
    fn checked<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let longest = self.longest;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(longest)));
        match stalled.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Stalling {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Stalling {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.checked(context, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.checked(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
