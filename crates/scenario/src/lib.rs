//! What to run ([`Scenario`]), and what every backend returns of it ([`Outcome`], [`trace`]).
//!
//! A scenario file is TOML: see [`Scenario`] for its keys, [`units`] for how it writes times, rates and sizes.
//! [`Scenario::draw`] makes of it what one seed runs: a graph, and flows over it. [`simulate`] runs it; [`batch`] runs
//! many at once, over the grid that [`vary`] reads; [`metrics`] and [`statistics`] say what they have in common and where
//! they differ; [`columns`], [`trace_file`] and [`capture`] write files.
//!
//! ```
//! use lisa_scenario::Scenario;
//!
//! let text = r#"
//!     title = "300 KB over a shared 2.5 Mbit/s bottleneck"
//!     stop  = "30s"
//!
//!     [topology]
//!     kind  = "shared-bottleneck"
//!     rate  = "2.5Mbit"
//!     rtt   = "70ms"
//!     queue = { kind = "droptail", packets = 30 }
//!
//!     [[connection]]
//!     name      = "download"
//!     protocol  = "mptcp"
//!     algorithm = "lisa"
//!     subflows  = 2
//!     bytes     = "300KB"
//! "#;
//! let scenario = Scenario::parse(text, "download.toml")?;
//! let drawn = scenario.draw(1)?;
//! assert_eq!(drawn.flows[0].paths.len(), 2);
//!
//! let error = Scenario::parse(&text.replace("packets", "packet"), "download.toml").unwrap_err();
//! assert!(error.to_string().starts_with("download.toml:9: `topology.queue.packet`: "));
//! # Ok::<(), lisa_scenario::Error>(())
//! ```

pub mod batch;
pub mod capture;
pub mod columns;
mod connection;
pub mod draw;
mod error;
mod file;
mod limits;
pub mod metrics;
pub mod outcome;
mod recorder;
mod scenario;
mod simulate;
pub mod statistics;
pub mod trace;
pub mod trace_file;
pub mod units;
pub mod vary;
mod word;

pub use connection::{
    Application, Arrivals, Between, ConnectionSpec, Constants, Length, OnOff, PathChoice,
    PathManager, Profile, Protocol, Regroup,
};
pub use draw::{Drawn, Flow};
pub use error::{Error, Place};
pub use outcome::Outcome;
pub use scenario::Scenario;
pub use simulate::{Run, Watch, simulate, simulate_watched, simulate_within};
pub use word::Word;
