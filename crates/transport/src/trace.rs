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

/// Who it is: numbers over the whole simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Who {
    /// The connection.
    pub connection: u32,
    /// The subflow.
    pub subflow: u32,
}

/// Hears what happens at the senders.
pub trait Observer {
    /// Whether it listens at all.
    const ON: bool;
    /// A sender's state after something changed it.
    fn window(&mut self, at: Time, who: Who, view: &View);
    /// A subflow is established: what it took for its initial window, and from which slot of its connection.
    fn opened(&mut self, at: Time, who: Who, cc: &Subflow, taken: Option<(u8, u32)>);
    /// What the congestion control told of credits.
    fn credit(&mut self, at: Time, who: Who, cc: &Subflow, note: &Note);
    /// The network lost a segment of a subflow's data: a queue dropped it, or a link lost it.
    fn lost(&mut self, at: Time, subflow: u32);
}

/// Does not listen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Observer for Quiet {
    const ON: bool = false;
    fn window(&mut self, _: Time, _: Who, _: &View) {}
    fn opened(&mut self, _: Time, _: Who, _: &Subflow, _: Option<(u8, u32)>) {}
    fn credit(&mut self, _: Time, _: Who, _: &Subflow, _: &Note) {}
    fn lost(&mut self, _: Time, _: u32) {}
}
