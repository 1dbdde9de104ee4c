//! What is sent again on another subflow.
//!
//! MPTCP until 0.9x and ns-3: when a subflow times out, what it has under way goes over the others at once.
//!
//! Linux (net/mptcp/protocol.c: __mptcp_retrans, mptcp_subflow_get_retrans; pm.c: mptcp_pm_subflow_chk_stale): while
//! the stream is not acknowledged a timer of the connection runs, as long as the longest of the subflows' own when data
//! were last handed out, and begins anew with each progress of the stream. When it fires, the first piece that is not
//! acknowledged goes over a subflow that has nothing to do, if there is one. A subflow that hears nothing for five
//! such times while another does is stale: it is left alone, and all goes over the others. A backup subflow that has nothing
//! to do counts as another; the piece goes over it if no subflow has received an ACK for two such times.

use crate::connection::{Connection, NONE, Stuck};
use crate::endpoint::Env;
use crate::scheduler::PIECE;
use crate::sender::{Life, Piece, Sender};
use crate::trace::Observer;
use crate::wheel;
use netsim::{Span, Time};

/// A subflow that heard nothing for so many waits is stale (net.mptcp.stale_loss_cnt), if another is below one less.
const STALE: u32 = 4;

/// The timer of a connection.
#[derive(Debug, Default)]
pub(crate) struct Retransmission {
    /// None for one that goes without.
    pub(crate) timer: Option<u32>,
    pub(crate) interval: Span,
    /// When it was set, to wait so long.
    set: (Time, Span),
}

/// Waits of the connection in which a subflow heard nothing, and when it last had.
#[derive(Debug, Default)]
pub(crate) struct Stale {
    waits: u32,
    heard: Time,
}

impl Stale {
    #[cfg(test)]
    pub(crate) fn waits(&self) -> u32 {
        self.waits
    }
}

impl Retransmission {
    /// Data are handed out: how long the timer will be from now on.
    pub(crate) fn follow<O>(&mut self, senders: &[Sender], env: &Env<O>) {
        if self.timer.is_none() {
            return;
        }
        let waits = |sender: &&Sender| sender.life == Life::Open && sender.stale.waits == 0;
        let left = |sender: &Sender| sender.waits_still(env);
        let longest = senders.iter().filter(waits).filter_map(left).max();
        let longest = longest.filter(|wait| *wait > Span::ZERO);
        self.interval = longest.unwrap_or(senders[0].profile.rto_min);
    }

    /// It begins anew.
    #[inline]
    fn set<O>(&mut self, timer: u32, env: &mut Env<O>) {
        self.set = (env.now, self.interval);
        env.timers.set(timer, env.now + self.interval);
    }

    /// When the timer that is due fires: Linux's goes by ticks.
    fn fires_at(&self, tick: Span, now: Time) -> Time {
        let (set, wait) = self.set;
        if tick == Span::ZERO {
            return now;
        }
        wheel::fires_at(tick, set, wait)
    }
}

impl Connection {
    /// Data were handed out.
    pub(crate) fn wait_for_acknowledgement<O>(&mut self, env: &mut Env<O>) {
        if let Some(timer) = self.retransmission.timer {
            if self.una < self.nxt && !env.timers.is_set(timer) {
                self.retransmission.set(timer, env);
            }
        }
    }

    /// More of the stream was acknowledged.
    #[inline]
    pub(crate) fn progressed<O>(&mut self, env: &mut Env<O>) {
        if let Some(timer) = self.retransmission.timer {
            if self.una == self.end {
                env.timers.clear(timer);
            } else {
                self.retransmission.set(timer, env);
            }
        }
    }

    /// The timer is due.
    #[cold]
    pub(crate) fn retransmit<O: Observer>(&mut self, senders: &mut [Sender], env: &mut Env<O>) {
        let fires = self
            .retransmission
            .fires_at(senders[0].profile.tick, env.now);
        if let Some(timer) = self.retransmission.timer.filter(|_| fires > env.now) {
            return env.timers.set(timer, fires);
        }
        let (mut idle, mut idle_backup, mut stale) = (None, None, None);
        let mut least_waits = u32::MAX;
        for (index, sender) in senders.iter_mut().enumerate() {
            if !matches!(sender.life, Life::Open | Life::Stalled) {
                continue;
            }
            if sender.has_nothing_to_do() {
                let idle = match sender.is_backup() {
                    true => &mut idle_backup,
                    false => &mut idle,
                };
                *idle = idle.or(Some(index));
                continue;
            }
            if sender.hears_nothing() {
                stale = stale.or(Some(index));
            }
            least_waits = least_waits.min(sender.stale.waits);
        }
        if let Some(index) = stale {
            let others = |(other, sender): (usize, &Sender)| {
                other != index && sender.life == Life::Open && sender.stale.waits < STALE - 1
            };
            if senders.iter().enumerate().any(others) {
                senders[index].life = Life::Stalled;
                self.hand_out_again();
                self.push_all(senders, env, NONE);
            }
        }
        // A backup behind the stale subflow in the list is looked at after it was handed what that one held.
        idle_backup = idle_backup.filter(|&backup| {
            let comes_before = stale.is_some_and(|stale| backup < stale);
            least_waits > 1 && (comes_before || senders[backup].has_nothing_to_do())
        });
        if let Some(index) = idle.or(idle_backup) {
            let until = (self.una + 1).next_multiple_of(PIECE).min(self.nxt);
            senders[index]
                .queue
                .put(self.una, until, self.buffer_size());
        }
        self.wait_for_acknowledgement(env);
        self.push_all(senders, env, NONE);
    }

    /// The next segment that is stuck on another one.
    pub(crate) fn next_again(&mut self, senders: &[Sender], on: usize) -> Option<Piece> {
        while let Some(&stuck) = self.again.front() {
            let revived = senders[stuck.on as usize].life == Life::Open;
            if stuck.is_over(self.una) || revived {
                self.again.pop_front();
                continue;
            }
            if stuck.on as usize == on {
                break;
            }
            self.again.pop_front();
            let (dsn, len) = (stuck.data, stuck.len.into());
            return Some(Piece::new(dsn, len, self.mss));
        }
        None
    }

    /// A subflow stalls or closes: what it has under way goes over the others.
    pub(crate) fn reinject(&mut self, sender: &Sender, index: u32) {
        self.again.retain(|stuck| stuck.on != index);
        for skb in sender.scoreboard.iter() {
            for from in (0..skb.len()).step_by(skb.segment.into()) {
                let stuck = Stuck {
                    data: skb.dsn + from,
                    len: (skb.len() - from).min(skb.segment.into()) as u16,
                    on: index,
                };
                if !stuck.is_over(self.una) {
                    self.again.push_back(stuck);
                }
            }
        }
    }
}

impl Stuck {
    /// Whether all of it was acknowledged, by way of another subflow.
    fn is_over(&self, una: u64) -> bool {
        self.data + u64::from(self.len) <= una
    }
}

impl Sender {
    /// Nothing is out or waits to be sent (tcp_rtx_and_write_queues_empty).
    fn has_nothing_to_do(&self) -> bool {
        self.out() == 0 && self.queue.is_empty()
    }

    /// Once a wait of the connection, with something under way. Returns whether it has been so for too long.
    fn hears_nothing(&mut self) -> bool {
        let stale = &mut self.stale;
        if stale.waits > 0 && stale.heard != self.heard {
            stale.waits = 0;
            return false;
        }
        stale.heard = self.heard;
        stale.waits += 1;
        stale.waits > STALE && self.life == Life::Open
    }
}
