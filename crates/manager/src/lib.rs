//! The topology manager of network assistance: it keeps a map, the rates of its links and the subflows that endpoints report, and decides which
//! subflows are coupled (Thomas, Xylomenos and Polyzos, "Multipath Congestion Control with Network Assistance", section IV-A).

pub mod api;
mod error;
mod map;
mod network;
mod prefixes;
mod routes;
pub mod server;
mod state;
mod store;

pub use error::{Error, Kind, Result};
pub use map::map_of;
pub use network::{MOST_CANDIDATES, RATE_AGE_MS};
pub use state::{ABSENCE_MS, CONNECTION_SUBFLOWS, Effects, EndpointId, Hash, Limits, State};

#[cfg(test)]
mod tests;
