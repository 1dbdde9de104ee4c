//! The packets of a run in a file that Wireshark and tcpdump read, as if captured where the data are sent from: a packet
//! that leaves stands there when it is sent, one that comes in when it arrives. Time 0 is the begin of the run.
//!
//! A simulated packet is a few numbers; `packet.rs` makes of them what a real endpoint would have sent, as long as the
//! packet that the network carried.

mod ends;
mod file;
mod keys;
mod options;
mod packet;
mod watcher;

use std::io;
use std::path::Path;

use netsim::Time;
use serde::{Deserialize, Serialize};

use crate::{Drawn, Run, Scenario, trace_file};
use ends::Ends;
use file::Pcap;
use packet::Writer;
pub(crate) use watcher::{Packets, Watcher};

/// The packets of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Capture(Source);

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Source {
    #[serde(skip)] // it has no way to go: who simulates also writes
    Simulated(Ends, Packets),
    Real(Vec<(Time, Box<[u8]>)>),
}

impl Capture {
    /// Of IP packets that real endpoints sent, in order of time.
    #[must_use]
    pub fn real(packets: Vec<(Time, Box<[u8]>)>) -> Self {
        Self(Source::Real(packets))
    }

    pub(crate) fn simulated(scenario: &Scenario, drawn: &Drawn, packets: Packets) -> Self {
        Self(Source::Simulated(Ends::new(scenario, drawn), packets))
    }

    /// Writes them into a file.
    ///
    /// # Errors
    /// With the file's name.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        self.write_to(path).map_err(named)
    }

    fn write_to(&self, path: &Path) -> io::Result<()> {
        let mut file = Pcap::create(path)?;
        match &self.0 {
            Source::Simulated(ends, packets) => {
                let mut writer = Writer::new(ends);
                for (at, packet, sack) in packets.iter() {
                    let (head, payload) = writer.packet(at, packet, sack);
                    file.packet(at, &head, payload)?;
                }
            }
            Source::Real(packets) => {
                for (at, packet) in packets {
                    file.packet(*at, packet, 0)?;
                }
            }
        }
        file.finish()
    }
}

/// Writes a run's packets, if it has them, into `<title>-seed-<seed>.pcap` of this directory, as
/// [`trace_file::write`] names its files.
///
/// # Errors
/// With the file's name.
pub fn write(run: &Run, directory: &Path) -> io::Result<()> {
    match &run.capture {
        Some(capture) => capture.write(&trace_file::path(&run.outcome, directory, "pcap")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
