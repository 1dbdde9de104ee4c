//! Segment by segment, to the subflow with room in its window and the lowest smoothed RTT (MPTCP until 0.9x, ns-3). What a
//! subflow has in flight when it times out goes over the others at once.

use super::SendStream;
use super::discipline::Distribute;
use crate::environment::Env;
use crate::subflow::sender::scoreboard::flag;
use crate::subflow::sender::{Life, Piece, Sender};
use crate::trace::Observer;
use std::collections::VecDeque;

/// The lowest RTT first.
pub(crate) struct LowestRtt;

/// What this discipline keeps.
#[derive(Debug)]
pub(crate) struct Reinjection {
    /// Segments in flight on a subflow that has timed out, which wait for another one.
    pending: VecDeque<Pending>,
    /// When a subflow had room the last time, there were no data or no receive window for it.
    pub(crate) starved: bool,
}

impl Default for Reinjection {
    fn default() -> Self {
        Self {
            pending: VecDeque::new(),
            starved: true,
        }
    }
}

/// A segment that waits for another subflow.
#[derive(Clone, Copy, Debug)]
struct Pending {
    /// Its first byte of the stream.
    dsn: u64,
    /// Bytes.
    len: u16,
    /// Place of the subflow on which it is in flight.
    on: usize,
}

impl Pending {
    /// Whether all of it was acknowledged by way of another subflow.
    fn is_acknowledged(&self, una: u64) -> bool {
        self.dsn + u64::from(self.len) <= una
    }
}

impl Distribute for LowestRtt {
    #[inline(always)]
    fn first(stream: &SendStream, _: &Sender) -> (u64, bool) {
        (stream.end - stream.nxt, true)
    }

    #[inline(always)]
    fn take(stream: &mut SendStream, _: &mut Sender, most: u32) -> Option<Piece> {
        stream.cut(most)
    }

    fn can_send(stream: &SendStream, _: &Sender) -> bool {
        stream.has_unsent_segment()
    }

    #[inline(always)]
    fn concerns_all(stream: &SendStream, _: &[Sender], _: usize) -> bool {
        !stream.reinjection.pending.is_empty() || stream.reinjection.starved
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
                stream.reinjection.starved = false;
                return set;
            };
            let pending = stream.next_pending(subflows, best);
            let Some(piece) = pending.or_else(|| stream.cut(1)) else {
                stream.reinjection.starved = true;
                return set;
            };
            set |= stream.send_one(&mut subflows[best], env, piece) && trigger == Some(best);
        }
    }

    #[inline(always)]
    fn is_writable(stream: &SendStream, _: &Sender) -> bool {
        stream.una >= stream.writable_at
    }

    fn write(_: &mut SendStream, _: &mut [Sender]) {}

    #[inline(always)]
    fn after_push(stream: &mut SendStream) {
        stream.reinjection.starved = !stream.has_unsent_segment();
    }
}

/// Open subflow with room and the lowest smoothed RTT.
fn best(subflows: &[Sender]) -> Option<usize> {
    (0..subflows.len())
        .filter(|&i| subflows[i].life == Life::Open && subflows[i].space() > 0)
        .min_by_key(|&i| (subflows[i].rtt.srtt8, i))
}

impl SendStream {
    /// Whether there is an unsent segment, and the receiver takes the whole of it.
    #[inline(always)]
    fn has_unsent_segment(&self) -> bool {
        self.whole_segments(self.end - self.nxt, 1) > 0
    }

    /// Takes at most `most` unsent segments of the stream.
    #[inline(always)]
    fn cut(&mut self, most: u32) -> Option<Piece> {
        let len = self.whole_segments(self.end - self.nxt, most);
        let dsn = self.nxt;
        self.nxt += len;
        (len > 0).then(|| Piece::new(dsn, len, self.mss))
    }

    /// A subflow that has room sends a segment. Returns whether it has set its timer.
    fn send_one<O: Observer>(
        &mut self,
        sender: &mut Sender,
        env: &mut Env<O>,
        mut piece: Piece,
    ) -> bool {
        let all = self.nxt >= self.end;
        let before = sender.out();
        piece.flags = u8::from(self.ends_a_write(&piece)) * flag::PUSH;
        if sender.starts_sending() {
            sender.restart_after_idle(&mut self.coupled, env);
        }
        sender.send_new(&mut self.coupled, env, piece);
        sender.sent(env, before, all, false)
    }

    /// Next segment that is in flight on a stalled subflow, for the subflow `on`.
    fn next_pending(&mut self, subflows: &[Sender], on: usize) -> Option<Piece> {
        while let Some(&pending) = self.reinjection.pending.front() {
            let recovered = subflows[pending.on].life == Life::Open;
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

    /// A subflow has timed out: what it has in flight waits for the others.
    pub(crate) fn reinject(&mut self, sender: &Sender, place: usize) {
        self.reinjection
            .pending
            .retain(|pending| pending.on != place);
        for skb in sender.scoreboard.iter() {
            for from in (0..skb.len()).step_by(skb.segment.into()) {
                let pending = Pending {
                    dsn: skb.dsn + from,
                    len: (skb.len() - from).min(skb.segment.into()) as u16,
                    on: place,
                };
                if !pending.is_acknowledged(self.una) {
                    self.reinjection.pending.push_back(pending);
                }
            }
        }
    }
}
