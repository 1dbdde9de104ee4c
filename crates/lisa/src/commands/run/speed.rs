//! Speed of the runs.

use scenario::Outcome;

use crate::tables::large;

/// The network time and the packet hops of runs.
#[derive(Default)]
pub struct Speed {
    hops: u64,
    /// Seconds on the network's clock.
    seconds: f64,
}

impl Speed {
    /// Adds a run.
    pub fn add(&mut self, outcome: &Outcome) {
        self.hops += outcome.packet_hops;
        self.seconds += outcome.sim_seconds;
    }

    /// The last line of the output, with the wall time in seconds.
    pub fn line(&self, wall: f64) -> String {
        format!(
            "{} packet hops, {:.1} s of network time, in {wall:.3} s: {} hops/s\n",
            large(self.hops as f64),
            self.seconds,
            large(self.hops as f64 / wall)
        )
    }
}
