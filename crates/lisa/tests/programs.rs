//! Real programs under `lisa kernel exec`, and connections in all forms of MPTCP: all bytes arrive unchanged,
//! the connection has the expected subflows, every credit conserves the sum of the windows, and all state is freed.
//!
//! Needs root. Every test has hosts and a registration of its own.

mod support;

#[path = "programs/clocks.rs"]
mod clocks;
#[path = "programs/closes.rs"]
mod closes;
#[path = "programs/failures.rs"]
mod failures;
#[path = "programs/fallback.rs"]
mod fallback;
#[path = "programs/groups.rs"]
mod groups;
#[path = "programs/late.rs"]
mod late;
#[path = "programs/left_over.rs"]
mod left_over;
#[path = "programs/many.rs"]
mod many;
#[path = "programs/tools.rs"]
mod tools;
