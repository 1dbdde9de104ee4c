//! Linux's MPTCP scheduler (net/mptcp/protocol.c: mptcp_subflow_get_send, __subflow_push_pending).
//!
//! The stream is queued in pieces at the subflows, in their own send buffers, not segment by segment as windows open: a
//! subflow that slows down keeps the pieces queued at it. The next piece goes to the subflow that would drain its queue
//! first, by its pacing rate (BLEST's idea: Ferlin et al., IFIP Networking 2016), and waits for that subflow if its
//! send buffer is full. A backup subflow is chosen only while no other can send (RFC 8684, 3.3.8). The application
//! writes until the send buffers of all subflows together are full, and is woken when a byte is free.

use super::SendStream;
use super::discipline::Distribute;
use crate::environment::Env;
use crate::subflow::sender::limits::Limit;
use crate::subflow::sender::send_queue::FirstBuffer;
use crate::subflow::sender::{Piece, Sender, SubflowState};
use crate::trace::Observer;

/// Size of a piece, bytes: a page fragment (32 KB) without the struct mptcp_data_frag at its head.
pub(crate) const PIECE: u64 = 32_728;

/// Bytes that are queued at the chosen subflow at once, rounded up to a piece (MPTCP_SEND_BURST_SIZE).
const BURST: u64 = 65_428;

/// Linux's MPTCP scheduler.
pub(crate) struct Mptcp;

/// State of the scheduler.
#[derive(Debug, Default)]
pub(crate) struct Scheduler {
    /// Next byte to queue at a subflow (first_pending): `nxt`, or before it where data is queued again.
    pub(crate) first_pending: u64,
    /// Subflow chosen for the next piece.
    chosen: usize,
    /// The chosen subflow's send buffer is full.
    waits_for_room: bool,
}

impl Distribute for Mptcp {
    const IS_MPTCP: bool = true;

    #[inline(always)]
    fn first(_: &SendStream, sender: &Sender) -> FirstBuffer {
        sender.queue.first()
    }

    #[inline(always)]
    fn take(stream: &mut SendStream, sender: &mut Sender, max: u32) -> Option<Piece> {
        let taken = sender.queue.take(u64::from(max) * u64::from(stream.mss));
        taken.map(|taken| Piece::new(taken.dsn, taken.len, stream.mss))
    }

    fn can_send(_: &SendStream, sender: &Sender) -> bool {
        !sender.queue.is_empty()
    }

    /// Whether data is left to queue, and this subflow has an empty queue or may be chosen.
    #[inline(always)]
    fn may_affect_others(stream: &SendStream, subflows: &[Sender], index: usize) -> bool {
        let scheduler = &stream.scheduler;
        let sender = &subflows[index];
        let may_be_chosen = || {
            !scheduler.waits_for_room
                || sender.has_room()
                    && (index == scheduler.chosen
                        || sender.drains_before(&subflows[scheduler.chosen]))
        };
        scheduler.first_pending < stream.written.min(stream.window_end)
            && (sender.queue.is_empty() || may_be_chosen())
    }

    #[cold]
    fn push_all<O: Observer>(
        stream: &mut SendStream,
        subflows: &mut [Sender],
        env: &mut Env<O>,
        trigger: Option<usize>,
    ) -> bool {
        stream.schedule(subflows, env);
        stream.start_retransmission_timer(env);
        let mut set = false;
        for (i, sender) in subflows.iter_mut().enumerate() {
            let triggers = trigger == Some(i);
            if triggers || sender.queue.has_new_data {
                sender.queue.has_new_data = false;
                set |= stream.push_one::<Self, O>(sender, env) && triggers;
            }
        }
        set
    }

    #[inline(always)]
    fn is_writable(stream: &SendStream, _: &Sender) -> bool {
        stream.una >= stream.writable_at
    }

    #[cold]
    fn limit(stream: &SendStream, subflows: &[Sender], index: usize) -> Limit {
        let sender = &subflows[index];
        let waits = |(other, sender): (usize, &Sender)| other != index && !sender.queue.is_empty();
        let next = stream.scheduler.first_pending;
        match () {
            () if sender.subflow_state != SubflowState::Open || !sender.queue.is_empty() => {
                Limit::CongestionWindow
            }
            () if subflows.iter().enumerate().any(waits) => Limit::Scheduler,
            () if next < stream.written.min(stream.window_end) => Limit::Scheduler,
            () if next < stream.written => Limit::ReceiveWindow,
            () if stream.written < stream.end => Limit::SendBuffer,
            () => Limit::Application,
        }
    }

    fn write(stream: &mut SendStream, subflows: &mut [Sender]) {
        stream.open_buffers(subflows);
        stream.fill_send_buffer();
    }
}

impl SendStream {
    /// Queues unacknowledged data again (__mptcp_retransmit_pending_data).
    pub(crate) fn schedule_again(&mut self) {
        self.scheduler.first_pending = self.una;
    }

    /// Queues pieces of the stream at subflows.
    fn schedule<O: Observer>(&mut self, subflows: &mut [Sender], env: &Env<O>) {
        let limit = self.written.min(self.window_end);
        let max = self.skb_size();
        let mut next = self.scheduler.first_pending.max(self.una);
        self.scheduler.waits_for_room = false;
        if next < limit {
            self.retransmission.update_interval(subflows, env);
        }
        while next < limit {
            let Some(chosen) = choose(subflows) else {
                break;
            };
            self.scheduler.chosen = chosen;
            let sender = &mut subflows[chosen];
            if !sender.has_room() {
                self.scheduler.waits_for_room = true;
                break;
            }
            let burst = BURST.min(self.window_end - self.nxt);
            if burst > 0 {
                let held = sender.memory();
                let paced = sender.queue.avg_pacing_rate * held + sender.pacing_rate() * burst;
                sender.queue.avg_pacing_rate = paced / (held + burst);
            }
            let end = limit.min(next + BURST);
            while next < end && sender.has_room() {
                let until = (next + 1).next_multiple_of(PIECE).min(limit);
                sender.queue.put(next, until, max);
                next = until;
            }
            self.nxt = self.nxt.max(next);
        }
        self.scheduler.first_pending = next;
    }
}

/// Chooses the subflow that would drain its queue first. A stale subflow cannot send; a subflow that has timed out can,
/// until it is stale (mptcp_subflow_active).
fn choose(subflows: &mut [Sender]) -> Option<usize> {
    let can_send = |sender: &Sender| sender.subflow_state == SubflowState::Open;
    for sender in subflows.iter_mut().filter(|sender| can_send(sender)) {
        if sender.queue.avg_pacing_rate == 0 {
            sender.queue.avg_pacing_rate = sender.pacing_rate();
        }
    }
    let only_backups = !subflows.iter().any(|s| can_send(s) && !s.is_backup());
    (0..subflows.len())
        .filter(|i| can_send(&subflows[*i]) && (only_backups || !subflows[*i].is_backup()))
        .reduce(|a, b| match subflows[b].drains_before(&subflows[a]) {
            true => b,
            false => a,
        })
}
