//! Each segment goes to the subflow with room in its window and the lowest smoothed RTT (MPTCP until 0.9x, ns-3).
//! Segments in flight on a subflow that times out are reinjected on the others at once.

use super::SendStream;
use super::discipline::Distribute;
use crate::environment::Env;
use crate::subflow::sender::limits::Limit;
use crate::subflow::sender::scoreboard::flag;
use crate::subflow::sender::send_queue::FirstBuffer;
use crate::subflow::sender::{Piece, Sender, SubflowState};
use crate::trace::Observer;
use std::collections::VecDeque;

/// Discipline of the lowest RTT.
pub(crate) struct LowestRtt;

/// State of the discipline.
#[derive(Debug)]
pub(crate) struct Reinjection {
    /// Segments in flight on timed-out subflows, waiting for another subflow.
    pending: VecDeque<Pending>,
    /// The subflow that had room last found no data or no receive window.
    pub(crate) lacks_data: bool,
}

impl Default for Reinjection {
    fn default() -> Self {
        Self {
            pending: VecDeque::new(),
            lacks_data: true,
        }
    }
}

/// A segment waiting for another subflow.
#[derive(Clone, Copy, Debug)]
struct Pending {
    /// Data sequence number of the first byte.
    dsn: u64,
    /// Bytes.
    len: u16,
    /// Subflow on which the segment is in flight.
    on: usize,
}

impl Pending {
    /// Whether the whole segment is acknowledged, by way of another subflow.
    fn is_acknowledged(&self, una: u64) -> bool {
        self.dsn + u64::from(self.len) <= una
    }
}

impl Distribute for LowestRtt {
    #[inline(always)]
    fn first(stream: &SendStream, _: &Sender) -> FirstBuffer {
        FirstBuffer {
            bytes: stream.end - stream.nxt,
            is_last: true,
        }
    }

    #[inline(always)]
    fn take(stream: &mut SendStream, _: &mut Sender, max: u32) -> Option<Piece> {
        stream.cut(max)
    }

    fn can_send(stream: &SendStream, _: &Sender) -> bool {
        stream.has_unsent_segment()
    }

    #[inline(always)]
    fn may_affect_others(stream: &SendStream, _: &[Sender], _: usize) -> bool {
        !stream.reinjection.pending.is_empty() || stream.reinjection.lacks_data
    }

    #[cold]
    fn push_all<O: Observer>(
        stream: &mut SendStream,
        subflows: &mut [Sender],
        env: &mut Env<O>,
        trigger: Option<usize>,
    ) -> bool {
        let mut set = false;
        loop {
            let Some(best) = best(subflows) else {
                stream.reinjection.lacks_data = false;
                return set;
            };
            let pending = stream.next_pending(subflows, best);
            let Some(piece) = pending.or_else(|| stream.cut(1)) else {
                stream.reinjection.lacks_data = true;
                return set;
            };
            set |= stream.send_one(&mut subflows[best], env, piece) && trigger == Some(best);
        }
    }

    #[inline(always)]
    fn is_writable(stream: &SendStream, _: &Sender) -> bool {
        stream.una >= stream.writable_at
    }

    #[cold]
    fn limit(stream: &SendStream, subflows: &[Sender], index: usize) -> Limit {
        let is_open = subflows[index].subflow_state == SubflowState::Open;
        match () {
            () if !is_open || stream.has_unsent_segment() => Limit::CongestionWindow,
            () if stream.nxt == stream.end => Limit::Application,
            () if stream.buffer_end() < stream.window_end => Limit::SendBuffer,
            () => Limit::ReceiveWindow,
        }
    }

    fn write(_: &mut SendStream, _: &mut [Sender]) {}

    #[inline(always)]
    fn after_push(stream: &mut SendStream) {
        stream.reinjection.lacks_data = !stream.has_unsent_segment();
    }
}

/// The open subflow with room and the lowest smoothed RTT.
fn best(subflows: &[Sender]) -> Option<usize> {
    (0..subflows.len())
        .filter(|&i| {
            subflows[i].subflow_state == SubflowState::Open && subflows[i].cwnd_quota() > 0
        })
        .min_by_key(|&i| (subflows[i].rtt.srtt8, i))
}

impl SendStream {
    /// Whether there is an unsent segment that fits the receive window.
    #[inline(always)]
    fn has_unsent_segment(&self) -> bool {
        self.whole_segments(self.written_bytes(), 1) > 0
    }

    /// End of the data that the send buffer has room for.
    #[inline(always)]
    fn buffer_end(&self) -> u64 {
        self.una + u64::from(self.profile.send_buffer)
    }

    /// Unsent bytes in the send buffer: all, or the whole segments that it has room for.
    #[inline(always)]
    fn written_bytes(&self) -> u64 {
        let bytes = self.end - self.nxt;
        let room = self.buffer_end().saturating_sub(self.nxt);
        if bytes <= room {
            return bytes;
        }
        room - room % u64::from(self.mss)
    }

    /// Takes at most `max` unsent segments of the stream.
    #[inline(always)]
    fn cut(&mut self, max: u32) -> Option<Piece> {
        let len = self.whole_segments(self.written_bytes(), max);
        let dsn = self.nxt;
        self.nxt += len;
        (len > 0).then(|| Piece::new(dsn, len, self.mss))
    }

    /// Sends a segment on a subflow with room. Returns whether the subflow has set its timer.
    fn send_one<O: Observer>(
        &mut self,
        sender: &mut Sender,
        env: &mut Env<O>,
        mut piece: Piece,
    ) -> bool {
        let all = self.nxt >= self.end;
        let before = sender.packets_out();
        piece.flags = u8::from(self.ends_write(&piece)) * flag::PUSH;
        let starts = sender.starts_sending();
        if starts {
            sender.restart_after_idle(&mut self.coupled, env);
        }
        sender.send_new(&mut self.coupled, env, piece, starts);
        sender.after_new_data_sent(env, before, all, false)
    }

    /// Takes the next segment in flight on another, stalled subflow, for subflow `on`.
    fn next_pending(&mut self, subflows: &[Sender], on: usize) -> Option<Piece> {
        while let Some(&pending) = self.reinjection.pending.front() {
            let recovered = subflows[pending.on].subflow_state == SubflowState::Open;
            if pending.is_acknowledged(self.una) || recovered {
                self.reinjection.pending.pop_front();
                continue;
            }
            if pending.on == on {
                break;
            }
            self.reinjection.pending.pop_front();
            return Some(Piece::new(pending.dsn, pending.len.into(), self.mss));
        }
        None
    }

    /// A subflow has timed out: its segments in flight wait for the others.
    pub(crate) fn reinject(&mut self, sender: &Sender, index: usize) {
        self.reinjection
            .pending
            .retain(|pending| pending.on != index);
        for skb in sender.scoreboard.iter() {
            for from in (0..skb.len()).step_by(skb.segment.into()) {
                let pending = Pending {
                    dsn: skb.dsn + from,
                    len: (skb.len() - from).min(skb.segment.into()) as u16,
                    on: index,
                };
                if !pending.is_acknowledged(self.una) {
                    self.reinjection.pending.push_back(pending);
                }
            }
        }
    }
}
