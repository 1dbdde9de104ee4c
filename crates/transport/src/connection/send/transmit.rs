//! Transmission of new data on a subflow, burst by burst (Linux: tcp_write_xmit).

use super::SendStream;
use super::discipline::{Discipline, Distribute};
use super::lowest_rtt::LowestRtt;
use super::scheduler::Mptcp;
use super::tcp::Tcp;
use crate::environment::Env;
use crate::subflow::sender::scoreboard::flag;
use crate::subflow::sender::send_queue::FirstBuffer;
use crate::subflow::sender::{Piece, Sender, SubflowState};
use crate::trace::Observer;

impl SendStream {
    /// Whether the end of a piece is the end of a write.
    #[inline]
    pub(super) fn ends_write(&self, piece: &Piece) -> bool {
        piece.dsn + piece.len == self.end
            || piece.len < u64::from(piece.count) * u64::from(self.mss)
    }

    /// Bytes of whole segments that fit into the receive window, before Linux sent partial ones. `bytes`: unsent bytes. `max`: limit, segments.
    #[inline(always)]
    pub(super) fn whole_segments(&self, bytes: u64, max: u32) -> u64 {
        let mss = u64::from(self.mss);
        let bytes = bytes.min(u64::from(max) * mss);
        let room = self.window_end.saturating_sub(self.nxt);
        if bytes <= room {
            return bytes;
        }
        room - room % mss
    }

    /// Takes the next unsent segment of a subflow for a loss probe, if the receive window allows.
    pub(super) fn take_for_probe(&mut self, sender: &mut Sender) -> Option<Piece> {
        match self.discipline {
            Discipline::Mptcp => self.take_one::<Mptcp>(sender),
            Discipline::LowestRtt => self.take_one::<LowestRtt>(sender),
            Discipline::Tcp => self.take_one::<Tcp>(sender),
        }
    }

    fn take_one<D: Distribute>(&mut self, sender: &mut Sender) -> Option<Piece> {
        let maps = D::IS_MPTCP && sender.queue.is_at_buffer_start();
        let flags = u8::from(maps) * flag::MAPPING;
        let piece = D::take(self, sender, 1);
        piece.map(|piece| Piece { flags, ..piece })
    }

    /// A subflow sends as far as its window allows. Returns whether it has set its timer.
    #[inline(always)]
    pub(super) fn push_one<D: Distribute, O: Observer>(
        &mut self,
        sender: &mut Sender,
        env: &mut Env<O>,
    ) -> bool {
        let set = self.write_xmit::<D, O>(sender, env);
        D::after_push(self);
        set
    }

    #[inline(always)]
    fn write_xmit<D: Distribute, O: Observer>(
        &mut self,
        sender: &mut Sender,
        env: &mut Env<O>,
    ) -> bool {
        let (before, from) = (sender.packets_out(), sender.scoreboard.nxt());
        // Segments are deferred although the window has room (is_cwnd_limited).
        let mut deferred = false;
        if sender.subflow_state == SubflowState::Open {
            let mut starts = sender.starts_sending();
            if starts && D::can_send(self, sender) {
                sender.restart_after_idle(&mut self.coupled, env);
            }
            let mut quota = sender.cwnd_quota();
            while quota > 0 {
                if D::IS_TCP {
                    sender.grow_buffer(quota);
                }
                let FirstBuffer { bytes, is_last } = D::first(self, sender);
                let burst = sender.burst(env.now, quota, bytes, is_last);
                if burst == 0 {
                    deferred = !sender.fits_window(quota, bytes);
                    break;
                }
                let maps = D::IS_MPTCP && sender.queue.is_at_buffer_start();
                let Some(mut piece) = D::take(self, sender, burst) else {
                    break;
                };
                let count = piece.count;
                // The last segment of a burst or of an sk_buff carries the push flag (__tcp_transmit_skb).
                let buffer_ends = D::BUFFERS && sender.queue.is_at_buffer_start();
                let burst_ends = buffer_ends || count == burst && count > 1;
                let pushed = sender.profile.bursts && burst_ends || self.ends_write(&piece);
                piece.flags = (u8::from(pushed) * flag::PUSH) | (u8::from(maps) * flag::MAPPING);
                sender.send_new(&mut self.coupled, env, piece, starts);
                // CA_EVENT_TX_START, reported with the first burst, may have lowered the window.
                quota = match starts {
                    true => sender.cwnd_quota(),
                    false => quota - count,
                };
                starts = false;
                if count < burst && !buffer_ends {
                    break;
                }
                if quota > 0 && D::BUFFERS {
                    self.check_space::<D>(sender);
                }
            }
            if quota > 0 && D::BUFFERS {
                self.check_space::<D>(sender);
            }
        }
        if sender.scoreboard.nxt() > from {
            let all = sender.queue.is_empty() && self.nxt >= self.end;
            return sender.after_new_data_sent(env, before, all, deferred);
        }
        if deferred || sender.flight() >= sender.tcp.cwnd {
            sender.cwnd_validate(env, false, deferred);
        }
        false
    }
}
