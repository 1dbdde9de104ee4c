//! Scenarios ([`Scenario`]), and the results that every backend returns ([`Run`]: [`Outcome`], [`trace`], [`capture`]).
//!
//! A scenario file is TOML: [`Scenario`] has its keys, [`units`] the form of times, rates and sizes. [`Scenario::draw`]
//! draws a graph and the flows on it from a seed. [`simulate`] runs them; [`batch`] runs many scenarios in parallel, over
//! the grid of [`vary`]. [`metrics`] and [`statistics`] compare outcomes; [`export`] writes files.
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
pub mod capacity;
pub mod capture;
pub mod colours;
mod connection;
mod data;
pub mod draw;
mod error;
#[cfg(feature = "files")]
pub mod export;
mod file;
pub mod limited;
pub mod metrics;
pub mod outcome;
#[cfg(feature = "files")]
pub mod paths;
mod random;
mod run;
pub mod run_warnings;
pub mod sample;
mod scenario;
mod simulate;
mod size;
mod source;
pub mod statistics;
#[cfg(feature = "files")]
pub mod study;
pub mod trace;
mod transfers;
pub mod units;
#[cfg(feature = "files")]
pub mod vary;
pub mod view;
pub mod warning;

pub use connection::{
    Application, Arrivals, Between, ConnectionSpec, Constants, InitialSsthresh, Length, OnOff,
    PathChoice, Protocol, Regroup, Routing, Spacing,
};
pub use draw::{Drawn, Flow};
pub use error::{
    Error, Location, nearest, nearest_node, no_path, one_line, several_nodes, shown, there_are,
};
#[cfg(target_family = "wasm")]
pub use file::text::provided::provide as provide_file;
pub use file::text::{read as read_text, read_from as read_text_from};
pub use outcome::{Backend, Outcome};
pub use run::{Run, Watch};
pub use scenario::Scenario;
pub use simulate::{simulate, simulate_cancellable, simulate_watched, simulate_within};
pub use size::{DISTRIBUTIONS, Size, SizePoint, SizeTable};
pub use source::Source;
pub use transfers::Transfers;
pub use transport::{PathManager, Profile};
pub use warning::{Warning, WarningKind};
