//! Transmission of segments, and the restart after an idle time.

use super::*;

impl Sender {
    /// Sends new segments of the stream at once. The window has room for them. `starts`: nothing is in flight
    /// ([`starts_sending`](Self::starts_sending)).
    #[inline(always)]
    pub(crate) fn send_new<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
        piece: Piece,
        starts: bool,
    ) {
        debug_assert_eq!(starts, self.starts_sending());
        if starts {
            self.start_sending(coupled, env);
        }
        let seq = self.scoreboard.nxt();
        let skb = Skb {
            seq,
            end: seq + piece.len,
            sent_at: env.now.as_nanos(),
            dsn: piece.dsn,
            count: piece.count,
            segment: self.mss,
            flags: piece.flags,
        };
        self.scoreboard.push(skb);
        if self.ca_state == State::Cwr || self.ca_state == State::Recovery {
            self.recovery.prr_out += skb.count;
        }
        self.transmit(env, &skb);
    }

    /// Called after new segments were sent: validates the window and sets the timer if needed
    /// (tcp_event_new_data_sent). `prior_packets_out`: packets out before. `all`: no unsent data is left. `deferred`:
    /// segments were deferred although the window has room. Returns whether the timer was set.
    #[inline(always)]
    pub(crate) fn after_new_data_sent<O: Observer>(
        &mut self,
        env: &mut Env<O>,
        prior_packets_out: u32,
        all: bool,
        deferred: bool,
    ) -> bool {
        self.cwnd_validate(env, all, deferred);
        let probes = self.may_probe();
        if probes {
            self.schedule_loss_probe(env);
        } else if prior_packets_out == 0 {
            self.set_rto_timer(env);
        }
        probes || prior_packets_out == 0
    }

    /// Whether the next segment is sent with nothing in flight (tcp_event_data_sent). Segments may be out: all of them
    /// lost or SACKed, for example at the first retransmission after a timeout.
    #[inline]
    pub(crate) fn starts_sending(&self) -> bool {
        self.flight() == 0
    }

    /// Reports CA_EVENT_TX_START to the congestion control: the next segment is sent with nothing in flight.
    #[cold]
    pub(crate) fn start_sending<O: Observer>(&mut self, coupled: &mut Coupled, env: &mut Env<O>) {
        let idle = env.now.since(self.last_sent);
        self.refresh(env.now);
        self.tcp.idle_ms = u32::try_from(idle.as_nanos() / 1_000_000).unwrap_or(u32::MAX);
        let note = coupled.on_send_start(&mut self.cc, &mut self.tcp);
        self.record_note(coupled, env, &note);
    }

    /// Reduces the window before new data is sent after an idle time (tcp_slow_start_after_idle_check).
    #[cold]
    pub(crate) fn restart_after_idle<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
    ) {
        let idle = env.now.since(self.last_sent);
        let restarts =
            self.profile.idle_restart && self.packets_out() == 0 && self.scoreboard.una() > 0;
        if restarts && idle > self.rtt.rto() {
            self.restart(coupled, env, idle);
        }
    }

    /// Halves the window for each timeout of the idle time (RFC 5681, 4.1; tcp_cwnd_restart).
    fn restart<O: Observer>(&mut self, coupled: &mut Coupled, env: &mut Env<O>, idle: Span) {
        self.refresh(env.now);
        let note = coupled.on_idle_restart(&mut self.cc, &mut self.tcp);
        self.record_note(coupled, env, &note);
        let floor = self.profile.initial_window.min(self.tcp.cwnd);
        self.tcp.ssthresh = self.current_ssthresh();
        let mut remaining = idle.as_nanos();
        let timeout = self.rtt.rto().as_nanos();
        while remaining > timeout && self.tcp.cwnd > floor {
            remaining -= timeout;
            self.tcp.cwnd /= 2;
        }
        self.tcp.cwnd = self.tcp.cwnd.max(floor);
        self.window_use.cwnd_stamp = env.now;
    }

    /// Transmits segments.
    #[inline(always)]
    pub(crate) fn transmit<O: Observer>(&mut self, env: &mut Env<O>, skb: &Skb) {
        let again = skb.is(scoreboard::flag::EVER_RETRANS);
        let mut flags = 0;
        // Retransmissions carry neither ECT nor CWR (RFC 3168, 6.1.2, 6.1.5).
        if self.ecn && !again {
            let reduced = std::mem::take(&mut self.recovery.reduced);
            flags = flag::ECT | (u8::from(reduced) * flag::CWR);
        }
        let first = Data {
            subflow: self.id,
            seq: skb.seq as u32,
            dsn: skb.dsn as u32,
            len: skb.segment,
            sent_us: micros(env.now),
            flags,
        };
        let burst = Burst::new(
            first,
            skb.count,
            skb.len() as u32,
            skb.is(scoreboard::flag::PUSH),
        );
        let leaving = OutgoingBurst {
            route: self.route,
            header: self.header.into(),
            burst,
        };
        env.send_burst(leaving, self.profile.host_jitter);
        self.last_sent = env.now;
    }
}
