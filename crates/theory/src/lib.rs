//! What theory predicts for the network of a scenario: the proportionally fair rates ([`optimum`]) and the rates at which an
//! algorithm's congestion avoidance comes to rest ([`fixed_point`]).
//!
//! Rates are those of packets on the wire, Mbit/s. Links have a capacity, and no delay by queueing: the round-trip time of a path
//! is given ([`Network::of`]).
//!
//! ```
//! use lisa_theory::{Law, Link, Network, Path, Probing, User, fixed_point, optimum};
//!
//! // Two users with a link of 1 Mbit/s each; the first one may use both.
//! let network = Network {
//!     links: ["own", "shared"].map(|name| Link { name: name.into(), capacity_mbps: 1.0 }).into(),
//!     users: vec![
//!         User { name: "multipath".into(), number: 1, paths: vec![Path::new([0], 0.15), Path::new([1], 0.15)] },
//!         User { name: "single".into(), number: 1, paths: vec![Path::new([1], 0.15)] },
//!     ],
//! };
//! // A fair user of two paths leaves the shared link to the other one. LIA does not.
//! assert!((optimum(&network, Probing::Free)?[0] - 1.0).abs() < 1e-3);
//! assert!(fixed_point(&network, Law::Lia)?.rates_mbps[0] > 1.2);
//! # Ok::<(), lisa_theory::Error>(())
//! ```

mod fixed_point;
mod law;
mod network;
mod optimum;

pub use fixed_point::{FixedPoint, fixed_point};
pub use law::Law;
pub use network::{Link, Network, Path, User};
pub use optimum::{Probing, optimum};

/// Bytes of a full packet on the wire: MSS 1448, TCP's timestamps, TCP and IPv4 headers.
pub const PACKET_BYTES: f64 = 1500.0;

/// Why there is no prediction.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A connection without congestion control.
    #[error(
        "`{0}` is UDP, which has no congestion control: theory needs a network of TCP and MPTCP"
    )]
    Udp(String),
    /// A path without a limit.
    #[error(
        "subflow {subflow} of `{connection}` crosses no link with a rate: its rate has no limit"
    )]
    Unlimited {
        /// Name of the connection.
        connection: String,
        /// Number of the subflow, from 1.
        subflow: usize,
    },
    /// The capacity does not suffice for a segment a round trip on each path.
    #[error(
        "the links cannot carry one segment a round trip on each path: no rates with probing exist"
    )]
    TooSmall,
    /// The iteration did not come to rest.
    #[error("{law}: no fixed point found, rates still change by {change:.1} %")]
    Restless {
        /// Name of the algorithm.
        law: &'static str,
        /// Largest change of a rate, %.
        change: f64,
    },
}
