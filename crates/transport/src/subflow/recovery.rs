//! Loss recovery: the slow path of ACKs and the state machine.
//!
//! The states and their transitions are Linux's (Open, Disorder, CWR, Recovery, Loss). Sources: RFC 8985 (RACK-TLP),
//! RFC 6937 (PRR), RFC 6675 and RFC 2018 (SACK), RFC 6582 (NewReno), RFC 5682 (F-RTO), RFC 2883 (DSACK), RFC 3168
//! (ECN).
//!
//! The parts of the slow path are in `recovery/`.

mod ack;
mod ack_info;
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
use ack_info::{AckInfo, Ages};
use mpcc::{Connection as Coupled, State};
use netsim::{Span, Time};

/// Maximum reordering degree, segments (Linux: tcp_max_reordering).
const MAX_REORDERING: u32 = 300;

/// Transmission that follows the state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rexmit {
    /// REXMIT_NONE.
    None,
    /// Lost segments (REXMIT_LOST).
    Lost,
    /// New segments (REXMIT_NEW).
    New,
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
        let segment = wire.to_ack();
        let blocks = env.sacks.take(segment.sack);
        if ack > self.scoreboard.nxt() {
            return false; // beyond snd_nxt
        }
        let has_sack = self.profile.detection != Detection::DuplicateAcks;
        // Highest SACKed byte before this ACK (prior_fack).
        let prior_highest_sacked = match self.scoreboard.sacked_out {
            0 => self.scoreboard.una(),
            _ => self.recovery.highest_sacked,
        };
        let (prior_lost_total, prior_packets_out) = (self.recovery.lost_total, self.packets_out());
        let mut ack_info = AckInfo {
            echoes_original: self.is_from_before_retransmission(segment),
            lowest_reordered: u64::MAX,
            ece: segment.flags & packet::flag::ECE != 0,
            ..AckInfo::default()
        };
        if let Some(blocks) = blocks {
            self.sacktag_write_queue(env, &blocks, &mut ack_info);
        }
        self.clean_rtx_queue(env, ack, &mut ack_info, has_sack, prior_highest_sacked);
        ack_info.duplicate =
            !ack_info.advanced && ack == self.scoreboard.una() && prior_packets_out > 0;
        if !has_sack {
            self.update_reno_sacks(&mut ack_info);
        }
        self.update_rtt(env, segment, &ack_info);
        self.check_sack_reordering(ack_info.lowest_reordered);
        if ack_info.advanced {
            self.recovery.timeouts = 0;
            if self.subflow_state == SubflowState::Stalled {
                self.subflow_state = SubflowState::Open;
            }
        }
        self.process_tlp_ack(coupled, env, ack, &ack_info);
        let mut rexmit = Rexmit::None;
        if self.is_dubious(&ack_info) {
            rexmit = self.fastretrans_alert(coupled, env, &mut ack_info);
        }
        // Compares the total, not lost_out, from which the ACK removes repaired segments (tcp_ack, rs->losses).
        let newly_lost = self.recovery.lost_total != prior_lost_total;
        self.cong_control(coupled, env, &ack_info, newly_lost);
        if rexmit == Rexmit::Lost {
            self.retransmit_lost(coupled, env);
        }
        if O::ON {
            env.observer.window(env.now, self.id, &self.view(coupled));
        }
        ack_info.advanced && !ack_info.reordering_timer_set
    }

    /// Raises the reordering degree if a segment was delivered after a higher one (tcp_check_sack_reordering).
    fn check_sack_reordering(&mut self, lowest_reordered: u64) {
        if lowest_reordered < self.recovery.highest_sacked {
            let bytes = self.recovery.highest_sacked - lowest_reordered;
            let degree = bytes.div_ceil(self.mss.into()) as u32;
            self.recovery.reordering_seen = true;
            self.recovery.reordering = degree.clamp(self.recovery.threshold(), MAX_REORDERING);
        }
    }

    /// Whether the state machine has to process an ACK (tcp_ack_is_dubious).
    fn is_dubious(&self, ack_info: &AckInfo) -> bool {
        self.ca_state != State::Open
            || ack_info.newly_sacked
            || ack_info.duplicate
            || ack_info.dsack
            || ack_info.ece
            || self.scoreboard.sacked_out > 0
    }

    /// Reduces the window in CWR and Recovery; otherwise lets it grow if an ACK may (tcp_cong_control,
    /// tcp_may_raise_cwnd).
    fn cong_control<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
        ack_info: &AckInfo,
        newly_lost: bool,
    ) {
        if self.ca_state == State::Cwr || self.ca_state == State::Recovery {
            self.cwnd_reduction(ack_info.delivered, newly_lost, ack_info.advanced);
        } else if ack_info.advanced || (self.recovery.reordering_seen && ack_info.newly_sacked) {
            self.cong_avoid(coupled, env, ack_info.delivered);
        }
    }

    /// The state machine (tcp_fastretrans_alert).
    fn fastretrans_alert<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
        ack_info: &mut AckInfo,
    ) -> Rexmit {
        if ack_info.ece {
            self.recovery.prior_ssthresh = 0; // a reduction for a mark is not undone
        }
        if self.ca_state == State::Open {
            self.recovery.retrans_stamp = 0;
        } else if self.scoreboard.una() >= self.recovery.high_seq
            && self.end_episode(coupled, env, ack_info)
        {
            return Rexmit::None;
        }
        match self.ca_state {
            State::Recovery => return self.alert_in_recovery(coupled, env, ack_info),
            State::Loss => {
                if let Some(rexmit) = self.alert_in_loss(coupled, env, ack_info) {
                    return rexmit;
                }
            }
            _ => {
                if ack_info.dsack {
                    self.try_undo_dsack(coupled, env);
                }
                self.identify_packet_loss(env, ack_info);
            }
        }
        if self.scoreboard.lost_out() == 0 {
            self.try_to_open(coupled, env, ack_info.ece);
            return Rexmit::None;
        }
        self.enter_recovery(coupled, env, ack_info.ece);
        Rexmit::Lost
    }

    /// Ends CWR or Recovery when high_seq is acknowledged. Returns whether the state machine is done with the ACK.
    fn end_episode<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
        ack_info: &AckInfo,
    ) -> bool {
        match self.ca_state {
            // CWR ends beyond high_seq, because the ACK of high_seq itself may echo the mark once more.
            State::Cwr if self.scoreboard.una() != self.recovery.high_seq => {
                self.end_cwnd_reduction();
                self.set_ca_state(coupled, env.now, State::Open);
            }
            State::Recovery => {
                if self.try_undo_recovery(coupled, env, ack_info) {
                    return true;
                }
                self.end_cwnd_reduction();
            }
            _ => {}
        }
        false
    }

    /// Processes an ACK in Recovery.
    fn alert_in_recovery<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
        ack_info: &mut AckInfo,
    ) -> Rexmit {
        if ack_info.advanced && self.try_undo_partial(coupled, env, ack_info) {
            return Rexmit::None;
        }
        if ack_info.dsack && self.try_undo_dsack(coupled, env) {
            self.try_to_open(coupled, env, ack_info.ece);
        }
        self.identify_packet_loss(env, ack_info);
        if self.ca_state != State::Recovery {
            if self.scoreboard.lost_out() == 0 {
                return Rexmit::None;
            }
            self.enter_recovery(coupled, env, ack_info.ece);
        }
        Rexmit::Lost
    }

    /// Processes an ACK in Loss. None: continues as in Open.
    fn alert_in_loss<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
        ack_info: &mut AckInfo,
    ) -> Option<Rexmit> {
        let rexmit = self.process_loss(coupled, env, ack_info);
        let rexmit = rexmit.unwrap_or(Rexmit::Lost);
        let retransmission_lost = self.identify_packet_loss(env, ack_info);
        let stays_in_loss = self.ca_state != State::Open && !retransmission_lost;
        (stays_in_loss || rexmit == Rexmit::New).then_some(rexmit)
    }

    /// Marks segments lost that an ACK shows to be lost (tcp_identify_packet_loss). Returns whether a retransmission
    /// is among them.
    fn identify_packet_loss<O: Observer>(
        &mut self,
        env: &mut Env<O>,
        ack_info: &mut AckInfo,
    ) -> bool {
        let detected = self.detect_losses(env, ack_info.advanced);
        ack_info.reordering_timer_set |= detected.reordering_timer_set;
        detected.retransmission_lost
    }

    /// Sets the state and reports it to the congestion control, also if it is unchanged: each timeout of an episode
    /// reports Loss (tcp_enter_loss calls tcp_set_ca_state unconditionally).
    fn set_ca_state(&mut self, coupled: &mut Coupled, now: Time, to: State) {
        self.ca_state = to;
        self.refresh(now);
        coupled.set_state(&mut self.cc, &self.tcp, to);
    }

    /// No segment is lost: enters Open, or Disorder while segments are missing (tcp_try_to_open).
    fn try_to_open<O: Observer>(&mut self, coupled: &mut Coupled, env: &mut Env<O>, ece: bool) {
        if self.scoreboard.retrans_out() == 0 {
            self.recovery.retrans_stamp = 0;
        }
        if ece {
            self.enter_cwr(coupled, env);
        }
        if self.ca_state != State::Cwr {
            self.try_keep_open(coupled, env);
        }
    }

    /// Enters Open, or Disorder while segments are missing (tcp_try_keep_open).
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
