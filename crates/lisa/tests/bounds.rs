//! Bounds of a loaded algorithm, and what changes while it is loaded: users, room, the switch, settings, listeners, a new load.
//!
//! Needs root. Every test has hosts and a registration of its own.

mod support;

#[path = "bounds/hostile.rs"]
mod hostile;
#[path = "bounds/listeners.rs"]
mod listeners;
#[path = "bounds/reload.rs"]
mod reload;
#[path = "bounds/room.rs"]
mod room;
#[path = "bounds/switch.rs"]
mod switch;
