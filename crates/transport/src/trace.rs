//! Who watches a simulation. Watching is a type parameter: with [`Quiet`] it costs nothing.

use mpcc::{Note, Subflow};
use netsim::Time;

/// What shows of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Slow start threshold, segments; none before the first loss.
    pub ssthresh: Option<u32>,
    /// Smoothed RTT in eighths of a microsecond.
    pub srtt8: u32,
    /// Segments in flight.
    pub flight: u32,
    /// Whether its window is being reduced.
    pub reducing: bool,
}

/// Hears what happens at the senders. Subflows are numbered over the whole simulation.
pub trait Observer {
    /// Whether it listens at all.
    const ON: bool;
    /// A sender's state after something changed it.
    fn window(&mut self, at: Time, subflow: u32, view: &View);
    /// What the congestion control told of credits.
    fn credit(&mut self, at: Time, subflow: u32, cc: &Subflow, note: &Note);
}

/// Does not listen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Observer for Quiet {
    const ON: bool = false;
    fn window(&mut self, _: Time, _: u32, _: &View) {}
    fn credit(&mut self, _: Time, _: u32, _: &Subflow, _: &Note) {}
}
