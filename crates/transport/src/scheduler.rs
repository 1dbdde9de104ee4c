//! Which subflow carries which part of the stream, as Linux's MPTCP decides it (net/mptcp/protocol.c:
//! mptcp_subflow_get_send, __subflow_push_pending).
//!
//! The stream is handed out in pieces that wait in the subflows' own send buffers, not segment by segment as windows open:
//! a subflow that slows down keeps what it has been given. The next piece goes to the subflow that would be done first
//! with what it has, by its pacing rate (BLEST's idea: Ferlin et al., IFIP Networking 2016), and waits for that one where
//! its buffer is full. A backup subflow is chosen only while no other can send (RFC 8684, 3.3.8). The application writes until the buffers of all subflows together are full, and again when there is
//! room for a byte: it is woken for that.

use crate::connection::Connection;
use crate::endpoint::Env;
use crate::sender::{Life, Piece, Sender};
use crate::trace::Observer;

/// Bytes of a piece: a page fragment (32 KB) without the struct mptcp_data_frag that heads it.
pub(crate) const PIECE: u64 = 32_728;

/// So many bytes, and then the rest of the piece, go to the chosen subflow at once (MPTCP_SEND_BURST_SIZE).
const BURST: u64 = 65_428;

impl Connection {
    /// Whether there is more to hand out, now that a subflow has heard something, and this one has nothing left or is to be
    /// handed the next piece. `due`: the one that was to be.
    #[inline(always)]
    pub(crate) fn hands_more<'a>(&self, sender: &Sender, due: impl FnOnce() -> &'a Sender) -> bool {
        let is_due = || {
            !self.waits_for_room
                || sender.has_room() && {
                    let due = due();
                    std::ptr::eq(sender, due) || sender.is_done_before(due)
                }
        };
        self.handed < self.written.min(self.edge) && (sender.queue.is_empty() || is_due())
    }

    /// What was handed out and is not acknowledged is handed out again (__mptcp_retransmit_pending_data).
    pub(crate) fn hand_out_again(&mut self) {
        self.handed = self.una;
    }

    /// Hands out pieces of the stream, and all subflows send. Returns whether `which` has set its timer.
    pub(crate) fn hand_out<O: Observer>(
        &mut self,
        senders: &mut [Sender],
        env: &mut Env<O>,
        which: usize,
    ) -> bool {
        let open = |sender: &&mut Sender| sender.life == Life::Open;
        let limit = self.written.min(self.edge);
        self.waits_for_room = false;
        let most = self.buffer_size();
        self.handed = self.handed.max(self.una);
        while self.handed < limit {
            for sender in senders.iter_mut().filter(open) {
                if sender.queue.pace == 0 {
                    sender.queue.pace = sender.pacing_rate();
                }
            }
            // Stale ones cannot send; one that times out can, until it is stale (mptcp_subflow_active).
            let can_send = |sender: &Sender| sender.life == Life::Open;
            let only_backups = !senders.iter().any(|s| can_send(s) && !s.is_backup());
            let all = (0..senders.len())
                .filter(|i| can_send(&senders[*i]) && (only_backups || !senders[*i].is_backup()));
            let first = |a: usize, b: usize| {
                if senders[b].is_done_before(&senders[a]) {
                    b
                } else {
                    a
                }
            };
            let Some(due) = all.reduce(first) else {
                break;
            };
            self.due = due;
            self.retransmission.follow(senders, env);
            let best = &mut senders[due];
            if !best.has_room() {
                self.waits_for_room = true;
                break;
            }
            let burst = BURST.min(self.edge - self.nxt);
            if burst > 0 {
                let held = best.memory();
                let paced = best.queue.pace * held + best.pacing_rate() * burst;
                best.queue.pace = paced / (held + burst);
            }
            let end = limit.min(self.handed + BURST);
            while self.handed < end && best.has_room() {
                let until = (self.handed + 1).next_multiple_of(PIECE).min(limit);
                best.queue.put(self.handed, until, most);
                self.handed = until;
            }
            self.nxt = self.nxt.max(self.handed);
        }
        self.wait_for_acknowledgement(env);
        let mut set = false;
        for (i, sender) in senders.iter_mut().enumerate() {
            if i == which || std::mem::take(&mut sender.queue.is_handed) {
                sender.queue.is_handed = false;
                set |= self.send_handed(sender, env) && i == which;
            }
        }
        set
    }

    /// A subflow sends what it was handed. Returns whether it has set its timer.
    #[inline(always)]
    pub(crate) fn send_handed<O: Observer>(
        &mut self,
        sender: &mut Sender,
        env: &mut Env<O>,
    ) -> bool {
        self.send(sender, env, |connection, sender, most| {
            connection.take_handed(sender, most)
        })
    }

    /// Takes at most `most` segments from the send queue of a subflow.
    #[inline(always)]
    pub(crate) fn take_handed(&self, sender: &mut Sender, most: u32) -> Option<Piece> {
        let taken = sender.queue.take(u64::from(most) * u64::from(self.mss));
        taken.map(|(dsn, len)| Piece::new(dsn, len, self.mss))
    }
}
