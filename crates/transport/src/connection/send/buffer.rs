//! Send buffer of a connection: the application's writes and wake-ups.
//!
//! TCP's application writes to the write queue of the only subflow (`tcp.rs`), MPTCP's in pieces that the scheduler
//! queues at subflows (`scheduler.rs`).

use super::discipline::{Discipline, Distribute};
use super::lowest_rtt::LowestRtt;
use super::scheduler::{Mptcp, PIECE};
use super::tcp::Tcp;
use super::{SendSide, SendStream};
use crate::environment::Env;
use crate::subflow::sender::{Sender, SubflowState};
use crate::trace::Observer;

/// Maximum payload of an sk_buff, bytes: 65 535 with all headers (sk_gso_max_size).
const MAX_SKB_PAYLOAD: u64 = 65_280;

/// Send buffer of an MPTCP connection without those of its subflows, bytes (net.ipv4.tcp_wmem, minimum).
const MIN_SEND_BUFFER: u64 = 4096;

impl SendSide {
    /// The application writes, and all subflows send as far as their windows allow.
    pub(crate) fn write<O: Observer>(&mut self, env: &mut Env<O>) {
        let Self { subflows, stream } = self;
        match stream.discipline {
            Discipline::Mptcp => Mptcp::write(stream, subflows),
            Discipline::LowestRtt => LowestRtt::write(stream, subflows),
            Discipline::Tcp => Tcp::write(stream, subflows),
        }
        self.push_all(env);
    }
}

impl SendStream {
    /// Wakes the application, which has free send buffer. A polling application writes after the ACK has released
    /// queued segments (tcp_data_snd_check): in the same instant, the burst of a subflow with an empty queue would take
    /// the places in a network queue of the segments that another subflow sends for its ACK. Returns whether the
    /// subflow `index` has set its timer.
    #[cold]
    pub(super) fn wake<D: Distribute, O: Observer>(
        &mut self,
        subflows: &mut [Sender],
        env: &mut Env<O>,
        index: usize,
    ) -> bool {
        let is_woken = subflows[index].rtt.srtt() < self.profile.poll_interval_us();
        let Some(timer) = self.wakeup_timer.filter(|_| !is_woken) else {
            D::write(self, subflows);
            return D::push_all(self, subflows, env, Some(index));
        };
        if !env.timers.is_set(timer) {
            let at = self.profile.writes_at(env.now, self.phase);
            env.timers.set(timer, at);
        }
        false
    }

    /// Maximum payload of an sk_buff of a subflow, bytes: full segments, at most half of the largest receive window
    /// (tcp_xmit_size_goal, tcp_bound_to_half_wnd).
    pub(super) fn skb_size(&self) -> u64 {
        let mss = u64::from(self.mss);
        let bytes = MAX_SKB_PAYLOAD.min(self.max_window / 2);
        (bytes - bytes % mss).max(mss)
    }

    /// Initialises the send buffers of new subflows.
    pub(super) fn open_buffers(&mut self, subflows: &mut [Sender]) {
        let new = |sender: &&mut Sender| {
            sender.subflow_state == SubflowState::Open && sender.queue.buffer == 0
        };
        let buffers = subflows.iter_mut().filter(new).map(Sender::expand_buffer);
        self.send_buffer += buffers.sum::<u64>();
    }

    /// Releases the send buffer of a closed subflow.
    pub(super) fn close_buffer(&mut self, sender: &mut Sender) {
        self.send_buffer -= std::mem::take(&mut sender.queue).buffer;
    }

    /// Whether a third of the send buffer is free, at which a waiting application is woken (sk_stream_is_writeable).
    #[inline]
    pub(super) fn has_third_free(&self) -> bool {
        3 * (self.written - self.una) <= 2 * (MIN_SEND_BUFFER + self.send_buffer)
    }

    /// A subflow's window has room that the application could not fill: the send buffer grows (tcp_check_space,
    /// tcp_should_expand_sndbuf).
    #[inline(always)]
    pub(super) fn check_space<D: Distribute>(&mut self, sender: &mut Sender) {
        if self.no_space {
            self.expand_buffer::<D>(sender);
        }
    }

    #[cold]
    fn expand_buffer<D: Distribute>(&mut self, sender: &mut Sender) {
        let more = sender.expand_buffer();
        if D::IS_TCP {
            self.no_space = 3 * sender.memory() > 2 * sender.queue.buffer;
            return;
        }
        self.send_buffer += more;
        if self.writable_at < u64::MAX {
            self.writable_at = self.writable_at.saturating_sub(more);
        }
        self.no_space = !self.has_third_free();
    }

    /// The application writes pieces until the send buffer is full (mptcp_sendmsg).
    pub(super) fn fill_send_buffer(&mut self) {
        let room = MIN_SEND_BUFFER + self.send_buffer;
        while self.written < self.end && self.written < self.una + room {
            let next = (self.written + 1).next_multiple_of(PIECE);
            self.written = next.min(self.end);
        }
        self.no_space |= self.written < self.end;
        self.writable_at = match self.written < self.end {
            true => self.written + 1 - room,
            false => u64::MAX,
        };
    }
}
