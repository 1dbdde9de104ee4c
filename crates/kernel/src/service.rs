//! The service: keeps the kernel in the state that a file describes.
//!
//! [`run`] loads the algorithms of the file, sets the defaults of network namespaces, and waits for signals: SIGHUP reads the file
//! again, SIGTERM and SIGINT restore the defaults and unload. Everything that it needs to find its work again is in the kernel, and
//! in a small record for the case that it is killed (`instance.rs`).

pub mod config;
mod document;
mod instance;
mod log;
mod namespaces;
mod publish;
mod run;
mod state;

pub use log::{Level, Log};
pub use run::run;
