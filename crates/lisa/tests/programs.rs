//! Real programs under `lisa kernel exec`, and real connections in all the shapes that MPTCP has: bytes arrive whole,
//! the connection has the subflows it should have, every credit conserves the windows' sum, and nothing is left.
//!
//! Needs root; every test has hosts and a registration of its own.

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
