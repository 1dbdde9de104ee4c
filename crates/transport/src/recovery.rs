//! Loss: found, repaired, and taken back where it was a mistake.
//!
//! The states and what moves between them are Linux's (Open, Disorder, CWR, Recovery, Loss). Sources: RFC 8985 (RACK-TLP),
//! RFC 6937 (PRR), RFC 6675 and RFC 2018 (SACK), RFC 6582 (NewReno), RFC 5682 (F-RTO), RFC 2883 (DSACK), RFC 3168 (ECN).
//!
//! Segments that were sent once are in order of their sending, and so are those sent again, in a queue of their own: what
//! RACK has to look at is at the head of the two.

use crate::board::mark;
use crate::endpoint::Env;
use crate::profile::Detection;
use crate::sack::Blocks;
use crate::segment::{Segment, flag, widen16};
use crate::sender::{Life, Sender, TIMER_LEAST, Waits, notice};
use crate::trace::Observer;
use mpcc::{Connection as Coupled, state};
use netsim::{Span, Time};
use std::collections::VecDeque;

/// Duplicate ACKs, or segments beyond a gap, that tell of a loss (RFC 5681, 3.2).
const THRESHOLD: u32 = 3;

/// The most that the threshold grows to where segments overtake each other (Linux: tcp_max_reordering).
const MOST_REORDERING: u32 = 300;

/// The most that RACK's patience grows to (Linux: reo_wnd_steps up to 255), and how many recoveries it lasts
/// (RFC 8985, 6.2, step 4: reo_wnd_persist).
const MOST_PATIENCE: u32 = 254;
const PATIENT_RECOVERIES: u32 = 16;

/// No segment was sent again since the reduction that may be undone.
const NONE_YET: i32 = -1;

/// What a sender keeps for its recoveries.
#[derive(Debug, Default)]
pub(crate) struct Recovery {
    /// A recovery ends when this segment is acknowledged (high_seq).
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
    /// The probe of the tail ends with this segment; 0: none is under way. Whether it was sent before.
    pub(crate) probe: u64,
    probe_again: bool,
    /// The latest sent segment that arrived: when it was sent, the number after it, its round trip in ns.
    rack: (u64, u64, u64),
    /// Segments were seen to overtake each other, by so many; and how patient that makes RACK, in quarters of the RTT.
    reordered: bool,
    reordering: u32,
    patience: u32,
    /// It grows once a round trip: not before this one is acknowledged; it lasts for so many recoveries.
    patient_from: u64,
    patient_for: u32,
    /// All segments before this one that were sent once are judged.
    judged: u64,
    /// No lost segment before this one waits to be sent again.
    repair_from: u64,
    /// Segments sent again: when, and which.
    again: VecDeque<(u64, u64)>,
    /// The highest acknowledged beyond a gap, plus one.
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
    Repair,
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
        env: &mut Env<'_, O>,
        ack: u64,
        segment: &Segment,
        blocks: Option<Blocks>,
    ) -> bool {
        let flags = segment.flags;
        if ack > self.nxt {
            return false; // of what was never sent
        }
        let sacks = env.profile.detection != Detection::DuplicateAcks;
        let (lost_before, out_before) = (self.lost, self.out());
        let mut told = Told {
            answers_original: self.answers_original(segment),
            overtaken: u64::MAX,
            ..Told::default()
        };
        if let Some(blocks) = blocks {
            self.take_sacks(env, &blocks, &mut told);
        }
        self.take_cumulative(env, ack, &mut told, sacks);
        told.duplicate = !told.advanced && ack == self.una && out_before > 0;
        if !sacks {
            self.count_duplicates(&mut told);
        }
        self.measure(env, segment, &told);
        if told.overtaken < self.recovery.highest {
            let by = (self.recovery.highest - told.overtaken) as u32;
            self.recovery.reordered = true;
            self.recovery.reordering = by.clamp(self.recovery.threshold(), MOST_REORDERING);
        }
        if told.advanced {
            self.recovery.timeouts = 0;
            if self.life == Life::Stalled {
                self.life = Life::Open;
            }
        }
        self.end_probe(coupled, env, ack, &told);

        let odd = self.state != state::MPCC_STATE_OPEN
            || told.newly_sacked
            || told.duplicate
            || told.dsack
            || flags & flag::ECHO != 0
            || self.sacked > 0;
        let mut then = Then::Nothing;
        let mut waits_for_reordering = false;
        if odd {
            then = self.settle(coupled, env, &told, flags, &mut waits_for_reordering);
        }
        if self.state == state::MPCC_STATE_CWR || self.state == state::MPCC_STATE_RECOVERY {
            let newly_lost = self.lost > lost_before;
            self.reduce(env, told.delivered, newly_lost, told.advanced);
        } else if told.advanced || (self.recovery.reordered && told.newly_sacked) {
            self.grow(coupled, env, told.delivered);
        }
        match then {
            Then::Repair => self.repair(env),
            Then::SendNew | Then::Nothing => {}
        }
        if O::ON {
            env.observer.window(env.now, self.who(), &self.view());
        }
        told.advanced && !waits_for_reordering
    }

    /// Whether an ACK answers a segment that was sent before anything was sent again (Eifel, RFC 3522).
    fn answers_original(&self, segment: &Segment) -> bool {
        let seq = widen16(self.una, segment.len);
        if segment.flags & flag::AGAIN != 0 || seq >= self.nxt {
            return false;
        }
        // Of one that was sent again it is the first copy. One that is acknowledged already still stands in its place.
        let sent = self.board.at(seq);
        sent.is(mark::EVER_AGAIN) || sent.at < self.recovery.first_again
    }

    /// Marks what the blocks say has arrived.
    fn take_sacks<O: Observer>(&mut self, env: &Env<'_, O>, blocks: &Blocks, told: &mut Told) {
        if blocks.duplicate {
            told.dsack = true;
            if self.una >= self.recovery.patient_from {
                self.recovery.patience = (self.recovery.patience + 1).min(MOST_PATIENCE);
                self.recovery.patient_from = self.nxt;
                self.recovery.patient_for = PATIENT_RECOVERIES;
            }
            let seq = blocks.list[0].0;
            if let Some((from, count)) = &mut self.recovery.undo {
                *count -= i32::from(*count > 0 && seq >= *from);
            }
        }
        let known = self.recovery.known;
        for (start, end) in blocks.iter() {
            let (mut start, end) = (start.max(self.una), end.min(self.nxt));
            while start < end {
                // What the last ACK told need not be gone through again.
                match known.iter().find(|old| old.0 <= start && start < old.1) {
                    Some(old) => start = old.1,
                    None => {
                        self.take_sack(env, start, told);
                        start += 1;
                    }
                }
            }
        }
        self.recovery.known = *blocks;
    }

    fn take_sack<O: Observer>(&mut self, env: &Env<'_, O>, seq: u64, told: &mut Told) {
        let sent = self.board.at_mut(seq);
        if sent.is(mark::SACKED) {
            return;
        }
        let (at, marks) = (sent.at, sent.marks);
        sent.marks |= mark::SACKED;
        if marks & mark::LOST != 0 {
            sent.marks &= !(mark::LOST | mark::AGAIN);
            self.lost -= 1;
            self.again -= u32::from(marks & mark::AGAIN != 0);
        }
        self.sacked += 1;
        told.newly_sacked = true;
        told.delivered += 1;
        let age = env.now.as_nanos() - at;
        if marks & mark::EVER_AGAIN == 0 {
            if seq < self.recovery.highest {
                told.overtaken = told.overtaken.min(seq);
            }
            told.original |= seq < self.recovery.high;
            told.ages = Some((told.ages.map_or(age, |ages| ages.0), age));
        }
        self.advance_rack(at, seq + 1, age, marks);
        self.recovery.highest = self.recovery.highest.max(seq + 1);
    }

    /// An ACK that comes back sooner than any round trip answers the first copy, and says nothing of the second.
    fn advance_rack(&mut self, at: u64, end: u64, age: u64, marks: u8) {
        if marks & mark::EVER_AGAIN == 0 || age / 1000 >= u64::from(self.rtt.least) {
            self.recovery.rack_advance(at, end, age);
        }
    }

    /// Takes off what is acknowledged in order.
    fn take_cumulative<O: Observer>(
        &mut self,
        env: &Env<'_, O>,
        ack: u64,
        told: &mut Told,
        sacks: bool,
    ) {
        if ack <= self.una {
            return;
        }
        told.advanced = true;
        let mut ages: Option<(u64, u64)> = None;
        for seq in self.una..ack {
            let sent = *self.board.at(seq);
            let age = env.now.as_nanos() - sent.at;
            self.again -= u32::from(sent.is(mark::AGAIN));
            self.lost -= u32::from(sent.is(mark::LOST));
            if sent.is(mark::SACKED) {
                self.sacked -= 1;
                continue;
            }
            told.again |= sent.is(mark::EVER_AGAIN);
            if !sent.is(mark::EVER_AGAIN) {
                ages = Some((ages.map_or(age, |ages| ages.0), age));
                if seq < self.recovery.highest && sacks {
                    told.overtaken = told.overtaken.min(seq);
                }
                told.original |= seq < self.recovery.high;
            }
            if sacks {
                told.delivered += 1;
            }
            self.advance_rack(sent.at, seq + 1, age, sent.marks);
        }
        if !sacks {
            // One fills the gap; the others had been told of by duplicate ACKs.
            let acked = (ack - self.una) as u32;
            told.delivered += acked.saturating_sub(self.sacked).max(1);
            self.sacked = self.sacked.saturating_sub(acked - 1);
        }
        // A sample of what lies in order comes first.
        if !told.again {
            told.ages = ages.or(told.ages);
        }
        self.una = ack;
        if !sacks {
            self.sacked = self.sacked.min(self.most_duplicates());
        }
        self.recovery.judged = self.recovery.judged.max(ack);
        self.recovery.repair_from = self.recovery.repair_from.max(ack);
        self.recovery.highest = self.recovery.highest.max(ack);
    }

    /// Without SACK a duplicate ACK stands for a segment that has left the network (Linux: tcp_add_reno_sack).
    fn count_duplicates(&mut self, told: &mut Told) {
        use state::*;
        if told.advanced && !matches!(self.state, MPCC_STATE_RECOVERY) {
            self.sacked = 0;
        }
        // After a timeout they may answer what was sent again needlessly, but for those of new segments (RFC 5682, 2.1).
        let counts = self.state != MPCC_STATE_LOSS || self.nxt > self.recovery.high;
        if told.duplicate && counts {
            let before = self.sacked;
            self.sacked = (before + 1).min(self.most_duplicates()).max(before);
            told.delivered += self.sacked - before;
        }
    }

    /// One segment at least is missing, or there would be no duplicate.
    fn most_duplicates(&self) -> u32 {
        self.out().saturating_sub(self.lost.max(1))
    }

    /// The RTT sample of an ACK, and with one the end of the timeout's back-off.
    fn measure<O: Observer>(&mut self, env: &Env<'_, O>, segment: &Segment, told: &Told) {
        self.tcp.rtt_us = 0;
        if told.ages.is_none() && told.advanced && segment.flags & flag::AGAIN != 0 {
            // It answers a copy, the last one if it is not too young for that: what the timestamp option tells
            // (RFC 7323, 4). Where no round trip is known, it may answer any (Karn and Partridge 1987).
            let seq = widen16(self.una, segment.len);
            let age = env.now.as_nanos().saturating_sub(self.board.at(seq).at) / 1000;
            if seq < self.nxt && age >= u64::from(self.rtt.least) {
                self.rtt.sample(age as u32, self.una, self.nxt);
            }
        }
        if let Some((first, last)) = told.ages {
            self.tcp.rtt_us = (last / 1000).max(1) as u32;
            self.rtt.sample((first / 1000) as u32, self.una, self.nxt);
            self.rtt.least = self.rtt.least.min((last / 1000).max(1) as u32);
        }
    }

    /// The state machine (Linux: tcp_fastretrans_alert).
    fn settle<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<'_, O>,
        told: &Told,
        flags: u8,
        waits_for_reordering: &mut bool,
    ) -> Then {
        use state::*;
        let echo = flags & flag::ECHO != 0;
        if echo {
            self.recovery.before.1 = 0; // a mark is no mistake
        }
        if self.state == MPCC_STATE_OPEN {
            self.recovery.first_again = 0;
        } else if self.una >= self.recovery.high {
            match self.state {
                // CWR ends beyond the mark, for the ACK of the mark itself may echo it once more.
                MPCC_STATE_CWR if self.una != self.recovery.high => {
                    self.end_reduction();
                    self.enter(coupled, env.now, MPCC_STATE_OPEN);
                }
                MPCC_STATE_RECOVERY => {
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
            MPCC_STATE_RECOVERY => {
                if told.advanced && self.try_undo_partial(coupled, env, told) {
                    return Then::Nothing;
                }
                if told.dsack && self.try_undo_dsack(coupled, env) {
                    self.try_open(coupled, env, echo);
                }
                self.judge(env, told.advanced, waits_for_reordering);
                if self.state != MPCC_STATE_RECOVERY {
                    if self.lost == 0 {
                        return Then::Nothing;
                    }
                    self.enter_recovery(coupled, env, echo);
                }
                return Then::Repair;
            }
            MPCC_STATE_LOSS => {
                let mut then = Then::Repair;
                if let Some(other) = self.process_loss(coupled, env, told) {
                    then = other;
                }
                repaired_again_lost = self.judge(env, told.advanced, waits_for_reordering);
                if self.state != MPCC_STATE_OPEN && !repaired_again_lost {
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
        if self.lost == 0 {
            self.try_open(coupled, env, echo);
            return Then::Nothing;
        }
        self.enter_recovery(coupled, env, echo);
        Then::Repair
    }

    fn enter(&mut self, coupled: &mut Coupled, now: Time, to: state::Type) {
        if self.state != to {
            self.state = to;
            self.refresh(now);
            coupled.set_state(&mut self.cc, &self.tcp, to);
        }
    }

    /// Nothing is lost: Open, or Disorder while segments are missing (Linux: tcp_try_to_open).
    fn try_open<O: Observer>(&mut self, coupled: &mut Coupled, env: &mut Env<'_, O>, echo: bool) {
        if self.again == 0 {
            self.recovery.first_again = 0;
        }
        if echo {
            self.enter_cwr(coupled, env);
        }
        if self.state != state::MPCC_STATE_CWR {
            self.try_keep_open(coupled, env);
        }
    }

    fn try_keep_open<O: Observer>(&mut self, coupled: &mut Coupled, env: &mut Env<'_, O>) {
        let disorder = self.sacked + self.lost + self.again > 0 || self.recovery.undo.is_some();
        let to = if disorder {
            state::MPCC_STATE_DISORDER
        } else {
            state::MPCC_STATE_OPEN
        };
        if self.state != to {
            self.enter(coupled, env.now, to);
            self.recovery.high = self.nxt;
        }
    }

    /// An ECN mark: a reduction without a loss (RFC 3168, 6.1.2).
    fn enter_cwr<O: Observer>(&mut self, coupled: &mut Coupled, env: &mut Env<'_, O>) {
        if self.state < state::MPCC_STATE_CWR {
            self.recovery.before.1 = 0;
            self.recovery.undo = None;
            self.begin_reduction(coupled, env);
            self.enter(coupled, env.now, state::MPCC_STATE_CWR);
        }
    }

    fn enter_recovery<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<'_, O>,
        echo: bool,
    ) {
        self.recovery.before.1 = 0;
        self.begin_undo();
        if self.state != state::MPCC_STATE_CWR && self.state != state::MPCC_STATE_RECOVERY {
            if !echo {
                self.recovery.before.1 = self.current_ssthresh();
            }
            self.begin_reduction(coupled, env);
        }
        self.enter(coupled, env.now, state::MPCC_STATE_RECOVERY);
    }

    fn begin_undo(&mut self) {
        let again = if self.again > 0 {
            self.again as i32
        } else {
            NONE_YET
        };
        self.recovery.undo = Some((self.una, again));
    }

    /// Asks the algorithm for the threshold, which the window goes down to.
    fn begin_reduction<O: Observer>(&mut self, coupled: &mut Coupled, env: &mut Env<'_, O>) {
        self.recovery.high = self.nxt;
        self.recovery.probe = 0;
        self.recovery.before.0 = self.tcp.cwnd;
        self.recovery.prr_delivered = 0;
        self.recovery.prr_out = 0;
        self.take_threshold(coupled, env);
        if !env.profile.prr {
            self.tcp.cwnd = self.tcp.ssthresh;
        }
    }

    fn take_threshold<O: Observer>(&mut self, coupled: &mut Coupled, env: &mut Env<'_, O>) {
        self.refresh(env.now);
        let was_slow = self.tally.exit.is_none();
        let (ssthresh, note) = coupled.ssthresh(&mut self.cc, &mut self.tcp);
        self.tcp.ssthresh = ssthresh;
        self.recovery.reduced = true; // whatever for (RFC 3168, 6.1.2)
        self.tally.losses += 1;
        self.tally.first_loss.get_or_insert(env.now);
        self.noted(env, &note);
        if let (true, Some(exit)) = (was_slow, &mut self.tally.exit) {
            exit.1 = ssthresh; // the window with which avoidance begins
        }
    }

    /// Proportional rate reduction (RFC 6937, with its slow start reduction bound).
    fn reduce<O: Observer>(
        &mut self,
        env: &Env<'_, O>,
        delivered: u32,
        newly_lost: bool,
        advanced: bool,
    ) {
        if delivered == 0 || self.recovery.before.0 == 0 || !env.profile.prr {
            return;
        }
        let (flight, ssthresh) = (self.flight(), self.tcp.ssthresh);
        let r = &mut self.recovery;
        r.prr_delivered += delivered;
        let send = if flight > ssthresh {
            let due = u64::from(ssthresh) * u64::from(r.prr_delivered);
            due.div_ceil(u64::from(r.before.0)) as u32
        } else {
            0
        };
        let mut send = i64::from(send) - i64::from(r.prr_out);
        if flight <= ssthresh {
            send = (i64::from(r.prr_delivered) - i64::from(r.prr_out)).max(delivered.into());
            send += i64::from(advanced && !newly_lost);
            send = send.min(i64::from(ssthresh - flight));
        }
        // The first segment is sent again at once.
        let send = send.max(i64::from(r.prr_out == 0)) as u32;
        self.tcp.cwnd = flight + send;
    }

    fn end_reduction(&mut self) {
        if self.state == state::MPCC_STATE_CWR || self.recovery.undo.is_some() {
            self.tcp.cwnd = self.tcp.ssthresh;
        }
    }

    /// Decides which segments are lost. Returns whether one was lost that had been sent again.
    fn judge<O: Observer>(
        &mut self,
        env: &mut Env<'_, O>,
        advanced: bool,
        waits: &mut bool,
    ) -> bool {
        if self.out() == 0 {
            return false;
        }
        match env.profile.detection {
            Detection::DuplicateAcks => {
                let recovering = self.state == state::MPCC_STATE_RECOVERY;
                let threshold = self.state < state::MPCC_STATE_RECOVERY && self.sacked >= THRESHOLD;
                if threshold || (recovering && advanced) {
                    self.lose(self.una);
                }
                false
            }
            Detection::Fack => {
                let below = self
                    .recovery
                    .highest
                    .saturating_sub(u64::from(self.recovery.threshold()));
                // ACKs while nothing was missing have not moved it.
                self.recovery.judged = self.recovery.judged.max(self.una);
                while self.recovery.judged < below.min(self.nxt) {
                    let seq = self.recovery.judged;
                    if !self
                        .board
                        .at(seq)
                        .is(mark::SACKED | mark::LOST | mark::EVER_AGAIN)
                    {
                        self.lose(seq);
                    }
                    self.recovery.judged += 1;
                }
                self.rack_again(env, 0).0
            }
            Detection::RackTlp => {
                let patience = self.patience();
                let wait = self.rack_first(env, patience);
                let (lost, wait_again) = self.rack_again(env, patience);
                let wait = wait.max(wait_again);
                if wait > 0 {
                    *waits = true;
                    self.waits = Waits::Reordering;
                    env.timers
                        .set(self.timer, env.now + Span::from_nanos(wait) + TIMER_LEAST);
                }
                lost
            }
        }
    }

    /// How long RACK waits beyond a round trip, ns (RFC 8985, step 4).
    fn patience(&self) -> u64 {
        let r = &self.recovery;
        if !r.reordered && (self.state >= state::MPCC_STATE_RECOVERY || self.sacked >= THRESHOLD) {
            return 0;
        }
        let quarters = u64::from(r.patience + 1);
        (u64::from(self.rtt.least) / 4 * quarters).min(u64::from(self.rtt.srtt8 >> 6)) * 1000
    }

    /// Those that were sent once. Returns how long to wait for the rest, ns.
    fn rack_first<O: Observer>(&mut self, env: &Env<'_, O>, patience: u64) -> u64 {
        let (at, end, rtt) = self.recovery.rack;
        let now = env.now.as_nanos();
        let mut wait = 0;
        let mut seq = self.recovery.judged.max(self.una);
        let mut all = true;
        while seq < self.nxt {
            let sent = *self.board.at(seq);
            if !sent.is(mark::SACKED | mark::LOST | mark::EVER_AGAIN) {
                if (sent.at, seq + 1) >= (at, end) {
                    break;
                }
                let due = sent.at + rtt + patience;
                if due <= now {
                    self.lose(seq);
                } else {
                    wait = wait.max(due - now);
                    all = false;
                }
            }
            seq += 1;
            if all {
                self.recovery.judged = seq;
            }
        }
        wait
    }

    /// Those that were sent again.
    fn rack_again<O: Observer>(&mut self, env: &Env<'_, O>, patience: u64) -> (bool, u64) {
        let (at, end, rtt) = self.recovery.rack;
        let now = env.now.as_nanos();
        let mut lost = false;
        while let Some(&(sent, seq)) = self.recovery.again.front() {
            let gone = seq < self.una || {
                let entry = self.board.at(seq);
                !entry.is(mark::AGAIN) || entry.is(mark::SACKED) || entry.at != sent
            };
            if !gone {
                if (sent, seq + 1) >= (at, end) {
                    break;
                }
                let due = sent + rtt + patience;
                if due > now {
                    return (lost, due - now);
                }
                self.board.at_mut(seq).marks &= !mark::AGAIN;
                self.again -= 1;
                self.lose(seq);
                lost = true;
            }
            self.recovery.again.pop_front();
        }
        (lost, 0)
    }

    /// Takes a segment for lost.
    fn lose(&mut self, seq: u64) {
        let sent = self.board.at_mut(seq);
        if !sent.is(mark::LOST) {
            sent.marks |= mark::LOST;
            self.lost += 1;
        }
        self.recovery.repair_from = self.recovery.repair_from.min(seq);
    }

    /// Sends lost segments again, as far as the window goes.
    pub(crate) fn repair<O: Observer>(&mut self, env: &mut Env<'_, O>) {
        let mut seq = self.recovery.repair_from.max(self.una);
        // Without SACK the first one goes at once: duplicate ACKs bring the flight down below the window only later.
        let at_once = env.profile.detection == Detection::DuplicateAcks;
        while seq < self.nxt
            && self.lost > 0
            && (self.flight() < self.tcp.cwnd || (at_once && seq == self.una))
        {
            let sent = self.board.at(seq);
            if sent.is(mark::LOST) && !sent.is(mark::AGAIN | mark::SACKED) {
                self.send_again(env, seq);
            }
            seq += 1;
        }
        self.recovery.repair_from = seq;
    }

    fn send_again<O: Observer>(&mut self, env: &mut Env<'_, O>, seq: u64) {
        let now = env.now.as_nanos();
        let sent = self.board.at_mut(seq);
        sent.marks |= mark::AGAIN | mark::EVER_AGAIN;
        sent.at = now;
        self.again += 1;
        self.clean_from = self.nxt;
        if env.profile.detection != Detection::DuplicateAcks {
            self.recovery.again.push_back((now, seq));
        }
        if self.recovery.first_again == 0 {
            self.recovery.first_again = now;
        }
        if let Some((_, count)) = &mut self.recovery.undo {
            *count = (*count).max(0) + 1;
        }
        if self.state == state::MPCC_STATE_CWR || self.state == state::MPCC_STATE_RECOVERY {
            self.recovery.prr_out += 1;
        }
        self.tally.retransmits += 1;
        self.transmit(env, seq);
        if seq == self.una && self.waits != Waits::Reordering {
            self.set_timeout(env);
        }
    }

    /// Whether all retransmissions were needless: the receiver had each twice (DSACK), or the segment that is
    /// acknowledged was sent again and yet its first copy is answered (Eifel, RFC 3522).
    fn may_undo<O: Observer>(&self, env: &Env<'_, O>, told: &Told) -> bool {
        let needless = matches!(self.recovery.undo, Some((_, 0)));
        env.profile.undo && self.recovery.undo.is_some() && (needless || told.again_and_original())
    }

    fn undo<O: Observer>(&mut self, coupled: &mut Coupled, env: &mut Env<'_, O>, unmark: bool) {
        if unmark {
            for seq in self.una..self.nxt {
                self.board.at_mut(seq).marks &= !mark::LOST;
            }
            self.lost = 0;
            if env.profile.detection == Detection::Fack {
                self.recovery.judged = self.una; // they can be lost all the same
            }
        }
        if self.recovery.before.1 != 0 {
            self.refresh(env.now);
            self.tcp.cwnd = coupled.undo(&self.cc, &self.tcp);
            self.tcp.ssthresh = self.tcp.ssthresh.max(self.recovery.before.1);
        }
        self.recovery.undo = None;
        if O::ON {
            env.observer.window(env.now, self.who(), &self.view());
        }
    }

    fn try_undo_recovery<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<'_, O>,
        told: &Told,
    ) -> bool {
        if self.may_undo(env, told) {
            self.undo(coupled, env, false);
        } else if self.recovery.patient_for > 0 {
            self.recovery.patient_for -= 1;
            if self.recovery.patient_for == 0 {
                self.recovery.patience = 0;
            }
        }
        if self.una == self.recovery.high && env.profile.detection == Detection::DuplicateAcks {
            // Duplicates of what was sent again may follow and must not start another recovery (RFC 6582, 4).
            self.end_reduction();
            self.recovery.undo = None;
            return true;
        }
        self.end_reduction();
        self.recovery.undo = None;
        self.enter(coupled, env.now, state::MPCC_STATE_OPEN);
        true
    }

    fn try_undo_partial<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<'_, O>,
        told: &Told,
    ) -> bool {
        if self.recovery.undo.is_none() || !env.profile.undo || !told.again_and_original() {
            return false;
        }
        // Segments overtook each other; those sent again are still to be heard of.
        if self.again > 0 {
            return true;
        }
        self.undo(coupled, env, true);
        self.try_open(coupled, env, false);
        if self.state == state::MPCC_STATE_RECOVERY {
            self.enter(coupled, env.now, state::MPCC_STATE_OPEN);
        }
        true
    }

    fn try_undo_dsack<O: Observer>(&mut self, coupled: &mut Coupled, env: &mut Env<'_, O>) -> bool {
        if env.profile.undo && matches!(self.recovery.undo, Some((_, 0))) {
            self.undo(coupled, env, false);
            return true;
        }
        false
    }

    /// In Loss: F-RTO, and the end of it. `Some`: what to do instead of repairing.
    fn process_loss<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<'_, O>,
        told: &Told,
    ) -> Option<Then> {
        let recovered = self.una >= self.recovery.high;
        if told.advanced && self.may_undo(env, told) {
            self.undo(coupled, env, true);
            self.enter(coupled, env.now, state::MPCC_STATE_OPEN);
            return Some(Then::Nothing);
        }
        if self.recovery.frto {
            // A segment sent before the timeout and not since has arrived: the timeout was too early.
            if told.original && env.profile.undo {
                self.undo(coupled, env, true);
                self.enter(coupled, env.now, state::MPCC_STATE_OPEN);
                return Some(Then::Nothing);
            }
            if self.nxt > self.recovery.high {
                if told.newly_sacked || told.duplicate {
                    self.recovery.frto = false;
                }
            } else if told.advanced && !recovered {
                self.recovery.high = self.nxt;
                self.notices |= notice::WANTS_NEW;
                return Some(Then::SendNew);
            }
        }
        if recovered {
            self.recovery.undo = None;
            self.enter(coupled, env.now, state::MPCC_STATE_OPEN);
            return Some(Then::Nothing);
        }
        None
    }

    /// There was nothing new to send, so F-RTO has nothing to wait for.
    pub(crate) fn repair_instead<O: Observer>(&mut self, env: &mut Env<'_, O>) {
        if self.state == state::MPCC_STATE_LOSS && self.nxt == self.recovery.high {
            self.recovery.frto = false;
            self.repair(env);
        }
    }

    /// A probe was under way: it is answered, and perhaps it repaired a loss (RFC 8985, 7.4.2).
    fn end_probe<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<'_, O>,
        ack: u64,
        told: &Told,
    ) {
        let dsack = told.dsack;
        // Both copies came: this one answers the second.
        let repeats = !told.advanced && !told.newly_sacked;
        let end = self.recovery.probe;
        if end == 0 || ack < end {
            return;
        }
        if !self.recovery.probe_again || dsack || repeats {
            self.recovery.probe = 0;
        } else if ack > end {
            // The original was lost, for nobody has it twice.
            self.begin_reduction(coupled, env);
            self.enter(coupled, env.now, state::MPCC_STATE_CWR);
            self.end_reduction();
            self.recovery.undo = None;
            self.try_keep_open(coupled, env);
        }
    }

    /// The retransmission timer fires: everything is taken for lost but what was sent within a round trip.
    pub(crate) fn on_timeout<O: Observer>(&mut self, coupled: &mut Coupled, env: &mut Env<'_, O>) {
        use state::*;
        let now = env.now.as_nanos();
        let rack = env.profile.detection == Detection::RackTlp;
        for seq in self.una..self.nxt {
            let sent = *self.board.at(seq);
            let recent = rack && seq != self.una && sent.at + self.recovery.rack.2 > now;
            if sent.is(mark::SACKED) || recent {
                continue;
            }
            if sent.is(mark::AGAIN) {
                self.board.at_mut(seq).marks &= !mark::AGAIN;
                self.again -= 1;
            }
            self.lose(seq);
        }
        if env.profile.detection == Detection::DuplicateAcks {
            self.sacked = 0;
        }
        let fresh = self.state < MPCC_STATE_RECOVERY;
        let first = self.state <= MPCC_STATE_DISORDER
            || self.una >= self.recovery.high
            || (self.state == MPCC_STATE_LOSS && self.recovery.timeouts == 0);
        if first {
            self.recovery.before = (self.tcp.cwnd, self.current_ssthresh());
            self.take_threshold(coupled, env);
            self.begin_undo();
        }
        self.tcp.cwnd = self.flight() + 1;
        self.full_at = env.now;
        self.enter(coupled, env.now, MPCC_STATE_LOSS);
        self.recovery.high = self.nxt;
        self.recovery.probe = 0;
        self.recovery.frto = env.profile.undo && (fresh || self.recovery.timeouts > 0);
        self.recovery.timeouts += 1;
        self.tally.timeouts += 1;
        self.rtt.back_off();
        self.repair(env);
        self.set_timeout(env);
        if O::ON {
            env.observer.window(env.now, self.who(), &self.view());
        }
    }

    /// Time has shown what overtook what: RACK judges again.
    pub(crate) fn on_reordering<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<'_, O>,
    ) {
        let before = self.lost;
        self.waits = Waits::Timeout;
        let mut waits = false;
        self.judge(env, false, &mut waits);
        if self.lost > before && self.state < state::MPCC_STATE_RECOVERY {
            self.enter_recovery(coupled, env, false);
            if env.profile.prr {
                self.reduce(env, 1, true, false);
            }
        }
        self.repair(env);
        if !waits && self.waits == Waits::Timeout && self.out() > 0 {
            self.set_timeout(env);
        }
    }

    /// A probe for the tail, where nothing new can be sent: the last segment once more.
    pub(crate) fn probe_again<O: Observer>(&mut self, env: &mut Env<'_, O>) {
        let seq = self.nxt - 1;
        let now = env.now.as_nanos();
        let sent = self.board.at_mut(seq);
        if !sent.is(mark::AGAIN | mark::SACKED) {
            sent.marks |= mark::AGAIN | mark::EVER_AGAIN;
            sent.at = now;
            self.again += 1;
            self.clean_from = self.nxt + 1; // the ACK after its own tells whether it was needed
            self.recovery.again.push_back((now, seq));
            self.tally.retransmits += 1;
            self.transmit(env, seq);
        }
        self.probed(env, true);
    }

    /// A probe is out; the timeout is next.
    pub(crate) fn probed<O: Observer>(&mut self, env: &mut Env<'_, O>, again: bool) {
        self.recovery.probe = self.nxt;
        self.recovery.probe_again = again;
        self.set_timeout(env);
    }
}

impl Told {
    /// The ACK covers a segment that was sent again and answers its first copy.
    fn again_and_original(&self) -> bool {
        self.again && self.answers_original
    }
}
