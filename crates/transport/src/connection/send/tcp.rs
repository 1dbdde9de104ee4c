//! Linux's TCP: the application writes to a queue of sk_buffs (tcp_sendmsg_locked).

use super::SendStream;
use super::discipline::Distribute;
use crate::environment::Env;
use crate::subflow::sender::limits::Limit;
use crate::subflow::sender::send_queue::FirstBuffer;
use crate::subflow::sender::{Piece, Sender};
use crate::trace::Observer;

/// Discipline of TCP: one subflow with a write queue.
pub(crate) struct Tcp;

impl Distribute for Tcp {
    const IS_TCP: bool = true;

    #[inline(always)]
    fn first(_: &SendStream, sender: &Sender) -> FirstBuffer {
        sender.queue.first()
    }

    /// Takes segments as far as the receive window allows.
    #[inline(always)]
    fn take(stream: &mut SendStream, sender: &mut Sender, max: u32) -> Option<Piece> {
        let bytes = sender.queue.first().bytes;
        let len = stream.len_in_window(bytes, max);
        if len == 0 {
            return None;
        }
        stream.nxt += len;
        let taken = sender.queue.take(len);
        taken.map(|taken| Piece::new(taken.dsn, taken.len, stream.mss))
    }

    fn can_send(stream: &SendStream, sender: &Sender) -> bool {
        stream.len_in_window(sender.queue.first().bytes, 1) > 0
    }

    #[inline(always)]
    fn may_affect_others(_: &SendStream, _: &[Sender], _: usize) -> bool {
        false
    }

    fn push_all<O: Observer>(
        stream: &mut SendStream,
        subflows: &mut [Sender],
        env: &mut Env<O>,
        _: Option<usize>,
    ) -> bool {
        stream.push_one::<Self, O>(&mut subflows[0], env)
    }

    #[inline]
    fn is_writable(stream: &SendStream, sender: &Sender) -> bool {
        stream.written < stream.end && stream.room_in_write_queue(sender).is_some()
    }

    #[cold]
    fn limit(stream: &SendStream, subflows: &[Sender], _: usize) -> Limit {
        let sender = &subflows[0];
        if Self::can_send(stream, sender) {
            return Limit::CongestionWindow;
        }
        match () {
            () if !sender.queue.is_empty() => Limit::ReceiveWindow,
            () if stream.written < stream.end => Limit::SendBuffer,
            () => Limit::Application,
        }
    }

    fn write(stream: &mut SendStream, subflows: &mut [Sender]) {
        let sender = &mut subflows[0];
        if sender.queue.buffer == 0 {
            sender.expand_buffer();
        }
        let max = stream.skb_size();
        while stream.written < stream.end {
            let Some(room) = stream.room_in_write_queue(sender) else {
                break;
            };
            let until = stream.end.min(stream.written + room);
            if room < max {
                sender.queue.extend(until);
            } else {
                sender.queue.push(stream.written, until);
            }
            stream.written = until;
        }
        stream.no_space |= stream.written < stream.end;
    }
}

impl SendStream {
    /// Bytes that may be sent of `bytes` unsent ones, at most `max` segments. The first segment fits the receive window
    /// (tcp_snd_wnd_test); with TCP_NODELAY the last one is cut short at its end (tcp_mss_split_point).
    #[inline(always)]
    fn len_in_window(&self, bytes: u64, max: u32) -> u64 {
        let mss = u64::from(self.mss);
        let bytes = bytes.min(u64::from(max) * mss);
        let room = self.window_end.saturating_sub(self.nxt);
        if bytes <= room {
            return bytes;
        }
        if room < mss { 0 } else { room }
    }

    /// Bytes that the application can write at once: the rest of the last unsent sk_buff, regardless of memory while the
    /// send buffer grows, or another sk_buff while memory is left. The application writes no more than fits into a buffer
    /// of the largest size, as that of the lab does.
    fn room_in_write_queue(&self, sender: &Sender) -> Option<u64> {
        let (max, last) = (self.skb_size(), sender.queue.last_len());
        let room = match last {
            1.. if last < max => max - last,
            _ => max,
        };
        let is_free = sender.has_room() || room < max && sender.may_grow_buffer();
        is_free.then_some(room)
    }
}
