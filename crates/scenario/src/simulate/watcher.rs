//! Records the packets or the segments of a simulation, and the states of its senders if requested.

use mpcc::{Note, Subflow};
use netsim::Time;
use transport::{ByteRange, Credit, Observer, Packet, SubflowId, View};

use super::recorder::Recorder;
use super::recording::Recording;
use super::segments::Segments;
use crate::capture::Packets;
use crate::trace::Fate;

/// Observer of packets, segments and senders, each if it has a place for their records.
#[derive(Debug)]
pub(super) struct Watcher {
    pub(super) recorder: Option<Recorder>,
    pub(super) packets: Option<Packets>,
    pub(super) segments: Option<Segments>,
}

impl Observer for Watcher {
    const ON: bool = true;
    const PACKETS: bool = true;
    const ARRIVALS: bool = true;

    fn packet(&mut self, at: Time, packet: &Packet, sack: &[ByteRange]) {
        if let Some(packets) = &mut self.packets {
            packets.push(at, packet, sack);
        }
        if let Some(segments) = &mut self.segments {
            segments.packet(at, packet);
        }
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

    fn lost(&mut self, at: Time, subflow: SubflowId, seq: u32) {
        if let Some(recorder) = &mut self.recorder {
            recorder.lost(at, subflow, seq);
        }
        if let Some(segments) = &mut self.segments {
            segments.end(subflow, seq, Fate::Lost(at.as_secs_f64()));
        }
    }

    fn arrived(&mut self, at: Time, subflow: SubflowId, seq: u32) {
        if let Some(segments) = &mut self.segments {
            segments.end(subflow, seq, Fate::Arrived(at.as_secs_f64()));
        }
    }
}

impl Recording for Watcher {
    fn rows(&self) -> usize {
        self.recorder.as_ref().map_or(0, Recorder::rows)
    }

    fn packets(&self) -> usize {
        let packets = self.packets.as_ref().map_or(0, Packets::len);
        packets.max(self.segments.as_ref().map_or(0, Segments::len))
    }
}
