//! `lisa serve`: the topology manager.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;

use clap::{Args, ValueHint};
use manager::Limits;
use manager::server::{Config, HttpLimits, Server, TlsFiles, openapi};
use nix::sys::signal::{SigSet, Signal};

use crate::output::{Failure, complain, print};
use crate::values::{self, Form};

/// Arguments of `lisa serve`.
#[derive(Args)]
#[command(after_help = NOTES)]
pub struct Arguments {
    /// Address and port. Port 0 is any free port.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9720", value_parser = address())]
    listen: SocketAddr,
    /// Folder of the database and of the tokens of operator and viewer. It is created.
    #[arg(long, value_name = "FOLDER", default_value = "/var/lib/lisa-manager", value_hint = ValueHint::DirPath, value_parser = values::path("the name of a folder"))]
    folder: PathBuf,
    /// Certificate of the server and of its issuers, in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_key", value_hint = ValueHint::FilePath, value_parser = values::path("the name of a file"))]
    tls_certificate: Option<PathBuf>,
    /// Private key of the certificate, in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_certificate", value_hint = ValueHint::FilePath, value_parser = values::path("the name of a file"))]
    tls_key: Option<PathBuf>,
    /// Serve other hosts than this one without TLS. Whoever sees the packets then has the tokens.
    #[arg(long, conflicts_with = "tls_certificate")]
    plain: bool,
    /// Largest number of connections of one address. Behind a translator of addresses (NAT) many endpoints have one.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = values::number::<usize>(1..=65_536))]
    address_connections: usize,
    /// Largest number of subflows of one endpoint.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = values::number::<usize>(1..=1_000_000))]
    endpoint_subflows: usize,
    /// Print the address and the files of the tokens as JSON (schema lisa.serve/1).
    #[arg(long)]
    json: bool,
    /// Only print the OpenAPI description of the interface.
    #[arg(long)]
    openapi: bool,
}

const NOTES: &str = "\
Who may do what follows from a token in the header `Authorization: Bearer TOKEN`.
FOLDER/operator.token sets the map, prefixes, routes, rates and endpoints, FOLDER/viewer.token
reads, and each endpoint has a token of its own, with which `lisa kernel assist` reports its
subflows. --openapi describes the requests. docs/assistance.md is a guide.

Examples:
  lisa serve --folder ./manager                             # on this host; the page is at http://127.0.0.1:9720/
  lisa serve --folder ./manager --listen 0.0.0.0:9720 --tls-certificate cert.pem --tls-key key.pem
  lisa serve --openapi > openapi.json

  operator=\"Authorization: Bearer $(cat manager/operator.token)\"
  curl -H \"$operator\" -H 'Content-Type: text/x-gml' -T experiments/topologies/Nsfnet.gml http://127.0.0.1:9720/v1/map
  curl -H \"$operator\" -X PUT http://127.0.0.1:9720/v1/endpoints/laptop -d '{\"addresses\": [\"10.1.0.0/16\"]}'";

/// An address and a port.
pub fn address() -> Form<SocketAddr> {
    let form = "an address and a port, like 127.0.0.1:9720 or [::1]:9720";
    Form::new(form, |text| text.parse().map_err(|_| String::new()))
}

/// Serves until SIGINT or SIGTERM, or until the database fails: a restart then reads what the disk has.
pub fn run(arguments: Arguments) -> Result<(), Failure> {
    if arguments.openapi {
        let text = serde_json::to_string_pretty(&openapi());
        let text = text.map_err(|error| Failure::new(error.to_string()))?;
        return print(&(text + "\n"));
    }
    let tls = arguments.tls_certificate.zip(arguments.tls_key);
    let tls = tls.map(|(certificate, key)| TlsFiles { certificate, key });
    let scheme = if tls.is_some() { "https" } else { "http" };
    if tls.is_none() && !arguments.plain && !arguments.listen.ip().to_canonical().is_loopback() {
        return Err(Failure::usage(format!(
            "--listen {}: other hosts would send their tokens in plain text; give --tls-certificate and --tls-key, or --plain",
            arguments.listen
        )));
    }
    let signals = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM]);
    // Before the server's threads start, which inherit the mask.
    signals.thread_block().expect("valid signals");
    let config = Config {
        listen: arguments.listen,
        folder: arguments.folder,
        tls,
        limits: Limits {
            endpoint_subflows: arguments.endpoint_subflows,
            ..Limits::default()
        },
        http: HttpLimits {
            address_connections: arguments.address_connections,
            ..HttpLimits::default()
        },
    };
    let mut server = Server::start(config)?;
    let url = format!("{scheme}://{}", server.address());
    let (operator, viewer) = (server.operator_file(), server.viewer_file());
    if arguments.json {
        let start = serde_json::json!({
            "schema": "lisa.serve/1",
            "url": url,
            "operator_token": operator,
            "viewer_token": viewer,
        });
        print(&format!("{start}\n"))?;
    } else {
        print(&format!("manager at {url}/\n"))?;
        print(&format!(
            "tokens in {} and {}\n",
            operator.display(),
            viewer.display()
        ))?;
    }
    if arguments.plain && !server.address().ip().to_canonical().is_loopback() {
        complain(format!(
            "{} is not loopback, and there is no TLS: tokens are sent in plain text",
            server.address()
        ));
    }
    let (sender, end) = mpsc::channel();
    let (failed, failure) = (sender.clone(), server.failure());
    thread::spawn(move || failure.recv().map(|error| failed.send(Err(error.into()))));
    thread::spawn(move || {
        sender.send(
            signals
                .wait()
                .map(drop)
                .map_err(|error| Failure::new(error.to_string())),
        )
    });
    end.recv().expect("the second thread sends")
}
