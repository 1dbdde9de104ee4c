//! Publishes the metrics that the file asks for.

use super::config::Metrics;
use super::log::Log;
use crate::Result;
use crate::metrics::{self, Server};
use std::fs;
use std::path::PathBuf;

/// The server and the text file.
#[derive(Default)]
pub(super) struct Publisher {
    server: Option<Server>,
    textfile: Option<PathBuf>,
    metrics: Metrics,
}

impl Publisher {
    /// Starts and ends what has changed.
    ///
    /// # Errors
    /// If it cannot listen at the address. Nothing is changed then.
    pub(super) fn change(&mut self, to: &Metrics, log: &mut Log<'_>) -> Result<()> {
        if to.listen != self.metrics.listen {
            let server = to.listen.map(Server::start).transpose()?;
            if let Some(server) = &server {
                log.info(&format!("metrics at http://{}/metrics", server.address()));
            }
            self.server = server;
        }
        if to.textfile != self.metrics.textfile {
            self.remove();
            self.textfile.clone_from(&to.textfile);
        }
        self.metrics = to.clone();
        Ok(())
    }

    /// Writes the text file, and starts a server that has failed again.
    pub(super) fn write(&mut self, log: &mut Log<'_>) {
        if let Some(mut failed) = self.server.take_if(|server| server.has_failed()) {
            log.warning(&format!("metrics: {}; started again", failed.failure()));
            drop(failed);
            match self.metrics.listen.map(Server::start).transpose() {
                Ok(server) => self.server = server,
                Err(error) => log.error(&error.to_string()),
            }
        }
        if let Some(Err(error)) = self.textfile.as_deref().map(metrics::write) {
            log.warning(&error.to_string());
        }
    }

    /// Ends the server and removes the file, whose content is old from now on.
    pub(super) fn end(&mut self) {
        self.server = None;
        self.remove();
        self.metrics = Metrics::default();
    }

    fn remove(&mut self) {
        if let Some(file) = self.textfile.take() {
            let _ = fs::remove_file(file); // it may not exist yet
        }
    }
}
