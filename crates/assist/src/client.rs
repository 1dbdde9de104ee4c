//! Requests to the manager, over HTTP/1.1 with or without TLS.

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use manager::api;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use tokio_rustls::TlsConnector;

use crate::error::{Error, Result};

/// Longest time of a request, from the connection to the end of the answer.
const REQUEST: Duration = Duration::from_secs(5);

/// Longest time without a byte on the stream of events. The manager sends a comment every 5 s.
const SILENCE: Duration = Duration::from_secs(12);

/// Longest pause between two reads.
const PAUSE: Duration = Duration::from_secs(1);

/// Longest time of an event, from the end of the one before: comments are events, too. Then the manager sends one without an end, however
/// slowly, and its groups are as good as lost.
const EVENT: Duration = Duration::from_secs(30);

/// Largest answer, and largest event, bytes. A wrong manager must not fill the memory.
const MOST: usize = 16 << 20;

/// Address of a manager: `http://HOST:PORT` or `https://HOST[:PORT]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Whether with TLS.
    pub is_tls: bool,
    /// Name or address of the host.
    pub host: String,
    /// Port.
    pub port: u16,
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || "http://HOST:PORT or https://HOST:PORT is needed".to_string();
        let uri: Uri = text.parse().map_err(|_| form())?;
        let is_tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(form()),
        };
        if !["", "/"].contains(&uri.path()) || uri.query().is_some() {
            return Err("the address of a manager has no path".into());
        }
        let host = uri.host().ok_or_else(form)?;
        Ok(Self {
            is_tls,
            host: host.trim_matches(['[', ']']).into(),
            port: uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 }),
        })
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scheme = if self.is_tls { "https" } else { "http" };
        match self.host.contains(':') {
            true => write!(f, "{scheme}://[{}]:{}", self.host, self.port),
            false => write!(f, "{scheme}://{}:{}", self.host, self.port),
        }
    }
}

impl Target {
    /// Whether packets to it leave the host without TLS: its URL is `http` and its name is not one of this host.
    #[must_use]
    pub fn is_exposed(&self) -> bool {
        let address = self.host.parse::<std::net::IpAddr>();
        let is_local =
            self.host == "localhost" || address.is_ok_and(|ip| ip.to_canonical().is_loopback());
        !self.is_tls && !is_local
    }
}

/// A manager.
#[derive(Clone)]
pub struct Manager {
    target: Target,
    token: Arc<str>,
    tls: Option<TlsConnector>,
}

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

impl Manager {
    /// A manager at this address, with the token of this endpoint. `authority` is a file of certificates in PEM that the manager's
    /// certificate is checked with; without it those of the system are.
    ///
    /// # Errors
    /// If no certificate can be read.
    pub fn new(target: Target, token: &str, authority: Option<&Path>) -> Result<Self> {
        let tls = target.is_tls.then(|| connector(authority)).transpose()?;
        Ok(Self {
            target,
            token: token.trim().into(),
            tls,
        })
    }

    /// The address.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Begins a session.
    pub(crate) async fn session(&self) -> Result<api::Session> {
        self.answer(Method::POST, "/v1/session", None).await
    }

    /// Sends a report.
    pub(crate) async fn report(&self, report: &api::Report) -> Result<api::Reported> {
        let body = serde_json::to_vec(report).expect("a report has JSON");
        self.answer(Method::POST, "/v1/reports", Some(body)).await
    }

    /// Opens the stream of events, and waits for its first byte.
    pub(crate) async fn events(&self, session: &str) -> Result<Events> {
        let path = format!("/v1/events?session={session}");
        let open = async {
            let response = self.send(Method::GET, &path, None).await?;
            let response = self.checked(response).await?;
            let mut events = Events {
                body: response.into_body(),
                received: Received::default(),
                last: Instant::now(),
                complete: Instant::now(),
                handled: None,
                read_at: Instant::now(),
            };
            events.read().await?;
            Ok(events)
        };
        let late = || self.failed("no answer in 5 s");
        timeout(REQUEST, open).await.map_err(|_| late())?
    }

    fn failed(&self, error: impl std::fmt::Display) -> Error {
        Error::new(&self.target, error)
    }

    async fn answer<T: serde::de::DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<Vec<u8>>,
    ) -> Result<T> {
        let exchange = async {
            let response = self.send(method, path, body).await?;
            let response = self.checked(response).await?;
            let body = Limited::new(response.into_body(), MOST).collect().await;
            let body = body.map_err(|error| self.failed(error))?.to_bytes();
            serde_json::from_slice(&body).map_err(|error| {
                self.failed(format!("the answer to {path} is not a manager's ({error})"))
            })
        };
        let late = || self.failed("no answer in 5 s");
        timeout(REQUEST, exchange).await.map_err(|_| late())?
    }

    /// The response, or the error that it has.
    async fn checked(&self, response: Response<Incoming>) -> Result<Response<Incoming>> {
        let status = response.status();
        if status == StatusCode::OK {
            return Ok(response);
        }
        let body = Limited::new(response.into_body(), 1 << 16).collect().await;
        let problem = body.ok().and_then(|body| {
            let problem: api::Problem = serde_json::from_slice(&body.to_bytes()).ok()?;
            Some(problem.error)
        });
        Err(self.failed(problem.unwrap_or_else(|| format!("status {status}"))))
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<Vec<u8>>,
    ) -> Result<Response<Incoming>> {
        let Target { host, port, .. } = &self.target;
        let connected = TcpStream::connect((&host[..], *port)).await;
        let stream = connected.map_err(|error| self.failed(error))?;
        let _ = stream.set_nodelay(true);
        let stream: Box<dyn Stream> = match &self.tls {
            None => Box::new(stream),
            Some(tls) => {
                let name = ServerName::try_from(host.clone());
                let name = name.map_err(|error| self.failed(error))?;
                let stream = tls.connect(name, stream).await;
                Box::new(stream.map_err(|error| self.failed(error))?)
            }
        };
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| self.failed(error))?;
        tokio::spawn(connection);
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, format!("{host}:{port}"))
            .header(AUTHORIZATION, format!("Bearer {}", self.token))
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body.unwrap_or_default())))
            .map_err(|error| self.failed(error))?;
        let response = sender.send_request(request).await;
        response.map_err(|error| self.failed(error))
    }
}

/// Longest file of certificates, bytes: a hundred times the bundle of a distribution.
const AUTHORITIES: u64 = 32 << 20;

/// Checks certificates of managers.
fn connector(authority: Option<&Path>) -> Result<TlsConnector> {
    let mut roots = RootCertStore::empty();
    match authority {
        Some(file) => {
            let failed = |error: &dyn std::fmt::Display| {
                Error(format!(
                    "{}: no certificate in PEM ({error})",
                    file.display()
                ))
            };
            let text = files::read(file, AUTHORITIES)
                .map_err(|error| Error(format!("{}: {error}", file.display())))?;
            for certificate in CertificateDer::pem_slice_iter(&text) {
                let certificate = certificate.map_err(|error| failed(&error))?;
                roots.add(certificate).map_err(|error| failed(&error))?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if roots.is_empty() {
        return Err(Error(
            "no certificate to check the manager with: give --ca FILE, or install ca-certificates"
                .into(),
        ));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::new("TLS", error))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// The stream of events.
pub(crate) struct Events {
    body: Incoming,
    received: Received,
    /// Time of the last byte.
    last: Instant,
    /// Time of the last complete event.
    complete: Instant,
    /// Time at which the frame arrived that is being handled.
    handled: Option<Instant>,
    /// The next frame is not read before: a manager that sends all the time has a tenth of the time of this process, and TCP holds it back.
    read_at: Instant,
}

impl Events {
    /// The next event `groups`. Comments and other events are skipped. Can be cancelled.
    pub(crate) async fn next(&mut self) -> Result<Vec<api::Groups>> {
        loop {
            while let Some(event) = self.received.event() {
                self.complete = Instant::now();
                if let Some(groups) = groups(event)? {
                    return Ok(groups);
                }
            }
            self.read().await?;
        }
    }

    /// Reads some bytes.
    async fn read(&mut self) -> Result<()> {
        if let Some(arrived) = self.handled.take() {
            self.read_at = Instant::now() + (9 * arrived.elapsed()).min(PAUSE);
        }
        sleep_until(self.read_at).await;
        let until = (self.last + SILENCE)
            .min(self.complete + EVENT)
            .max(self.read_at);
        let frame = timeout_at(until, self.body.frame()).await;
        let frame = frame.map_err(|_| match self.received.is_empty() {
            true => Error("the manager is silent".into()),
            false => Error("the manager sends an event without an end".into()),
        })?;
        let Some(frame) = frame else {
            return Err(Error("the manager has ended the stream of events".into()));
        };
        let frame = frame.map_err(|error| Error::new("stream of events", error))?;
        self.last = Instant::now();
        self.handled = Some(self.last);
        if let Some(data) = frame.data_ref() {
            self.received.push(data);
        }
        if self.received.bytes.len() > MOST {
            return Err(Error("the manager sends an event without an end".into()));
        }
        Ok(())
    }
}

/// Received bytes of a stream of events. An event ends with an empty line.
#[derive(Default)]
struct Received {
    bytes: Vec<u8>,
    /// Begin of the first event that was not returned.
    begin: usize,
    /// Bytes before it have no end of that event. The search continues here, so that an event of many frames is not searched from its
    /// begin for each of them.
    searched: usize,
    /// Number of bytes that were compared.
    #[cfg(test)]
    compared: std::cell::Cell<usize>,
}

impl Received {
    /// Whether all bytes were returned.
    fn is_empty(&self) -> bool {
        self.begin == self.bytes.len()
    }

    /// Adds bytes, and removes the events that were returned.
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.begin);
        self.searched -= self.begin;
        self.begin = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// The next complete event.
    fn event(&mut self) -> Option<&[u8]> {
        while let Some(found) = self.newline() {
            let end = self.searched + found;
            self.searched = end + 1;
            if end > self.begin && self.bytes[end - 1] == b'\n' {
                let event = self.begin..end;
                self.begin = self.searched;
                return Some(&self.bytes[event]);
            }
        }
        self.searched = self.bytes.len();
        None
    }

    /// Position of the next newline behind the searched bytes.
    fn newline(&self) -> Option<usize> {
        let rest = &self.bytes[self.searched..];
        let found = rest.iter().position(|byte| *byte == b'\n');
        #[cfg(test)]
        {
            let compared = found.map_or(rest.len(), |found| found + 1);
            self.compared.set(self.compared.get() + compared);
        }
        found
    }
}

/// The groups of an event; none of another one.
fn groups(event: &[u8]) -> Result<Option<Vec<api::Groups>>> {
    let mut lines = event.split(|byte| *byte == b'\n');
    if !lines.clone().any(|line| line == b"event: groups") {
        return Ok(None);
    }
    let data = lines.find_map(|line| line.strip_prefix(b"data: "));
    let groups = serde_json::from_slice(data.unwrap_or_default());
    groups
        .map(Some)
        .map_err(|error| Error::new("event `groups`", error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of a stream that arrives in frames of this length, and the number of compared bytes.
    fn received(stream: &str, frame: usize) -> (Vec<String>, usize) {
        let (mut received, mut events) = (Received::default(), Vec::new());
        for frame in stream.as_bytes().chunks(frame) {
            received.push(frame);
            while let Some(event) = received.event() {
                events.push(String::from_utf8(event.to_vec()).expect("text"));
            }
        }
        (events, received.compared.get())
    }

    #[test]
    fn each_byte_of_the_stream_is_compared_once() {
        let long = format!("event: groups\ndata: {}\n", "x – ".repeat(10_000));
        let stream = format!(": open\n\n{long}\n: \n\nevent: other\n\nnot complete\n");
        for frame in [1, 2, 1000, stream.len()] {
            let (events, compared) = received(&stream, frame);
            assert_eq!(events, [": open\n", &long, ": \n", "event: other\n"]);
            assert_eq!(compared, stream.len(), "frames of {frame} bytes");
        }
    }
}
