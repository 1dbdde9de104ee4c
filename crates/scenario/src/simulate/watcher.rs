//! Records the packets of a simulation, and the states of its senders if requested.

use mpcc::{Note, Subflow};
use netsim::Time;
use transport::{ByteRange, Credit, Observer, Packet, SubflowId, View};

use super::recorder::Recorder;
use super::recording::Recording;
use crate::capture::Packets;

/// Observer of packets, and of senders if it has a recorder.
#[derive(Debug)]
pub(super) struct Watcher {
    pub(super) recorder: Option<Recorder>,
    pub(super) packets: Packets,
}

impl Observer for Watcher {
    const ON: bool = true;
    const PACKETS: bool = true;

    fn packet(&mut self, at: Time, packet: &Packet, sack: &[ByteRange]) {
        self.packets.push(at, packet, sack);
    }

    fn window(&mut self, at: Time, subflow: SubflowId, view: &View) {
        if let Some(recorder) = &mut self.recorder {
            recorder.window(at, subflow, view);
        }
    }

    fn opened(&mut self, at: Time, subflow: SubflowId, cc: &Subflow, taken: Option<Credit>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.opened(at, subflow, cc, taken);
        }
    }

    fn credit(&mut self, at: Time, subflow: SubflowId, cc: &Subflow, note: &Note) {
        if let Some(recorder) = &mut self.recorder {
            recorder.credit(at, subflow, cc, note);
        }
    }

    fn lost(&mut self, at: Time, subflow: SubflowId) {
        if let Some(recorder) = &mut self.recorder {
            recorder.lost(at, subflow);
        }
    }
}

impl Recording for Watcher {
    fn rows(&self) -> usize {
        self.recorder.as_ref().map_or(0, Recorder::rows)
    }

    fn packets(&self) -> usize {
        self.packets.len()
    }
}
