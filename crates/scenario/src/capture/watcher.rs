//! Writes down the packets of a simulation, as they are told.

use mpcc::{Note, Subflow};
use netsim::Time;
use transport::{Observer, Packet, SubflowId, View};

use crate::recorder::Recorder;

/// Packets in order of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packets {
    /// The last is how many SACK blocks it has; these stand in `sack` one after another.
    packets: Vec<(Time, Packet, u8)>,
    sack: Vec<(u64, u64)>,
}

impl Packets {
    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Each with its SACK blocks.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Time, &Packet, &[(u64, u64)])> {
        let mut sack = &self.sack[..];
        self.packets.iter().map(move |(at, packet, count)| {
            let (own, rest) = sack.split_at((*count).into());
            sack = rest;
            (*at, packet, own)
        })
    }
}

/// Writes down packets and, if wanted, what happens at the senders.
#[derive(Debug)]
pub(crate) struct Watcher {
    pub(crate) recorder: Option<Recorder>,
    pub(crate) packets: Packets,
}

impl Observer for Watcher {
    const ON: bool = true;
    const PACKETS: bool = true;

    fn packet(&mut self, at: Time, packet: &Packet, sack: &[(u64, u64)]) {
        self.packets.packets.push((at, *packet, sack.len() as u8));
        self.packets.sack.extend(sack);
    }

    fn window(&mut self, at: Time, who: SubflowId, view: &View) {
        if let Some(recorder) = &mut self.recorder {
            recorder.window(at, who, view);
        }
    }

    fn opened(&mut self, at: Time, who: SubflowId, cc: &Subflow, taken: Option<(u8, u32)>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.opened(at, who, cc, taken);
        }
    }

    fn credit(&mut self, at: Time, who: SubflowId, cc: &Subflow, note: &Note) {
        if let Some(recorder) = &mut self.recorder {
            recorder.credit(at, who, cc, note);
        }
    }

    fn lost(&mut self, at: Time, subflow: SubflowId) {
        if let Some(recorder) = &mut self.recorder {
            recorder.lost(at, subflow);
        }
    }
}
