//! Records the data segments of a simulation from the sender to their end.

use std::collections::HashMap;
use std::sync::Arc;

use netsim::Time;
use transport::{Content, Flow, Packet, SubflowId};

use crate::trace::{Fate, Segment};

/// Segments in the order in which they were sent.
#[derive(Debug, Default)]
pub(super) struct Segments {
    sent: Vec<Sent>,
    /// Indices in `sent` of the segments on their way, by subflow and sequence number, the oldest first. A segment is there twice
    /// while its first transmission and a spurious retransmission are both on their way.
    on_the_way: HashMap<(SubflowId, u32), Vec<usize>>,
}

/// A segment that was sent.
#[derive(Debug)]
struct Sent {
    at: Time,
    subflow: SubflowId,
    seq: u32,
    data: u32,
    len: u16,
    bytes: u32,
    fate: Fate,
}

impl Segments {
    /// Adds a packet that leaves the sender, if it has payload.
    pub(super) fn packet(&mut self, at: Time, packet: &Packet) {
        let (Flow::Subflow(subflow), Content::Data { seq, data, len, .. }) =
            (packet.flow, packet.content)
        else {
            return;
        };
        let index = self.sent.len();
        self.on_the_way
            .entry((subflow, seq))
            .or_default()
            .push(index);
        self.sent.push(Sent {
            at,
            subflow,
            seq,
            data,
            len,
            bytes: packet.bytes,
            fate: Fate::OnTheWay,
        });
    }

    /// Ends the oldest segment with this number.
    pub(super) fn end(&mut self, subflow: SubflowId, seq: u32, fate: Fate) {
        let Some(indices) = self.on_the_way.get_mut(&(subflow, seq)) else {
            return;
        };
        self.sent[indices.remove(0)].fate = fate;
        if indices.is_empty() {
            self.on_the_way.remove(&(subflow, seq));
        }
    }

    /// Number of segments.
    pub(super) fn len(&self) -> usize {
        self.sent.len()
    }

    /// The segments. `titles` has the title of each connection.
    pub(super) fn finish(self, titles: &[Arc<str>]) -> Vec<Segment> {
        let segment = |sent: Sent| Segment {
            sent: sent.at.as_secs_f64(),
            connection: titles[sent.subflow.connection as usize].clone(),
            subflow: sent.subflow.subflow.into(),
            seq: sent.seq,
            data: sent.data,
            len: sent.len,
            bytes: sent.bytes,
            fate: sent.fate,
        };
        self.sent.into_iter().map(segment).collect()
    }
}
