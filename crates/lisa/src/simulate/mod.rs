//! `lisa run`, `lisa compare` and `lisa sweep`: scenarios, in the simulator, on this host or in a VM.

pub mod arguments;
mod backend;
mod choice;
mod compare;
mod compared;
mod metrics;
mod plot;
mod progress;
mod rows;
mod run;
mod sweep;
pub mod tables;

pub use compare::compare;
pub use run::run;
pub use sweep::sweep;
