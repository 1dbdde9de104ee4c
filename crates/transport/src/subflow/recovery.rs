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

/// What a sender keeps for its recoveries.
#[derive(Debug, Default)]
pub(crate) struct Recovery {
    /// A recovery ends when all before this byte is acknowledged (high_seq).
    high: u64,
    /// Window and threshold before the reduction; a threshold of 0: nothing to go back to.
    before: (u32, u32),
    prr_delivered: u32,
    pub(crate) prr_out: u32,
    /// Retransmissions that a mistake would have made, while one can be found: undo_marker, undo_retrans.
    undo: Option<(u64, i32)>,
    /// The first retransmission was at (retrans_stamp).
    first_again: u64,
    /// RFC 5682 is under way.
    frto: bool,
    /// The probe of the tail ends before this byte; 0: none is under way. Whether it was sent before (tlp_high_seq, tlp_retrans).
    pub(crate) probe: u64,
    probe_again: bool,
    /// The latest sent segment that arrived: when it was sent, the byte after it, its round trip in ns.
    rack: (u64, u64, u64),
    /// Segments were seen to overtake each other, by so many; and how patient that makes RACK, in quarters of the RTT.
    reordered: bool,
    reordering: u32,
    patience: u32,
    /// It grows once a round trip: not before this one is acknowledged; it lasts for so many recoveries.
    patient_from: u64,
    patient_for: u32,
    /// All before this byte that was sent once is judged.
    judged: u64,
    /// How often a segment was taken for lost (tp->lost).
    found: u32,
    /// No lost segment before this byte waits to be sent again.
    repair_from: u64,
    /// Segments sent again, in the order of their sending.
    again: VecDeque<Resent>,
    /// The byte after the highest that was acknowledged beyond a gap.
    highest: u64,
    /// The blocks of the last ACK, which need not be gone through again.
    known: Blocks,
    /// The window was reduced and the receiver is to be told, where ECN is in use (CWR).
    pub(crate) reduced: bool,
    /// Timeouts since the last progress.
    pub(crate) timeouts: u32,
}

/// What an ACK told.
#[derive(Debug, Default)]
struct Told {
    advanced: bool,
    /// Newly acknowledged, in order or not.
    delivered: u32,
    newly_sacked: bool,
    /// A segment that was sent once, before the recovery, has arrived.
    original: bool,
    /// A segment that was sent again was acknowledged: no RTT sample.
    again: bool,
    /// Ages of the first and last segments newly acknowledged that were sent once, ns.
    ages: Option<(u64, u64)>,
    /// The lowest of these that had been overtaken.
    overtaken: u64,
    /// It answers a segment that was sent once.
    answers_original: bool,
    /// A duplicate ACK.
    duplicate: bool,
    /// The receiver had one twice.
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
    /// RFC 8985, step 2: the latest sent segment that has arrived.
    #[inline]
    pub(crate) fn rack_advance(&mut self, at: u64, end: u64, rtt: u64) {
        self.rack.2 = rtt;
        if (at, end) > (self.rack.0, self.rack.1) {
            (self.rack.0, self.rack.1) = (at, end);
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
        // What was told beyond a gap before this ACK (tcp_highest_sack_seq).
        let told_before = match self.scoreboard.sacked_out {
            0 => self.scoreboard.una(),
            _ => self.recovery.highest,
        };
        let (found_before, out_before) = (self.recovery.found, self.out());
        let mut told = Told {
            answers_original: self.answers_original(segment),
            overtaken: u64::MAX,
            ..Told::default()
        };
        if let Some(blocks) = blocks {
            self.take_sacks(env, &blocks, &mut told);
        }
        self.take_cumulative(env, ack, &mut told, sacks, told_before);
        told.duplicate = !told.advanced && ack == self.scoreboard.una() && out_before > 0;
        if !sacks {
            self.count_duplicates(&mut told);
        }
        self.measure(env, segment, &told);
        if told.overtaken < self.recovery.highest {
            let by = (self.recovery.highest - told.overtaken).div_ceil(self.mss.into());
            self.recovery.reordered = true;
            self.recovery.reordering =
                (by as u32).clamp(self.recovery.threshold(), MOST_REORDERING);
        }
        if told.advanced {
            self.recovery.timeouts = 0;
            if self.life == Life::Stalled {
                self.life = Life::Open;
            }
        }
        self.end_probe(coupled, env, ack, &told);

        let odd = self.state != State::Open
            || told.newly_sacked
            || told.duplicate
            || told.dsack
            || flags & packet::flag::ECE != 0
            || self.scoreboard.sacked_out > 0;
        let mut then = Then::Nothing;
        let mut waits_for_reordering = false;
        if odd {
            then = self.settle(coupled, env, &told, flags, &mut waits_for_reordering);
        }
        if self.state == State::Cwr || self.state == State::Recovery {
            // Not by how many are lost now: those that the ACK repairs are not any more (Linux: tcp_ack, rs->losses).
            let newly_lost = self.recovery.found != found_before;
            self.reduce(told.delivered, newly_lost, told.advanced);
        } else if told.advanced || (self.recovery.reordered && told.newly_sacked) {
            self.grow(coupled, env, told.delivered);
        }
        match then {
            Then::Retransmit => self.retransmit_lost(coupled, env),
            Then::SendNew | Then::Nothing => {}
        }
        if O::ON {
            env.observer.window(env.now, self.id, &self.view());
        }
        told.advanced && !waits_for_reordering
    }

    /// The state machine (Linux: tcp_fastretrans_alert).
    fn settle<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
        told: &Told,
        flags: u8,
        waits_for_reordering: &mut bool,
    ) -> Then {
        let echo = flags & packet::flag::ECE != 0;
        if echo {
            self.recovery.before.1 = 0; // a mark is no mistake
        }
        if self.state == State::Open {
            self.recovery.first_again = 0;
        } else if self.scoreboard.una() >= self.recovery.high {
            match self.state {
                // CWR ends beyond the mark, for the ACK of the mark itself may echo it once more.
                State::Cwr if self.scoreboard.una() != self.recovery.high => {
                    self.end_reduction();
                    self.enter(coupled, env.now, State::Open);
                }
                State::Recovery => {
                    if self.try_undo_recovery(coupled, env, told) {
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
                if told.advanced && self.try_undo_partial(coupled, env, told) {
                    return Then::Nothing;
                }
                if told.dsack && self.try_undo_dsack(coupled, env) {
                    self.try_open(coupled, env, echo);
                }
                self.judge(env, told.advanced, waits_for_reordering);
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
                if let Some(other) = self.process_loss(coupled, env, told) {
                    then = other;
                }
                repaired_again_lost = self.judge(env, told.advanced, waits_for_reordering);
                if self.state != State::Open && !repaired_again_lost {
                    return then;
                }
                if then == Then::SendNew {
                    return then;
                }
            }
            _ => {
                if told.dsack {
                    self.try_undo_dsack(coupled, env);
                }
                self.judge(env, told.advanced, waits_for_reordering);
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
            self.recovery.first_again = 0;
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
            self.recovery.high = self.scoreboard.nxt();
        }
    }
}

impl Told {
    /// The ACK covers a segment that was sent again and answers its first copy.
    fn again_and_original(&self) -> bool {
        self.again && self.answers_original
    }
}
