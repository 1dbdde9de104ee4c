//! The links between two endpoints.

use netsim::{Rate, Span};

/// How the paths between client and server meet.
#[derive(Clone, Debug)]
pub enum Topology {
    /// All paths cross one bottleneck.
    SharedBottleneck {
        /// What they share.
        bottleneck: Shaping,
        /// Each path's round-trip time, without what sending and queueing add.
        rtts: Vec<Span>,
    },
    /// Each path has its own bottleneck.
    NonSharedBottleneck {
        /// The paths.
        paths: Vec<Path>,
    },
}

/// A bottleneck's rate and queue, the same in both directions.
#[derive(Clone, Copy, Debug)]
pub struct Shaping {
    /// The rate.
    pub rate: Rate,
    /// How many packets may wait while one is sent.
    pub queue: usize,
}

/// A path with its own bottleneck.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Its bottleneck.
    pub bottleneck: Shaping,
    /// Its round-trip time, without what sending and queueing add.
    pub rtt: Span,
}

impl Topology {
    /// How many paths there are.
    pub fn paths(&self) -> usize {
        match self {
            Topology::SharedBottleneck { rtts, .. } => rtts.len(),
            Topology::NonSharedBottleneck { paths } => paths.len(),
        }
    }

    /// Changes every path's round-trip time.
    pub fn map_rtts(&mut self, change: impl Fn(Span) -> Span) {
        match self {
            Topology::SharedBottleneck { rtts, .. } => {
                rtts.iter_mut().for_each(|rtt| *rtt = change(*rtt));
            }
            Topology::NonSharedBottleneck { paths } => {
                paths
                    .iter_mut()
                    .for_each(|path| path.rtt = change(path.rtt));
            }
        }
    }
}
