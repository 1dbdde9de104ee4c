//! `lisa kernel metrics`.

use std::net::SocketAddr;
use std::path::Path;

use kernel::metrics::{self, Format, Server};
use nix::sys::signal::{SigSet, Signal};

use crate::output::{Failure, complain, print};

/// Prints the metrics, writes them into a file, or serves them until SIGINT or SIGTERM.
pub fn run(listen: Option<SocketAddr>, textfile: Option<&Path>) -> Result<(), Failure> {
    match (listen, textfile) {
        (Some(address), _) => serve(address),
        (None, Some(file)) => Ok(metrics::write(file)?),
        (None, None) => print(&metrics::encode(metrics::read()?, Format::Prometheus)),
    }
}

fn serve(address: SocketAddr) -> Result<(), Failure> {
    metrics::read()?; // an error of privilege is for this terminal, not for who scrapes
    // SIGCHLD: its process has failed.
    let signals = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM, Signal::SIGCHLD]);
    // Before the server's thread starts, which inherits the mask.
    signals.thread_block().expect("valid signals");
    let mut server = Server::start(address)?;
    println!("metrics at http://{}/metrics", server.address());
    if !server.address().ip().to_canonical().is_loopback() {
        complain(format!(
            "{} is not loopback: other hosts can read the metrics",
            server.address()
        ));
    }
    match signals.wait().expect("valid signals") {
        Signal::SIGCHLD => Err(Failure::new(format!(
            "metrics at {}: {}",
            server.address(),
            server.failure()
        ))),
        _ => Ok(()),
    }
}
