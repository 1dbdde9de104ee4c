//! The packets of a run as a pcap file for Wireshark and tcpdump, as if captured at the sender of the data: an outgoing
//! packet has the time at which it is sent, an incoming one the time of its arrival. Time 0 is the start of the run.
//!
//! A simulated packet is a few numbers. `packet` turns them into the bytes of a real endpoint's packet, with the length
//! that the network carried.

mod addresses;
mod fields;
mod file;
mod keys;
mod options;
mod packet;
mod packets;

use std::io;
use std::path::Path;

use netsim::Time;
use serde::{Deserialize, Serialize};

use crate::draw::Drawn;
use crate::scenario::Scenario;
use addresses::Endpoints;
use file::Pcap;
use packet::Encoder;
pub(crate) use packets::Packets;

/// The packets of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Capture(Source);

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Source {
    // Never sent to another process: the simulating process writes the file.
    #[serde(skip)]
    Simulated(Endpoints, Packets),
    Real(Vec<(Time, Box<[u8]>)>),
}

impl Capture {
    /// A capture of IP packets of real endpoints, in order of time.
    #[must_use]
    pub fn real(packets: Vec<(Time, Box<[u8]>)>) -> Self {
        Self(Source::Real(packets))
    }

    pub(crate) fn simulated(scenario: &Scenario, drawn: &Drawn, packets: Packets) -> Self {
        Self(Source::Simulated(Endpoints::new(scenario, drawn), packets))
    }

    /// Writes the packets into a pcap file.
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
            Source::Simulated(endpoints, packets) => {
                let mut encoder = Encoder::new(endpoints);
                for captured in packets.iter() {
                    let encoded = encoder.encode(captured);
                    file.packet(captured.at, &encoded.head, encoded.payload)?;
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

#[cfg(test)]
mod tests;
