//! Loss: found, repaired, and taken back where it was a mistake.
//!
//! The states and what moves between them are Linux's (Open, Disorder, CWR, Recovery, Loss). Sources: RFC 8985 (RACK-TLP),
//! RFC 6937 (PRR), RFC 6675 and RFC 2018 (SACK), RFC 6582 (NewReno), RFC 5682 (F-RTO), RFC 2883 (DSACK), RFC 3168 (ECN).
//!
//! Here is the state machine; what it asks for has its files in `recovery/`.

mod ack;
mod detection;
mod prr;
mod retransmit;
mod tlp;
mod undo;

use crate::packet::sack_blocks::Blocks;
use crate::packet::sequence::{is_echo_before, micros, since_echo};
use crate::packet::{self, Ack, Wire};
use crate::profile::Detection;
use crate::simulation::environment::Env;
use crate::subflow::sender::scoreboard::{Skb, flag};
use crate::subflow::sender::{Life, Sender, TIMER_LEAST, TimerPurpose, notice};
use crate::trace::Observer;
use mpcc::{Connection as Coupled, State};
use netsim::{Span, Time};
use std::collections::VecDeque;

/// Duplicate ACKs, or segments beyond a gap, that tell of a loss (RFC 5681, 3.2).
const THRESHOLD: u32 = 3;

/// The most that the threshold grows to where segments overtake each other (Linux: tcp_max_reordering).
const MOST_REORDERING: u32 = 300;

/// Segments that were sent again at once.
#[derive(Clone, Copy, Debug)]
struct Resent {
    /// When, nanoseconds.
    at: u64,
    /// First byte of the subflow, and the one after the last.
    seq: u64,
    end: u64,
    /// The next byte then that had never been sent.
    nxt: u64,
}

/// The most recently sent segment that has arrived (RFC 8985, 6.2, step 2).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rack {
    /// When it was sent, ns.
    sent_at: u64,
    /// Byte after its last one.
    end: u64,
    /// Its round trip, ns.
    rtt: u64,
}

/// A reduction of the window that may turn out to be a mistake.
#[derive(Clone, Copy, Debug)]
struct Undo {
    /// First unacknowledged byte at its begin (undo_marker).
    marker: u64,
    /// Retransmissions since then that the receiver has not reported as duplicates; -1: none was sent (undo_retrans).
    retransmissions: i32,
}

/// State of loss detection and recovery.
#[derive(Debug, Default)]
pub(crate) struct Recovery {
    /// Recovery ends when all before this byte is acknowledged.
    high_seq: u64,
    /// Window before the reduction, segments.
    prior_cwnd: u32,
    /// Slow start threshold before the reduction, segments; 0: there is nothing to return to.
    prior_ssthresh: u32,
    /// Segments delivered since the begin of the reduction.
    prr_delivered: u32,
    /// Segments sent since then.
    pub(crate) prr_out: u32,
    undo: Option<Undo>,
    /// When the first retransmission was sent, ns.
    retrans_stamp: u64,
    /// F-RTO is in progress (RFC 5682).
    frto: bool,
    /// Byte after the probe of the tail; 0: no probe is in flight.
    pub(crate) tlp_high_seq: u64,
    /// The probe is a retransmission.
    tlp_retrans: bool,
    rack: Rack,
    /// Reordering was observed.
    reordering_seen: bool,
    /// Reordering degree, segments.
    reordering: u32,
    /// RACK's reordering window beyond the first quarter of the least RTT, quarters (reo_wnd_steps - 1).
    reordering_steps: u32,
    /// The window grows again when this byte is acknowledged: once a round trip.
    dsack_round_end: u64,
    /// Recoveries after which the window shrinks again (reo_wnd_persist).
    reordering_persist: u32,
    /// Segments before this byte that were sent once are marked, or need not be examined any more.
    examined: u64,
    /// Number of segments marked lost so far (tp->lost).
    lost_total: u32,
    /// No lost segment before this byte waits for its retransmission (retransmit_skb_hint).
    retransmit_hint: u64,
    /// Retransmissions in the order of their sending.
    retransmissions: VecDeque<Resent>,
    /// Byte after the highest one that was SACKed.
    highest_sacked: u64,
    /// SACK blocks of the last ACK (recv_sack_cache).
    last_sacks: Blocks,
    /// The window was reduced, and the next new segment carries CWR (ECN).
    pub(crate) reduced: bool,
    /// Timeouts since snd_una advanced.
    pub(crate) timeouts: u32,
}

/// Contents of an ACK, as far as loss recovery needs them.
#[derive(Debug, Default)]
struct AckInfo {
    /// snd_una advanced.
    advanced: bool,
    /// Segments newly acknowledged, cumulatively or by SACK.
    delivered: u32,
    newly_sacked: bool,
    /// A segment that was sent once, before the recovery, has arrived (FLAG_ORIG_SACK_ACKED).
    original_acked: bool,
    /// A retransmitted segment was acknowledged (FLAG_RETRANS_DATA_ACKED).
    retransmission_acked: bool,
    /// Ages of the first and last newly acknowledged segments that were sent once, ns.
    ages: Option<(u64, u64)>,
    /// First byte of the lowest of these segments that was overtaken by others.
    lowest_reordered: u64,
    /// The echoed timestamp is older than the first retransmission.
    echoes_original: bool,
    /// Duplicate ACK.
    duplicate: bool,
    /// The receiver reports a duplicate segment (DSACK).
    dsack: bool,
}

/// What to do when the state is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Nothing,
    Retransmit,
    SendNew,
}

impl Recovery {
    /// A segment has arrived (RFC 8985, 6.2, step 2).
    #[inline]
    pub(crate) fn rack_advance(&mut self, sent_at: u64, end: u64, rtt: u64) {
        self.rack.rtt = rtt;
        if (sent_at, end) > (self.rack.sent_at, self.rack.end) {
            (self.rack.sent_at, self.rack.end) = (sent_at, end);
        }
    }

    fn threshold(&self) -> u32 {
        self.reordering.max(THRESHOLD)
    }
}

impl Sender {
    /// An ACK while something is missing, or one that is out of the ordinary. Returns whether the timer is to be set.
    #[cold]
    pub(crate) fn on_odd_ack<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
        ack: u64,
        wire: Wire,
    ) -> bool {
        let Some(segment) = wire.ack() else {
            return false;
        };
        let flags = segment.flags;
        let blocks = env.sacks.take(segment.sack);
        if ack > self.scoreboard.nxt() {
            return false; // of what was never sent
        }
        let sacks = self.profile.detection != Detection::DuplicateAcks;
        // What was ack_info beyond a gap before this ACK (tcp_highest_sack_seq).
        let told_before = match self.scoreboard.sacked_out {
            0 => self.scoreboard.una(),
            _ => self.recovery.highest_sacked,
        };
        let (found_before, out_before) = (self.recovery.lost_total, self.out());
        let mut ack_info = AckInfo {
            echoes_original: self.answers_original(segment),
            lowest_reordered: u64::MAX,
            ..AckInfo::default()
        };
        if let Some(blocks) = blocks {
            self.take_sacks(env, &blocks, &mut ack_info);
        }
        self.take_cumulative(env, ack, &mut ack_info, sacks, told_before);
        ack_info.duplicate = !ack_info.advanced && ack == self.scoreboard.una() && out_before > 0;
        if !sacks {
            self.count_duplicates(&mut ack_info);
        }
        self.measure(env, segment, &ack_info);
        if ack_info.lowest_reordered < self.recovery.highest_sacked {
            let by = (self.recovery.highest_sacked - ack_info.lowest_reordered)
                .div_ceil(self.mss.into());
            self.recovery.reordering_seen = true;
            self.recovery.reordering =
                (by as u32).clamp(self.recovery.threshold(), MOST_REORDERING);
        }
        if ack_info.advanced {
            self.recovery.timeouts = 0;
            if self.life == Life::Stalled {
                self.life = Life::Open;
            }
        }
        self.end_probe(coupled, env, ack, &ack_info);

        let odd = self.state != State::Open
            || ack_info.newly_sacked
            || ack_info.duplicate
            || ack_info.dsack
            || flags & packet::flag::ECE != 0
            || self.scoreboard.sacked_out > 0;
        let mut then = Then::Nothing;
        let mut waits_for_reordering = false;
        if odd {
            then = self.update_state(coupled, env, &ack_info, flags, &mut waits_for_reordering);
        }
        if self.state == State::Cwr || self.state == State::Recovery {
            // Not by how many are lost now: those that the ACK repairs are not any more (Linux: tcp_ack, rs->losses).
            let newly_lost = self.recovery.lost_total != found_before;
            self.reduce(ack_info.delivered, newly_lost, ack_info.advanced);
        } else if ack_info.advanced || (self.recovery.reordering_seen && ack_info.newly_sacked) {
            self.grow(coupled, env, ack_info.delivered);
        }
        match then {
            Then::Retransmit => self.retransmit_lost(coupled, env),
            Then::SendNew | Then::Nothing => {}
        }
        if O::ON {
            env.observer.window(env.now, self.id, &self.view());
        }
        ack_info.advanced && !waits_for_reordering
    }

    /// The state machine (Linux: tcp_fastretrans_alert).
    fn update_state<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
        ack_info: &AckInfo,
        flags: u8,
        waits_for_reordering: &mut bool,
    ) -> Then {
        let echo = flags & packet::flag::ECE != 0;
        if echo {
            self.recovery.prior_ssthresh = 0; // a mark is no mistake
        }
        if self.state == State::Open {
            self.recovery.retrans_stamp = 0;
        } else if self.scoreboard.una() >= self.recovery.high_seq {
            match self.state {
                // CWR ends beyond the mark, for the ACK of the mark itself may echo it once more.
                State::Cwr if self.scoreboard.una() != self.recovery.high_seq => {
                    self.end_reduction();
                    self.enter(coupled, env.now, State::Open);
                }
                State::Recovery => {
                    if self.try_undo_recovery(coupled, env, ack_info) {
                        return Then::Nothing;
                    }
                    self.end_reduction();
                }
                _ => {}
            }
        }
        let repaired_again_lost;
        match self.state {
            State::Recovery => {
                if ack_info.advanced && self.try_undo_partial(coupled, env, ack_info) {
                    return Then::Nothing;
                }
                if ack_info.dsack && self.try_undo_dsack(coupled, env) {
                    self.try_open(coupled, env, echo);
                }
                self.detect_losses(env, ack_info.advanced, waits_for_reordering);
                if self.state != State::Recovery {
                    if self.scoreboard.lost_out() == 0 {
                        return Then::Nothing;
                    }
                    self.enter_recovery(coupled, env, echo);
                }
                return Then::Retransmit;
            }
            State::Loss => {
                let mut then = Then::Retransmit;
                if let Some(other) = self.process_loss(coupled, env, ack_info) {
                    then = other;
                }
                repaired_again_lost =
                    self.detect_losses(env, ack_info.advanced, waits_for_reordering);
                if self.state != State::Open && !repaired_again_lost {
                    return then;
                }
                if then == Then::SendNew {
                    return then;
                }
            }
            _ => {
                if ack_info.dsack {
                    self.try_undo_dsack(coupled, env);
                }
                self.detect_losses(env, ack_info.advanced, waits_for_reordering);
            }
        }
        if self.scoreboard.lost_out() == 0 {
            self.try_open(coupled, env, echo);
            return Then::Nothing;
        }
        self.enter_recovery(coupled, env, echo);
        Then::Retransmit
    }

    /// Every time, and not on a change alone: each timeout of an episode tells of Loss (Linux: tcp_set_ca_state, which
    /// tcp_enter_loss calls without a question; all others ask before).
    fn enter(&mut self, coupled: &mut Coupled, now: Time, to: State) {
        self.state = to;
        self.refresh(now);
        coupled.set_state(&mut self.cc, &self.tcp, to);
    }

    /// Nothing is lost: Open, or Disorder while segments are missing (Linux: tcp_try_to_open).
    fn try_open<O: Observer>(&mut self, coupled: &mut Coupled, env: &mut Env<O>, echo: bool) {
        if self.scoreboard.retrans_out() == 0 {
            self.recovery.retrans_stamp = 0;
        }
        if echo {
            self.enter_cwr(coupled, env);
        }
        if self.state != State::Cwr {
            self.try_keep_open(coupled, env);
        }
    }

    fn try_keep_open<O: Observer>(&mut self, coupled: &mut Coupled, env: &mut Env<O>) {
        let disorder = !self.scoreboard.is_clean() || self.recovery.undo.is_some();
        let to = if disorder {
            State::Disorder
        } else {
            State::Open
        };
        if self.state != to {
            self.enter(coupled, env.now, to);
            self.recovery.high_seq = self.scoreboard.nxt();
        }
    }
}

impl AckInfo {
    /// The ACK covers a segment that was sent again and answers its first copy.
    fn is_spurious(&self) -> bool {
        self.retransmission_acked && self.echoes_original
    }
}
