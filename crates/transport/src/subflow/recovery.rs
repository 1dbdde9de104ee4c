//! Loss recovery: the slow path of ACKs and the state machine.
//!
//! The states and their transitions are Linux's (Open, Disorder, CWR, Recovery, Loss). Sources: RFC 8985 (RACK-TLP),
//! RFC 6937 (PRR), RFC 6675 and RFC 2018 (SACK), RFC 6582 (NewReno), RFC 5682 (F-RTO), RFC 2883 (DSACK), RFC 3168
//! (ECN).
//!
//! The parts of the slow path are in `recovery/`.

mod ack;
mod detection;
mod prr;
mod retransmit;
mod tlp;
mod undo;

use crate::environment::Env;
use crate::packet::sack_blocks::SackBlocks;
use crate::packet::sequence::{is_echo_before, micros, since_echo};
use crate::packet::{self, Ack, Wire};
use crate::profile::Detection;
use crate::subflow::sender::recovery_state::{Retransmission, THRESHOLD, Undo};
use crate::subflow::sender::scoreboard::{Skb, flag};
use crate::subflow::sender::{Sender, SubflowState, TIMEOUT_MIN, TimerPurpose, event};
use crate::trace::Observer;
use mpcc::{Connection as Coupled, State};
use netsim::{Span, Time};

/// Maximum reordering degree, segments (Linux: tcp_max_reordering).
const MAX_REORDERING: u32 = 300;

/// Contents of an ACK, as far as loss recovery needs them.
#[derive(Debug, Default)]
struct AckInfo {
    /// snd_una advanced.
    advanced: bool,
    /// Number of segments newly acknowledged, cumulatively or by SACK.
    delivered: u32,
    newly_sacked: bool,
    /// A segment sent once, before the recovery, was delivered (FLAG_ORIG_SACK_ACKED).
    original_acked: bool,
    /// A retransmitted segment was acknowledged (FLAG_RETRANS_DATA_ACKED).
    retransmission_acked: bool,
    /// Ages of newly acknowledged segments that were sent once.
    ages: Option<(u64, u64)>,
    /// First byte of the lowest such segment that was delivered after a higher one.
    lowest_reordered: u64,
    /// The echoed timestamp is older than the first retransmission.
    echoes_original: bool,
    /// Duplicate ACK.
    duplicate: bool,
    /// The receiver reports a duplicate segment (DSACK).
    dsack: bool,
}

/// Transmission that follows the state machine (REXMIT_NONE, REXMIT_LOST, REXMIT_NEW).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Nothing,
    Retransmit,
    SendNew,
}

impl Sender {
    /// The slow path of an ACK (tcp_ack). Returns whether the timer has to be set.
    #[cold]
    pub(crate) fn on_ack_slow<O: Observer>(
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
            return false; // beyond snd_nxt
        }
        let sacks = self.profile.detection != Detection::DuplicateAcks;
        // Highest SACKed byte before this ACK (prior_fack).
        let prior_highest_sacked = match self.scoreboard.sacked_out {
            0 => self.scoreboard.una(),
            _ => self.recovery.highest_sacked,
        };
        let (prior_lost_total, prior_packets_out) = (self.recovery.lost_total, self.packets_out());
        let mut ack_info = AckInfo {
            echoes_original: self.is_from_before_retransmission(segment),
            lowest_reordered: u64::MAX,
            ..AckInfo::default()
        };
        if let Some(blocks) = blocks {
            self.sacktag_write_queue(env, &blocks, &mut ack_info);
        }
        self.clean_rtx_queue(env, ack, &mut ack_info, sacks, prior_highest_sacked);
        ack_info.duplicate =
            !ack_info.advanced && ack == self.scoreboard.una() && prior_packets_out > 0;
        if !sacks {
            self.update_reno_sacks(&mut ack_info);
        }
        self.update_rtt(env, segment, &ack_info);
        if ack_info.lowest_reordered < self.recovery.highest_sacked {
            let by = (self.recovery.highest_sacked - ack_info.lowest_reordered)
                .div_ceil(self.mss.into());
            self.recovery.reordering_seen = true;
            self.recovery.reordering = (by as u32).clamp(self.recovery.threshold(), MAX_REORDERING);
        }
        if ack_info.advanced {
            self.recovery.timeouts = 0;
            if self.subflow_state == SubflowState::Stalled {
                self.subflow_state = SubflowState::Open;
            }
        }
        self.process_tlp_ack(coupled, env, ack, &ack_info);

        let odd = self.ca_state != State::Open
            || ack_info.newly_sacked
            || ack_info.duplicate
            || ack_info.dsack
            || flags & packet::flag::ECE != 0
            || self.scoreboard.sacked_out > 0;
        let mut then = Then::Nothing;
        let mut waits_for_reordering = false;
        if odd {
            then =
                self.fastretrans_alert(coupled, env, &ack_info, flags, &mut waits_for_reordering);
        }
        if self.ca_state == State::Cwr || self.ca_state == State::Recovery {
            // Compares the total, not lost_out, from which the ACK removes repaired segments (tcp_ack, rs->losses).
            let newly_lost = self.recovery.lost_total != prior_lost_total;
            self.cwnd_reduction(ack_info.delivered, newly_lost, ack_info.advanced);
        } else if ack_info.advanced || (self.recovery.reordering_seen && ack_info.newly_sacked) {
            self.cong_avoid(coupled, env, ack_info.delivered);
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

    /// The state machine (tcp_fastretrans_alert).
    fn fastretrans_alert<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
        ack_info: &AckInfo,
        flags: u8,
        waits_for_reordering: &mut bool,
    ) -> Then {
        let echo = flags & packet::flag::ECE != 0;
        if echo {
            self.recovery.prior_ssthresh = 0; // a reduction for a mark is not undone
        }
        if self.ca_state == State::Open {
            self.recovery.retrans_stamp = 0;
        } else if self.scoreboard.una() >= self.recovery.high_seq {
            match self.ca_state {
                // CWR ends beyond high_seq, because the ACK of high_seq itself may echo the mark once more.
                State::Cwr if self.scoreboard.una() != self.recovery.high_seq => {
                    self.end_cwnd_reduction();
                    self.set_ca_state(coupled, env.now, State::Open);
                }
                State::Recovery => {
                    if self.try_undo_recovery(coupled, env, ack_info) {
                        return Then::Nothing;
                    }
                    self.end_cwnd_reduction();
                }
                _ => {}
            }
        }
        let retransmission_lost;
        match self.ca_state {
            State::Recovery => {
                if ack_info.advanced && self.try_undo_partial(coupled, env, ack_info) {
                    return Then::Nothing;
                }
                if ack_info.dsack && self.try_undo_dsack(coupled, env) {
                    self.try_to_open(coupled, env, echo);
                }
                self.detect_losses(env, ack_info.advanced, waits_for_reordering);
                if self.ca_state != State::Recovery {
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
                retransmission_lost =
                    self.detect_losses(env, ack_info.advanced, waits_for_reordering);
                if self.ca_state != State::Open && !retransmission_lost {
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
            self.try_to_open(coupled, env, echo);
            return Then::Nothing;
        }
        self.enter_recovery(coupled, env, echo);
        Then::Retransmit
    }

    /// Sets the state and reports it to the congestion control, also if it is unchanged: each timeout of an episode
    /// reports Loss (tcp_enter_loss calls tcp_set_ca_state unconditionally).
    fn set_ca_state(&mut self, coupled: &mut Coupled, now: Time, to: State) {
        self.ca_state = to;
        self.refresh(now);
        coupled.set_state(&mut self.cc, &self.tcp, to);
    }

    /// No segment is lost: enters Open, or Disorder while segments are missing (tcp_try_to_open).
    fn try_to_open<O: Observer>(&mut self, coupled: &mut Coupled, env: &mut Env<O>, echo: bool) {
        if self.scoreboard.retrans_out() == 0 {
            self.recovery.retrans_stamp = 0;
        }
        if echo {
            self.enter_cwr(coupled, env);
        }
        if self.ca_state != State::Cwr {
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
        if self.ca_state != to {
            self.set_ca_state(coupled, env.now, to);
            self.recovery.high_seq = self.scoreboard.nxt();
        }
    }
}

impl AckInfo {
    /// The ACK covers a retransmitted segment and echoes the timestamp of the original: the retransmission was
    /// spurious.
    fn is_spurious(&self) -> bool {
        self.retransmission_acked && self.echoes_original
    }
}
