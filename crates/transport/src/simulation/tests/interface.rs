//! Access of tests to the state of a simulation.

use super::*;
use crate::connection::Connection;
use crate::packet::ByteRange;
use crate::subflow::receiver::Receiver;
use mpcc::State;

/// State of a sender as the socket option TCP_INFO has it (struct tcp_info), and its counters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TcpInfo {
    pub(crate) ca_state: State,
    /// Congestion window, segments.
    pub(crate) snd_cwnd: u32,
    /// Slow start threshold, segments.
    pub(crate) snd_ssthresh: u32,
    /// First unacknowledged byte.
    pub(crate) snd_una: u64,
    /// First byte that was never sent.
    pub(crate) snd_nxt: u64,
    /// Number of segments that are not acknowledged cumulatively (packets_out).
    pub(crate) unacked: u32,
    /// Number of segments marked lost (lost_out).
    pub(crate) lost: u32,
    /// Retransmission timeout.
    pub(crate) rto: Span,
    /// Minimum RTT, µs.
    pub(crate) min_rtt: u32,
    /// Idle time before the last CA_EVENT_TX_START, ms.
    pub(crate) idle_ms: u32,
    /// Number of window reductions.
    pub(crate) reductions: u32,
    /// Number of retransmission timeouts.
    pub(crate) timeouts: u32,
    /// Size of the send buffer, bytes (sk_sndbuf).
    pub(crate) send_buffer: u64,
}

impl<O: Observer> Simulation<O> {
    pub(crate) fn env(&mut self) -> &mut Env<O> {
        &mut self.env
    }

    /// Disables the fast paths: header prediction of the receiver, the fast path of ACKs at the sender.
    pub(crate) fn take_only_slow_paths(&mut self) {
        self.env.only_slow_paths = true;
    }

    /// The first connection.
    pub(crate) fn connection(&self) -> &Connection {
        &self.connections[0]
    }

    pub(crate) fn connection_mut(&mut self) -> &mut Connection {
        &mut self.connections[0]
    }

    /// A sender of the first connection.
    pub(crate) fn sender(&self, index: usize) -> &Sender {
        &self.connections[0].send.subflows[index]
    }

    pub(crate) fn sender_mut(&mut self, index: usize) -> &mut Sender {
        &mut self.connections[0].send.subflows[index]
    }

    /// State of a sender of the first connection.
    pub(crate) fn tcp_info(&self, index: usize) -> TcpInfo {
        let sender = self.sender(index);
        TcpInfo {
            ca_state: sender.ca_state,
            snd_cwnd: sender.tcp.cwnd,
            snd_ssthresh: sender.tcp.ssthresh,
            snd_una: sender.scoreboard.una(),
            snd_nxt: sender.scoreboard.nxt(),
            unacked: sender.packets_out(),
            lost: sender.scoreboard.lost_out(),
            rto: sender.rtt.rto(),
            min_rtt: sender.rtt.min_rtt,
            idle_ms: sender.tcp.idle_ms,
            reductions: sender.counters.losses,
            timeouts: sender.counters.timeouts,
            send_buffer: sender.queue.buffer,
        }
    }

    /// State of a subflow of the first connection.
    pub(crate) fn subflow_state(&self, index: usize) -> SubflowState {
        self.sender(index).subflow_state
    }

    /// Time at which the handshake of a subflow of the first connection ended at the server.
    pub(crate) fn established(&self, index: usize) -> Option<Time> {
        self.sender(index).counters.established
    }

    /// Number of consecutive intervals of the retransmission timer without an ACK of a subflow of the first connection.
    pub(crate) fn stale_intervals(&self, index: usize) -> u32 {
        self.sender(index).stale.intervals
    }

    /// Unsent data in the send buffers (struct sk_buff) of a subflow of the first connection.
    pub(crate) fn unsent(&self, index: usize) -> Vec<ByteRange> {
        self.sender(index).queue.ranges().collect()
    }

    /// Bytes of each entry of the retransmit queue of the first subflow.
    pub(crate) fn retransmit_queue(&self) -> Vec<ByteRange> {
        let entries = self.sender(0).scoreboard.iter();
        entries
            .map(|skb| ByteRange::new(skb.seq, skb.end))
            .collect()
    }

    /// Replaces the unsent data of the first subflow by these ranges, in buffers of at most `max` bytes.
    pub(crate) fn replace_unsent(&mut self, ranges: &[ByteRange], max: u64) {
        let queue = &mut self.sender_mut(0).queue;
        while queue.take(u64::MAX).is_some() {}
        for range in ranges {
            queue.put(range.start, range.end, max);
        }
    }

    /// Sets the congestion window of the first subflow, segments.
    pub(crate) fn set_cwnd(&mut self, cwnd: u32) {
        self.sender_mut(0).tcp.cwnd = cwnd;
    }

    /// Sets the slow start threshold of the first subflow, segments.
    pub(crate) fn set_ssthresh(&mut self, ssthresh: u32) {
        self.sender_mut(0).tcp.ssthresh = ssthresh;
    }

    /// Sets ECN as negotiated on the first subflow.
    pub(crate) fn enable_ecn(&mut self) {
        self.sender_mut(0).ecn = true;
    }

    /// Sets the end of the receive window that the first connection's sender has received (wnd_end).
    pub(crate) fn set_window_end(&mut self, end: u64) {
        self.connection_mut().send.stream.window_end = end;
    }

    /// Closes the sender of the first subflow: it sends and processes nothing from now on.
    pub(crate) fn close_sender(&mut self) {
        let sender = &mut self.connections[0].send.subflows[0];
        sender.subflow_state = SubflowState::Closed;
        self.env.timers.clear(sender.timer);
    }

    /// First byte of the first connection's stream that no subflow has sent or queued (snd_nxt).
    pub(crate) fn stream_nxt(&self) -> u64 {
        self.connection().send.stream.nxt
    }

    /// Next byte of the first connection's stream to queue at a subflow (first_pending).
    pub(crate) fn first_pending(&self) -> u64 {
        self.connection().send.stream.scheduler.first_pending
    }

    /// Marks all written data of the first connection that the receive window allows as queued at its subflows.
    pub(crate) fn mark_all_queued(&mut self) {
        let send = &mut self.connections[0].send;
        let limit = send.stream.written.min(send.stream.window_end);
        send.stream.scheduler.first_pending = limit;
        for sender in &mut send.subflows {
            sender.queue.has_new_data = false;
        }
    }

    /// RTT that a subflow of the first connection has published for the others, eighths of a microsecond.
    pub(crate) fn published_srtt8(&self, index: u8) -> u32 {
        self.connection().send.stream.coupled.published_srtt8(index)
    }

    /// Interval of the first connection's retransmission timer.
    pub(crate) fn retransmission_interval(&self) -> Span {
        self.connection().send.stream.retransmission.interval
    }

    /// Time at which the first connection's retransmission timer is due.
    pub(crate) fn retransmission_due(&self) -> Time {
        let stream = &self.connection().send.stream;
        stream.retransmission.due(&self.env)
    }

    /// Sets the receive window of the first connection's first subflow to its limit less this number of segments.
    pub(crate) fn set_window_below_limit(&mut self, segments: u64) {
        let receive = &mut self.connections[0].receive;
        receive.subflows[0].set_window_below_limit(&mut receive.stream.buffer, segments);
    }

    /// A receiver of the first connection.
    pub(crate) fn receiver(&self, index: usize) -> &Receiver {
        &self.connections[0].receive.subflows[index]
    }

    /// A receiver of the first connection.
    pub(crate) fn receiver_mut(&mut self, index: usize) -> &mut Receiver {
        &mut self.connections[0].receive.subflows[index]
    }

    /// Bytes of the first connection's stream that have arrived in order.
    pub(crate) fn received(&self) -> u64 {
        self.connections[0].receive.stream.next()
    }

    /// Sends on the subflows of the first connection as far as their windows allow. `trigger`: the subflow that received
    /// an ACK.
    pub(crate) fn push_all(&mut self, trigger: Option<usize>) {
        let send = &mut self.connections[0].send;
        match trigger {
            Some(index) => send.push(&mut self.env, index),
            None => send.push_all(&mut self.env),
        }
    }

    /// Sets the interval of the first connection's retransmission timer, as when data is queued.
    pub(crate) fn update_retransmission_interval(&mut self) {
        let send = &mut self.connections[0].send;
        send.stream
            .retransmission
            .update_interval(&send.subflows, &self.env);
    }

    /// Restarts the first connection's retransmission timer, as when more of its stream is acknowledged.
    pub(crate) fn restart_retransmission_timer(&mut self) {
        self.connections[0]
            .send
            .stream
            .restart_retransmission_timer(&mut self.env);
    }

    /// Retransmits lost segments of the first connection's first subflow as far as its window allows.
    pub(crate) fn retransmit_lost(&mut self) {
        let send = &mut self.connections[0].send;
        send.subflows[0].retransmit_lost(&mut send.stream.coupled, &mut self.env);
    }

    /// Runs as [`run`](Self::run). Packets for which `drops` returns true at their arrival are lost.
    pub(crate) fn run_dropping(
        &mut self,
        stop: Time,
        mut drops: impl FnMut(Time, &Segment) -> bool,
    ) {
        self.run_events(stop, u64::MAX, |at, wire| drops(at, &wire.into()));
    }

    /// Delivers all packets that are in the network.
    pub(crate) fn drain(&mut self) {
        while let Some(exit) = self.env.network.poll(Time::from_nanos(u64::MAX / 2)) {
            match exit {
                Exit::Arrived { at, payload, .. } => {
                    self.env.now = at;
                    self.deliver(payload);
                }
                Exit::Lost { at, payload, .. } => self.env.lost(at, payload),
            }
        }
    }

    /// Number of ACKs with SACK blocks in the network.
    pub(crate) fn sacks_in_flight(&self) -> usize {
        self.env.sacks.in_flight()
    }
}
